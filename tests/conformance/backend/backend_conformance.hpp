// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BackendConformance: one backend of backends.def and a device whose memory it supports. The test acts as the
// application.
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
  std::uint8_t* user;  ///< CPU address of the range's own first byte
};

/// A backend under test, and a device whose memory it supports.
struct Candidate {
  std::string name;      ///< of the test's parameter: letters, digits, underscores
  std::string backend;   ///< as in backends.def
  std::string resource;  ///< a skip is allowed without this resource, see GDRKIT_REQUIRE; "": never
  std::function<base::Result<std::unique_ptr<Backend>>()> open;
  std::function<base::Result<std::unique_ptr<platform::Device>>()> open_device;
  std::vector<platform::AllocationKind> unserved = {};  ///< kinds of memory that the backend does not support by design
};

/// Defined by the program: all of backends.def, or one backend on a fake in each of the fake's configurations.
[[nodiscard]] std::vector<Candidate> candidates();

/// The parameter is a candidate's name. Skips with the backend's reason if it cannot run.
class BackendConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  [[nodiscard]] base::Result<std::unique_ptr<Backend>> open_backend() const { return candidate_.open(); }

  // These steps must succeed: an error throws its text, which fails the test.
  [[nodiscard]] std::unique_ptr<BackendPin> pin(std::uint64_t address, std::size_t size_bytes);
  /// Maps the pin's pages up to the end of the range.
  [[nodiscard]] MappedRange pin_and_map(std::uint64_t address, std::size_t size_bytes);
  [[nodiscard]] static MappedRange map(std::unique_ptr<BackendPin> pinned, std::uint64_t address,
                                       std::size_t size_bytes);

  /// Memory filled with a pattern.
  [[nodiscard]] platform::Allocation allocate(platform::AllocationKind kind, std::size_t size_bytes);
  /// Returns false if this device lacks such memory (for example, a driver without memory pools), or the backend does
  /// not support it.
  [[nodiscard]] bool has_kind(platform::AllocationKind kind);
  /// Returns the kinds of memory that every backend must support, without those that this device or this backend lacks.
  [[nodiscard]] std::vector<platform::AllocationKind> served_kinds();
  void fill(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t address, std::size_t size_bytes);

  /// Checks that the whole of `address` contains `expected`, as the device reads it.
  void expect_on_device(std::uint64_t address, const std::vector<std::uint8_t>& expected);
  static void expect_in_mapping(const void* mapping, const std::vector<std::uint8_t>& expected);

  /// Runs `body` a few times as a warm-up, then counts resources before and after more rounds. The counts must be
  /// equal.
  template <class Body>
  void expect_nothing_left_by(Body body) {
    for (int round = 0; round < 3; ++round) body();
    const auto before = tests::count_process_resources();
    constexpr std::size_t rounds = 16;
    for (std::size_t round = 0; round < rounds; ++round) body();
    const auto after = tests::count_process_resources();
    EXPECT_EQ(after, before);
    EXPECT_LT(after.mappings, before.mappings + rounds) << "leaks about one mapping per round";
  }

  [[nodiscard]] std::uint64_t page_bytes() const { return backend_->traits().page_size_bytes; }
  [[nodiscard]] std::uint64_t page_down(std::uint64_t address) const { return address & ~(page_bytes() - 1); }
  [[nodiscard]] std::uint64_t page_up(std::uint64_t address) const { return page_down(address + page_bytes() - 1); }

  Candidate candidate_;
  // Destruction order: memory and pins of a test, then the backend, then the device.
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace gdrkit::backend
