// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every call to the system and to CUDA fails once, in every way: nothing is left, and the error is one that user space
// has a name for.
#include "fakes/fault_injection.hpp"

#include <tuple>

#include "lib/backend/dmabuf/dmabuf_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::dmabuf {
namespace {

struct NamedFault {
  const char* name;
  fakes::Fault fault;
};

constexpr NamedFault faults[] = {
    {"Enomem", {ENOMEM, 0, 0}},        {"Eio", {EIO, 0, 0}},           {"Einval", {EINVAL, 0, 0}},
    {"Enotsupp", {524, 0, 0}},         {"CudaOutOfMemory", {0, 0, 2}}, {"CudaInvalidValue", {0, 0, 1}},
    {"CudaNotSupported", {0, 0, 801}}, {"CudaUnknown", {0, 0, 999}},
};

struct Flow {
  const char* name;
  bool has_content;
  bool is_inside_pool;
};
constexpr Flow flows[] = {{"Content", true, false}, {"Plain", false, false}, {"InsideAPool", true, true}};

constexpr std::size_t flow_bytes = 128 * kib;

/// Opens, pins, maps, and releases everything. Returns the first error, and whether the mapping contained the memory.
base::Status run(driver::System& system, const driver::CudaCalls& cuda, DmabufMachine& machine, std::uint64_t address) {
  auto backend = open_dmabuf_on(system, cuda, machine.settings);
  if (!backend) return base::pass(backend);
  auto pin = (*backend)->pin({address, flow_bytes});
  if (!pin) return base::pass(pin);
  auto mapped = (*pin)->map(flow_bytes, MappingType::none);
  if (!mapped) return base::pass(mapped);
  EXPECT_EQ(
      std::memcmp(rm::own_byte(**pin, *mapped, address), machine.cuda.read(address, flow_bytes).data(), flow_bytes), 0);
  base::Status first = (*pin)->unmap();
  base::keep_first(first, (*pin)->unpin());
  return first;
}

class DmabufFault : public ::testing::TestWithParam<std::tuple<Flow, NamedFault>> {};

TEST_P(DmabufFault, ReleasesEverythingIfAnyCallFails) {
  const auto& [flow, named] = GetParam();
  int reached = 0;
  for (int call = 0;; ++call) {
    DmabufMachine machine;
    machine.cuda.set_cuts_pool_exports(flow.is_inside_pool);
    if (flow.is_inside_pool) (void)machine.cuda.pool_malloc(3 * mib);
    const std::uint64_t address =
        flow.is_inside_pool ? machine.cuda.pool_malloc(flow_bytes) : machine.cuda.malloc(flow_bytes);
    if (flow.has_content) machine.cuda.fill_pattern(address, flow_bytes);
    const auto content = machine.cuda.read(address, flow_bytes);
    fakes::FaultPlan plan;
    plan.fail_call(call, named.fault);
    fakes::FaultySystem system(machine.rm, plan);
    fakes::FaultyCuda cuda(machine.cuda, plan);
    const base::Status end = run(system, cuda, machine, address);
    const std::string what = "call " + std::to_string(call) + " (" + plan.failed_call() + ") failed";
    EXPECT_TRUE(rm::is_clean(machine)) << what;
    EXPECT_EQ(machine.cuda.read(address, flow_bytes), content) << what;
    if (!end) {
      EXPECT_GT(end.error().errno_value, 0) << what;
      EXPECT_LE(end.error().errno_value, EHWPOISON) << what << ": " << end.error().text();
      EXPECT_STRNE(end.error().text(), "") << what;
    }
    if (!plan.was_reached()) {
      EXPECT_TRUE(tests::succeeded(end));
      break;
    }
    ++reached;
    plan.stop();
    EXPECT_TRUE(tests::succeeded(run(system, cuda, machine, address))) << what << ", and it did not work afterwards";
    if (HasFailure()) break;
  }
  EXPECT_GT(reached, 5) << "the plan does not reach this flow's calls";
}

INSTANTIATE_TEST_SUITE_P(Dmabuf, DmabufFault,
                         ::testing::Combine(::testing::ValuesIn(flows), ::testing::ValuesIn(faults)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + std::get<1>(tested.param).name;
                         });

TEST(DmabufStuck, AMappingThatCannotBeUnmappedKeepsItsMemoryAndIsReported) {
  DmabufMachine machine;
  const std::uint64_t address = machine.cuda.malloc(flow_bytes);
  machine.cuda.fill_pattern(address, flow_bytes);
  const auto memory = machine.cuda.memory_at(address);
  fakes::FaultPlan plan;
  fakes::FaultySystem system(machine.rm, plan);
  {
    auto backend = open_dmabuf_on(system, machine.cuda, machine.settings);
    ASSERT_TRUE(backend) << backend.error().text();
    auto pin = (*backend)->pin({address, flow_bytes});
    ASSERT_TRUE(pin && (*pin)->map(flow_bytes, MappingType::none));
    plan.fail_every("munmap", {ENOMEM, 0, 0});
    EXPECT_FALSE((*pin)->unmap());
    const auto again = (*pin)->map(flow_bytes, MappingType::none);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().errno_value, EIO);
    EXPECT_FALSE((*pin)->unpin());
  }
  machine.cuda.free(address);
  EXPECT_FALSE(memory.expired()) << "pages still map released memory";
  EXPECT_EQ(machine.rm.census().descriptors, 0u);
}

}  // namespace
}  // namespace gdrkit::backend::dmabuf
