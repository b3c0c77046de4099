// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every system call and every allocation fails once. All resources are released, and the error has a text.
#include <tuple>

#include "lib/backend/flow.hpp"
#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

struct Scene : GdrdrvMachine {
  explicit Scene(std::uint32_t version) : GdrdrvMachine(model_of(version)), memory(allocate(size)) {}
  static constexpr std::size_t size = 2 * gpu_page + 100;
  FlowEnd run() { return run_flow(open(), memory.address(), content, MappingType::write_combining); }
  void expect_released(const FlowEnd& end, const std::string& what) {
    // If munmap fails, the mapping stays until the file is closed.
    leaks_on_purpose = plan.was_reached() && plan.failed_call() == "munmap";
    if (leaks_on_purpose) {
      EXPECT_EQ(module.violations().list(), std::vector<std::string>()) << what;
      EXPECT_EQ(module.census().descriptors, 0u) << what;
      EXPECT_NE(end.failed_step, nullptr) << what;
    } else {
      EXPECT_TRUE(is_clean(*this)) << what;
    }
  }

  platform::Allocation memory;
  std::vector<std::uint8_t> content = tests::make_pattern(size, 1);
};

class GdrdrvFault : public ::testing::TestWithParam<std::tuple<std::uint32_t, int>> {};

TEST_P(GdrdrvFault, ReleasesEverythingWhicheverCallFails) {
  const auto [version, errno_value] = GetParam();
  fail_each_call({errno_value, 0, 0}, 10, [version = version] { return std::make_unique<Scene>(version); });
}

INSTANTIATE_TEST_SUITE_P(Versions, GdrdrvFault,
                         ::testing::Combine(::testing::Values(0x0002'0000u, 0x0002'0004u, 0x0002'0006u),
                                            ::testing::Values(ENOMEM, EIO, EMFILE, EINVAL, EACCES, EBUSY, EFAULT,
                                                              524)));

// The file, the backend and the pin are allocated.
TEST(GdrdrvFault, ReleasesEverythingWhicheverAllocationFails) {
  fail_each_allocation(2, [] { return std::make_unique<Scene>(0x0002'0006); });
}

// Memory must not be reused while it is mapped: unpin makes the module remove the pages from the mapping.
TEST(GdrdrvFault, UnpinsAMappingThatCannotBeUnmapped) {
  Scene scene(0x0002'0006);
  scene.leaks_on_purpose = true;
  const auto backend = open_or_fail(scene);
  const auto pin = pin_or_fail(*backend, scene.memory.address(), Scene::size);
  (void)map_or_fail(*pin);
  scene.plan.fail_every("munmap", {ENOMEM, 0, 0});
  EXPECT_TRUE(tests::failed(pin->unmap(), ENOMEM));
  EXPECT_FALSE(pin->map(1, MappingType::none)) << "the old mapping still exists";
  EXPECT_FALSE(pin->unpin());
  EXPECT_EQ(scene.module.census().pins, 0u);
}

}  // namespace
}  // namespace gdrkit::backend::gdrdrv
