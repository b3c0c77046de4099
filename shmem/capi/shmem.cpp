// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The C API: checks arguments, calls the thread's PE, and turns errors into a negative errno and a stored text.
#include "shmem/capi/calls.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "base/sized_struct.hpp"
#include "shmem/capi/current_device.hpp"
#include "shmem/capi/settings.hpp"
#include "shmem/core/state_users.hpp"

using gdrkit::shmem_impl::bootstrap::make_unique_id;
using gdrkit::shmem_impl::bootstrap::release_unique_id;
using gdrkit::shmem_impl::bootstrap::unique_id_bytes;
using gdrkit::shmem_impl::bootstrap::UniqueId;
using gdrkit::shmem_impl::capi::address_with_pe;
using gdrkit::shmem_impl::capi::check_signal;
using gdrkit::shmem_impl::capi::chosen_device;
using gdrkit::shmem_impl::capi::code_of;
using gdrkit::shmem_impl::capi::DeviceWarning;
using gdrkit::shmem_impl::capi::error_of;
using gdrkit::shmem_impl::capi::options_from_environment;
using gdrkit::shmem_impl::capi::refuse_null;
using gdrkit::shmem_impl::capi::value_with_pe;
using gdrkit::shmem_impl::capi::with_pe;
using gdrkit::shmem_impl::capi::word_of;
using gdrkit::shmem_impl::core::current_name;
using gdrkit::shmem_impl::core::current_pe;
using gdrkit::shmem_impl::core::drop_pe;
using gdrkit::shmem_impl::core::fill_and_keep;
using gdrkit::shmem_impl::core::fill_states;
using gdrkit::shmem_impl::core::is_forked_from_pe;
using gdrkit::shmem_impl::core::Pe;
using gdrkit::shmem_impl::core::PeOptions;
using gdrkit::shmem_impl::core::use_pe;

namespace base = gdrkit::base;

static_assert(sizeof(gdrkit_shmem_unique_id_t) == unique_id_bytes);

namespace {

// Sizes of the structs' first versions; they stay when a struct grows.
constexpr std::size_t first_options = 64;
constexpr std::size_t first_info = 64;
static_assert(sizeof(gdrkit_shmem_options) > first_options && sizeof(gdrkit_shmem_info) == first_info);

// Plain bytes, which no thread's end destroys: a later destructor of that thread may still call in.
thread_local char last_error[base::SharedText::capacity] = "";

base::Result<PeOptions> read(const gdrkit_shmem_options* caller) noexcept {
  gdrkit_shmem_options requested{};
  if (caller != nullptr) {
    if (auto known = base::read_options(caller, first_options, &requested); !known) return base::pass(known);
  }
  auto options = options_from_environment(requested.should_read_nvshmem_variables != 0);
  if (!options) return options;
  options->n_pes = requested.n_pes;
  options->pe = requested.pe;
  // The launcher's environment describes the parent, so a forked child does not use it.
  if (requested.n_pes == 0 && is_forked_from_pe()) options->n_pes = 1;
  options->leaves_device_current = requested.should_follow_current_device != 0;
  if (requested.has_device != 0) {
    options->device = requested.device;
  } else if (options->leaves_device_current) {
    if (const auto chosen = chosen_device()) options->device = *chosen;
  }
  if (requested.timeout_ms != 0) options->limit = std::chrono::milliseconds(requested.timeout_ms);
  if (requested.heap_bytes != 0) options->heap_bytes = requested.heap_bytes;
  if (requested.heap_max_bytes != 0) options->heap_max_bytes = requested.heap_max_bytes;
  options->unique_id = reinterpret_cast<const UniqueId*>(requested.unique_id);
  options->allgather = requested.allgather;
  options->allgather_argument = requested.allgather_argument;
  return options;
}

int put_with(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
             gdrkit_shmem_signal operation, int pe, bool is_async) noexcept {
  return with_pe([=](Pe& self) -> base::Status {
    if (auto known = check_signal(operation); !known) return known;
    return self.transfers().put_signal(target, source, size_bytes, signal, value, operation, pe, is_async);
  });
}

}  // namespace

int gdrkit::shmem_impl::capi::keep_error(const base::Error& error) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", error.text());
  return -error.errno_value;
}

int gdrkit_shmem_get_unique_id(gdrkit_shmem_unique_id_t* id) {
  if (id == nullptr) return error_of(refuse_null("the unique id"));
  auto made = make_unique_id();
  if (!made) return error_of(made);
  std::memcpy(id->bytes, made->bytes, sizeof id->bytes);
  return 0;
}

int gdrkit_shmem_release_unique_id(const gdrkit_shmem_unique_id_t* id) {
  if (id == nullptr) return error_of(refuse_null("the unique id"));
  return code_of(release_unique_id(*reinterpret_cast<const UniqueId*>(id->bytes)));
}

namespace {

DeviceWarning device_warning;

int begin_pe(const gdrkit_shmem_options* options) {
  auto read_options = read(options);
  if (!read_options) return error_of(read_options);
  auto pe = Pe::start(*read_options);
  if (!pe) return error_of(pe);
  if (read_options->leaves_device_current) device_warning.enable();
  return code_of(fill_and_keep(std::move(*pe)));
}

int end_pe() {
  auto pe = drop_pe();
  if (!pe) return error_of(pe);
  return code_of((*pe)->finalize());
}

}  // namespace

int gdrkit_shmem_init(const gdrkit_shmem_options* options) { return begin_pe(options); }
int gdrkit_shmem_finalize(void) { return end_pe(); }

namespace {

struct SharedPe {
  std::mutex mutex;
  pid_t process = 0;  // the process that the other members belong to
  std::uint64_t name = 0;
  unsigned references = 0;
};

/// Locks the mutex. The object is never destroyed, because modules may end late. A forked child starts with 0
/// references.
SharedPe& shared_pe(std::unique_lock<std::mutex>* lock) {
  static SharedPe& one = *new SharedPe;
  *lock = std::unique_lock(one.mutex);
  if (one.process != ::getpid()) one.references = 0;
  one.process = ::getpid();
  return one;
}

}  // namespace

int gdrkit_shmem_init_shared(const gdrkit_shmem_options* options) {
  std::unique_lock<std::mutex> lock;
  SharedPe& shared = shared_pe(&lock);
  if (shared.references == 0) {
    if (const int result = begin_pe(options); result != 0) return result;
    const auto name = current_name();
    if (!name) return error_of(name);
    shared.name = *name;
  } else if (auto used = use_pe(shared.name); !used) {
    return error_of(used);
  }
  ++shared.references;
  return 0;
}

int gdrkit_shmem_finalize_shared(void) {
  std::unique_lock<std::mutex> lock;
  SharedPe& shared = shared_pe(&lock);
  if (shared.references == 0) {
    return code_of(base::fail_literal(
        EINVAL, "cannot finalize: gdrkit_shmem_finalize_shared was called more often than gdrkit_shmem_init_shared"));
  }
  if (shared.references == 1) {
    if (auto used = use_pe(shared.name); !used) return error_of(used);
    // After any other failure the PE has ended, so the call cannot be repeated.
    const int result = end_pe();
    if (result != -ETIMEDOUT && result != -EBUSY) shared.references = 0;
    return result;
  }
  --shared.references;
  return 0;
}

int gdrkit_shmem_announce_exit(int status) {
  return with_pe([=](Pe& self) -> base::Status {
    self.connections().announce_exit(status);
    return {};
  });
}

// Keeps the last error, as my_pe does: programs call it while they report a failure.
int gdrkit_shmem_announced_exit(int* status) {
  const auto pe = current_pe();
  if (!pe) return -pe.error().errno_value;
  const auto announced = (*pe)->connections().announced_exit();
  if (!announced) return -ENOENT;
  if (status != nullptr) *status = *announced;
  return 0;
}

int gdrkit_shmem_current(gdrkit_shmem_pe_t* pe) {
  auto name = current_name();
  if (!name) return error_of(name);
  if (pe == nullptr) return error_of(refuse_null("the PE's handle"));
  pe->value = *name;
  return 0;
}

int gdrkit_shmem_use(gdrkit_shmem_pe_t pe) { return code_of(use_pe(pe.value)); }

// Both keep the last error: programs may call them while they report it.
int gdrkit_shmem_my_pe(void) {
  const auto pe = current_pe();
  return pe ? (*pe)->pe() : -pe.error().errno_value;
}
int gdrkit_shmem_n_pes(void) {
  const auto pe = current_pe();
  return pe ? (*pe)->n_pes() : -pe.error().errno_value;
}

int gdrkit_shmem_get_info(gdrkit_shmem_info* info) {
  return with_pe([=](Pe& self) -> base::Status {
    if (auto known = base::check_info(info, first_info); !known) return known;
    gdrkit_shmem_info filled{};
    filled.pe = self.pe();
    filled.n_pes = self.n_pes();
    filled.node_pes = self.node_pes();
    filled.device = self.device().identity().ordinal;
    filled.is_emulated = self.device().is_emulated() ? 1 : 0;
    filled.heap_address = self.heap().own_address(0);
    filled.heap_bytes = self.heap().size_bytes();
    filled.heap_max_bytes = self.heap().max_bytes();
    filled.heap_used_bytes = self.heap().used_bytes();
    filled.stride_bytes = self.heap().stride_bytes();
    base::write_info(info, filled);
    return {};
  });
}

int gdrkit_shmem_get_device_state(gdrkit_shmem_device_state* state) {
  return value_with_pe(state, "the device's state", [](Pe& self) -> base::Result<gdrkit_shmem_device_state> {
    if (auto watched = self.gpu_code().watch(); !watched) return base::pass(watched);
    return self.gpu_code().state();
  });
}

int gdrkit_shmem_set_timeout(uint32_t timeout_ms) {
  return with_pe([=](Pe& self) -> base::Status {
    self.set_limit(std::chrono::milliseconds(timeout_ms));
    return fill_states(self);
  });
}

int gdrkit_shmem_describe(int pe, char* text, size_t size_bytes) {
  return with_pe([=](Pe& self) -> base::Result<int> {
    if (text == nullptr && size_bytes != 0) return base::pass(refuse_null("the text"));
    auto described = self.transfers().describe(pe);
    if (!described) return base::pass(described);
    if (size_bytes != 0) {
      const size_t length = described->copy(text, size_bytes - 1);
      text[length] = '\0';
    }
    return static_cast<int>(described->size());
  });
}

const char* gdrkit_shmem_last_error(void) { return last_error; }

int gdrkit_shmem_malloc(size_t size_bytes, void** address) {
  return address_with_pe(address, [=](Pe& self) {
    device_warning.check(self, "malloc");
    return self.allocate(size_bytes, 1, false);
  });
}

int gdrkit_shmem_calloc(size_t count, size_t size_bytes, void** address) {
  const bool fits = size_bytes == 0 || count <= SIZE_MAX / size_bytes;
  return address_with_pe(address, [=](Pe& self) {
    device_warning.check(self, "calloc");
    return self.allocate(fits ? count * size_bytes : SIZE_MAX, 1, true);
  });
}

int gdrkit_shmem_align(size_t alignment, size_t size_bytes, void** address) {
  return address_with_pe(address, [=](Pe& self) {
    device_warning.check(self, "align");
    return self.allocate(size_bytes, alignment, false);
  });
}

int gdrkit_shmem_free(void* address) {
  return with_pe([=](Pe& self) { return address == nullptr ? base::Status() : self.free(address); });
}

int gdrkit_shmem_ptr(const void* address, int pe, void** pointer) {
  return address_with_pe(pointer, [=](Pe& self) { return self.connections().pointer(address, pe); });
}

int gdrkit_shmem_buffer_register_symmetric(void* buffer, size_t size_bytes, void** address) {
  return address_with_pe(address, [=](Pe& self) { return self.register_symmetric(buffer, size_bytes); });
}

int gdrkit_shmem_buffer_unregister_symmetric(void* address) {
  return with_pe([=](Pe& self) { return self.unregister_symmetric(address); });
}

int gdrkit_shmem_put(void* target, const void* source, size_t size_bytes, int pe) {
  return with_pe([=](Pe& self) { return self.transfers().put(target, source, size_bytes, pe, false); });
}
int gdrkit_shmem_put_nbi(void* target, const void* source, size_t size_bytes, int pe) {
  return with_pe([=](Pe& self) { return self.transfers().put(target, source, size_bytes, pe, true); });
}
int gdrkit_shmem_get(void* target, const void* source, size_t size_bytes, int pe) {
  return with_pe([=](Pe& self) { return self.transfers().get(target, source, size_bytes, pe, false); });
}
int gdrkit_shmem_get_nbi(void* target, const void* source, size_t size_bytes, int pe) {
  return with_pe([=](Pe& self) { return self.transfers().get(target, source, size_bytes, pe, true); });
}

int gdrkit_shmem_put_signal(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
                            gdrkit_shmem_signal operation, int pe) {
  return put_with(target, source, size_bytes, signal, value, operation, pe, false);
}
int gdrkit_shmem_put_signal_nbi(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
                                gdrkit_shmem_signal operation, int pe) {
  return put_with(target, source, size_bytes, signal, value, operation, pe, true);
}

int gdrkit_shmem_signal_op(uint64_t* signal, uint64_t value, gdrkit_shmem_signal operation, int pe) {
  return with_pe([=](Pe& self) -> base::Status {
    if (auto known = check_signal(operation); !known) return known;
    return self.transfers().signal(signal, value, operation, pe);
  });
}

int gdrkit_shmem_signal_fetch(const uint64_t* signal, uint64_t* value) {
  return value_with_pe(value, "the signal's value", [=](Pe& self) {
    return self.waits().load({signal, sizeof *signal, false});
  });
}

int gdrkit_shmem_signal_wait_until(const uint64_t* signal, gdrkit_shmem_comparison comparison, uint64_t value,
                                   uint64_t* seen) {
  return with_pe([=](Pe& self) -> base::Status {
    auto word = word_of(signal, GDRKIT_SHMEM_UINT64, comparison);
    if (!word) return base::pass(word);
    auto waited = self.waits().wait_until(*word, comparison, value);
    if (!waited) return base::pass(waited);
    if (seen != nullptr) *seen = *waited;
    return {};
  });
}

int gdrkit_shmem_atomic(void* target, size_t size_bytes, gdrkit_shmem_atomic_operation operation, uint64_t operand,
                        uint64_t compare, uint64_t* fetched, int pe) {
  return with_pe([=](Pe& self) -> base::Status {
    if (operation < GDRKIT_SHMEM_ATOMIC_FETCH || operation > GDRKIT_SHMEM_ATOMIC_XOR) {
      return base::fail(EINVAL,
                        "invalid atomic operation %d: use a value of enum gdrkit_shmem_atomic_operation (%d to %d)",
                        static_cast<int>(operation), static_cast<int>(GDRKIT_SHMEM_ATOMIC_FETCH),
                        static_cast<int>(GDRKIT_SHMEM_ATOMIC_XOR));
    }
    return self.transfers().atomic(target, size_bytes, operation, operand, compare, fetched, pe);
  });
}

int gdrkit_shmem_wait_until(const void* address, gdrkit_shmem_word word, gdrkit_shmem_comparison comparison,
                            uint64_t value) {
  return with_pe([=](Pe& self) -> base::Status {
    auto known = word_of(address, word, comparison);
    if (!known) return base::pass(known);
    return base::status_of(self.waits().wait_until(*known, comparison, value));
  });
}

int gdrkit_shmem_test(const void* address, gdrkit_shmem_word word, gdrkit_shmem_comparison comparison, uint64_t value) {
  return with_pe([=](Pe& self) -> base::Result<bool> {
    auto known = word_of(address, word, comparison);
    if (!known) return base::pass(known);
    return self.waits().test(*known, comparison, value);
  });
}

int gdrkit_shmem_fence(void) {
  return with_pe([](Pe& self) -> base::Status {
    self.transfers().fence();
    return {};
  });
}
int gdrkit_shmem_quiet(void) {
  return with_pe([](Pe& self) { return self.quiet(); });
}
int gdrkit_shmem_sync_all(void) {
  return with_pe([](Pe& self) { return self.sync_all(); });
}
int gdrkit_shmem_barrier_all(void) {
  return with_pe([](Pe& self) {
    device_warning.check(self, "barrier_all");
    return self.barrier_all();
  });
}
