// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BackendConformance: one backend of backends.def and the device whose memory it serves, with the test as application.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "shim/device.hpp"
#include "support/device_access.hpp"
#include "support/process_resources.hpp"

namespace gdrkit::backend {

/// A pinned and mapped range.
struct MappedRange {
  std::unique_ptr<BackendPin> pin;
  MappedRegion region;
  std::uint8_t* user = nullptr;  ///< CPU address of the range's own first byte
};

/// The parameter is the backend's name. Skips where the backend cannot run, with its reason.
class BackendConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  [[nodiscard]] base::Result<std::unique_ptr<Backend>> open_backend() const;

  /// nullptr after a test failure that says why not.
  [[nodiscard]] std::unique_ptr<BackendPin> pin(std::uint64_t address, std::size_t size_bytes);
  /// Maps the pin's pages up to the end of the range. `user` is nullptr after a test failure that says why not.
  [[nodiscard]] MappedRange pin_and_map(std::uint64_t address, std::size_t size_bytes);
  [[nodiscard]] static MappedRange map(std::unique_ptr<BackendPin> pinned, std::uint64_t address,
                                       std::size_t size_bytes);

  /// Memory filled with a pattern; empty (address 0) after a test failure that says why.
  [[nodiscard]] shim::Allocation allocate(shim::AllocationKind kind, std::size_t size_bytes);
  /// false where this device has no such memory at all (a driver without memory pools, say).
  [[nodiscard]] bool has_kind(shim::AllocationKind kind);
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

  // In this order: memory and pins of a test end before the backend, the backend before the device.
  std::unique_ptr<shim::Device> device_;
  std::unique_ptr<Backend> backend_;
};

/// The kinds that every backend is asked to serve.
inline constexpr shim::AllocationKind served_kinds[] = {shim::AllocationKind::cuda_malloc, shim::AllocationKind::vmm,
                                                        shim::AllocationKind::vmm_exportable,
                                                        shim::AllocationKind::pool};

[[nodiscard]] std::vector<std::string> backend_names();
/// The resource whose absence excuses a skip of this backend, in the words of GDRKIT_REQUIRE.
[[nodiscard]] std::string resource_of(const std::string& backend_name);
[[nodiscard]] base::Result<std::unique_ptr<shim::Device>> open_device_for(const std::string& backend_name);

}  // namespace gdrkit::backend
