// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every call to the system and to CUDA fails once, in every way. All resources are released, and the errno is one that
// user space defines.
#include <tuple>

#include "lib/backend/dmabuf/dmabuf_machine.hpp"
#include "lib/backend/flow.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::dmabuf {
namespace {

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

struct Scene : DmabufMachine {
  explicit Scene(const Flow& flow) {
    cuda.set_cuts_pool_exports(flow.is_inside_pool);
    if (flow.is_inside_pool) (void)cuda.pool_malloc(3 * mib);
    address = flow.is_inside_pool ? cuda.pool_malloc(flow_bytes) : cuda.malloc(flow_bytes);
    if (flow.has_content) cuda.fill_pattern(address, flow_bytes);
    content = cuda.read(address, flow_bytes);
  }
  FlowEnd run() { return run_flow(open(), address, content); }
  void expect_released(const FlowEnd&, const std::string& what) {
    EXPECT_TRUE(rm::is_clean(*this)) << what;
    EXPECT_EQ(cuda.read(address, flow_bytes), content) << what;
  }

  std::uint64_t address = 0;
  std::vector<std::uint8_t> content;
};

class DmabufFault : public ::testing::TestWithParam<std::tuple<Flow, NamedFault>> {};

TEST_P(DmabufFault, ReleasesEverythingWhicheverCallFails) {
  const auto& [flow, named] = GetParam();
  fail_each_call(named.fault, 5, [&] { return std::make_unique<Scene>(flow); });
}

INSTANTIATE_TEST_SUITE_P(Dmabuf, DmabufFault,
                         ::testing::Combine(::testing::ValuesIn(flows), ::testing::ValuesIn(faults)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + std::get<1>(tested.param).name;
                         });

TEST(DmabufStuck, ReportsAMappingThatStaysAndKeepsItsMemory) {
  Scene scene(flows[0]);
  scene.leaks_on_purpose = true;
  const auto memory = scene.cuda.memory_at(scene.address);
  {
    const auto backend = open_or_fail(scene);
    const auto pin = pin_or_fail(*backend, scene.address, flow_bytes);
    (void)map_or_fail(*pin);
    scene.plan.fail_every("munmap", {ENOMEM, 0, 0});
    EXPECT_FALSE(pin->unmap());
    EXPECT_TRUE(tests::failed(pin->map(flow_bytes, MappingType::none), EIO));
    EXPECT_FALSE(pin->unpin());
  }
  scene.cuda.free(scene.address);
  EXPECT_FALSE(memory.expired()) << "pages still refer to memory that was released";
  EXPECT_EQ(scene.rm.census().descriptors, 0u);
}

}  // namespace
}  // namespace gdrkit::backend::dmabuf
