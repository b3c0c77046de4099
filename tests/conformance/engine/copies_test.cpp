// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Requirements of one copy by any engine: every byte of the range, no adjacent byte, fresh data, rejections.
#include <algorithm>
#include <thread>

#include "engine_conformance.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {
namespace {

using engine::Direction;
using engine::HostMemory;

constexpr std::size_t margin = 64;

class EngineCopies : public OnEngine {
 protected:
  /// Sizes at and around the thresholds of every engine, up to the limit of this one.
  std::vector<std::size_t> sizes(HostMemory kind) {
    std::vector<std::size_t> chosen;
    for (const std::size_t size :
         {1ul, 3ul, 15ul, 16ul, 64ul, 100ul, 4096ul, 8191ul, 65536ul, 262145ul, 1500001ul, 4194304ul, 4500000ul}) {
      if (size <= limit(kind)) chosen.push_back(size);
    }
    return chosen;
  }

  void copy_from_device(HostMemory kind, std::size_t device_offset, std::size_t host_offset, std::size_t size,
                        unsigned seed) {
    const std::vector<std::uint8_t> bytes = make_pattern(size, seed);
    put(device_offset, bytes);
    char* const target = host(kind, host_offset);
    std::memset(target - margin, 0x5a, size + 2 * margin);
    base::Status moved = run(copy(Direction::from_device, kind, device_offset, host_offset, size));
    if (!moved && moved.error().errno_value == EOPNOTSUPP) return;  // rejects this alignment
    ASSERT_TRUE(succeeded(moved));
    EXPECT_EQ(std::memcmp(target, bytes.data(), size), 0);
    EXPECT_EQ(std::count(target - margin, target, 0x5a), static_cast<long>(margin));
    EXPECT_EQ(std::count(target + size, target + size + margin, 0x5a), static_cast<long>(margin));
  }

  void copy_to_device(HostMemory kind, std::size_t device_offset, std::size_t host_offset, std::size_t size,
                      unsigned seed) {
    put(device_offset - margin, std::vector<std::uint8_t>(size + 2 * margin, 0x5a));
    const std::vector<std::uint8_t> bytes = make_pattern(size, seed);
    std::memcpy(host(kind, host_offset), bytes.data(), size);
    base::Status moved = run(copy(Direction::to_device, kind, device_offset, host_offset, size));
    if (!moved && moved.error().errno_value == EOPNOTSUPP) return;
    ASSERT_TRUE(succeeded(moved));
    const std::vector<std::uint8_t> there = get(device_offset - margin, size + 2 * margin);
    EXPECT_EQ(std::memcmp(there.data() + margin, bytes.data(), size), 0);
    EXPECT_EQ(std::count(there.begin(), there.begin() + margin, 0x5a), static_cast<long>(margin));
    EXPECT_EQ(std::count(there.end() - margin, there.end(), 0x5a), static_cast<long>(margin));
  }

  /// Calls copy(kind, device offset, host offset, size, seed) for every size and alignment.
  template <class Copy>
  void for_each_case(Copy copy) {
    unsigned seed = 0;
    for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
      for (const std::size_t size : sizes(kind)) {
        for (const auto& [device, host] : {std::pair{4096ul, 4096ul}, {4099, 4099}, {4096, 4103}, {4107, 4096}}) {
          SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << " size " << size << " device "
                                          << device << " host " << host);
          ASSERT_NO_FATAL_FAILURE(copy(kind, device, host, size, ++seed));
        }
      }
    }
  }
};

TEST_P(EngineCopies, CopyEverySizeAndAlignmentFromDevice) {
  for_each_case([&](auto... arguments) { copy_from_device(arguments...); });
}

TEST_P(EngineCopies, CopyEverySizeAndAlignmentToDevice) {
  for_each_case([&](auto... arguments) { copy_to_device(arguments...); });
}

TEST_P(EngineCopies, MoreThanTheLimitIsRejected) {
  for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
    if (limit(kind) > engine_test_bytes) continue;
    EXPECT_TRUE(failed(engine->submit(copy(Direction::from_device, kind, 0, 0, limit(kind) + 1)), EINVAL));
  }
}

TEST_P(EngineCopies, ReadEarlierStoresOfTheCpu) {
  for (unsigned round = 0; round < 200; ++round) {
    const std::vector<std::uint8_t> bytes = make_pattern(4096, round);
    copier.to_device(mapped, bytes.data(), bytes.size());
    ASSERT_TRUE(succeeded(run(copy(Direction::from_device, HostMemory::pinned, 0, 0, bytes.size()))));
    ASSERT_EQ(std::memcmp(host(HostMemory::pinned), bytes.data(), bytes.size()), 0) << round;
    std::memset(host(HostMemory::pinned), static_cast<int>(round), bytes.size());
    ASSERT_TRUE(succeeded(run(copy(Direction::to_device, HostMemory::pinned, 0, 0, bytes.size()))));
    std::vector<std::uint8_t> seen(bytes.size());
    copier.from_device(seen.data(), mapped, seen.size());
    ASSERT_EQ(seen, std::vector<std::uint8_t>(bytes.size(), static_cast<std::uint8_t>(round))) << round;
  }
}

TEST_P(EngineCopies, WorkAfterAPause) {
  for (unsigned round = 0; round < 3; ++round) {
    ASSERT_NO_FATAL_FAILURE(copy_from_device(HostMemory::pinned, 4096, 4096, 32768, round));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

GDRKIT_FOR_EACH_ENGINE(EngineCopies);

}  // namespace
}  // namespace gdrkit::tests
