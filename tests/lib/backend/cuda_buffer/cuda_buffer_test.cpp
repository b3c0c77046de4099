// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Buffers on the fake of CUDA: their context, released resources, and a fault in every call.
#include "backend/cuda_buffer.hpp"

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "fakes/allocation_faults.hpp"
#include "fakes/fault_injection.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

using fakes::mib;
using rm::RmMachine;
using ::testing::HasSubstr;

constexpr std::size_t size = 100'001;

/// Allocates, copies in both directions and frees; every call must succeed.
void expect_works(const driver::CudaCalls& cuda, int device) {
  auto buffer = tests::value_or_throw(allocate_cuda_buffer(cuda, device, size));
  EXPECT_EQ(buffer->size_bytes(), size);
  const auto source = fakes::distinct_words(4096, 7);
  std::vector<std::uint8_t> target(4096);
  EXPECT_TRUE(tests::succeeded(buffer->copy_from_host(size - 4096, source.data(), 4096)));
  EXPECT_TRUE(tests::succeeded(buffer->copy_to_host(size - 4096, target.data(), 4096)));
  EXPECT_EQ(target, source);
  EXPECT_TRUE(tests::succeeded(buffer->free()));
}

TEST(CudaBuffer, InitializesCudaAndCreatesAContextIfNecessary) {
  RmMachine machine(RmMachine::Options{.is_initialised = false});
  expect_works(machine.cuda, 0);
  EXPECT_EQ(machine.cuda.contexts_created(), 1u);
  EXPECT_EQ(machine.cuda.threads().depth(), 0u);
}

TEST(CudaBuffer, UsesThePrimaryContextOfTheApplication) {
  RmMachine machine;
  expect_works(machine.cuda, 0);
  EXPECT_EQ(machine.cuda.contexts_created(), 0u);
  EXPECT_EQ(machine.cuda.threads().current(), machine.cuda.primary(0));
}

TEST(CudaBuffer, DoesNotChangeTheContextOfTheThread) {
  RmMachine machine(fakes::driver_model("580.159.04"), 2, {.gpus = {1, 0}});
  const std::uint64_t own = machine.cuda.make_context(0);
  machine.cuda.threads().push(own);
  for (const int device : {0, 1}) {
    auto buffer = tests::value_or_throw(allocate_cuda_buffer(machine.cuda, device, size));
    driver::PointerAttributes attributes;
    ASSERT_EQ(driver::pointer_attributes(machine.cuda, buffer->address(), &attributes), 0);
    EXPECT_EQ(attributes.device_ordinal, device);
    EXPECT_EQ(machine.cuda.threads().current(), own);
    buffer.reset();
    expect_works(machine.cuda, device);
    EXPECT_EQ(machine.cuda.threads().current(), own);
    std::thread([&] {
      expect_works(machine.cuda, device);
      EXPECT_EQ(machine.cuda.threads().depth(), 0u);
    }).join();
  }
  EXPECT_TRUE(machine.cuda.threads().pop());
}

TEST(CudaBuffer, KeepsAStreamCaptureValid) {
  for (const auto mode : {fakes::CaptureMode::global, fakes::CaptureMode::thread_local_only}) {
    RmMachine machine;
    machine.cuda.threads().begin_capture(mode);
    expect_works(machine.cuda, 0);
    EXPECT_TRUE(machine.cuda.threads().end_capture());
  }
}

TEST(CudaBuffer, RejectsInvalidDevicesAndSizes) {
  RmMachine machine;
  for (const int device : {-1, 1, 4096}) {
    EXPECT_TRUE(tests::failed(allocate_cuda_buffer(machine.cuda, device, size), ENODEV,
                              HasSubstr("device " + std::to_string(device))));
  }
  EXPECT_TRUE(tests::failed(allocate_cuda_buffer(machine.cuda, 0, std::size_t{1} << 45), ENOMEM,
                            HasSubstr("35184372088832 bytes")));
  fakes::FaultPlan plan;
  plan.fail_every("mem_alloc", {0, 0, 1});  // some drivers return "invalid value" for such a size
  fakes::FaultyCuda cuda(machine.cuda, plan);
  EXPECT_TRUE(tests::failed(allocate_cuda_buffer(cuda, 0, SIZE_MAX), ENOMEM));
}

TEST(CudaBuffer, CallsNothingAfterAbandonAfterFork) {
  RmMachine machine;
  machine.leaks_on_purpose = true;
  auto buffer = allocate_cuda_buffer(machine.cuda, 0, size);
  ASSERT_TRUE(buffer);
  fakes::FaultPlan plan;
  fakes::FaultyCuda counted(machine.cuda, plan);
  auto abandoned = tests::value_or_throw(allocate_cuda_buffer(counted, 0, size));
  const int calls = plan.calls();
  abandoned->abandon_after_fork();
  abandoned.reset();
  EXPECT_EQ(plan.calls(), calls);
}

TEST(CudaBuffer, ReleasesEverythingWhicheverCallFails) {
  for (int call = 0;; ++call) {
    RmMachine machine(RmMachine::Options{.is_initialised = call % 2 == 0});
    fakes::FaultPlan plan;
    plan.fail_call(call, {0, 0, 999});
    fakes::FaultyCuda cuda(machine.cuda, plan);
    std::vector<std::uint8_t> bytes(64);
    bool has_failed = false;
    const auto expect_reported = [&](const base::Error& error) {
      has_failed = true;
      EXPECT_EQ(error.errno_value, EIO);
      EXPECT_EQ(error.vendor_code, 999);
      EXPECT_THAT(error.text(), HasSubstr("CUDA_ERROR_UNKNOWN"));
    };
    if (auto buffer = allocate_cuda_buffer(cuda, 0, size); !buffer) {
      expect_reported(buffer.error());
    } else {
      if (auto copied = (*buffer)->copy_from_host(0, bytes.data(), 64); !copied) expect_reported(copied.error());
      if (auto copied = (*buffer)->copy_to_host(0, bytes.data(), 64); !copied) expect_reported(copied.error());
      if (auto freed = (*buffer)->free(); !freed) expect_reported(freed.error());
    }
    EXPECT_TRUE(rm::is_clean(machine)) << "call " << call << " (" << plan.failed_call() << ") failed";
    if (!plan.was_reached()) {
      EXPECT_FALSE(has_failed);
      EXPECT_GT(call, 20) << "the plan must reach the calls";
      break;
    }
  }
}

TEST(CudaBuffer, ReportsThatMemoryIsExhausted) {
  RmMachine machine;
  fakes::allocation_faults = {0, 0, false};
  const auto rejected = allocate_cuda_buffer(machine.cuda, 0, size);
  fakes::allocation_faults = {};
  EXPECT_TRUE(tests::failed(rejected, ENOMEM));
}

}  // namespace
}  // namespace gdrkit::backend
