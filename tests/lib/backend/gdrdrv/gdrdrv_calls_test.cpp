// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The exact calls on the module: only calls that the version supports, and no unnecessary ones.
#include <gmock/gmock.h>

#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

using ::testing::ElementsAreArray;
using Words = std::vector<std::string>;

/// Opens, pins an unaligned range of three pages, maps, unmaps, maps two pages, unpins while mapped, and closes.
Words calls_of(std::uint32_t version) {
  GdrdrvMachine machine(model_of(version));
  const auto memory = machine.allocate(4 * gpu_page);
  machine.module.set_log_base(memory.address());
  {
    const auto backend = open_or_fail(machine);
    const auto pin = pin_or_fail(*backend, memory.address() + gpu_page + 5, 2 * gpu_page);
    (void)map_or_fail(*pin);
    EXPECT_TRUE(pin->unmap());
    EXPECT_TRUE(pin->map(gpu_page + 1, MappingType::none));
    EXPECT_TRUE(pin->unpin());
  }
  return machine.module.log();
}

Words with_info(Words words, const std::string& info) {
  for (std::string& line : words) {
    if (line == "INFO") line = info + " handle 0 = 0";
  }
  return words;
}

const Words middle = {"INFO", "MMAP handle 0 196608 = 0", "INFO", "MMAP handle 0 69632 = 0",
                      "INFO", "UNPIN_BUFFER handle 0 = 0"};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class GdrdrvCalls : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(GdrdrvCalls, MatchTheVersion) {
  const std::uint32_t version = GetParam();
  Words expected = {"GET_VERSION = 0"};
  if (version >= 0x0002'0005) {
    expected = joined(expected, {"GET_ATTR 1 = 0", "GET_ATTR 2 = 0", "PIN_BUFFER_V2 +0x10000 196608 flags 0 = 0"});
  } else {
    expected = joined(expected, {"PIN_BUFFER +0x10000 196608 flags 0 = 0"});
  }
  expected = joined(expected, with_info(middle, version >= 0x0002'0004 ? "GET_INFO_V2" : "GET_INFO"));
  EXPECT_THAT(calls_of(version), ElementsAreArray(expected));
}

INSTANTIATE_TEST_SUITE_P(Versions, GdrdrvCalls, ::testing::ValuesIn(all_versions), [](const auto& tested) {
  return "Version" + std::to_string(tested.param >> 16) + "_" + std::to_string(tested.param & 0xffff);
});

// The module keeps a request, so a later default must be requested too.
TEST(GdrdrvCalls, RequestAMappingTypeOnlyToSetOrResetIt) {
  PinnedMachine machine({.types = {1, 2}});
  machine.module.set_log_base(machine.memory.address());
  const std::size_t before = machine.module.log().size();
  for (const MappingType type : {MappingType::none, MappingType::cached, MappingType::none, MappingType::none}) {
    const auto region = map_or_fail(*machine.pin, type);
    EXPECT_EQ(region.type, type == MappingType::cached ? MappingType::cached : MappingType::write_combining);
    EXPECT_TRUE(machine.pin->unmap());
  }
  Words log = machine.module.log();
  log.erase(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(before));
  const Words map = {"MMAP handle 0 65536 = 0", "GET_INFO_V2 handle 0 = 0"};
  Words expected = joined(joined(map, {"REQ_MAPPING_TYPE handle 0 type 2 = 0"}), map);
  expected = joined(joined(expected, {"REQ_MAPPING_TYPE handle 0 type 0 = 0"}), map);
  expected = joined(expected, map);
  EXPECT_THAT(log, ElementsAreArray(expected));
}

// Grace with a GPU on NVLink-C2C, POWER9 with one on NVLink.
TEST(GdrdrvCalls, MapCachedOnACoherentPlatformUnlessPcieIsForced) {
  GdrdrvMachine machine({.types = {1, 2}, .is_coherent = true});
  const auto memory = machine.allocate(gpu_page);
  const auto backend = open_or_fail(machine);
  ASSERT_TRUE(backend->traits().supports_force_pcie);
  const auto coherent = pin_or_fail(*backend, memory.address(), gpu_page);
  EXPECT_EQ(map_or_fail(*coherent).type, MappingType::cached);
  const auto by_pcie = pin_or_fail(*backend, memory.address(), gpu_page, true);
  EXPECT_TRUE(tests::failed(by_pcie->map(gpu_page, MappingType::cached), EOPNOTSUPP));
  EXPECT_EQ(map_or_fail(*by_pcie).type, MappingType::write_combining);
}

TEST(GdrdrvCalls, PassTheForceFlagIfTheModuleSupportsIt) {
  GdrdrvMachine machine;
  const auto memory = machine.allocate(gpu_page);
  machine.module.set_log_base(memory.address());
  const auto backend = open_or_fail(machine);
  const auto pin = pin_or_fail(*backend, memory.address(), 1, true);
  EXPECT_THAT(machine.module.log(), ::testing::Contains("PIN_BUFFER_V2 +0x0 65536 flags 1 = 0"));
}

}  // namespace
}  // namespace gdrkit::backend::gdrdrv
