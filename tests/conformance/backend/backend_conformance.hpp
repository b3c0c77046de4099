// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BackendConformance: one backend of backends.def and the device whose memory it serves, with the test as application.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "platform/device/device.hpp"
#include "support/device_access.hpp"
#include "support/process_resources.hpp"

namespace gdrkit::backend {

/// A pinned and mapped range.
struct MappedRange {
  std::unique_ptr<BackendPin> pin;
  MappedRegion region;
  std::uint8_t* user = nullptr;  ///< CPU address of the range's own first byte
};

/// A backend that the suite runs over, and the device whose memory it serves.
struct Candidate {
  std::string name;      ///< of the test's parameter: letters, digits, underscores
  std::string backend;   ///< as in backends.def
  std::string resource;  ///< whose absence excuses a skip, in the words of GDRKIT_REQUIRE; "": none does
  std::function<base::Result<std::unique_ptr<Backend>>()> open;
  std::function<base::Result<std::unique_ptr<platform::Device>>()> open_device;
  std::vector<platform::AllocationKind> unserved =
      {};  ///< kinds of memory that its way to the memory is known not to serve
};

/// Defined by the program: all of backends.def, or one backend on a fake in every shape that the fake can take.
[[nodiscard]] std::vector<Candidate> candidates();

/// The parameter is a candidate's name. Skips where the backend cannot run, with its reason.
class BackendConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  [[nodiscard]] base::Result<std::unique_ptr<Backend>> open_backend() const { return candidate_.open(); }

  /// nullptr after a test failure that says why not.
  [[nodiscard]] std::unique_ptr<BackendPin> pin(std::uint64_t address, std::size_t size_bytes);
  /// Maps the pin's pages up to the end of the range. `user` is nullptr after a test failure that says why not.
  [[nodiscard]] MappedRange pin_and_map(std::uint64_t address, std::size_t size_bytes);
  [[nodiscard]] static MappedRange map(std::unique_ptr<BackendPin> pinned, std::uint64_t address,
                                       std::size_t size_bytes);

  /// Memory filled with a pattern; empty (address 0) after a test failure that says why.
  [[nodiscard]] platform::Allocation allocate(platform::AllocationKind kind, std::size_t size_bytes);
  /// false where this device has no such memory at all (a driver without memory pools, say), or the backend no way to
  /// it.
  [[nodiscard]] bool has_kind(platform::AllocationKind kind);
  void fill(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t address, std::size_t size_bytes);

  /// The whole of `address` holds `expected`, as the device reads it.
  void expect_on_device(std::uint64_t address, const std::vector<std::uint8_t>& expected);
  static void expect_in_mapping(const void* mapping, const std::vector<std::uint8_t>& expected);

  /// Runs `body` a few times for warming up, then counts around more rounds: nothing may be left behind.
  template <class Body>
  void expect_nothing_left_by(Body body) {
    for (int round = 0; round < 3; ++round) body();
    const auto before = tests::count_process_resources();
    constexpr std::size_t rounds = 16;
    for (std::size_t round = 0; round < rounds; ++round) body();
    const auto after = tests::count_process_resources();
    EXPECT_EQ(after, before);
    EXPECT_LT(after.mappings, before.mappings + rounds) << "about one mapping a round is left";
  }

  [[nodiscard]] std::uint64_t page_bytes() const { return backend_->traits().page_size_bytes; }
  [[nodiscard]] std::uint64_t page_down(std::uint64_t address) const { return address & ~(page_bytes() - 1); }
  [[nodiscard]] std::uint64_t page_up(std::uint64_t address) const { return page_down(address + page_bytes() - 1); }

  Candidate candidate_;
  // In this order: memory and pins of a test end before the backend, the backend before the device.
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<Backend> backend_;
};

/// The kinds that every backend is asked to serve.
inline constexpr platform::AllocationKind served_kinds[] = {
    platform::AllocationKind::cuda_malloc, platform::AllocationKind::vmm, platform::AllocationKind::vmm_exportable,
    platform::AllocationKind::pool};

}  // namespace gdrkit::backend
