// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Unsupported memory is rejected with a specific errno and an error message with the reason.
#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "base/result.hpp"
#include "gdrkit/gdrkit.h"
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

constexpr std::size_t buffer_bytes = 2 * GPU_PAGE_SIZE;

/// Both APIs fail with one of the errnos, and gdrkit's error message contains `word`.
void check_refused(std::uint64_t address, std::size_t size, std::initializer_list<int> errnos, const char* word) {
  const auto is_allowed = [&](int error) {
    for (const int allowed : errnos) {
      if (error == allowed) return true;
    }
    return false;
  };
  gdrkit_context_t own{};
  SANITY_RESULT(gdrkit_open(nullptr, &own), 0);
  gdrkit_pin_t pin{};
  const int own_result = gdrkit_pin(own, address, size, &pin);
  const std::string sentence = gdrkit_last_error();
  SANITY_CHECK(is_allowed(-own_result), "gdrkit_pin: %d", own_result);
  SANITY_CHECK(pin.value == 0, "a failed pin returned a handle");
  SANITY_CHECK(sentence.find(word) != std::string::npos, "the error message does not contain '%s': %s", word,
               sentence.c_str());
  SANITY_RESULT(gdrkit_close(own), 0);

  Context context;
  gdr_mh_t handle{};
  const int result = gdr_pin_buffer(context, address, size, 0, 0, &handle);
  SANITY_CHECK(is_allowed(result), "gdr_pin_buffer: %d", result);
  SANITY_CHECK(handle.h == 0, "a failed pin returned a handle");
  context.close();
}

}  // namespace

void refusal_managed_memory(const Environment& environment) {
  const auto device = open_device(environment);
  auto memory = device->allocate(environment.kind, buffer_bytes);
  if (!memory.has_value() && memory.error().errno_value == EOPNOTSUPP) waive(memory.error().text());
  SANITY_CHECK(memory.has_value(), "%s", memory.error().text());
  check_refused(memory->address(), buffer_bytes, {EOPNOTSUPP, EINVAL}, "managed");
}

void refusal_host_memory(const Environment& environment) {
  const auto device = open_device(environment);
  auto memory = device->allocate(environment.kind, buffer_bytes);
  SANITY_CHECK(memory.has_value(), "%s", memory.error().text());
  check_refused(memory->address(), buffer_bytes, {EINVAL}, "host");
}

void refusal_ordinary_memory(const Environment& environment) {
  const auto device = open_device(environment);
  const Bytes ordinary(buffer_bytes);
  check_refused(reinterpret_cast<std::uint64_t>(ordinary.data()), 4096, {EINVAL}, "");
  const std::uint8_t on_stack = 0;
  check_refused(reinterpret_cast<std::uint64_t>(&on_stack), 1, {EINVAL}, "");
  check_refused(0xdead0000, buffer_bytes, {EINVAL}, "");
  SANITY_CHECK(std::strlen(gdrkit_last_error()) > 0, "the error message is missing");
}

void refusal_freed_memory(const Environment& environment) {
  const auto device = open_device(environment);
  AlignedAllocation memory = allocate(device.get(), environment, buffer_bytes);
  const std::uint64_t address = memory.address();
  memory.free();
  check_refused(address, buffer_bytes, {EINVAL}, "");
  SANITY_CHECK(std::strlen(gdrkit_last_error()) > 0, "the error message is missing");
}

void refusal_past_the_end(const Environment& environment) {
  const auto device = open_device(environment);
  auto memory = device->allocate(environment.kind, buffer_bytes);
  SANITY_CHECK(memory.has_value(), "%s", memory.error().text());
  const std::uint64_t address = memory->address();
  const std::size_t extent = memory->extent_bytes();
  gdrkit_context_t context{};
  SANITY_RESULT(gdrkit_open(nullptr, &context), 0);
  gdrkit_pin_t pin{};
  // Up to the last byte, and no further.
  SANITY_RESULT(gdrkit_pin(context, address, extent, &pin), 0);
  SANITY_RESULT(gdrkit_unpin(pin), 0);
  pin.value = 0;
  SANITY_RESULT(gdrkit_pin(context, address, extent + 1, &pin), -EINVAL);
  SANITY_CHECK(std::strstr(gdrkit_last_error(), "past") != nullptr, "the error message: %s", gdrkit_last_error());
  SANITY_RESULT(gdrkit_pin(context, address + extent - 1, 2, &pin), -EINVAL);
  SANITY_CHECK(pin.value == 0, "a failed pin returned a handle");
  SANITY_RESULT(gdrkit_close(context), 0);
  // Callers of the drop-in API round to GPU pages, so there the limit is the end of the allocation's last page.
  check_refused(address, ((extent + GPU_PAGE_OFFSET) & GPU_PAGE_MASK) + 64 * buffer_bytes, {EINVAL}, "past");
}

}  // namespace gdrkit::measure::sanity
