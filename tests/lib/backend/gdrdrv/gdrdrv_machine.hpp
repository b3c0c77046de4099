// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrdrvMachine: a machine with a gdrdrv kernel module and an emulated device. Its destructor checks that all resources
// were released.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/gdrdrv/gdrdrv_backend.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/fake_gdrdrv.hpp"
#include "fakes/fault_injection.hpp"
#include "lib/backend/or_fail.hpp"
#include "platform/device/device.hpp"
#include "support/device_access.hpp"

namespace gdrkit::backend::gdrdrv {

inline constexpr std::size_t gpu_page = 65536;

class GdrdrvMachine;
[[nodiscard]] ::testing::AssertionResult is_clean(GdrdrvMachine& machine);

/// Declare it before the backends and pins that use it.
class GdrdrvMachine {
 public:
  explicit GdrdrvMachine(fakes::GdrdrvModel model = {}) : module(std::move(model)) {
    device = tests::value_or_throw(platform::open_emulated_device(0));
  }
  ~GdrdrvMachine() {
    if (leaks_on_purpose) return;
    EXPECT_TRUE(is_clean(*this));
  }
  GdrdrvMachine(const GdrdrvMachine&) = delete;
  GdrdrvMachine& operator=(const GdrdrvMachine&) = delete;

  base::Result<std::unique_ptr<Backend>> open() { return open_gdrdrv_on(system, &cuda.calls()); }

  /// Allocates device memory and fills it with a pattern.
  platform::Allocation allocate(std::size_t size_bytes) {
    auto memory = tests::value_or_throw(device->allocate(platform::AllocationKind::cuda_malloc, size_bytes));
    const auto pattern = tests::make_pattern(size_bytes, 1);
    EXPECT_TRUE(device->copy_to_device(memory.address(), pattern.data(), pattern.size()));
    return memory;
  }

  std::unique_ptr<platform::Device> device;
  fakes::FakeGdrdrv module;
  fakes::FaultPlan plan;  ///< which calls of the backend fail
  fakes::FaultySystem system{module, plan};
  fakes::FaultyCuda cuda{fakes::emulated_cuda(), plan};
  bool leaks_on_purpose = false;
};

/// With one pin of an allocation.
struct PinnedMachine : GdrdrvMachine {
  explicit PinnedMachine(fakes::GdrdrvModel model = {}, std::size_t size_bytes = gpu_page)
      : GdrdrvMachine(std::move(model)), memory(allocate(size_bytes)) {
    backend = open_or_fail(*this);
    pin = pin_or_fail(*backend, memory.address(), size_bytes);
  }

  platform::Allocation memory;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<BackendPin> pin;
};

/// Succeeds if all resources were released and no rule of the module was violated.
inline ::testing::AssertionResult is_clean(GdrdrvMachine& machine) {
  const fakes::GdrdrvCensus left = machine.module.census();
  const auto violations = machine.module.violations().list();
  if (left == fakes::GdrdrvCensus() && violations.empty()) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure();
  result << left.descriptors << " descriptors, " << left.pins << " pins, " << left.vmas << " mapped ranges left; ";
  for (const std::string& violation : violations) result << violation << "; ";
  return result;
}

inline constexpr std::uint32_t all_versions[] = {0x0002'0000, 0x0002'0001, 0x0002'0002, 0x0002'0003,
                                                 0x0002'0004, 0x0002'0005, 0x0002'0006};

/// The module of a version. Since 2.5 it is persistent by default.
inline fakes::GdrdrvModel model_of(std::uint32_t version) {
  fakes::GdrdrvModel model;
  model.version = version;
  model.is_persistent = version >= 0x0002'0005;
  return model;
}

}  // namespace gdrkit::backend::gdrdrv
