// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/sanity/fixture.hpp"

#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <atomic>

#include "base/result.hpp"
#include "cli/interface/device_choice.hpp"
#include "measure/harness/host_buffer.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::measure::sanity {
namespace {

sigjmp_buf after_fault;

void leave_fault(int) { ::siglongjmp(after_fault, 1); }

template <class Access>
bool faults(Access&& access) {
  struct sigaction action {};
  struct sigaction old_segv {};
  struct sigaction old_bus {};
  action.sa_handler = &leave_fault;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &old_segv);
  ::sigaction(SIGBUS, &action, &old_bus);
  volatile bool has_faulted = true;
  if (::sigsetjmp(after_fault, 1) == 0) {
    access();
    has_faulted = false;
  }
  ::sigaction(SIGSEGV, &old_segv, nullptr);
  ::sigaction(SIGBUS, &old_bus, nullptr);
  return has_faulted;
}

}  // namespace

std::unique_ptr<platform::Device> open_device(const Environment& environment) {
  cli::DeviceChoice choice;
  choice.is_emulated = environment.is_emulated;
  return cli::open_device(choice, environment.ordinal);
}

Bytes pattern(std::size_t size_bytes, unsigned seed) {
  Bytes bytes(size_bytes);
  fill_with_pattern(bytes, seed * 2654435761u + 12345u);
  return bytes;
}

void make_current(platform::Device* device) {
  const auto current = device->make_current();
  SANITY_CHECK(current.has_value(), "%s", current.error().text());
}

void write_device(platform::Device* device, std::uint64_t address, const Bytes& bytes) {
  const auto copied = device->copy_to_device(address, bytes.data(), bytes.size());
  SANITY_CHECK(copied.has_value(), "%s", copied.error().text());
}

Bytes read_device(platform::Device* device, std::uint64_t address, std::size_t size_bytes) {
  Bytes bytes(size_bytes);
  const auto copied = device->copy_to_host(bytes.data(), address, size_bytes);
  SANITY_CHECK(copied.has_value(), "%s", copied.error().text());
  return bytes;
}

std::size_t first_difference(const std::uint8_t* left, const std::uint8_t* right, std::size_t size_bytes) {
  return static_cast<std::size_t>(std::mismatch(left, left + size_bytes, right).first - left);
}

Context::Context() : context_(gdr_open()) {
  SANITY_CHECK(context_ != nullptr, "gdr_open returned NULL:\n%s", cli::why_no_backend().c_str());
}

Context::~Context() {
  if (context_ != nullptr) (void)gdr_close(context_);
}

void Context::close() {
  gdr_t const context = context_;
  context_ = nullptr;
  SANITY_RESULT(gdr_close(context), 0);
}

gdr_mh_t pin(gdr_t context, std::uint64_t address, std::size_t size_bytes) {
  gdr_mh_t handle{};
  SANITY_RESULT(gdr_pin_buffer(context, address, size_bytes, 0, 0, &handle), 0);
  SANITY_CHECK(handle.h != 0, "the handle of a pinned buffer is 0");
  return handle;
}

std::uint8_t* map(gdr_t context, gdr_mh_t handle, std::size_t size_bytes) {
  void* mapping = nullptr;
  SANITY_RESULT(gdr_map(context, handle, &mapping, size_bytes), 0);
  SANITY_CHECK(mapping != nullptr, "gdr_map succeeded and returned NULL");
  return static_cast<std::uint8_t*>(mapping);
}

gdr_info_t info_of(gdr_t context, gdr_mh_t handle) {
  gdr_info_t info{};
  SANITY_RESULT(gdr_get_info(context, handle, &info), 0);
  return info;
}

AlignedAllocation allocate(platform::Device* device, const Environment& environment, std::size_t size_bytes) {
  return AlignedAllocation(device, environment.kind, size_bytes);
}

bool is_persistent(gdr_t context) {
  int value = 0;
  SANITY_RESULT(gdr_get_attribute(context, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
  return value != 0;
}

bool load_faults(const volatile std::uint8_t* address) {
  return faults([address] { [[maybe_unused]] const std::uint8_t byte = *address; });
}

bool store_faults(volatile std::uint8_t* address) {
  return faults([address] { *address = 0x5A; });
}

void flush_write_combining() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace gdrkit::measure::sanity
