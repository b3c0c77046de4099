// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registration of GPU memory, with emulated calls of libibverbs.
#include "transfer/perftest/memory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace gdrkit::transfer::perftest {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr GpuRange range = {0x7f0000000000, 2UL << 20};
constexpr int access_flags = platform::verbs_access_local_write | platform::verbs_access_relaxed_ordering;

/// The behaviour and the records of the emulated calls.
struct Played {
  int dmabuf_error = 0;
  int peer_error = 0;
  int live = 0;
  int dmabuf_fd = -1;
  int dmabuf_access = 0;
  int peer_access = 0;
  std::uint64_t dmabuf_address = 0;
} played;
platform::VerbsRegion region;

platform::VerbsRegion* region_or_null(int error) {
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  ++played.live;
  return &region;
}

class RegisterGpuMemory : public ::testing::Test {
 protected:
  RegisterGpuMemory() {
    played = {};
    control_.reg_dmabuf_mr = [](platform::VerbsDomain*, std::uint64_t, std::size_t, std::uint64_t address, int fd,
                                int access) {
      played.dmabuf_fd = ::fcntl(fd, F_GETFD) >= 0 ? fd : -1;
      played.dmabuf_access = access;
      played.dmabuf_address = address;
      return region_or_null(played.dmabuf_error);
    };
    control_.dereg_mr = [](platform::VerbsRegion*) { return --played.live; };
    data_.reg_mr = [](platform::VerbsDomain*, void*, std::size_t, int access) {
      played.peer_access = access;
      return region_or_null(played.peer_error);
    };
  }
  Registration make(bool needs_dmabuf = false, int export_error = 0) {
    return register_gpu_memory(
        {&control_, &data_}, nullptr, range, access_flags,
        [=](const GpuRange&) -> base::Result<int> {
          if (export_error != 0) return base::fail(export_error, "no export: %d", export_error);
          return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        },
        needs_dmabuf);
  }

  platform::VerbsCalls control_;
  platform::VerbsDataCalls data_;
};

TEST_F(RegisterGpuMemory, PrefersADmabuf) {
  {
    const Registration made = make();
    EXPECT_EQ(made.how, "dma-buf");
    EXPECT_EQ(played.live, 1);
    EXPECT_GE(played.dmabuf_fd, 0);
    EXPECT_EQ(played.dmabuf_address, range.address);
    EXPECT_EQ(played.dmabuf_access, access_flags);
    EXPECT_LT(::fcntl(played.dmabuf_fd, F_GETFD), 0) << "the dma-buf's descriptor was left open";
  }
  EXPECT_EQ(played.live, 0);
}

TEST_F(RegisterGpuMemory, FallsBackToPeerMemoryWithTheReason) {
  played.dmabuf_error = EOPNOTSUPP;
  EXPECT_EQ(make().how, "peer memory (no dma-buf: ibv_reg_dmabuf_mr: Operation not supported)");
  EXPECT_LT(::fcntl(played.dmabuf_fd, F_GETFD), 0);
  EXPECT_EQ(played.peer_access, platform::verbs_access_local_write) << "ibv_reg_mr does not support optional flags";
  EXPECT_EQ(make(false, ENOTSUP).how, "peer memory (no dma-buf: no export: 95)");
  control_.reg_dmabuf_mr = nullptr;
  EXPECT_EQ(make().how, "peer memory (no dma-buf: libibverbs is older than rdma-core 34)");
  EXPECT_EQ(played.live, 0);
}

TEST_F(RegisterGpuMemory, DoesNotFallBackIfADmabufIsRequired) {
  played.dmabuf_error = EOPNOTSUPP;
  EXPECT_THAT([&] { (void)make(true); },
              ThrowsMessage<cli::Failure>(
                  HasSubstr("by dma-buf: ibv_reg_dmabuf_mr: Operation not supported; omit --use_cuda_dmabuf")));
  EXPECT_THAT([&] { (void)make(true, EINVAL); }, ThrowsMessage<cli::Failure>(HasSubstr("no export: 22")));
  EXPECT_EQ(played.peer_access, 0);
}

TEST_F(RegisterGpuMemory, ReportsBothReasonsIfBothWaysFail) {
  played.dmabuf_error = EOPNOTSUPP;
  played.peer_error = EFAULT;
  EXPECT_THAT([&] { (void)make(); },
              ThrowsMessage<cli::Failure>(
                  "gdrkit perftest: cannot register 2 MiB of GPU memory by dma-buf (ibv_reg_dmabuf_mr: Operation not "
                  "supported) or by peer memory (ibv_reg_mr: Bad address); load nvidia-peermem, or run gdrkit doctor"));
  EXPECT_EQ(played.live, 0);
}

}  // namespace
}  // namespace gdrkit::transfer::perftest
