// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fixture: steps that sanity tests share; each ends the test if it fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gdrapi.h"
#include "measure/sanity/sanity_test.hpp"
#include "measure/sanity/verdict.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::measure::sanity {

/// Slightly more than 256 KiB: more than one GPU page, and not a whole number of them.
inline constexpr std::size_t usual_bytes = 256 * 1024 + 16;
inline constexpr std::size_t two_pages = 2 * GPU_PAGE_SIZE;
inline constexpr std::size_t four_pages = 4 * GPU_PAGE_SIZE;

[[nodiscard]] std::unique_ptr<platform::Device> open_device(const Environment& environment);

using Bytes = std::vector<std::uint8_t>;
/// Bytes without a short period. Patterns of different seeds have almost nothing in common.
[[nodiscard]] Bytes pattern(std::size_t size_bytes, unsigned seed);

void write_device(platform::Device* device, std::uint64_t address, const Bytes& bytes);
void make_current(platform::Device* device);
[[nodiscard]] Bytes read_device(platform::Device* device, std::uint64_t address, std::size_t size_bytes);
/// Index of the first byte that differs, or the size.
[[nodiscard]] std::size_t first_difference(const std::uint8_t* left, const std::uint8_t* right, std::size_t size_bytes);

/// A successful gdr_open, closed by the destructor unless close() was called.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  operator gdr_t() const noexcept { return context_; }  // NOLINT: stands for the handle in every call
  void close();
  /// Drops the handle without closing it.
  void abandon() noexcept { context_ = nullptr; }

 private:
  gdr_t context_ = nullptr;
};

[[nodiscard]] gdr_mh_t pin(gdr_t context, std::uint64_t address, std::size_t size_bytes);
[[nodiscard]] std::uint8_t* map(gdr_t context, gdr_mh_t handle, std::size_t size_bytes);
[[nodiscard]] gdr_info_t info_of(gdr_t context, gdr_mh_t handle);
/// A buffer of the environment's kind, aligned to a GPU page, `size_bytes` rounded up to GPU pages.
[[nodiscard]] AlignedAllocation allocate(platform::Device* device, const Environment& environment,
                                         std::size_t size_bytes);

/// A buffer of `size_bytes` and a context.
struct OpenPages {
  OpenPages(const Environment& environment, std::size_t size_bytes)
      : device(open_device(environment)), memory(allocate(device.get(), environment, size_bytes)) {}

  std::unique_ptr<platform::Device> device;
  AlignedAllocation memory;
  Context context;
};

/// A mapped buffer of `size_bytes`.
struct MappedPages {
  MappedPages(const Environment& environment, std::size_t size_bytes)
      : device(open_device(environment)),
        memory(allocate(device.get(), environment, size_bytes)),
        handle(pin(context, memory.address(), size_bytes)),
        bytes(map(context, handle, size_bytes)) {}

  std::unique_ptr<platform::Device> device;
  AlignedAllocation memory;
  Context context;
  gdr_mh_t handle;
  std::uint8_t* bytes;
};

[[nodiscard]] bool is_persistent(gdr_t context);

/// Whether a one-byte load (or store) there raises SIGSEGV or SIGBUS. Not thread-safe. Call it before allocating
/// anything, because an unmapped address may be reused.
[[nodiscard]] bool load_faults(const volatile std::uint8_t* address);
[[nodiscard]] bool store_faults(volatile std::uint8_t* address);

/// On return, all CPU stores to write-combining mappings have left the CPU's buffers.
void flush_write_combining() noexcept;

}  // namespace gdrkit::measure::sanity
