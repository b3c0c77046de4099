// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening: a test mapping of scratch memory if the process uses CUDA, and the reason of every error.
#include <gmock/gmock.h>

#include <unistd.h>

#include <tuple>

#include "fakes/fault_injection.hpp"
#include "lib/backend/dmabuf/dmabuf_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::dmabuf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DmabufOpen, IsVerifiedIfScratchMemoryCanBeMapped) {
  DmabufMachine machine;
  {
    const auto backend = open_or_fail(machine);
    EXPECT_STREQ(backend->traits().name, "dmabuf");
    EXPECT_EQ(backend->traits().page_size_bytes, static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE)));
    EXPECT_TRUE(backend->traits().is_persistent);
    EXPECT_TRUE(backend->traits().uses_dmabuf_mmap);
    EXPECT_TRUE(backend->traits().supports_force_pcie);
    EXPECT_FALSE(backend->traits().is_untried);
    EXPECT_EQ(backend->traits().module_version, 0u);
    EXPECT_TRUE(rm::is_clean(machine)) << "the test must release its resources";
  }
  EXPECT_EQ(machine.cuda.contexts_created(), 0u);
}

TEST(DmabufOpen, TestsWithAnOldVersionToo) {
  DmabufMachine machine;
  machine.cuda.driver_version = 11080;
  const auto backend = open_or_fail(machine);
  EXPECT_FALSE(backend->traits().is_untried);
}

class DmabufOpenFails : public ::testing::TestWithParam<std::tuple<int, int, const char*>> {};

TEST_P(DmabufOpenFails, ReportsTheErrorOfMmapAndReleasesEverything) {
  const auto& [mmap_error, errno_value, text] = GetParam();
  for (const int version : {13000, 13030, 14000}) {
    DmabufMachine machine;
    machine.cuda.driver_version = version;
    machine.rm.set_dmabuf({mmap_error, false, false});
    for (const char* forced : {"", "dmabuf"}) {
      machine.settings.backend = forced;
      EXPECT_TRUE(tests::failed(machine.open(), errno_value, AllOf(HasSubstr("mmap"), HasSubstr(text))))
          << "version " << version;
      EXPECT_TRUE(rm::is_clean(machine));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dmabuf, DmabufOpenFails,
                         ::testing::Values(std::tuple(524, EOPNOTSUPP, "Operation not supported"),
                                           std::tuple(ENODEV, ENODEV, "No such device"),
                                           std::tuple(EPERM, EPERM, "not permitted"),
                                           std::tuple(EINVAL, EINVAL, "update the driver to CUDA 13.3"),
                                           std::tuple(600, EIO, "Input/output error")));

TEST(DmabufOpen, TestsAnUnsupportedDriverOnlyOnce) {
  DmabufMachine machine;
  machine.rm.set_dmabuf({524, false, false});
  static constinit KnownRefusal known;  // as in the library: never freed
  const auto first = open_dmabuf_on(machine.rm, machine.cuda, machine.settings, &known);
  ASSERT_FALSE(first);
  const unsigned exports = machine.cuda.exports_made();
  const auto second = open_dmabuf_on(machine.rm, machine.cuda, machine.settings, &known);
  ASSERT_FALSE(second);
  EXPECT_EQ(machine.cuda.exports_made(), exports) << "must not test again";
  EXPECT_EQ(second.error().errno_value, first.error().errno_value);
  EXPECT_STREQ(second.error().text(), first.error().text());
  machine.settings.backend = "dmabuf";
  EXPECT_FALSE(open_dmabuf_on(machine.rm, machine.cuda, machine.settings, &known));
  EXPECT_GT(machine.cuda.exports_made(), exports) << "a request by name tests again";
}

TEST(DmabufOpen, TestsAgainAfterAShortageAndAfterSuccess) {
  DmabufMachine machine;
  KnownRefusal known;
  for (const int mmap_error : {ENOMEM, EAGAIN, EMFILE, 0, 0}) {
    machine.rm.set_dmabuf({mmap_error, false, false});
    const auto opened = open_dmabuf_on(machine.rm, machine.cuda, machine.settings, &known);
    EXPECT_EQ(opened.has_value(), mmap_error == 0) << mmap_error;
    EXPECT_EQ(known.get(), nullptr) << mmap_error;
  }
}

TEST(DmabufOpen, ReportsTheErrorOfCudaIfNothingCanBeExported) {
  DmabufMachine machine;
  machine.cuda.export_result = 801;
  const auto opened = machine.open();
  ASSERT_TRUE(tests::failed(opened, EOPNOTSUPP));
  EXPECT_EQ(opened.error().vendor_code, 801);
  EXPECT_THAT(
      std::string(opened.error().text()),
      AllOf(HasSubstr("cuMemGetHandleForAddressRange: CUDA_ERROR_NOT_SUPPORTED"), HasSubstr("GDRKIT_BACKEND=rm")));
}

TEST(DmabufOpen, RejectsADriverWhoseMappingsHaveNoMemory) {
  DmabufMachine machine;
  machine.rm.set_dmabuf({0, false, true});
  EXPECT_TRUE(tests::failed(machine.open(), EIO));
}

TEST(DmabufOpen, RejectsADriverWhoseMappingsReferToOtherMemory) {
  DmabufMachine machine;
  machine.rm.set_mapping_shows(fakes::MappingShows::other_memory);
  EXPECT_TRUE(tests::failed(machine.open(), EIO, HasSubstr("does not contain the data")));
}

TEST(DmabufOpen, IsUntriedInAProcessWithoutCuda) {
  DmabufMachine machine({.is_initialised = false});
  const auto backend = open_or_fail(machine);
  EXPECT_TRUE(backend->traits().is_untried);
  EXPECT_EQ(machine.cuda.contexts_created(), 0u);
}

TEST(DmabufOpen, ReportsThatNoTestIsPossibleWithAnOldVersion) {
  DmabufMachine machine({.is_initialised = false});
  machine.cuda.driver_version = 13000;
  EXPECT_TRUE(tests::failed(machine.open(), EOPNOTSUPP,
                            HasSubstr("cannot test whether CUDA 13.0 supports mappings of dma-bufs")));
  machine.settings.backend = "dmabuf";
  const auto forced = tests::value_or_throw(machine.open());
  EXPECT_TRUE(forced->traits().is_untried) << "requested by name: its pins report errors";
}

TEST(DmabufOpen, IsUntriedWithoutScratchMemory) {
  DmabufMachine machine;
  machine.plan.fail_every("mem_create", {0, 0, 2});
  const auto backend = open_or_fail(machine);
  EXPECT_TRUE(backend->traits().is_untried);
}

TEST(DmabufOpen, IsRejectedWithoutTestAndDriverNode) {
  DmabufMachine machine({.is_initialised = false});
  machine.rm.fail_path("/dev/nvidiactl", ENOENT);
  EXPECT_TRUE(tests::failed(machine.open(), ENODEV, HasSubstr("/dev/nvidiactl")));
}

}  // namespace
}  // namespace gdrkit::backend::dmabuf
