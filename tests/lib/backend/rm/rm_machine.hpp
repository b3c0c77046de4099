// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmMachine: a fake machine with the rm backend. Its destructor checks that all resources were released.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/rm/rm_backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "fakes/fake_cuda.hpp"
#include "fakes/fake_rm.hpp"
#include "fakes/fault_injection.hpp"
#include "fakes/wire.hpp"
#include "lib/backend/or_fail.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {

inline constexpr std::uint64_t kib = 1024;
using fakes::mib;

struct RmMachine;
[[nodiscard]] ::testing::AssertionResult is_clean(RmMachine& machine);

/// By default, one GPU with driver 580.159.04. Declare it before the backends and pins that use it.
struct RmMachine {
  using Options = fakes::FakeCuda::Options;

  explicit RmMachine(const fakes::DriverModel& model = fakes::driver_model("580.159.04"), unsigned gpus = 1,
                     Options options = {})
      : RmMachine(model, make_gpus(gpus), std::move(options)) {}
  explicit RmMachine(Options options, fakes::FakeGpu gpu = fakes::make_gpu(0))
      : RmMachine(fakes::driver_model("580.159.04"), {std::move(gpu)}, std::move(options)) {}

  ~RmMachine() {
    if (leaks_on_purpose) return;
    EXPECT_TRUE(is_clean(*this));
  }
  RmMachine(const RmMachine&) = delete;
  RmMachine& operator=(const RmMachine&) = delete;

  static std::vector<fakes::FakeGpu> make_gpus(unsigned count) {
    std::vector<fakes::FakeGpu> gpus;
    for (unsigned i = 0; i < count; ++i) gpus.push_back(fakes::make_gpu(i));
    return gpus;
  }

  base::Result<std::unique_ptr<Backend>> open() { return open_rm_on(system, faulty_cuda, settings); }
  /// Fills the memory with distinct words and returns its address.
  std::uint64_t filled(std::uint64_t address, std::size_t size_bytes) {
    cuda.fill_pattern(address, size_bytes);
    return address;
  }
  /// Allocates device memory with distinct words.
  std::uint64_t allocate(std::size_t size_bytes) { return filled(cuda.malloc(size_bytes), size_bytes); }

  fakes::FakeRm rm;
  fakes::FakeCuda cuda;
  base::Settings settings;
  fakes::FaultPlan plan;  ///< which calls of the backend fail
  fakes::FaultySystem system{rm, plan};
  fakes::FaultyCuda faulty_cuda{cuda, plan};
  bool leaks_on_purpose = false;

 private:
  RmMachine(const fakes::DriverModel& model, std::vector<fakes::FakeGpu> gpus, Options options)
      : rm(model, std::move(gpus)), cuda(rm, std::move(options)) {}
};

/// Returns a GPU that is connected by NVLink-C2C, as in Grace Hopper.
inline fakes::FakeGpu coherent_gpu() {
  fakes::FakeGpu gpu = fakes::make_gpu(0);
  gpu.is_coherent = true;
  return gpu;
}

/// Succeeds if all resources were released and no rule of the driver was violated.
inline ::testing::AssertionResult is_clean(RmMachine& machine) {
  auto result = ::testing::AssertionFailure();
  const fakes::Census left = machine.rm.census();
  const fakes::CudaCensus cuda = machine.cuda.census();
  if (left.descriptors != 0) result << left.descriptors << " descriptors left; ";
  if (left.rm_clients != 0) result << left.rm_clients << " RM clients left; ";
  if (left.rm_objects != 0) result << left.rm_objects << " RM objects left; ";
  if (left.rm_mappings != 0) result << left.rm_mappings << " RM mappings left; ";
  if (left.vmas != 0) result << left.vmas << " mapped ranges left; ";
  if (cuda.streams != 0) result << cuda.streams << " streams left; ";
  if (cuda.retained_contexts != 0) result << cuda.retained_contexts << " contexts still retained; ";
  if (cuda.allocation_handles != 0) result << cuda.allocation_handles << " allocation handles left; ";
  if (cuda.scratch_allocations != 0) result << cuda.scratch_allocations << " scratch allocations left; ";
  if (cuda.context_depth != 0) result << "a context is still pushed; ";
  if (cuda.is_capture_mode_changed) result << "the thread's capture mode is changed; ";
  const auto violations = machine.rm.violations().list();
  for (const std::string& violation : violations) result << violation << "; ";
  const bool is_nothing_left = left == fakes::Census() && cuda == fakes::CudaCensus() && violations.empty();
  return is_nothing_left ? ::testing::AssertionSuccess() : result;
}

/// Succeeds if no rule of the driver was violated; for use while a backend and pins are open.
inline ::testing::AssertionResult has_no_violations(RmMachine& machine) {
  const auto violations = machine.rm.violations().list();
  if (violations.empty()) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure();
  for (const std::string& violation : violations) result << violation << "; ";
  return result;
}

/// The address of the user's first byte in a mapping of its pin.
inline std::uint8_t* own_byte(const BackendPin& pin, const MappedRegion& region, std::uint64_t address) {
  return static_cast<std::uint8_t*>(region.address) + (address - pin.page_address());
}

/// Pins and maps the range, compares every byte, unmaps and unpins, on the calling thread. Returns what was mapped.
inline MappedRegion expect_works(RmMachine& machine, Backend& backend, std::uint64_t address, std::size_t size_bytes) {
  const auto pin = pin_or_fail(backend, address, size_bytes);
  const MappedRegion region = map_or_fail(*pin);
  const auto content = machine.cuda.read(address, size_bytes);
  EXPECT_EQ(std::memcmp(own_byte(*pin, region, address), content.data(), size_bytes), 0);
  EXPECT_TRUE(pin->unmap());
  EXPECT_TRUE(pin->unpin());
  return region;
}

/// The same on a new backend, with 4 MiB of distinct words.
inline void expect_works(RmMachine& machine) {
  const std::uint64_t address = machine.allocate(4 * mib);
  EXPECT_EQ(expect_works(machine, *open_or_fail(machine), address, 4 * mib).verification, Verification::content);
}

/// A machine with a backend and one pin.
class OnRmMachine : public ::testing::Test {
 protected:
  /// Opens the backend and pins the range.
  void pin(std::uint64_t at, std::size_t size_bytes) {
    address = at;
    backend = open_or_fail(machine);
    pinned = pin_or_fail(*backend, at, size_bytes);
    census = machine.rm.census();
  }
  void expect_map_fails(int errno_value, const ::testing::Matcher<std::string>& text) {
    EXPECT_TRUE(tests::failed(pinned->map(pinned->page_bytes(), MappingType::none), errno_value, text));
    EXPECT_EQ(machine.rm.census(), census) << "a failed map must release its resources";
    EXPECT_TRUE(has_no_violations(machine));
  }

  RmMachine machine;
  std::uint64_t address = 0;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<BackendPin> pinned;
  fakes::Census census;  ///< after the pin
};

}  // namespace gdrkit::backend::rm
