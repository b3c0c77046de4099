// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmMachine: a fake machine with the rm backend on it, and a check for leaks.
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
#include "fakes/wire.hpp"
#include "lib/backend/or_fail.hpp"

namespace gdrkit::backend::rm {

inline constexpr std::uint64_t kib = 1024;
using fakes::mib;

/// One GPU, by default with driver 580.159.04.
struct RmMachine {
  explicit RmMachine(const fakes::DriverModel& model = fakes::driver_model("580.159.04"), unsigned gpus = 1,
                     fakes::FakeCuda::Options options = fakes::FakeCuda::Options())
      : rm(model, make_gpus(gpus)), cuda(rm, std::move(options)) {}

  static std::vector<fakes::FakeGpu> make_gpus(unsigned count) {
    std::vector<fakes::FakeGpu> gpus;
    for (unsigned i = 0; i < count; ++i) gpus.push_back(fakes::make_gpu(i));
    return gpus;
  }

  base::Result<std::unique_ptr<Backend>> open() { return open_rm_on(rm, cuda, settings); }

  fakes::FakeRm rm;
  fakes::FakeCuda cuda;
  base::Settings settings;
};

/// True if nothing is held and no violation occurred.
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

/// As is_clean, while a backend and pins are open: checks only conditions that must always hold.
inline ::testing::AssertionResult is_lawful(RmMachine& machine) {
  const auto violations = machine.rm.violations().list();
  if (violations.empty()) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure();
  for (const std::string& violation : violations) result << violation << "; ";
  return result;
}

/// The first byte of the user's range in a mapping of its pin.
inline std::uint8_t* own_byte(const BackendPin& pin, const MappedRegion& region, std::uint64_t address) {
  return static_cast<std::uint8_t*>(region.address) + (address - pin.page_address());
}

}  // namespace gdrkit::backend::rm
