// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/gpu_threads.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "driver/emulated_device_identity.hpp"
#include "driver/emulated_memory.hpp"
#include "fakes/cuda_table.hpp"

namespace gdrkit::fakes {
namespace {

using namespace driver;  // the types in the list

std::atomic<int> held{0};

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int out_of_memory = 2;
constexpr int invalid_device = 101;
constexpr int not_found = 500;

int the_context = 0;  // its address is the one context's name
thread_local std::vector<void*> contexts_of_thread;
thread_local int capture_mode_of_thread = 0;

/// Work in the order in which it was given, done by one thread.
class Stream {
 public:
  Stream() : thread_([this] { run(); }) {}
  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// The number of the work.
  std::uint64_t give(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    changed_.notify_all();
    return ++given_;
  }
  void wait(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= number; });
  }
  [[nodiscard]] std::uint64_t given() {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  [[nodiscard]] bool is_idle() {
    const std::lock_guard lock(mutex_);
    return done_ == given_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return is_closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t given_ = 0;
  std::uint64_t done_ = 0;
  bool is_closing_ = false;
  std::thread thread_;  // last: it uses the others
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t number = 0;
};

/// The streams there are. Like the ranges below never destroyed: threads may call while the process exits.
std::mutex streams_mutex;
std::set<Stream*>& streams() {
  static auto* const all = new std::set<Stream*>;
  return *all;
}

/// Host memory that was page-locked, by its first byte.
std::mutex registered_mutex;
struct Registered {
  std::size_t size_bytes = 0;
  std::uint64_t buffer_id = 0;  ///< never used twice
};
std::map<std::uint64_t, Registered>& registered() {
  static auto* const ranges = new std::map<std::uint64_t, Registered>;
  return *ranges;
}

template <class Work>
int guarded(Work work) noexcept {
  try {
    return work();
  } catch (...) {
    return out_of_memory;
  }
}

template <class Work>
int give(void* stream, Work work) noexcept {
  return guarded([&] {
    (void)static_cast<Stream*>(stream)->give(work);
    return success;
  });
}

int copy_bytes(std::uint64_t target, std::uint64_t source, std::size_t size, void* stream) noexcept {
  return give(stream, [=] {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), size);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

PointerAnswers answers_about(std::uint64_t address) {
  PointerAnswers answers;
  driver::PointerAttributes& at = answers.attributes;
  at.device_ordinal = -2;
  {
    const std::lock_guard lock(registered_mutex);
    auto after = registered().upper_bound(address);
    if (after != registered().begin() && address - std::prev(after)->first < std::prev(after)->second.size_bytes) {
      at.memory_type = cuda_memory_type_host;
      at.buffer_id = std::prev(after)->second.buffer_id;
      at.range_start = std::prev(after)->first;
      at.range_size = std::prev(after)->second.size_bytes;
    }
  }
  if (at.buffer_id == 0) {
    const auto found = emulated_find(address);
    // Addresses past the exact end are nobody's.
    if (!found || address - found->start >= found->size_bytes) return answers;
    at.memory_type = found->kind == EmulatedKind::host ? cuda_memory_type_host : cuda_memory_type_device;
    at.is_managed = found->kind == EmulatedKind::managed ? 1 : 0;
    at.buffer_id = found->buffer_id;
    at.range_start = found->start;
    at.range_size = found->size_bytes;
  }
  at.context = &the_context;
  at.device_ordinal = 0;
  // As CUDA answers on a thread without a current context.
  answers.device_address = contexts_of_thread.empty() ? 0 : address;
  return answers;
}

int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
  return guarded([&] { return answers_about(address).put(count, numbers, targets); });
}

int launch_blocks(unsigned blocks, void** parameters, void* stream) noexcept {
  return guarded([&] {
    const auto* const bytes = static_cast<const char*>(parameters[0]);
    const std::vector<char> parameter(bytes, bytes + mover_parameter_bytes);
    give_to_stream(stream, [=] {
      std::vector<std::thread> others;
      for (unsigned block = 1; block < blocks; ++block) {
        others.emplace_back([block, blocks, &parameter] { play_mover(block, blocks, parameter.data()); });
      }
      play_mover(0, blocks, parameter.data());
      for (std::thread& other : others) other.join();
    });
    return success;
  });
}

int taken(int result) noexcept {
  if (result == success) ++held;
  return result;
}
int given_back(int result) noexcept {
  if (result == success) --held;
  return result;
}

void set_contexts(CudaCalls& calls) noexcept {
  calls.init = [](unsigned) { return success; };
  calls.driver_get_version = [](int* version) { return *version = 13000, success; };
  calls.device_get_uuid = [](void* uuid, int) {
    return std::memcpy(uuid, "\x01\x23\x45\x67gdrkit thread", 16), success;
  };
  calls.device_get = [](int* handle, int device) {
    return *handle = device, device >= 0 && device < most_emulated_devices ? success : invalid_device;
  };
  calls.device_get_pci_bus_id = [](char* text, int capacity, int) {
    return std::snprintf(text, static_cast<std::size_t>(capacity), "%s", emulated_pci_bus_id), success;
  };
  calls.device_get_attribute = [](int* value, int attribute, int) {
    constexpr int unified_addressing = 41;
    return *value = attribute == unified_addressing ? 1 : 0, success;
  };
  calls.primary_ctx_retain = [](void** context, int) { return *context = &the_context, taken(success); };
  calls.primary_ctx_release = [](int) { return given_back(success); };
  calls.ctx_get_current = [](void** context) {
    return *context = contexts_of_thread.empty() ? nullptr : contexts_of_thread.back(), success;
  };
  calls.ctx_push_current = [](void* context) {
    return taken(guarded([&] { return contexts_of_thread.push_back(context), success; }));
  };
  calls.ctx_pop_current = [](void** context) {
    if (contexts_of_thread.empty()) return invalid_value;
    *context = contexts_of_thread.back();
    contexts_of_thread.pop_back();
    return given_back(success);
  };
  calls.exchange_stream_capture_mode = [](int* mode) { return std::swap(*mode, capture_mode_of_thread), success; };
}

void set_streams(CudaCalls& calls) noexcept {
  calls.stream_create = [](void** stream, unsigned) {
    return taken(guarded([&] {
      const std::lock_guard lock(streams_mutex);
      *stream = *streams().insert(new Stream).first;
      return success;
    }));
  };
  calls.stream_destroy = [](void* stream) {
    const std::lock_guard lock(streams_mutex);
    streams().erase(static_cast<Stream*>(stream));
    return delete static_cast<Stream*>(stream), given_back(success);
  };
  calls.ctx_synchronize = [] {
    const std::lock_guard lock(streams_mutex);
    for (Stream* stream : streams()) stream->wait(stream->given());
    return success;
  };
  calls.stream_synchronize = [](void* stream) {
    auto* const given = static_cast<Stream*>(stream);
    return given->wait(given->given()), success;
  };
  calls.stream_query = [](void* stream) {
    return static_cast<Stream*>(stream)->is_idle() ? success : cuda_error_not_ready;
  };
  calls.stream_is_capturing = [](void*, int* status) { return *status = 0, success; };
  calls.event_create = [](void** event, unsigned) {
    return taken(guarded([&] { return *event = new Event, success; }));
  };
  calls.event_destroy = [](void* event) { return delete static_cast<Event*>(event), given_back(success); };
  calls.event_record = [](void* event, void* stream) {
    auto* const on = static_cast<Stream*>(stream);
    return *static_cast<Event*>(event) = {on, on->given()}, success;
  };
  calls.event_synchronize = [](void* event) {
    const Event& recorded = *static_cast<Event*>(event);
    if (recorded.stream != nullptr) recorded.stream->wait(recorded.number);
    return success;
  };
}

void set_memory(CudaCalls& calls) noexcept {
  calls.pointer_get_attributes = &pointer_get_attributes;
  calls.mem_alloc = [](std::uint64_t* address, std::size_t size) {
    const auto allocated = emulated_allocate(size, EmulatedKind::device);
    if (!allocated) return allocated.error().errno_value == ENOMEM ? out_of_memory : invalid_value;
    return *address = *allocated, success;
  };
  calls.mem_free = [](std::uint64_t address) { return emulated_free(address) ? success : invalid_value; };
  calls.memcpy_host_to_device_async = [](std::uint64_t target, const void* source, std::size_t size, void* stream) {
    return copy_bytes(target, reinterpret_cast<std::uint64_t>(source), size, stream);
  };
  calls.memcpy_device_to_host_async = [](void* target, std::uint64_t source, std::size_t size, void* stream) {
    return copy_bytes(reinterpret_cast<std::uint64_t>(target), source, size, stream);
  };
  calls.memcpy_device_to_device_async = &copy_bytes;
  calls.mem_host_register = [](void* address, std::size_t size, unsigned) {
    return taken(guarded([&] {
      const std::lock_guard lock(registered_mutex);
      static std::uint64_t next_id = std::uint64_t{1} << 40;  // beyond those of device memory
      registered()[reinterpret_cast<std::uint64_t>(address)] = {size, next_id++};
      return success;
    }));
  };
  calls.mem_host_unregister = [](void* address) {
    const std::lock_guard lock(registered_mutex);
    return given_back(registered().erase(reinterpret_cast<std::uint64_t>(address)) == 1 ? success : invalid_value);
  };
  calls.mem_host_get_device_pointer = [](std::uint64_t* device, void* host, unsigned) {
    return *device = reinterpret_cast<std::uint64_t>(host), success;
  };
}

void set_launches(CudaCalls& calls) noexcept {
  calls.module_load_data = [](void** module, const void* image) {
    return *module = const_cast<void*>(image), taken(success);
  };
  calls.module_unload = [](void*) { return given_back(success); };
  calls.module_get_function = [](void** function, void* module, const char* name) {
    return guarded([&] {
      const std::string entry = std::string(".entry ") + name + "(";
      if (std::strstr(static_cast<const char*>(module), entry.c_str()) == nullptr) return not_found;
      return *function = module, success;
    });
  };
  calls.launch_kernel = [](void*, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           void* stream, void** parameters,
                           void**) { return launch_blocks(blocks, parameters, stream); };
}

}  // namespace

const CudaCalls& gpu_threads() noexcept {
  static const CudaCalls calls = [] {
    CudaCalls made;
    set_contexts(made);
    set_streams(made);
    set_memory(made);
    set_launches(made);
    return made;
  }();
  return calls;
}

int held_by_gpu_threads() noexcept { return held; }

void give_to_stream(void* stream, std::function<void()> work) {
  (void)static_cast<Stream*>(stream)->give(std::move(work));
}

}  // namespace gdrkit::fakes
