// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every call to the system and to CUDA fails once, in every way that it can fail: everything is released, no unverified
// mapping is returned, and the error has a text.
#include "fakes/fault_injection.hpp"

#include <tuple>

#include "lib/backend/rm/rm_flow.hpp"

namespace gdrkit::backend::rm {
namespace {

struct NamedFault {
  const char* name;
  fakes::Fault fault;
};

constexpr NamedFault faults[] = {
    {"Enomem", {ENOMEM, 0, 0}},        {"Eio", {EIO, 0, 0}},
    {"Emfile", {EMFILE, 0, 0}},        {"Einval", {EINVAL, 0, 0}},
    {"StatusNoMemory", {0, 0x51, 0}},  {"StatusPermissions", {0, 0x1b, 0}},
    {"StatusGpuIsLost", {0, 0x0f, 0}}, {"StatusNotSupported", {0, 0x56, 0}},
    {"CudaOutOfMemory", {0, 0, 2}},    {"CudaInvalidValue", {0, 0, 1}},
    {"CudaUnknown", {0, 0, 999}},
};

class RmFault : public ::testing::TestWithParam<std::tuple<RmFlow, NamedFault>> {};

void expect_sane(const FlowEnd& end, RmMachine& machine, const std::string& what) {
  EXPECT_TRUE(is_clean(machine)) << what;
  if (end.failed_step == nullptr) {
    EXPECT_TRUE(end.shows_the_memory) << what;
    return;
  }
  EXPECT_GT(end.error.errno_value, 0) << what;
  EXPECT_LT(end.error.errno_value, 4096) << what;
  EXPECT_STRNE(end.error.text(), "") << what << ": " << end.failed_step << " failed without a word";
}

TEST_P(RmFault, ReleasesEverythingIfAnyCallFails) {
  const auto& [flow, named] = GetParam();
  int reached = 0;
  for (int call = 0;; ++call) {
    RmMachine machine;
    std::uint64_t address = 0;
    std::size_t size_bytes = 0;
    flow.prepare(machine, &address, &size_bytes);
    const auto content = machine.cuda.read(address, size_bytes);
    fakes::FaultPlan plan;
    plan.fail_call(call, named.fault);
    fakes::FaultySystem system(machine.rm, plan);
    fakes::FaultyCuda cuda(machine.cuda, plan);
    const FlowEnd end = run_flow(system, cuda, machine.settings, address, size_bytes, content);
    const bool was_reached = plan.was_reached();
    const std::string what = "call " + std::to_string(call) + " (" + plan.failed_call() + ") failed";
    expect_sane(end, machine, what);
    EXPECT_EQ(machine.cuda.read(address, size_bytes), content) << what;
    if (!was_reached) {
      EXPECT_EQ(end.failed_step, nullptr) << end.error.text();
      break;
    }
    ++reached;
    plan.stop();
    const FlowEnd again = run_flow(system, cuda, machine.settings, address, size_bytes, content);
    EXPECT_EQ(again.failed_step, nullptr) << what << ", and it did not work afterwards: " << again.error.text();
    if (HasFailure()) break;
  }
  EXPECT_GT(reached, 5) << "the plan does not reach this flow's calls";
}

TEST_P(RmFault, LeavesTheBackendUsable) {
  const auto& [flow, named] = GetParam();
  for (int call = 0;; ++call) {
    RmMachine machine;
    std::uint64_t address = 0;
    std::size_t size_bytes = 0;
    flow.prepare(machine, &address, &size_bytes);
    const auto content = machine.cuda.read(address, size_bytes);
    fakes::FaultPlan plan;
    fakes::FaultySystem system(machine.rm, plan);
    fakes::FaultyCuda cuda(machine.cuda, plan);
    {
      auto backend = open_rm_on(system, cuda, machine.settings);
      ASSERT_TRUE(backend) << backend.error().text();
      plan.fail_call(call, named.fault);
      if (auto pin = (*backend)->pin({address, size_bytes, false, true})) {
        if ((*pin)->map((*pin)->page_bytes(), MappingType::none)) (void)(*pin)->unmap();
      }
      plan.stop();
      auto pin = pin_or_fail(**backend, address, size_bytes);
      ASSERT_NE(pin, nullptr) << "after call " << call << " (" << plan.failed_call() << ") failed";
      const MappedRegion region = map_or_fail(*pin);
      ASSERT_NE(region.address, nullptr) << "after call " << call << " (" << plan.failed_call() << ") failed";
      EXPECT_EQ(std::memcmp(own_byte(*pin, region, address), content.data(), size_bytes), 0);
    }
    EXPECT_TRUE(is_clean(machine)) << "after call " << call << " (" << plan.failed_call() << ") failed";
    if (!plan.was_reached() || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Rm, RmFault, ::testing::Combine(::testing::ValuesIn(rm_flows), ::testing::ValuesIn(faults)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + std::get<1>(tested.param).name;
                         });

class RmStuckMapping : public ::testing::TestWithParam<RmFlow> {};

TEST_P(RmStuckMapping, KeepsMappingsThatCannotBeUnmapped) {
  RmMachine machine;
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
  GetParam().prepare(machine, &address, &size_bytes);
  const auto content = machine.cuda.read(address, size_bytes);
  const auto memory = machine.cuda.memory_at(address);
  fakes::FaultPlan plan;
  plan.fail_every("munmap", {ENOMEM, 0, 0});
  fakes::FaultySystem system(machine.rm, plan);
  fakes::FaultyCuda cuda(machine.cuda, plan);
  const FlowEnd end = run_flow(system, cuda, machine.settings, address, size_bytes, content);
  EXPECT_STREQ(end.failed_step, "unmap");
  machine.cuda.free(address);
  // The pages still show the memory, so it must not become anybody else's: no object freed, no file closed.
  EXPECT_TRUE(is_lawful(machine));
  EXPECT_FALSE(memory.expired());
  EXPECT_GT(machine.rm.census().vmas, 0u);
}

INSTANTIATE_TEST_SUITE_P(Rm, RmStuckMapping, ::testing::ValuesIn(rm_flows),
                         [](const auto& tested) { return tested.param.name; });

class RmOutOfMemory : public ::testing::TestWithParam<RmFlow> {};

TEST_P(RmOutOfMemory, ReleasesEverythingIfAnyAllocationFails) {
  int reached = 0;
  for (int allocation = 0;; ++allocation) {
    RmMachine machine;
    std::uint64_t address = 0;
    std::size_t size_bytes = 0;
    GetParam().prepare(machine, &address, &size_bytes);
    const auto content = machine.cuda.read(address, size_bytes);
    fakes::FaultPlan plan;
    fakes::FaultySystem system(machine.rm, plan);
    fakes::FaultyCuda cuda(machine.cuda, plan);
    fakes::allocation_faults = {allocation, 0, false};
    const FlowEnd end = run_flow(system, cuda, machine.settings, address, size_bytes, content);
    const bool was_reached = fakes::allocation_faults.was_reached;
    fakes::allocation_faults = {};
    expect_sane(end, machine, "allocation " + std::to_string(allocation) + " failed");
    if (!was_reached || HasFailure()) break;
    ++reached;
  }
  EXPECT_GT(reached, 3);
}

INSTANTIATE_TEST_SUITE_P(Rm, RmOutOfMemory, ::testing::ValuesIn(rm_flows),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace gdrkit::backend::rm
