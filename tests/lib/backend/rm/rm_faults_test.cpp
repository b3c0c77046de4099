// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every call to the system and to CUDA fails once, in every possible way. All resources are released, no unverified
// mapping is returned, and the error has a text.
#include <tuple>

#include "lib/backend/flow.hpp"
#include "lib/backend/rm/rm_machine.hpp"

namespace gdrkit::backend::rm {
namespace {

/// Prepares a machine and returns the range to pin. Together, the flows reach every call of the backend.
struct RmFlow {
  const char* name;
  std::size_t size_bytes;
  bool has_content;
  std::uint64_t (*prepare)(RmMachine& machine);
};
std::ostream& operator<<(std::ostream& out, const RmFlow& flow) { return out << flow.name; }

const RmFlow flows[] = {
    {"ObservedExport", 300000, true, [](RmMachine& machine) { return machine.cuda.malloc(300000); }},
    {"PlainContentThatNeedsCalibration", 100000, false, [](RmMachine& machine) { return machine.cuda.malloc(100000); }},
    {"ThreeHandlesByExportedFiles", 192 * kib, true,
     [](RmMachine& machine) {
       machine.cuda.is_hook_installable = false;
       return machine.cuda.vmm({64 * kib, 64 * kib, 64 * kib}, true, 2 * mib);
     }},
    {"InsideAPoolsBlock", 64 * kib, true,
     [](RmMachine& machine) {
       (void)machine.cuda.pool_malloc(3 * mib);
       return machine.cuda.pool_malloc(64 * kib);
     }},
    {"UnderASubdevice", 128 * kib, true,
     [](RmMachine& machine) {
       machine.cuda.is_memory_under_subdevice = true;
       return machine.cuda.malloc(128 * kib);
     }},
    {"IpcHandle", 100000, true,
     [](RmMachine& machine) {
       machine.cuda.is_hook_installable = false;
       machine.settings.allow_ipc_handle = true;
       return machine.cuda.malloc(100000);
     }},
    {"NoContextOnThisThread", 128 * kib, true,
     [](RmMachine& machine) {
       const std::uint64_t address = machine.cuda.vmm({128 * kib}, false);
       (void)machine.cuda.threads().pop();
       machine.cuda.threads().push(machine.cuda.make_context(0));
       return address;
     }},
};

struct Scene : RmMachine {
  explicit Scene(const RmFlow& flow) : address(flow.prepare(*this)) {
    if (flow.has_content) cuda.fill_pattern(address, flow.size_bytes);
    content = cuda.read(address, flow.size_bytes);
  }
  FlowEnd run() { return run_flow(open(), address, content); }
  void expect_released(const FlowEnd&, const std::string& what) {
    EXPECT_TRUE(is_clean(*this)) << what;
    EXPECT_EQ(cuda.read(address, content.size()), content) << what;
  }

  std::uint64_t address;
  std::vector<std::uint8_t> content;
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

TEST_P(RmFault, ReleasesEverythingWhicheverCallFails) {
  const auto& [flow, named] = GetParam();
  fail_each_call(named.fault, 5, [&] { return std::make_unique<Scene>(flow); });
}

TEST_P(RmFault, KeepsTheBackendUsable) {
  const auto& [flow, named] = GetParam();
  for (int call = 0;; ++call) {
    Scene scene(flow);
    fakes::FaultPlan& plan = scene.plan;
    {
      auto backend = open_or_fail(scene);
      plan.fail_call(call, named.fault);
      if (auto pin = backend->pin({scene.address, flow.size_bytes})) {
        if ((*pin)->map((*pin)->page_bytes(), MappingType::none)) (void)(*pin)->unmap();
      }
      plan.stop();
      const FlowEnd end = run_flow(std::move(backend), scene.address, scene.content);
      EXPECT_TRUE(end.shows_the_memory) << "after call " << call << " (" << plan.failed_call()
                                        << ") failed: " << end.error.text();
    }
    EXPECT_TRUE(is_clean(scene)) << "after call " << call << " (" << plan.failed_call() << ") failed";
    if (!plan.was_reached() || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Rm, RmFault, ::testing::Combine(::testing::ValuesIn(flows), ::testing::ValuesIn(faults)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + std::get<1>(tested.param).name;
                         });

class RmShortage : public ::testing::TestWithParam<RmFlow> {};

TEST_P(RmShortage, KeepsMemoryThatItCannotUnmap) {
  Scene scene(GetParam());
  scene.leaks_on_purpose = true;
  const auto memory = scene.cuda.memory_at(scene.address);
  scene.plan.fail_every("munmap", {ENOMEM, 0, 0});
  EXPECT_STREQ(scene.run().failed_step, "unmap");
  scene.cuda.free(scene.address);
  // The pages still refer to the memory, so it must not be reused: no object is freed and no file is closed.
  EXPECT_TRUE(has_no_violations(scene));
  EXPECT_FALSE(memory.expired());
  EXPECT_GT(scene.rm.census().vmas, 0u);
}

TEST_P(RmShortage, ReleasesEverythingWhicheverAllocationFails) {
  fail_each_allocation(3, [] { return std::make_unique<Scene>(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Rm, RmShortage, ::testing::ValuesIn(flows),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace gdrkit::backend::rm
