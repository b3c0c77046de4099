// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "support/device_access.hpp"
#include "support/place.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::failed;
using tests::run_shmem_job;
using tests::ShmemJobOptions;
using tests::succeeded;

constexpr std::size_t room = 1 << 20;

/// Three symmetric objects of `room` bytes each: a target, a source in the heap, and a signal word.
struct Objects {
  explicit Objects(core::Pe& pe)
      : target(tests::zeroed<char>(pe, room)),
        source(tests::zeroed<char>(pe, room)),
        word(tests::zeroed<std::uint64_t>(pe, 8)) {}
  [[nodiscard]] char* at(std::size_t offset) const { return target + offset; }
  [[nodiscard]] char* from(std::size_t offset) const { return source + offset; }

  char* const target;
  char* const source;
  std::uint64_t* const word;
};

std::vector<std::uint8_t> read_all(core::Pe& pe, const void* source, int other) {
  std::vector<std::uint8_t> bytes(room);
  EXPECT_TRUE(succeeded(pe.transfers().get(bytes.data(), source, room, other, false)));
  return bytes;
}

// Around the limits of the transports, and across the CPU's and the mapping's words.
constexpr std::size_t sizes[] = {1,    2,    3,    7,    8,     9,     63,     64,     65,    1023,
                                 1024, 1025, 4096, 4097, 32768, 32769, 131072, 131073, 500001};

TEST(ShmemTransfer, PutsAndGetsCopyExactlyTheRange) {
  run_shmem_job({.n_pes = 3}, [](core::Pe& pe) {
    const Objects objects(pe);
    const int other = (pe.pe() + 1) % 3;
    const auto pattern = tests::make_pattern(room, static_cast<unsigned>(pe.pe()) + 1);
    ASSERT_TRUE(succeeded(pe.transfers().put(objects.source, pattern.data(), room, pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.quiet()));
    for (const bool is_async : {false, true}) {
      for (const bool from_heap : {false, true}) {
        std::vector<std::uint8_t> expected(room, 0xee);
        ASSERT_TRUE(succeeded(pe.transfers().put(objects.target, expected.data(), room, other, false)));
        std::size_t at = 1;
        for (const std::size_t size : sizes) {
          const void* const source =
              from_heap ? static_cast<const void*>(objects.from(at + 3)) : pattern.data() + at + 3;
          ASSERT_TRUE(succeeded(pe.transfers().put(objects.at(at), source, size, other, is_async))) << size;
          std::copy_n(pattern.begin() + static_cast<long>(at) + 3, size, expected.begin() + static_cast<long>(at));
          at += size + 5;
        }
        ASSERT_TRUE(succeeded(pe.quiet()));
        EXPECT_EQ(tests::first_difference(read_all(pe, objects.target, other), expected), room)
            << (from_heap ? "from the heap" : "from host memory") << (is_async ? ", nbi" : "");
      }
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemTransfer, GetsIntoTheHeapCopyExactlyTheRange) {
  run_shmem_job({}, [](core::Pe& pe) {
    const Objects objects(pe);
    const int other = 1 - pe.pe();
    const auto pattern = tests::make_pattern(room, static_cast<unsigned>(pe.pe()) + 1);
    const auto theirs = tests::make_pattern(room, static_cast<unsigned>(other) + 1);
    ASSERT_TRUE(succeeded(pe.transfers().put(objects.source, pattern.data(), room, pe.pe(), false)));
    std::vector<std::uint8_t> expected(room, 0);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::size_t at = 1;
    for (const std::size_t size : sizes) {
      ASSERT_TRUE(succeeded(pe.transfers().get(objects.at(at), objects.from(at + 3), size, other, at % 2 == 0)))
          << size;
      std::copy_n(theirs.begin() + static_cast<long>(at) + 3, size, expected.begin() + static_cast<long>(at));
      at += size + 5;
    }
    ASSERT_TRUE(succeeded(pe.quiet()));
    EXPECT_EQ(tests::first_difference(read_all(pe, objects.target, pe.pe()), expected), room);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemTransfer, RejectsInvalidArgumentsWithoutWriting) {
  run_shmem_job({}, [](core::Pe& pe) {
    const Objects objects(pe);
    const int other = 1 - pe.pe();
    std::vector<std::uint8_t> bytes(room, 0x77);
    char local = 0;
    struct Wrong {
      void* target;
      const void* source;
      std::size_t size;
      int pe;
      const char* text;
    };
    const Wrong wrongs[] = {
        {objects.target, bytes.data(), 8, 2, "PE 2 is out of range"},
        {objects.target, bytes.data(), 8, -1, "PE -1 is out of range"},
        {&local, bytes.data(), 1, other, "symmetric heap"},
        {objects.at(room - 4), bytes.data(), 8, other, "exceeds the symmetric allocation"},
        {objects.target, bytes.data(), room + 1, other, "exceeds the symmetric allocation"},
        {objects.target, bytes.data(), SIZE_MAX, other, "exceeds the symmetric allocation"},
        {objects.target, nullptr, 8, other, "NULL"},
        {objects.target, objects.from(room - 4), 8, other, "exceeds the symmetric allocation"},
        {reinterpret_cast<void*>(pe.heap().own_address(0)), bytes.data(), 8, other, "not in a symmetric allocation"},
        {reinterpret_cast<void*>(pe.heap().own_address(pe.heap().size_bytes() - 8)), bytes.data(), 8, other,
         "not in a symmetric allocation"},
    };
    for (const Wrong& wrong : wrongs) {
      EXPECT_TRUE(failed(pe.transfers().put(wrong.target, wrong.source, wrong.size, wrong.pe, false), EINVAL,
                         HasSubstr(wrong.text)));
    }
    auto signalled = pe.transfers().put_signal(objects.target, bytes.data(), 8, objects.at(room - 4), 1,
                                               GDRKIT_SHMEM_SIGNAL_SET, other, false);
    ASSERT_FALSE(signalled);
    ASSERT_TRUE(succeeded(pe.transfers().put(objects.at(5), bytes.data(), 0, other, false)));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_EQ(read_all(pe, objects.target, pe.pe()), std::vector<std::uint8_t>(room, 0));
    ASSERT_TRUE(succeeded(pe.sync_all()));
  });
}

/// A PE that observes the signal observes the data, with every transport.
TEST(ShmemTransfer, SignalsArriveAfterTheirData) {
  run_shmem_job({}, [](core::Pe& pe) {
    const Objects objects(pe);
    const int other = 1 - pe.pe();
    std::uint64_t round = 0;
    for (const std::size_t size : {std::size_t{8}, std::size_t{1000}, std::size_t{100000}}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        for (const bool is_async : {false, true}) {
          ++round;
          const std::vector<std::uint8_t> data(size, static_cast<std::uint8_t>(round));
          ASSERT_TRUE(succeeded(pe.transfers().put_signal(objects.target, data.data(), size, objects.word, round,
                                                          GDRKIT_SHMEM_SIGNAL_SET, other, is_async)));
          auto seen = pe.waits().wait_until({objects.word, 8, false}, GDRKIT_SHMEM_GE, round);
          ASSERT_TRUE(seen) << seen.error().text();
          std::vector<std::uint8_t> got(size);
          ASSERT_TRUE(succeeded(pe.transfers().get(got.data(), objects.target, size, pe.pe(), false)));
          ASSERT_EQ(got, data);
          ASSERT_TRUE(succeeded(pe.barrier_all()));
        }
      }
    }
  });
}

TEST(ShmemTransfer, AFenceOrdersPutsOfAllTransports) {
  run_shmem_job({}, [](core::Pe& pe) {
    const Objects objects(pe);
    const int other = 1 - pe.pe();
    for (std::uint64_t round = 1; round <= 50; ++round) {
      const std::vector<std::uint8_t> data(200000, static_cast<std::uint8_t>(round));
      ASSERT_TRUE(succeeded(pe.transfers().put(objects.target, data.data(), data.size(), other, true)));
      pe.transfers().fence();
      ASSERT_TRUE(succeeded(pe.transfers().put(objects.word, &round, sizeof round, other, true)));
      ASSERT_TRUE(pe.waits().wait_until({objects.word, 8, false}, GDRKIT_SHMEM_EQ, round));
      std::vector<std::uint8_t> got(data.size());
      ASSERT_TRUE(succeeded(pe.transfers().get(got.data(), objects.target, got.size(), pe.pe(), false)));
      ASSERT_EQ(got, data) << "round " << round;
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    }
  });
}

TEST(ShmemTransfer, LosesNoAtomicOfAnyPeOrThread) {
  run_shmem_job({.n_pes = 3}, [](core::Pe& pe) {
    const Objects objects(pe);
    tests::run_together(2, [&](int) {
      for (int i = 0; i < 20; ++i) {
        std::uint64_t before = 0;
        EXPECT_TRUE(succeeded(pe.transfers().atomic(objects.word, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &before, 0)));
        EXPECT_TRUE(succeeded(pe.transfers().atomic(objects.word, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, nullptr, 0)));
      }
    });
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::uint64_t seen = 0;
    ASSERT_TRUE(succeeded(pe.transfers().atomic(objects.word, 8, GDRKIT_SHMEM_ATOMIC_FETCH, 0, 0, &seen, 0)));
    EXPECT_EQ(seen, 3U * 2 * 20 * 2);
    ASSERT_TRUE(succeeded(pe.sync_all()));
    if (pe.pe() == 1) {
      ASSERT_TRUE(succeeded(pe.transfers().atomic(objects.word, 8, GDRKIT_SHMEM_ATOMIC_SET, 5, 0, &seen, 0)));
      EXPECT_EQ(seen, 240U);
      ASSERT_TRUE(succeeded(pe.transfers().signal(objects.word, 3, GDRKIT_SHMEM_SIGNAL_ADD, 0)));
      ASSERT_TRUE(succeeded(pe.transfers().atomic(objects.word, 8, GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, 9, 8, &seen, 0)));
      EXPECT_EQ(seen, 8U);
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_TRUE(failed(pe.transfers().atomic(objects.at(4), 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, nullptr, 0), EINVAL));
    EXPECT_TRUE(failed(pe.transfers().atomic(objects.target, 2, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, nullptr, 0), EINVAL));
  });
}

/// On the emulated device no engine but `automatic` can run: gets then take another way.
TEST(ShmemTransfer, GetsByAnEngineCopyEveryByte) {
  for (const char* engine : {"automatic", "mover", "cpu"}) {
    ShmemJobOptions job;
    job.reading_engine = engine;
    run_shmem_job(job, [&](core::Pe& pe) {
      constexpr std::size_t size = 200'000;
      auto* const object = tests::zeroed<char>(pe, size);
      const auto theirs = tests::make_pattern(size, static_cast<unsigned>(1 - pe.pe()));
      ASSERT_TRUE(succeeded(pe.transfers().put(object, theirs.data(), size, 1 - pe.pe(), false)));
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      const auto mine = tests::make_pattern(size, static_cast<unsigned>(pe.pe()));
      const auto text = pe.transfers().describe(pe.pe());
      ASSERT_TRUE(text) << text.error().text();
      const bool uses_engine = std::strcmp(engine, "cpu") != 0;
      EXPECT_EQ(text->find("get to host up to 64 KiB, pinned host up to 256 KiB") != std::string::npos, uses_engine)
          << *text;
      for (const std::size_t bytes : {8ul, 1024ul, 1025ul, 5000ul, 65536ul, size}) {
        std::vector<std::uint8_t> seen(bytes);
        ASSERT_TRUE(succeeded(pe.transfers().get(seen.data(), object, bytes, pe.pe(), false))) << engine;
        EXPECT_TRUE(std::equal(seen.begin(), seen.end(), mine.begin())) << engine << ", " << bytes;
      }
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      ASSERT_TRUE(succeeded(pe.free(object)));
    });
  }
}

TEST(ShmemTransfer, GetsOfAllThreadsSucceedIfAnEngineCannotRun) {
  ShmemJobOptions job;
  job.reading_engine = "mover";
  for (int repeat = 0; repeat < 10; ++repeat) {  // only the first gets of a job encounter it
    run_shmem_job(job, [&](core::Pe& pe) {
      constexpr std::size_t size = 5000;
      auto* const object = tests::zeroed<char>(pe, size);
      tests::run_together(4, [&](int) {
        std::vector<std::uint8_t> seen(size, 0xee);
        EXPECT_TRUE(succeeded(pe.transfers().get(seen.data(), object, size, 1 - pe.pe(), false)));
        EXPECT_EQ(tests::first_difference(seen, std::vector<std::uint8_t>(size)), size);
      });
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    });
  }
}

/// Temporarily replaces the heap by memory that cannot be mapped. The range must not be free, because memory of other
/// threads could be placed there.
TEST(ShmemTransfer, UsesTheNextTransportIfTheOwnHeapIsUnmappable) {
  if (tests::is_gpu_place()) GTEST_SKIP() << "a GPU's memory cannot be moved aside";
  run_shmem_job({}, [](core::Pe& pe) {
    if (pe.connections().remote() != nullptr) GTEST_SKIP() << "bar1 serves PEs of this node";
    const Objects objects(pe);
    const int other = *pe.connections().slot_of(1 - pe.pe());
    const heap::HeapPosition position = *pe.heap().find(objects.target, 8);
    auto bar1 = make_bar1(pe.connections().transport_setting());
    ASSERT_TRUE(bar1) << bar1.error().text();
    const std::size_t size = pe.heap().max_bytes();
    void* const place = reinterpret_cast<void*>(pe.heap().own_address(0));
    ASSERT_TRUE(succeeded(pe.sync_all()));
    void* const aside = ::mremap(place, 0, size, MREMAP_MAYMOVE);
    ASSERT_NE(aside, MAP_FAILED);
    constexpr int empty = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    ASSERT_EQ(::mmap(place, size, PROT_NONE, empty, -1, 0), place);
    const auto put = (*bar1)->put(other, position, objects.source, 8, transport::LocalMemory::heap, false);
    const auto got = (*bar1)->get(other, position, objects.source, 8, transport::LocalMemory::heap, false);
    ASSERT_EQ(::mremap(aside, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place), place);
    EXPECT_TRUE(failed(put, EOPNOTSUPP));
    EXPECT_TRUE(failed(got, EOPNOTSUPP));
    EXPECT_TRUE(succeeded((*bar1)->serves(other)));
    const std::uint64_t value = 0x1234567890 + static_cast<std::uint64_t>(pe.pe());
    EXPECT_TRUE(succeeded((*bar1)->put(other, position, &value, 8, transport::LocalMemory::host, false)));
    ASSERT_TRUE(succeeded((*bar1)->complete(other)));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::uint64_t seen = 0;
    EXPECT_TRUE(succeeded(pe.transfers().get(&seen, objects.target, 8, pe.pe(), false)));
    EXPECT_EQ(seen, 0x1234567890 + static_cast<std::uint64_t>(1 - pe.pe()));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// As where BAR1 has room for what the heap grew by, but not for its first chunk.
TEST(ShmemTransfer, CompletesStoresThroughMappedMemory) {
  if (tests::is_gpu_place()) GTEST_SKIP() << "a GPU's memory cannot be moved aside";
  run_shmem_job({}, [](core::Pe& pe) {
    if (pe.connections().remote() != nullptr) GTEST_SKIP() << "bar1 serves PEs of this node";
    constexpr std::size_t larger = 200 << 20;  // than the first chunk; begins in what is left of it
    const Objects objects(pe);
    auto grown = pe.allocate(larger, 1, false);
    ASSERT_TRUE(grown) << grown.error().text();
    const heap::HeapPosition position = *pe.heap().find(static_cast<char*>(*grown) + larger - 8, 8);
    ASSERT_GT(position.chunk.number, 0U);
    const int other = *pe.connections().slot_of(1 - pe.pe());
    auto bar1 = make_bar1(pe.connections().transport_setting());
    ASSERT_TRUE(bar1) << bar1.error().text();
    const std::uint64_t value = 1;
    ASSERT_TRUE(succeeded((*bar1)->put(other, position, &value, 8, transport::LocalMemory::host, false)));
    EXPECT_TRUE((*bar1)->is_pending(other));
    const std::size_t size = pe.heap().max_bytes();
    void* const place = reinterpret_cast<void*>(pe.heap().address(other, 0));
    void* const aside = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(aside, MAP_FAILED);
    ASSERT_EQ(::mremap(place, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, aside), aside);
    const auto completed = (*bar1)->complete(other);
    ASSERT_EQ(::mremap(aside, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place), place);
    EXPECT_TRUE(succeeded(completed));
    EXPECT_FALSE((*bar1)->is_pending(other));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemTransfer, ReportsAnUnknownEngine) {
  ShmemJobOptions job;
  job.reading_engine = "abacus";
  run_shmem_job(job, [&](core::Pe& pe) {
    auto* const object = tests::zeroed<char>(pe, 5000);
    std::vector<std::uint8_t> seen(5000);
    const auto refused = pe.transfers().get(seen.data(), object, seen.size(), pe.pe(), false);
    EXPECT_TRUE(failed(refused, EINVAL, HasSubstr("unknown copy engine 'abacus'")));
  });
}

TEST(ShmemTransfer, DescribesTheTransportToEachPe) {
  run_shmem_job({}, [](core::Pe& pe) {
    for (int other = 0; other < pe.n_pes(); ++other) {
      auto text = pe.transfers().describe(other);
      ASSERT_TRUE(text) << text.error().text();
      // In the order in which they are tried.
      EXPECT_THAT(*text, StartsWith("bar1: "));
      if (pe.connections().remote() != nullptr && other != pe.pe()) {
        EXPECT_THAT(*text, StartsWith("bar1: not used: "));
        EXPECT_THAT(*text, HasSubstr("\nucx: put from host, pinned host, symmetric, device; get to host"));
        EXPECT_THAT(*text, HasSubstr("\nGPU kernels: by a proxy thread"));
        continue;
      }
      EXPECT_THAT(*text, HasSubstr("\nucx: not used: "));
      EXPECT_THAT(*text, HasSubstr("\nGPU kernels: by loads and stores"));
      EXPECT_THAT(*text, HasSubstr("\ndriver_copy: put from host, pinned host, symmetric, device; get to host"));
    }
    EXPECT_TRUE(failed(pe.transfers().describe(pe.n_pes()), EINVAL));
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
