// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every system call and every allocation fails once: everything is released, and the error has a text.
#include <tuple>

#include "fakes/allocation_faults.hpp"
#include "fakes/fault_injection.hpp"
#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

struct FlowEnd {
  const char* failed_step = nullptr;  ///< nullptr: all went well
  base::Error error;
  bool shows_the_memory = false;
};

/// Runs to its end in spite of failures, with a request for a mapping type.
FlowEnd run_flow(driver::System& system, const driver::CudaCalls& cuda, std::uint64_t address, std::size_t size_bytes,
                 const std::vector<std::uint8_t>& expected) {
  FlowEnd end;
  const auto note = [&end](const char* step, const base::Error& error) {
    if (end.failed_step != nullptr) return;
    end.failed_step = step;
    end.error = error;
  };
  auto backend = open_gdrdrv_on(system, &cuda);
  if (!backend) return note("open", backend.error()), end;
  auto pin = (*backend)->pin({address, size_bytes, false, true});
  if (!pin) return note("pin", pin.error()), end;
  auto mapped = (*pin)->map((*pin)->page_bytes(), MappingType::write_combining);
  if (!mapped) return note("map", mapped.error()), end;
  const auto* own = static_cast<std::uint8_t*>(mapped->address) + (address - (*pin)->page_address());
  end.shows_the_memory = std::memcmp(own, expected.data(), expected.size()) == 0;
  if (auto unmapped = (*pin)->unmap(); !unmapped) note("unmap", unmapped.error());
  if (auto again = (*pin)->map((*pin)->page_bytes(), MappingType::none); !again) note("second map", again.error());
  if (auto unpinned = (*pin)->unpin(); !unpinned) note("unpin", unpinned.error());
  return end;
}

void expect_sane(const FlowEnd& end, GdrdrvMachine& machine, const std::string& what) {
  EXPECT_TRUE(is_clean(machine)) << what;
  if (end.failed_step == nullptr) {
    EXPECT_TRUE(end.shows_the_memory) << what;
    return;
  }
  EXPECT_GT(end.error.errno_value, 0) << what;
  EXPECT_LT(end.error.errno_value, 134) << what << ": no errno of user space";
  EXPECT_STRNE(end.error.text(), "") << what << ": " << end.failed_step << " failed without a word";
}

struct Scene {
  explicit Scene(std::uint32_t version) : machine(model_of(version)), memory(machine.allocate(size)) {}
  static constexpr std::size_t size = 2 * gpu_page + 100;
  GdrdrvMachine machine;
  platform::Allocation memory;
  std::vector<std::uint8_t> content = tests::make_pattern(size, 1);
};

class GdrdrvFault : public ::testing::TestWithParam<std::tuple<std::uint32_t, int>> {};

TEST_P(GdrdrvFault, ReleasesEverythingIfAnyCallFails) {
  const auto [version, errno_value] = GetParam();
  int reached = 0;
  for (int call = 0;; ++call) {
    Scene scene(version);
    fakes::FaultPlan plan;
    plan.fail_call(call, {errno_value, 0, 0});
    fakes::FaultySystem system(scene.machine.module, plan);
    const FlowEnd end = run_flow(system, scene.machine.cuda, scene.memory.address(), Scene::size, scene.content);
    const std::string what = "call " + std::to_string(call) + " (" + plan.failed_call() + ") failed";
    const bool was_reached = plan.was_reached();
    // If the module does not unpin, or a mapping cannot be unmapped, their resources stay in use until the file is
    // closed.
    if (was_reached && plan.failed_call() == "munmap") {
      EXPECT_EQ(scene.machine.module.violations().list(), std::vector<std::string>()) << what;
      EXPECT_EQ(scene.machine.module.census().descriptors, 0u) << what;
      EXPECT_NE(end.failed_step, nullptr) << what;
    } else {
      expect_sane(end, scene.machine, what);
    }
    if (!was_reached) {
      EXPECT_EQ(end.failed_step, nullptr) << end.error.text();
      break;
    }
    ++reached;
    plan.stop();
    const FlowEnd again = run_flow(system, scene.machine.cuda, scene.memory.address(), Scene::size, scene.content);
    EXPECT_EQ(again.failed_step, nullptr) << what << ", and it did not work afterwards: " << again.error.text();
    if (HasFailure()) break;
  }
  EXPECT_GT(reached, 10) << "the plan does not reach this flow's calls";
}

INSTANTIATE_TEST_SUITE_P(Versions, GdrdrvFault,
                         ::testing::Combine(::testing::Values(0x0002'0000u, 0x0002'0004u, 0x0002'0006u),
                                            ::testing::Values(ENOMEM, EIO, EMFILE, EINVAL, EACCES, EBUSY, EFAULT,
                                                              524)));

TEST(GdrdrvFault, ReleasesEverythingIfAnyAllocationFails) {
  int reached = 0;
  for (int allocation = 0;; ++allocation) {
    Scene scene(0x0002'0006);
    fakes::FaultPlan plan;
    fakes::FaultySystem system(scene.machine.module, plan);
    fakes::allocation_faults = {allocation, 0, false};
    const FlowEnd end = run_flow(system, scene.machine.cuda, scene.memory.address(), Scene::size, scene.content);
    const bool was_reached = fakes::allocation_faults.was_reached;
    fakes::allocation_faults = {};
    expect_sane(end, scene.machine, "allocation " + std::to_string(allocation) + " failed");
    if (!was_reached || HasFailure()) break;
    EXPECT_EQ(end.error.errno_value, ENOMEM);
    ++reached;
  }
  EXPECT_GE(reached, 3) << "the file, the backend and the pin are allocated";
}

// The memory must not get another owner while it is mapped: the module removes the pages from the mapping.
TEST(GdrdrvFault, UnpinsAMappingThatCannotBeUnmapped) {
  Scene scene(0x0002'0006);
  fakes::FaultPlan plan;
  fakes::FaultySystem system(scene.machine.module, plan);
  auto backend = open_gdrdrv_on(system, &scene.machine.cuda.calls());
  ASSERT_TRUE(backend);
  const auto pin = pin_or_fail(**backend, scene.memory.address(), Scene::size);
  (void)map_or_fail(*pin);
  plan.fail_every("munmap", {ENOMEM, 0, 0});
  const auto unmapped = pin->unmap();
  ASSERT_FALSE(unmapped);
  EXPECT_EQ(unmapped.error().errno_value, ENOMEM);
  EXPECT_FALSE(pin->map(1, MappingType::none)) << "the old mapping is there still";
  EXPECT_FALSE(pin->unpin());
  EXPECT_EQ(scene.machine.module.census().pins, 0u);
}

}  // namespace
}  // namespace gdrkit::backend::gdrdrv
