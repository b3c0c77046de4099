// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/verifier.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/ordering.hpp"
#include "driver/system.hpp"

#if defined(__x86_64__)
#include <smmintrin.h>

#include "cpu/features.hpp"
#endif

namespace gdrkit::backend {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t rows_at_once = 16;  // the line buffers of one core: more rows would take a second round trip
// CUDA accepts pitches up to 2^31 - 1. The rows of a sample span at most half of that.
constexpr std::uint64_t lines_per_sample = (rows_at_once - 1) * ((std::uint64_t{1} << 30) / line_bytes);
constexpr int attempts = 8;  // a word that toggles may mismatch by chance, but hardly eight times in a row

bool is_all_ones(const std::uint8_t* bytes, std::size_t size) noexcept {
  return std::all_of(bytes, bytes + size, [](std::uint8_t byte) { return byte == 0xff; });
}

/// Whether a row that was read through the mapping, between two reads by CUDA, must be other memory. The row differs
/// from both reads, also in a word that did not change between them. Words that change between the two reads are
/// ignored, because a GPU kernel or another thread may be writing them.
bool contradicts(const std::uint8_t* before, const std::uint8_t* mapping, const std::uint8_t* after,
                 std::size_t width) noexcept {
  if (std::memcmp(mapping, before, width) == 0 || std::memcmp(mapping, after, width) == 0) return false;
  constexpr std::size_t word_bytes = 8;  // written atomically, so a word is either old or new
  for (std::size_t at = 0; at < width; at += word_bytes) {
    const std::size_t size = std::min(word_bytes, width - at);
    const bool is_stable = std::memcmp(before + at, after + at, size) == 0;
    if (is_stable && std::memcmp(mapping + at, before + at, size) != 0) return true;
  }
  return false;
}

void read_bytes(std::uint8_t* target, const volatile std::uint8_t* source, std::size_t width) noexcept {
  std::size_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(source) % 8 == 0) {
    for (; done + 8 <= width; done += 8) {
      const std::uint64_t word = *reinterpret_cast<const volatile std::uint64_t*>(source + done);
      __builtin_memcpy(target + done, &word, sizeof word);
    }
  }
  for (; done < width; ++done) target[done] = source[done];
}

#if defined(__x86_64__)
// The fence makes the following loads fetch again. An earlier read may have left a line in a streaming-load buffer that
// is older than the data in the device (Intel SDM, MOVNTDQA).
[[gnu::target("sse4.1")]] void read_lines(std::uint8_t* target, const volatile std::uint8_t* first, std::size_t pitch,
                                          std::size_t rows) noexcept {
  _mm_mfence();
  for (std::size_t row = 0; row < rows; ++row) {
    auto* source = reinterpret_cast<__m128i*>(const_cast<std::uint8_t*>(first + row * pitch));
    auto* line = reinterpret_cast<__m128i*>(target + row * line_bytes);
    const __m128i a = _mm_stream_load_si128(source);
    const __m128i b = _mm_stream_load_si128(source + 1);
    const __m128i c = _mm_stream_load_si128(source + 2);
    const __m128i d = _mm_stream_load_si128(source + 3);
    _mm_storeu_si128(line, a);
    _mm_storeu_si128(line + 1, b);
    _mm_storeu_si128(line + 2, c);
    _mm_storeu_si128(line + 3, d);
  }
  _mm_lfence();
}
#endif

/// Copies `rows` pieces of `width` bytes (at most 64), which lie `pitch` bytes apart from `first`, contiguously into
/// `target`. Never returns stale data. Uses streaming loads for aligned 64-byte lines if the CPU supports them.
void read_rows(std::uint8_t* target, const volatile std::uint8_t* first, std::size_t pitch, std::size_t width,
               std::size_t rows) noexcept {
#if defined(__x86_64__)
  static const bool has_streaming_loads = cpu::detect().sse41;
  const bool is_aligned = (reinterpret_cast<std::uintptr_t>(first) | pitch) % line_bytes == 0;
  if (has_streaming_loads && width == line_bytes && is_aligned) return read_lines(target, first, pitch, rows);
#endif
  // The following loads return the data that CUDA wrote before it reported completion.
  cpu::order_before_loads();
  for (std::size_t row = 0; row < rows; ++row) read_bytes(target + row * width, first + row * pitch, width);
}

}  // namespace

Verifier::~Verifier() {
  if (stream_ != nullptr) (void)cuda_.stream_destroy(stream_);
}

base::Result<void*> Verifier::stream() noexcept {
  if (stream_ != nullptr) return stream_;
  void* stream = nullptr;
  if (const int result = cuda_.stream_create(&stream, driver::cuda_stream_non_blocking); result != 0) {
    return driver::cuda_failure(result, "cannot verify the mapping: cuStreamCreate");
  }
  return stream_ = stream;
}

base::Status Verifier::compare(std::uint64_t first, std::uint64_t end, const volatile std::uint8_t* mapped) noexcept {
  if (end <= first) return {};
  const std::uint64_t aligned = (first + line_bytes - 1) & ~std::uint64_t{line_bytes - 1};
  if (aligned >= end || end - aligned < line_bytes) {
    const std::size_t width = static_cast<std::size_t>(std::min<std::uint64_t>(end - first, line_bytes));
    return compare_sample({first, mapped, width, width, 1});
  }
  mapped += aligned - first;
  std::uint64_t lines = (end - aligned) / line_bytes;
  for (std::uint64_t at = 0; lines > 0;) {
    const std::uint64_t chunk = std::min(lines, lines_per_sample);
    const std::uint64_t rows = std::min<std::uint64_t>(rows_at_once, chunk);
    const std::uint64_t step = rows > 1 ? (chunk - 1) / (rows - 1) : 1;
    const auto sample = [&](std::uint64_t line, std::uint64_t pitch, std::uint64_t count) {
      return Sample{aligned + line * line_bytes, mapped + line * line_bytes,
                    static_cast<std::size_t>(pitch * line_bytes), line_bytes, static_cast<std::size_t>(count)};
    };
    if (auto spread = compare_sample(sample(at, step, rows)); !spread) return spread;
    if (step * (rows - 1) + 1 < chunk) {
      if (auto last = compare_sample(sample(at + chunk - 1, 1, 1)); !last) return last;
    }
    at += chunk;
    lines -= chunk;
  }
  return {};
}

base::Status Verifier::read_by_cuda(const Sample& sample, std::uint8_t* target) noexcept {
  auto opened = stream();
  if (!opened) return base::pass(opened);
  int result = driver::gather_async(cuda_, target, sample.first, sample.pitch, sample.width, sample.rows, stream_);
  if (result == 0) result = cuda_.stream_synchronize(stream_);
  if (result == 0) return {};
  return driver::cuda_failure(result, "cannot verify the mapping: CUDA cannot read 0x%" PRIx64, sample.first);
}

base::Status Verifier::check_pages(const Sample& sample) noexcept {
  for (std::size_t row = 0; row < sample.rows; ++row) {
    const volatile std::uint8_t* const first = sample.mapped + row * sample.pitch;
    const bool is_in_one_page = (reinterpret_cast<std::uintptr_t>(first) & 4095) + sample.width <= 4096;
    if (driver::can_load_from(first) && (is_in_one_page || driver::can_load_from(first + sample.width - 1))) continue;
    return base::fail(EIO, "cannot use the mapping: the driver did not map the page at 0x%" PRIx64,
                      sample.first + row * sample.pitch);
  }
  return {};
}

base::Status Verifier::compare_sample(const Sample& sample) noexcept {
  if (may_have_holes_) {
    if (auto checked = check_pages(sample); !checked) return checked;
  }
  std::uint8_t by_cuda[rows_at_once * line_bytes];
  std::uint8_t by_mapping[rows_at_once * line_bytes];
  const std::size_t size = sample.width * sample.rows;
  if (auto read = read_by_cuda(sample, by_cuda); !read) return read;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    read_rows(by_mapping, sample.mapped, sample.pitch, sample.width, sample.rows);
    if (std::memcmp(by_cuda, by_mapping, size) == 0) {
      count_distinct_words(by_mapping, size);
      return {};
    }
    std::uint8_t after[rows_at_once * line_bytes];
    if (auto read = read_by_cuda(sample, after); !read) return read;
    bool is_contradicted = false;
    for (std::size_t at = 0; at < size; at += sample.width) {
      is_contradicted = is_contradicted || contradicts(by_cuda + at, by_mapping + at, after + at, sample.width);
    }
    if (!is_contradicted) {
      for (std::size_t at = 0; at < size; at += sample.width) {
        const bool agrees = std::memcmp(by_mapping + at, by_cuda + at, sample.width) == 0 ||
                            std::memcmp(by_mapping + at, after + at, sample.width) == 0;
        if (agrees) count_distinct_words(by_mapping + at, sample.width);
      }
      return {};
    }
    std::memcpy(by_cuda, after, size);
  }
  if (is_all_ones(by_mapping, size)) {
    return base::fail(
        ENODEV,
        "cannot use the mapping of 0x%" PRIx64
        ": the GPU is lost or BAR1 is disabled (the CPU reads 0xff in every byte, but CUDA reads other data)",
        sample.first);
  }
  return base::fail(EIO, "cannot use the mapping of 0x%" PRIx64 ": the CPU and CUDA read different data", sample.first);
}

void Verifier::count_distinct_words(const std::uint8_t* bytes, std::size_t size) noexcept {
  for (std::size_t at = 0; at + 8 <= size && distinct_words_ < required_words; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    const std::uint64_t repeated = (word & 0xff) * 0x0101010101010101u;
    std::uint64_t* end = seen_words_ + distinct_words_;
    if (word == repeated || std::find(seen_words_, end, word) != end) continue;
    seen_words_[distinct_words_++] = word;
  }
}

}  // namespace gdrkit::backend
