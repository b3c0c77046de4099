// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/transport/transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "support/device_access.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl {
namespace {

struct Maker {
  const char* name;
  base::Result<std::unique_ptr<transport::Transport>> (*make)(const transport::TransportSetting&) noexcept;
  transport::RemoteWay way = transport::RemoteWay::automatic;
  const char* engine = "";

  [[nodiscard]] bool is_remote() const { return make == transport::make_ucx; }
};
/// Each line of the list; a remote transport once for each way.
constexpr Maker makers[] = {
#define GDRKIT_SHMEM_TRANSPORT(name) {#name, transport::make_##name},
#include "shmem/transport/transports.def"
#undef GDRKIT_SHMEM_TRANSPORT
    {"bar1", transport::make_bar1, transport::RemoteWay::automatic, "automatic"},
    {"ucx", transport::make_ucx, transport::RemoteWay::staged},
    {"ucx", transport::make_ucx, transport::RemoteWay::copied},
    {"ucx", transport::make_ucx, transport::RemoteWay::direct},
};

std::string name_of(const Maker& maker) {
  const char* const ways[] = {"", "_direct", "_staged", "_copied"};
  return std::string(maker.name) + ways[static_cast<std::size_t>(maker.way)] + (*maker.engine != '\0' ? "_engine" : "");
}

using transport::LocalMemory;

constexpr std::size_t room = 600'000;

class TransportConformance : public ::testing::TestWithParam<Maker> {
 protected:
  /// One side of a job of two: its own transport and a symmetric object of `room` zero bytes.
  struct Side {
    core::Pe& pe;
    transport::Transport& transport;
    char* object;
    int other_pe;
    int other;  ///< the other side's slot

    [[nodiscard]] heap::HeapPosition at(std::size_t offset, std::size_t size) const {
      auto position = pe.heap().find(object + offset, size);
      EXPECT_TRUE(position) << position.error().text();
      return position ? *position : heap::HeapPosition{};
    }
    /// Puts to and gets from the other side's object at `offset`.
    [[nodiscard]] base::Status put(std::size_t offset, const void* source, std::size_t size, bool is_async,
                                   LocalMemory memory = LocalMemory::host) {
      return transport.put(other, at(offset, size), source, size, memory, is_async);
    }
    [[nodiscard]] base::Status get(void* target, std::size_t offset, std::size_t size, bool is_async,
                                   LocalMemory memory = LocalMemory::host) {
      return transport.get(other, at(offset, size), target, size, memory, is_async);
    }
    /// Returns the contents of this side's copy of the object, read by its own GPU.
    [[nodiscard]] std::vector<std::uint8_t> own_bytes() const { return tests::device_bytes(pe, object, room); }
  };

  static void run(const std::function<void(Side&)>& body) {
    tests::ShmemJobOptions job;
    job.is_p2p_disabled = GetParam().is_remote();
    job.remote_way = GetParam().way;
    job.reading_engine = GetParam().engine;
    tests::run_shmem_job(job, [&](core::Pe& pe) {
      auto* const object = tests::zeroed<char>(pe, room);
      ASSERT_NE(object, nullptr);
      auto transport = GetParam().make(pe.connections().transport_setting());
      ASSERT_TRUE(transport) << transport.error().text();
      auto slot = pe.connections().slot_of(1 - pe.pe());
      ASSERT_TRUE(slot);
      Side side{pe, **transport, object, 1 - pe.pe(), *slot};
      EXPECT_EQ(side.transport.is_remote(), GetParam().is_remote());
      EXPECT_STREQ(side.transport.name(), GetParam().name);
      auto serves = side.transport.serves(side.other);
      if (!serves && std::strstr(serves.error().text(), "does not support GPU memory") != nullptr) {
        GTEST_SKIP() << serves.error().text();
      }
      ASSERT_TRUE(tests::succeeded(serves));
      body(side);
      ASSERT_TRUE(tests::succeeded(pe.barrier_all()));
    });
  }
};

TEST_P(TransportConformance, PutsCopyExactlyTheRange) {
  run([](Side& side) {
    const auto pattern = tests::make_pattern(room, static_cast<unsigned>(side.pe.pe()) + 1);
    const auto theirs = tests::make_pattern(room, static_cast<unsigned>(side.other_pe) + 1);
    std::vector<std::uint8_t> expected(room, 0);
    const std::size_t limit = side.transport.limits().put[static_cast<std::size_t>(LocalMemory::host)];
    std::size_t at = 0;
    for (const std::size_t size : {1U, 3U, 4U, 8U, 17U, 64U, 100U, 4096U, 9999U, 32768U, 300'001U}) {
      if (size > limit) continue;
      ++at;
      ASSERT_TRUE(tests::succeeded(side.put(at, pattern.data() + at, size, at % 2 == 0)));
      std::copy_n(theirs.begin() + static_cast<long>(at), size, expected.begin() + static_cast<long>(at));
      at += size;
    }
    ASSERT_TRUE(tests::succeeded(side.transport.complete(side.other)));
    EXPECT_FALSE(side.transport.is_pending(side.other));
    ASSERT_TRUE(tests::succeeded(side.pe.sync_all()));
    ASSERT_EQ(tests::first_difference(side.own_bytes(), expected), room);
  });
}

TEST_P(TransportConformance, GetsReadEveryByte) {
  run([](Side& side) {
    const auto mine = tests::make_pattern(room, static_cast<unsigned>(side.pe.pe()) + 1);
    const auto theirs = tests::make_pattern(room, static_cast<unsigned>(side.other_pe) + 1);
    ASSERT_TRUE(tests::succeeded(side.pe.transfers().put(side.object, mine.data(), room, side.pe.pe(), false)));
    ASSERT_TRUE(tests::succeeded(side.pe.barrier_all()));
    const std::size_t limit = side.transport.limits().get[static_cast<std::size_t>(LocalMemory::host)];
    for (const std::size_t size : {1U, 2U, 8U, 13U, 64U, 1000U, 4096U, 60'000U, 100'003U}) {
      if (size > limit) continue;
      for (const bool is_async : {false, true}) {
        std::vector<std::uint8_t> bytes(size + 2, 0xee);
        ASSERT_TRUE(tests::succeeded(side.get(bytes.data() + 1, size + 1, size, is_async)));
        ASSERT_TRUE(tests::succeeded(side.transport.complete(side.other)));
        EXPECT_TRUE(std::equal(bytes.begin() + 1, bytes.end() - 1, theirs.begin() + static_cast<long>(size) + 1));
        EXPECT_EQ(bytes.front(), 0xee);
        EXPECT_EQ(bytes.back(), 0xee);
      }
    }
  });
}

/// The other side polls a word after each block of data.
TEST_P(TransportConformance, PutsToOneSlotKeepTheirOrder) {
  run([](Side& side) {
    constexpr std::size_t size = 1000;
    constexpr std::uint64_t rounds = 200;
    constexpr std::size_t word_at = room - 64;
    static_assert(word_at % sizeof(std::uint64_t) == 0);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      const std::vector<std::uint8_t> data(size, static_cast<std::uint8_t>(round));
      ASSERT_TRUE(tests::succeeded(side.put(0, data.data(), size, true)));
      ASSERT_TRUE(tests::succeeded(side.transport.order(side.other)));
      ASSERT_TRUE(tests::succeeded(side.put(word_at, &round, sizeof round, false)));
      const parts::Word word{side.object + word_at, sizeof round, false};
      ASSERT_TRUE(side.pe.waits().wait_until(word, GDRKIT_SHMEM_GE, round));
      std::vector<std::uint8_t> seen(size);
      ASSERT_TRUE(tests::succeeded(side.pe.transfers().get(seen.data(), side.object, size, side.pe.pe(), false)));
      ASSERT_EQ(seen, data) << "round " << round;
      ASSERT_TRUE(tests::succeeded(side.transport.complete(side.other)));
      ASSERT_TRUE(tests::succeeded(side.pe.sync_all()));
    }
  });
}

TEST_P(TransportConformance, SupportsTheOwnHeapAsSourceAndTarget) {
  run([](Side& side) {
    constexpr auto heap = static_cast<std::size_t>(LocalMemory::heap);
    const auto limits = side.transport.limits();
    const auto pattern = tests::make_pattern(room, static_cast<unsigned>(side.pe.pe()) + 1);
    for (const std::size_t size : {1U, 8U, 500U, 1024U, 100'000U}) {
      if (size > limits.put[heap] || size > limits.get[heap]) continue;
      ASSERT_TRUE(tests::succeeded(side.pe.transfers().put(side.object, pattern.data(), size, side.pe.pe(), false)));
      ASSERT_TRUE(tests::succeeded(side.pe.quiet()));
      char* const back = side.object + 400'000;
      ASSERT_TRUE(tests::succeeded(side.put(200'000, side.object, size, false, LocalMemory::heap)));
      ASSERT_TRUE(tests::succeeded(side.transport.complete(side.other)));
      ASSERT_TRUE(tests::succeeded(side.get(back, 200'000, size, false, LocalMemory::heap)));
      const auto got = tests::device_bytes(side.pe, back, size);
      EXPECT_TRUE(std::equal(got.begin(), got.end(), pattern.begin())) << size;
    }
  });
}

TEST_P(TransportConformance, ThreadsMayUseItConcurrently) {
  run([](Side& side) {
    constexpr std::size_t piece = 1000;
    tests::run_together(std::size_t{4}, [&side](std::size_t thread) {
      const std::vector<std::uint8_t> data(piece, static_cast<std::uint8_t>(thread + 1));
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(tests::succeeded(side.put(thread * piece, data.data(), piece, round % 2 == 0)));
        EXPECT_TRUE(tests::succeeded(side.transport.complete(side.other)));
        std::vector<std::uint8_t> back(piece);
        EXPECT_TRUE(tests::succeeded(side.get(back.data(), thread * piece, piece, false)));
        EXPECT_EQ(back, data);
      }
    });
    EXPECT_FALSE(side.transport.is_pending(side.other));
  });
}

TEST(Bar1, AnUnknownCopyKernelIsRejected) {
  tests::ShmemJobOptions job;
  job.n_pes = 1;
  tests::run_shmem_job(job, [](core::Pe& pe) {
    ::setenv("GDRKIT_COPY_KERNEL", "nothing", 1);
    const auto made = make_bar1(pe.connections().transport_setting());
    ::unsetenv("GDRKIT_COPY_KERNEL");
    EXPECT_TRUE(tests::failed(made, EINVAL, testing::HasSubstr("unknown copy kernel 'nothing'")));
  });
}

INSTANTIATE_TEST_SUITE_P(TransportsDef, TransportConformance, ::testing::ValuesIn(makers),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace gdrkit::shmem_impl
