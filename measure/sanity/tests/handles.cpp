// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Handles that are NULL, stale, foreign or invented return EINVAL, and change nothing.
#include <cerrno>
#include <cstring>

#include "gdrkit/gdrkit.h"
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

/// Every call with a context parameter, with one that must be rejected.
void check_context_refused(gdr_t context, std::uint64_t address, gdr_mh_t handle) {
  gdr_mh_t out{};
  void* mapping = nullptr;
  gdr_info_t info{};
  int first = -1;
  int second = -1;
  SANITY_RESULT(gdr_pin_buffer(context, address, two_pages, 0, 0, &out), EINVAL);
  SANITY_RESULT(gdr_pin_buffer_v2(context, address, two_pages, 0, &out), EINVAL);
  SANITY_RESULT(gdr_map(context, handle, &mapping, two_pages), EINVAL);
  SANITY_RESULT(gdr_map_v2(context, handle, &mapping, two_pages, GDR_MAP_FLAG_DEFAULT), EINVAL);
  SANITY_RESULT(gdr_unmap(context, handle, reinterpret_cast<void*>(GPU_PAGE_SIZE), two_pages), EINVAL);
  SANITY_RESULT(gdr_get_info(context, handle, &info), EINVAL);
  SANITY_RESULT(gdr_get_callback_flag(context, handle, &first), EINVAL);
  SANITY_RESULT(gdr_driver_get_version(context, &first, &second), EINVAL);
  SANITY_RESULT(gdr_get_attribute(context, GDR_ATTR_USE_PERSISTENT_MAPPING, &first), EINVAL);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), EINVAL);
  SANITY_RESULT(gdr_close(context), EINVAL);
  SANITY_CHECK(out.h == 0 && mapping == nullptr, "a failed call set its output");
}

/// Every call with a pin parameter, with one that must be rejected. `bytes`: memory of `size` bytes that no copy may
/// touch.
void check_pin_refused(gdr_t context, gdr_mh_t handle, std::uint8_t* bytes) {
  void* mapping = nullptr;
  gdr_info_t info{};
  int flag = -1;
  std::uint64_t word = 0;
  SANITY_RESULT(gdr_map(context, handle, &mapping, two_pages), EINVAL);
  SANITY_RESULT(gdr_map_v2(context, handle, &mapping, two_pages, GDR_MAP_FLAG_REQ_WC_MAPPING), EINVAL);
  SANITY_RESULT(gdr_unmap(context, handle, bytes, two_pages), EINVAL);
  SANITY_RESULT(gdr_get_info(context, handle, &info), EINVAL);
  SANITY_RESULT(gdr_get_callback_flag(context, handle, &flag), EINVAL);
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, &word, sizeof(word)), EINVAL);
  SANITY_RESULT(gdr_copy_from_mapping(handle, &word, bytes, sizeof(word)), EINVAL);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), EINVAL);
  SANITY_CHECK(mapping == nullptr, "a failed map set its output");
}

/// A context with a mapped buffer that must stay unchanged.
struct Witness : MappedPages {
  explicit Witness(const Environment& environment)
      : MappedPages(environment, two_pages), written(pattern(two_pages, 1)) {
    write_device(device.get(), memory.address(), written);
  }
  void check_unharmed() {
    Bytes seen(two_pages);
    SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), bytes, seen.size()), 0);
    SANITY_CHECK(seen == written, "a failed call changed a buffer's content");
    SANITY_CHECK(info_of(context, handle).mapped == 1, "a failed call unmapped a buffer");
    context.close();
  }

  Bytes written;
};

}  // namespace

void handles_null(const Environment& environment) {
  Witness witness(environment);
  check_context_refused(nullptr, witness.memory.address(), witness.handle);
  check_pin_refused(witness.context, gdr_mh_t{0}, witness.bytes);
  witness.check_unharmed();
}

void handles_stale(const Environment& environment) {
  Witness witness(environment);
  gdr_t const closed = gdr_open();
  SANITY_CHECK(closed != nullptr, "gdr_open returned NULL");
  const gdr_mh_t of_closed = pin(closed, witness.memory.address(), two_pages);
  SANITY_RESULT(gdr_close(closed), 0);
  check_context_refused(closed, witness.memory.address(), of_closed);
  check_pin_refused(witness.context, of_closed, witness.bytes);

  const gdr_mh_t unpinned = pin(witness.context, witness.memory.address(), two_pages);
  SANITY_RESULT(gdr_unpin_buffer(witness.context, unpinned), 0);
  check_pin_refused(witness.context, unpinned, witness.bytes);
  // The slot is reused: the old handle must not refer to its new owner.
  const gdr_mh_t successor = pin(witness.context, witness.memory.address(), two_pages);
  SANITY_CHECK(successor.h != unpinned.h, "a handle was returned twice");
  check_pin_refused(witness.context, unpinned, witness.bytes);
  SANITY_RESULT(gdr_unpin_buffer(witness.context, successor), 0);

  const gdr_mh_t unmapped = pin(witness.context, witness.memory.address(), two_pages);
  std::uint8_t* bytes = map(witness.context, unmapped, two_pages);
  SANITY_RESULT(gdr_unmap(witness.context, unmapped, bytes, two_pages), 0);
  SANITY_RESULT(gdr_unmap(witness.context, unmapped, bytes, two_pages), EINVAL);
  SANITY_RESULT(gdr_unpin_buffer(witness.context, unmapped), 0);
  witness.check_unharmed();
}

void handles_foreign(const Environment& environment) {
  Witness witness(environment);
  Context other;
  // A pin belongs to its context only; copies take no context and still work.
  void* mapping = nullptr;
  gdr_info_t info{};
  int flag = 0;
  SANITY_RESULT(gdr_map(other, witness.handle, &mapping, two_pages), EINVAL);
  SANITY_RESULT(gdr_unmap(other, witness.handle, witness.bytes, two_pages), EINVAL);
  SANITY_RESULT(gdr_get_info(other, witness.handle, &info), EINVAL);
  SANITY_RESULT(gdr_get_callback_flag(other, witness.handle, &flag), EINVAL);
  SANITY_RESULT(gdr_unpin_buffer(other, witness.handle), EINVAL);
  // A handle of the other kind, and of the other library.
  gdr_mh_t context_as_pin{};
  gdr_t const context = witness.context;
  std::memcpy(&context_as_pin, &context, sizeof(context_as_pin));
  check_pin_refused(witness.context, context_as_pin, witness.bytes);
  gdrkit_context_t of_other_library{};
  SANITY_RESULT(gdrkit_open(nullptr, &of_other_library), 0);
  gdrkit_pin_t pin_of_other_library{};
  SANITY_RESULT(gdrkit_pin(of_other_library, witness.memory.address(), two_pages, &pin_of_other_library), 0);
  check_pin_refused(witness.context, gdr_mh_t{pin_of_other_library.value}, witness.bytes);
  SANITY_RESULT(gdrkit_unpin(gdrkit_pin_t{witness.handle.h}), -EINVAL);
  SANITY_RESULT(gdrkit_close(of_other_library), 0);
  other.close();
  witness.check_unharmed();
}

void handles_invented(const Environment& environment) {
  Witness witness(environment);
  const unsigned long real = witness.handle.h;
  for (unsigned bit = 0; bit < 64; ++bit) check_pin_refused(witness.context, {real ^ (1ul << bit)}, witness.bytes);
  std::uint64_t state = 88172645463325252u;
  for (int count = 0; count < 20000; ++count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (state != real) check_pin_refused(witness.context, {state}, witness.bytes);
  }
  for (const std::uint64_t word : {std::uint64_t{1}, std::uint64_t{0xffffffffu}, UINT64_MAX,
                                   reinterpret_cast<std::uint64_t>(&witness), reinterpret_cast<std::uint64_t>(&real)}) {
    check_pin_refused(witness.context, {word}, witness.bytes);
    check_context_refused(reinterpret_cast<gdr_t>(word), witness.memory.address(), witness.handle);
  }
  witness.check_unharmed();
}

void handles_of_the_own_api(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, two_pages);
  gdrkit_context_t context{};
  gdrkit_pin_t pin{};
  void* address = nullptr;
  std::uint64_t word = 0;
  SANITY_RESULT(gdrkit_open(nullptr, &context), 0);
  SANITY_RESULT(gdrkit_pin(context, memory.address(), two_pages, &pin), 0);
  SANITY_RESULT(gdrkit_read(pin, 0, &word, sizeof(word)), -EINVAL);  // not mapped
  SANITY_RESULT(gdrkit_unmap(pin), -EINVAL);
  SANITY_RESULT(gdrkit_map(pin, nullptr, &address), 0);
  SANITY_RESULT(gdrkit_map(pin, nullptr, &address), -EAGAIN);
  SANITY_RESULT(gdrkit_unpin(pin), 0);
  for (const gdrkit_pin_t dead : {pin, gdrkit_pin_t{0}, gdrkit_pin_t{context.value}, gdrkit_pin_t{UINT64_MAX}}) {
    SANITY_RESULT(gdrkit_map(dead, nullptr, &address), -EINVAL);
    SANITY_RESULT(gdrkit_unmap(dead), -EINVAL);
    SANITY_RESULT(gdrkit_write(dead, 0, &word, sizeof(word)), -EINVAL);
    SANITY_RESULT(gdrkit_read(dead, 0, &word, sizeof(word)), -EINVAL);
    SANITY_RESULT(gdrkit_unpin(dead), -EINVAL);
  }
  SANITY_RESULT(gdrkit_close(context), 0);
  SANITY_RESULT(gdrkit_close(context), -EINVAL);
  SANITY_RESULT(gdrkit_close(gdrkit_context_t{0}), -EINVAL);
  SANITY_RESULT(gdrkit_pin(context, memory.address(), two_pages, &pin), -EINVAL);
}

}  // namespace gdrkit::measure::sanity
