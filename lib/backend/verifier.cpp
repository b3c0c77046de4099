// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/verifier.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "backend/line_reader.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t rows_at_once = 16;  // one core's line buffers: more would cost a second round trip
// CUDA takes pitches up to 2^31 - 1; one sample spreads its rows at most half that far apart.
constexpr std::uint64_t lines_per_sample = (rows_at_once - 1) * ((std::uint64_t{1} << 30) / line_bytes);
constexpr int attempts = 8;  // a word that toggles may contradict by chance, but hardly eight times in a row

bool is_all_ones(const std::uint8_t* bytes, std::size_t size) noexcept {
  return std::all_of(bytes, bytes + size, [](std::uint8_t byte) { return byte == 0xff; });
}

/// Whether what the mapping showed between two reads by CUDA cannot be the same memory: bytes that did not change from
/// one to the other differ, in a row that is neither's. Memory that a GPU kernel or another thread is writing changes
/// between any two reads, and proves nothing if it does.
bool contradicts(const std::uint8_t* before, const std::uint8_t* mapping, const std::uint8_t* after,
                 std::size_t width) noexcept {
  if (std::memcmp(mapping, before, width) == 0 || std::memcmp(mapping, after, width) == 0) return false;
  constexpr std::size_t word_bytes = 8;  // written in one piece, so a word is old or new
  for (std::size_t at = 0; at < width; at += word_bytes) {
    const std::size_t size = std::min(word_bytes, width - at);
    const bool is_stable = std::memcmp(before + at, after + at, size) == 0;
    if (is_stable && std::memcmp(mapping + at, before + at, size) != 0) return true;
  }
  return false;
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
    return base::fail(EIO, "cannot use the mapping: the driver left a hole at 0x%" PRIx64,
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
      count_telling_words(by_mapping, size);
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
        if (agrees) count_telling_words(by_mapping + at, sample.width);
      }
      return {};
    }
    std::memcpy(by_cuda, after, size);
  }
  if (is_all_ones(by_mapping, size)) {
    return base::fail(ENODEV,
                      "the mapping of 0x%" PRIx64
                      " reads all ones while CUDA reads data: the GPU is lost or its BAR1 is disabled",
                      sample.first);
  }
  return base::fail(EIO, "the mapping of 0x%" PRIx64 " does not show what CUDA reads there, so it was undone",
                    sample.first);
}

void Verifier::count_telling_words(const std::uint8_t* bytes, std::size_t size) noexcept {
  for (std::size_t at = 0; at + 8 <= size && telling_words_ < words_that_prove; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    const std::uint64_t repeated = (word & 0xff) * 0x0101010101010101u;
    std::uint64_t* end = seen_words_ + telling_words_;
    if (word == repeated || std::find(seen_words_, end, word) != end) continue;
    seen_words_[telling_words_++] = word;
  }
}

}  // namespace gdrkit::backend
