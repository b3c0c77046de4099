// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One copy: splits the device range into words and lines, calls the copy kernel, and fences as the mapping type
// requires.
#include "copy/copier.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "copy/pieces.hpp"
#include "copy/word_access.hpp"
#include "cpu/ordering.hpp"

namespace gdrkit::copy {
namespace {

std::uintptr_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

/// Whether the copy must be a single access: a naturally aligned word of 1, 2, 4 or 8 bytes.
bool is_flag(const void* device, std::size_t size) noexcept {
  return size <= 8 && is_aligned_power_of_two(device, size);
}

[[gnu::always_inline]] inline void store_words(char* device, const char* host, std::size_t size) noexcept {
  for_each_piece(address_of(device), size, [device, host](std::size_t offset, auto width) noexcept {
    store_word<width.bytes>(device + offset, host + offset);
  });
}

[[gnu::always_inline]] inline void load_words(char* host, const char* device, std::size_t size) noexcept {
  for_each_piece(address_of(device), size, [host, device](std::size_t offset, auto width) noexcept {
    load_word<width.bytes>(host + offset, device + offset);
  });
}

// The paths for longer copies are out of line, so that a short copy saves no registers and uses no stack.

[[gnu::noinline]] void store_words_out_of_line(char* device, const char* host, std::size_t size) noexcept {
  store_words(device, host, size);
}

[[gnu::noinline]] void load_words_out_of_line(char* host, const char* device, std::size_t size) noexcept {
  load_words(host, device, size);
}

/// Copies words up to the first line boundary on the device, then whole lines, then words.
template <void (*copy_words)(char*, const char*, std::size_t) noexcept>
[[gnu::noinline]] void copy_words_and_lines(CopyLines copy_lines, char* target, const char* source,
                                            std::uintptr_t device, std::size_t size) noexcept {
  const LineSplit split = split_at_lines(device, size);
  if (split.head_bytes != 0) copy_words(target, source, split.head_bytes);
  const std::size_t tail_start = split.head_bytes + split.line_count * line_bytes;
  if (split.line_count != 0) copy_lines(target + split.head_bytes, source + split.head_bytes, split.line_count);
  if (split.tail_bytes != 0) copy_words(target + tail_start, source + tail_start, split.tail_bytes);
}

/// The size of the smallest naturally aligned piece of 16, 32, 64, ... bytes that contains the range. size >= 1.
std::size_t piece_around(std::uintptr_t address, std::size_t size) noexcept {
  constexpr std::size_t smallest = 16;
  const auto differing_bits = static_cast<unsigned>(std::bit_width(address ^ (address + size - 1)));
  return std::max(smallest, std::size_t{1} << differing_bits);
}

/// Loads the piece with one ordinary load, which takes one round trip to the device, like a scalar load. It may read
/// bytes outside the range: load_enclosing_lines() explains why this is safe.
[[gnu::noinline]] void load_enclosing_piece(char* host, const char* device, std::size_t size,
                                            std::size_t piece_bytes) noexcept {
  alignas(line_bytes) char piece[line_bytes];
  const std::size_t skipped_bytes = address_of(device) & (piece_bytes - 1);
  load_piece(piece, device - skipped_bytes, piece_bytes);
  std::memcpy(host, piece + skipped_bytes, size);
}

/// Loads every line of the range once, as a whole, with streaming loads. Copies only the requested bytes of the first
/// and the last line to `host`. Each word load from a write-combining mapping takes a round trip to the device, and
/// these do not overlap. A streaming load fetches 64 bytes in one round trip and overlaps with others. Reading bytes
/// outside the range is safe. A mapping consists of whole pages, so it contains whole lines, and reads of device memory
/// have no side effects. The edges are copied out of their buffers only after all loads were issued, so that all misses
/// overlap.
[[gnu::noinline]] void load_enclosing_lines(CopyLines load_lines, char* host, const char* device,
                                            std::size_t size) noexcept {
  const std::size_t skipped_bytes = address_of(device) % line_bytes;
  const std::size_t touched_lines = (skipped_bytes + size + line_bytes - 1) / line_bytes;
  alignas(line_bytes) char edges[2 * line_bytes];
  if (touched_lines <= 2) {
    load_lines(edges, device - skipped_bytes, touched_lines);
    std::memcpy(host, edges + skipped_bytes, size);
    return;
  }
  const LineSplit split = split_at_lines(address_of(device), size);
  const std::size_t tail_start = split.head_bytes + split.line_count * line_bytes;
  char* const last_line = edges + line_bytes;
  if (split.head_bytes != 0) load_lines(edges, device - skipped_bytes, 1);
  load_lines(host + split.head_bytes, device + split.head_bytes, split.line_count);
  if (split.tail_bytes != 0) load_lines(last_line, device + tail_start, 1);
  if (split.head_bytes != 0) std::memcpy(host, edges + skipped_bytes, split.head_bytes);
  if (split.tail_bytes != 0) std::memcpy(host + tail_start, last_line, split.tail_bytes);
}

}  // namespace

void Copier::to_device(void* device, const void* host, std::size_t size) const noexcept {
  auto* target = static_cast<char*>(device);
  const auto* source = static_cast<const char*>(host);
  if (type == MappingType::write_combining) [[likely]] {
    if (size < line_bytes) {
      store_words(target, source, size);
    } else if (has_whole_lines(target, size)) {
      store_lines(target, source, size / line_bytes);
    } else {
      copy_words_and_lines<store_words_out_of_line>(store_lines, target, source, address_of(target), size);
    }
    cpu::flush_write_combining();
  } else if (type == MappingType::cached) {
    if (is_flag(device, size)) {
      store_words_out_of_line(target, source, size);
    } else if (size != 0) {
      std::memcpy(device, host, size);
    }
    cpu::order_after_cached_stores();
  } else {
    store_words_out_of_line(target, source, size);
    cpu::flush_device();
  }
}

void Copier::load_more(void* host, const void* device, std::size_t size) const noexcept {
  auto* target = static_cast<char*>(host);
  const auto* source = static_cast<const char*>(device);
  if (size == 0) return;
  if (type == MappingType::write_combining) [[likely]] {
    const std::size_t piece_bytes = piece_around(address_of(source), size);
    if (piece_bytes <= widest_load_bytes) {
      load_enclosing_piece(target, source, size, piece_bytes);
    } else if (!streaming_loads) {
      copy_words_and_lines<load_words_out_of_line>(load_lines, target, source, address_of(source), size);
    } else {
      // order_before_load() assumes that a short copy is not streamed.
      if (size <= line_bytes) cpu::order_before_streaming_loads();
      load_enclosing_lines(load_lines, target, source, size);
    }
  } else if (type == MappingType::cached) {
    if (is_flag(device, size)) {
      load_word(host, device, size);
      cpu::order_after_cached_loads();
    } else {
      std::memcpy(host, device, size);
    }
  } else {
    load_words_out_of_line(target, source, size);
    cpu::order_after_device_loads();
  }
}

}  // namespace gdrkit::copy
