// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every copy kernel of the list on every mapping type: exact bytes, nothing else written, no read outside the host
// range.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "copy/copier.hpp"
#include "guarded_pages.hpp"

namespace gdrkit::copy {
namespace {

using gdrkit::testing::GuardedPages;

constexpr std::size_t line = 64;
constexpr std::size_t largest = 4096;

/// 0 to 200, then sizes around multiples of 64 in every power of two, and odd ones in between.
std::vector<std::size_t> sample_sizes() {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= 200; ++size) sizes.push_back(size);
  for (std::size_t middle = 256; middle <= largest; middle *= 2) {
    for (const std::size_t size :
         {middle - 65, middle - 64, middle - 1, middle, middle + 1, middle + 63, middle + 200}) {
      if (size <= largest) sizes.push_back(size);
    }
  }
  return sizes;
}

/// Position of the host's bytes in their pages.
enum class HostPlace { at_start, at_end, inside };
struct Host {
  HostPlace place;
  std::size_t offset;
};
constexpr Host host_samples[] = {{HostPlace::at_start, 0}, {HostPlace::at_end, 0},  {HostPlace::inside, 1},
                                 {HostPlace::inside, 8},   {HostPlace::inside, 31}, {HostPlace::inside, 48},
                                 {HostPlace::inside, 63}};

struct Case {
  const KernelInfo* kernel;
  MappingType type;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const MappingType type = info.param.type;
  const char* suffix = type == MappingType::cached ? "_cached" : type == MappingType::device ? "_device" : "_wc";
  return info.param.kernel->name + std::string(suffix);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const KernelInfo& info : kernels()) {
    for (const MappingType type : {MappingType::write_combining, MappingType::cached, MappingType::device}) {
      cases.push_back({&info, type});
    }
  }
  return cases;
}

class CopyKernel : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    // Ordinary memory emulates device memory here.
    const cpu::Features features = cpu::detect();
    if (!GetParam().kernel->runs_on(features)) {
      GTEST_SKIP() << GetParam().kernel->name << " is not supported by this CPU";
    }
    copier_ = choose(features, GetParam().type, GetParam().kernel->name).value();
    std::mt19937 random(12345);
    std::generate(pool_.begin(), pool_.end(), [&] { return static_cast<unsigned char>(random()); });
    refill(device_, device_oracle_);
    refill(host_, host_oracle_);
  }

  /// Returns new bytes for each copy, so that bytes of an earlier one are never correct by chance.
  const unsigned char* next_bytes() {
    salt_ = (salt_ + 61) % 8191;
    return pool_.data() + salt_;
  }

  void refill(const GuardedPages& pages, std::vector<unsigned char>& oracle) {
    const unsigned char* const bytes = next_bytes();
    oracle.assign(bytes, bytes + pages.size());
    std::memcpy(pages.begin(), oracle.data(), pages.size());
  }

  unsigned char* host_start(const Host& host, std::size_t size) const {
    if (host.place == HostPlace::at_end) return host_.end() - size;
    return host_.begin() + host.offset;
  }

  /// Performs one copy, then compares every byte of device and host memory.
  void expect_copy(bool is_write, unsigned char* device, const Host& host_place, std::size_t size) {
    unsigned char* const host = host_start(host_place, size);
    const auto host_offset = static_cast<std::size_t>(host - host_.begin());
    const auto device_offset = static_cast<std::size_t>(device - device_.begin());
    const unsigned char* const bytes = next_bytes();
    if (size != 0) std::memcpy(is_write ? host : device, bytes, size);
    if (size != 0) std::memcpy(host_oracle_.data() + host_offset, bytes, size);
    if (size != 0) std::memcpy(device_oracle_.data() + device_offset, bytes, size);
    if (is_write) {
      copier_.to_device(device, host, size);
    } else {
      copier_.from_device(host, device, size);
    }
    expect_oracles(is_write ? "write" : "read", device_offset, host_offset, size);
  }

  void expect_copies_at_every_offset(bool is_write) {
    for (const std::size_t size : sample_sizes()) {
      for (std::size_t offset = 0; offset < 2 * line; ++offset) {
        // Each half of the host positions is tested at half of the offsets: offsets and positions are independent.
        for (std::size_t i = offset % 2; i < std::size(host_samples); i += 2) {
          ASSERT_NO_FATAL_FAILURE(expect_copy(is_write, device_.begin() + offset, host_samples[i], size));
        }
      }
    }
  }

  void expect_oracles(const char* what, std::size_t device_offset, std::size_t host_offset, std::size_t size) {
    ASSERT_EQ(std::memcmp(device_.begin(), device_oracle_.data(), device_.size()), 0)
        << what << ": device memory, device offset " << device_offset << " host offset " << host_offset << " size "
        << size;
    ASSERT_EQ(std::memcmp(host_.begin(), host_oracle_.data(), host_.size()), 0)
        << what << ": host memory, device offset " << device_offset << " host offset " << host_offset << " size "
        << size;
  }

  Copier copier_;
  GuardedPages device_{2};
  GuardedPages host_{2};
  std::vector<unsigned char> device_oracle_;
  std::vector<unsigned char> host_oracle_;
  std::vector<unsigned char> pool_ = std::vector<unsigned char>(2 * 8192);
  std::size_t salt_ = 0;
};

TEST_P(CopyKernel, WritesExactlyTheRequestedBytesAtEveryOffset) { expect_copies_at_every_offset(true); }
TEST_P(CopyKernel, ReadsExactlyTheRequestedBytesAtEveryOffset) { expect_copies_at_every_offset(false); }

TEST_P(CopyKernel, StaysInsideTheMappingAtItsEnd) {
  for (const std::size_t size : sample_sizes()) {
    for (std::size_t before_end = 0; before_end < line; ++before_end) {
      unsigned char* const device = device_.end() - before_end - size;
      ASSERT_NO_FATAL_FAILURE(expect_copy(true, device, {HostPlace::at_end, 0}, size));
      ASSERT_NO_FATAL_FAILURE(expect_copy(false, device, {HostPlace::at_start, 0}, size));
    }
  }
}

TEST_P(CopyKernel, CopiesMuchMoreThanAPage) {
  constexpr std::size_t pages = 300;
  GuardedPages device(pages);
  std::vector<unsigned char> source(device.size());
  std::mt19937 random(7);
  std::generate(source.begin(), source.end(), [&] { return static_cast<unsigned char>(random()); });
  for (const std::size_t offset : {std::size_t{0}, std::size_t{3}, std::size_t{61}}) {
    for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{63}}) {
      const std::size_t size = device.size() - offset - cut;
      std::memset(device.begin(), 0, device.size());
      copier_.to_device(device.begin() + offset, source.data() + cut, size);
      ASSERT_EQ(std::memcmp(device.begin() + offset, source.data() + cut, size), 0);
      ASSERT_TRUE(std::all_of(device.begin(), device.begin() + offset, [](unsigned char byte) { return byte == 0; }));
      ASSERT_TRUE(std::all_of(device.end() - cut, device.end(), [](unsigned char byte) { return byte == 0; }));
      std::vector<unsigned char> target(size, 0);
      copier_.from_device(target.data(), device.begin() + offset, size);
      ASSERT_EQ(std::memcmp(target.data(), source.data() + cut, size), 0);
    }
  }
}

TEST_P(CopyKernel, SingleLinesAreCopiedAtEveryHostAlignment) {
  const KernelInfo& info = *GetParam().kernel;
  constexpr std::size_t most_lines = 40;
  static_assert(most_lines * line + 2 * line < 2 * GuardedPages::page_bytes);
  for (std::size_t lines = 0; lines <= most_lines; ++lines) {
    for (std::size_t host_offset = 0; host_offset < line; ++host_offset) {
      for (const bool stores : {true, false}) {
        const CopyLines copy_lines = stores ? info.store_lines : info.load_lines;
        if (copy_lines == nullptr) continue;
        refill(device_, device_oracle_);
        refill(host_, host_oracle_);
        unsigned char* const device = device_.begin() + line;
        unsigned char* const host = host_.end() - host_offset - lines * line;
        const auto at_host = static_cast<std::size_t>(host - host_.begin());
        if (stores) {
          std::copy_n(host_oracle_.begin() + static_cast<std::ptrdiff_t>(at_host), lines * line,
                      device_oracle_.begin() + line);
          copy_lines(device, host, lines);
        } else {
          std::copy_n(device_oracle_.begin() + line, lines * line,
                      host_oracle_.begin() + static_cast<std::ptrdiff_t>(at_host));
          copy_lines(host, device, lines);
        }
        ASSERT_NO_FATAL_FAILURE(expect_oracles(stores ? "store_lines" : "load_lines", line, at_host, lines * line));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WholeList, CopyKernel, ::testing::ValuesIn(all_cases()), name_of);

}  // namespace
}  // namespace gdrkit::copy
