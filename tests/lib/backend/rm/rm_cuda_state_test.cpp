// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins and maps in every state of CUDA: captures, missing contexts, several GPUs in any order.
#include <gmock/gmock.h>

#include <thread>

#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using fakes::CaptureMode;
using ::testing::HasSubstr;

struct CaptureCase {
  const char* name;
  CaptureMode mode;
  bool is_own_thread;
  bool is_plain;
};

class RmDuringCapture : public ::testing::TestWithParam<CaptureCase> {};

TEST_P(RmDuringCapture, KeepsTheCaptureValid) {
  const CaptureCase& tested = GetParam();
  RmMachine machine;
  const std::uint64_t address = machine.cuda.malloc(256 * kib);
  if (!tested.is_plain) machine.cuda.fill_pattern(address, 256 * kib);
  auto backend = open_or_fail(machine);
  machine.cuda.threads().begin_capture(tested.mode);
  if (tested.is_own_thread) {
    expect_works(machine, *backend, address, 256 * kib);
  } else {
    std::thread([&] { expect_works(machine, *backend, address, 256 * kib); }).join();
  }
  EXPECT_TRUE(machine.cuda.threads().end_capture());
}

INSTANTIATE_TEST_SUITE_P(Rm, RmDuringCapture,
                         ::testing::Values(CaptureCase{"GlobalOwnThread", CaptureMode::global, true, false},
                                           CaptureCase{"GlobalOtherThread", CaptureMode::global, false, false},
                                           CaptureCase{"GlobalOwnThreadPlain", CaptureMode::global, true, true},
                                           CaptureCase{"GlobalOtherThreadPlain", CaptureMode::global, false, true},
                                           CaptureCase{"ThreadLocalOwnThread", CaptureMode::thread_local_only, true,
                                                       true},
                                           CaptureCase{"RelaxedOwnThread", CaptureMode::relaxed, true, true}),
                         [](const auto& tested) { return tested.param.name; });

TEST(RmCudaState, RestoresAThreadLocalCaptureMode) {
  RmMachine machine;
  const std::uint64_t address = machine.cuda.malloc(256 * kib);
  auto backend = open_or_fail(machine);
  (void)machine.cuda.threads().exchange_mode(CaptureMode::thread_local_only);
  expect_works(machine, *backend, address, 256 * kib);
  EXPECT_EQ(machine.cuda.threads().exchange_mode(CaptureMode::global), CaptureMode::thread_local_only);
}

TEST(RmCudaState, WorksOnAThreadWithoutAContext) {
  RmMachine machine;
  const std::uint64_t blocks[] = {machine.cuda.malloc(256 * kib), machine.cuda.vmm({2 * mib}, false),
                                  machine.cuda.pool_malloc(256 * kib)};
  {
    auto backend = open_or_fail(machine);
    std::thread([&] {
      for (const std::uint64_t address : blocks) expect_works(machine, *backend, address, 256 * kib);
      EXPECT_EQ(machine.cuda.threads().depth(), 0u);
    }).join();
  }
  EXPECT_EQ(machine.cuda.contexts_created(), 0u);
}

TEST(RmCudaState, MapsMemoryOfAnotherContext) {
  RmMachine machine;
  const std::uint64_t address = machine.allocate(256 * kib);
  const std::uint64_t other = machine.cuda.make_context(0);
  machine.cuda.threads().push(other);
  {
    auto backend = open_or_fail(machine);
    expect_works(machine, *backend, address, 256 * kib);
  }
  EXPECT_EQ(machine.cuda.threads().current(), other);
  EXPECT_TRUE(machine.cuda.threads().pop());
}

TEST(RmCudaState, ReportsADestroyedContext) {
  RmMachine machine;
  const std::uint64_t address = machine.cuda.malloc(256 * kib);
  auto backend = open_or_fail(machine);
  machine.cuda.threads().push(machine.cuda.make_context(0));
  machine.cuda.destroy_context(machine.cuda.primary(0));
  EXPECT_THAT(tests::text_of(backend->pin({address, 4096})), HasSubstr("CONTEXT_IS_DESTROYED"));
  EXPECT_TRUE(machine.cuda.threads().pop());
}

TEST(RmCudaState, UsesTheActivePrimaryContextForMemoryWithoutOne) {
  RmMachine machine;
  const std::uint64_t address = machine.filled(machine.cuda.vmm({2 * mib}, false), 2 * mib);
  EXPECT_EQ(machine.cuda.contexts_created(), 0u);
  {
    auto backend = open_or_fail(machine);
    EXPECT_EQ(machine.cuda.contexts_created(), 0u);
    expect_works(machine, *backend, address, 2 * mib);
  }
  EXPECT_EQ(machine.cuda.contexts_created(), 0u) << "the primary context was active";
}

TEST(RmCudaState, UsesTheGpuThatOwnsThePointerForAllOrdinals) {
  for (const auto& order : {std::vector<unsigned>{0, 1}, std::vector<unsigned>{1, 0}, std::vector<unsigned>{1}}) {
    RmMachine machine(fakes::driver_model("580.159.04"), 2, {.gpus = order});
    auto backend = open_or_fail(machine);
    for (int ordinal = 0; ordinal < static_cast<int>(order.size()); ++ordinal) {
      const std::uint64_t address = machine.cuda.malloc(256 * kib, ordinal);
      machine.cuda.activate_primary(ordinal);
      machine.cuda.fill_pattern(address, 256 * kib, 7);
      auto pin = pin_or_fail(*backend, address, 256 * kib);
      EXPECT_EQ(pin->device(), machine.rm.gpus()[order[static_cast<std::size_t>(ordinal)]].pci());
      pin.reset();
      expect_works(machine, *backend, address, 256 * kib);
    }
  }
}

TEST(RmCudaState, MapsMemoryOfOneGpuWhileAnotherIsCurrent) {
  RmMachine machine(fakes::driver_model("580.159.04"), 2, {.gpus = {0, 1}});
  machine.cuda.activate_primary(1);
  const std::uint64_t blocks[] = {machine.cuda.malloc(256 * kib, 1), machine.cuda.vmm({2 * mib}, true, 0, 1),
                                  machine.cuda.pool_malloc(256 * kib, false, 1)};
  auto backend = open_or_fail(machine);
  for (const std::uint64_t address : blocks) {
    machine.cuda.fill_pattern(address, 256 * kib, 3);
    expect_works(machine, *backend, address, 256 * kib);
  }
}

TEST(RmCudaState, CalibratesEachGpuSeparately) {
  RmMachine machine(fakes::driver_model("580.159.04"), 2, {.gpus = {0, 1}});
  machine.cuda.activate_primary(1);
  auto backend = open_or_fail(machine);
  for (const int ordinal : {0, 1}) {
    const std::uint64_t address = machine.cuda.malloc(256 * kib, ordinal);
    auto pin = pin_or_fail(*backend, address, 256 * kib);
    EXPECT_EQ(map_or_fail(*pin).verification, Verification::calibrated) << "GPU " << ordinal;
  }
}

}  // namespace
}  // namespace gdrkit::backend::rm
