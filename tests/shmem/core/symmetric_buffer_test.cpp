// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory of the application's that becomes part of the symmetric heap's range.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <gdrkit/shmem.hpp>
#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device_words.cuh>

#include <cerrno>
#include <type_traits>
#include <vector>

#include "platform/device/emulated_memory.hpp"
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "support/device_access.hpp"
#include "support/place.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using platform::AllocationKind;
using ::testing::HasSubstr;
using tests::failed;
using tests::run_shmem_job;
using tests::succeeded;

// Public and private headers have different names, so one source can include both.
static_assert(!std::is_same_v<shmem::SymmetricBuffer<int>, heap::SymmetricBuffer>);

constexpr std::size_t buffer_bytes = std::size_t{3} << 20;  // not a whole number of granules

/// A buffer of one PE's own, as an application has it.
class OwnBuffer {
 public:
  explicit OwnBuffer(Pe& pe, AllocationKind kind = AllocationKind::vmm_exportable, std::size_t size = buffer_bytes)
      : pe_(pe) {
    const platform::DeviceScope scope(pe.device());
    auto made = pe.device().allocate(kind, size);
    EXPECT_TRUE(made) << made.error().text();
    if (made) memory_ = std::move(*made);
    EXPECT_TRUE(succeeded(pe.device().fill(memory_.address(), 0, size)));
  }
  ~OwnBuffer() { free(); }
  OwnBuffer(const OwnBuffer&) = delete;
  OwnBuffer& operator=(const OwnBuffer&) = delete;

  void free() {
    const platform::DeviceScope scope(pe_.device());
    EXPECT_TRUE(succeeded(memory_.free()));
  }
  [[nodiscard]] void* address(std::size_t offset = 0) const {
    return reinterpret_cast<void*>(memory_.address() + offset);
  }
  [[nodiscard]] std::vector<std::uint8_t> read(std::size_t offset, std::size_t size) const {
    return tests::device_bytes(pe_, address(offset), size);
  }

 private:
  Pe& pe_;
  platform::Allocation memory_;
};

TEST(SymmetricBuffer, PutsReachTheOtherPesOwnBuffer) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    OwnBuffer own(pe);
    auto made = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_TRUE(pe.heap().contains(*made));
    auto* const bytes = static_cast<char*>(*made);
    const int next = (pe.pe() + 1) % 3;
    const int previous = (pe.pe() + 2) % 3;
    // By the CPU, by copies, and over the last byte.
    for (const std::size_t size : {std::size_t{8}, std::size_t{1000}, std::size_t{1} << 20}) {
      const std::size_t at = buffer_bytes - size;
      const auto mine = tests::make_pattern(size, static_cast<unsigned>(pe.pe()));
      ASSERT_TRUE(succeeded(pe.transfers().put(bytes + at, mine.data(), size, next, false)));
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      EXPECT_EQ(own.read(at, size), tests::make_pattern(size, static_cast<unsigned>(previous))) << size;
      std::vector<std::uint8_t> seen(size);
      ASSERT_TRUE(succeeded(pe.transfers().get(seen.data(), bytes + at, size, next, false)));
      EXPECT_EQ(seen, mine) << size;
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    }
    if (pe.connections().remote() == nullptr) {
      auto pointer = pe.connections().pointer(bytes, next);
      ASSERT_TRUE(pointer) << pointer.error().text();
      EXPECT_EQ(static_cast<char*>(*pointer) - bytes,
                (pe.connections().node().index_of(next) - pe.connections().node().index_of(pe.pe())) *
                    static_cast<std::ptrdiff_t>(pe.heap().stride_bytes()));
    }
    EXPECT_TRUE(succeeded(pe.unregister_symmetric(*made)));
  });
}

TEST(SymmetricBuffer, AtomicsSignalsStreamsAndCollectivesWorkOnIt) {
  run_shmem_job({.n_pes = tests::pes_with_own_device(2)}, [](Pe& pe) {
    OwnBuffer own(pe);
    auto made = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(made) << made.error().text();
    auto* const words = static_cast<std::uint64_t*>(*made);
    const int n_pes = pe.n_pes();
    const int other = n_pes - 1 - pe.pe();
    std::uint64_t fetched = 7;
    ASSERT_TRUE(succeeded(pe.transfers().atomic(words, 8, GDRKIT_SHMEM_ATOMIC_ADD, 5, 0, &fetched, other)));
    EXPECT_EQ(fetched, 0U);
    const std::uint64_t data = 0x1122334455667788U;
    ASSERT_TRUE(
        succeeded(pe.transfers().put_signal(words + 8, &data, 8, words + 1, 3, GDRKIT_SHMEM_SIGNAL_SET, other, false)));
    auto waited = pe.waits().wait_until({words + 1, 8, false}, GDRKIT_SHMEM_EQ, 3);
    ASSERT_TRUE(waited) << waited.error().text();
    ASSERT_TRUE(succeeded(pe.streams().put(words + 16, &data, 8, other, nullptr)));
    ASSERT_TRUE(succeeded(pe.synchronize_stream(nullptr)));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const auto seen = own.read(0, 17 * 8);
    EXPECT_EQ(seen[0], 5);
    EXPECT_EQ(std::memcmp(&seen[64], &data, 8), 0);
    EXPECT_EQ(std::memcmp(&seen[128], &data, 8), 0);

    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const std::vector<std::int32_t> ones(1000, pe.pe() + 1);
    auto* const numbers = reinterpret_cast<char*>(words) + 4096;
    ASSERT_TRUE(succeeded(pe.transfers().put(numbers, ones.data(), 4000, pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.quiet()));
    collective::CollectiveCall call{collective::CollectiveOperation::reduce, GDRKIT_SHMEM_TEAM_WORLD, numbers + 4096,
                                    numbers, 4000};
    call.reduction = GDRKIT_SHMEM_SUM;
    call.type = GDRKIT_SHMEM_TYPE_INT32;
    ASSERT_TRUE(succeeded(pe.collectives().run(call)));
    std::int32_t sum = 0;
    std::memcpy(&sum, own.read(8192 + 3996, 4).data(), 4);
    EXPECT_EQ(sum, n_pes * (n_pes + 1) / 2);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// Device functions recognise it, and reach the other PE's.
TEST(SymmetricBuffer, GpuKernelsPutIntoABuffer) {
  run_shmem_job({.n_pes = tests::pes_with_own_device(2)}, [](Pe& pe) {
    if (pe.n_pes() < 2 || pe.connections().remote() != nullptr) return;
    OwnBuffer own(pe);
    auto made = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(made) << made.error().text();
    const std::uint64_t at = reinterpret_cast<std::uint64_t>(*made);
    ASSERT_TRUE(succeeded(pe.gpu_code().watch()));
    platform::ShmemParameters parameters{};
    parameters.state = pe.gpu_code().state();
    parameters.source = at + (1 << 20);
    parameters.target = at + (2 << 20);
    parameters.size_bytes = 65536;
    parameters.signal = at + 64;
    parameters.result = at + 1024;
    parameters.operation = platform::ShmemOperation::ping_pong;
    parameters.scope = platform::ShmemScope::block;
    parameters.rounds = 10;
    parameters.peer = static_cast<std::uint32_t>(1 - pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const platform::DeviceScope scope(pe.device());
    ASSERT_TRUE(succeeded(pe.connections().gpu_kernels().launch(parameters, {1, 128}, {})));
    ASSERT_TRUE(succeeded(pe.device().synchronize(platform::Stream{})));
    platform::ShmemResult result{};
    std::memcpy(&result, own.read(1024, sizeof result).data(), sizeof result);
    EXPECT_EQ(result.wrong, 0U);
    EXPECT_NE(result.end_ns, 0U);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(SymmetricBuffer, AllPesReportTheInvalidCallOfOnePe) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    const bool is_wrong = pe.pe() == 1;
    OwnBuffer own(pe);
    OwnBuffer unshareable(pe, AllocationKind::cuda_malloc);
    std::vector<char> host(buffer_bytes);
    auto object = pe.allocate(buffer_bytes, 1, false);
    ASSERT_TRUE(object);
    const struct {
      const char* what;
      void* address;
      int errno_value;
    } wrongs[] = {{"memory of cudaMalloc", unshareable.address(), EOPNOTSUPP},
                  {"host memory", host.data(), EOPNOTSUPP},
                  {"the inside of an allocation", own.address(4096), EINVAL},
                  {"symmetric memory", *object, EINVAL},
                  {"no memory", nullptr, EINVAL}};
    for (const auto& wrong : wrongs) {
      const auto refused = pe.register_symmetric(is_wrong ? wrong.address : own.address(), buffer_bytes);
      EXPECT_TRUE(failed(refused, wrong.errno_value, testing::HasSubstr(is_wrong ? "" : "PE 1"))) << wrong.what;
      EXPECT_TRUE(failed(refused, wrong.errno_value,
                         testing::HasSubstr(wrong.errno_value == EOPNOTSUPP ? "gdrkit_shmem_malloc" : "")))
          << wrong.what;
    }
    const std::size_t too_many = std::size_t{8} << 20;
    EXPECT_TRUE(failed(pe.register_symmetric(own.address(), too_many), EINVAL));
    EXPECT_TRUE(failed(pe.register_symmetric(own.address(), 0), EINVAL));
    EXPECT_TRUE(failed(pe.register_symmetric(own.address(), is_wrong ? 4096 : 8192), EPROTO,
                       testing::HasSubstr("PE 0 passed 8192, but PE 1 passed 4096")));
    // The job continues.
    auto made = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_TRUE(failed(pe.register_symmetric(own.address(), buffer_bytes), EEXIST));
  });
}

TEST(SymmetricBuffer, RejectsDifferentSizes) {
  run_shmem_job({}, [](Pe& pe) {
    OwnBuffer own(pe, AllocationKind::vmm_exportable, pe.pe() == 0 ? buffer_bytes : 4 * buffer_bytes);
    EXPECT_TRUE(
        failed(pe.register_symmetric(own.address(), buffer_bytes), EPROTO, testing::HasSubstr("whole allocation")));
  });
}

TEST(SymmetricBuffer, UnregisterRequiresARegisteredAddress) {
  run_shmem_job({}, [](Pe& pe) {
    OwnBuffer own(pe);
    auto object = pe.allocate(4096, 1, false);
    ASSERT_TRUE(object);
    auto made = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(made) << made.error().text();
    auto* const bytes = static_cast<char*>(*made);
    EXPECT_TRUE(failed(pe.unregister_symmetric(*object), EINVAL));
    EXPECT_TRUE(failed(pe.unregister_symmetric(bytes + 256), EINVAL));
    EXPECT_TRUE(failed(pe.unregister_symmetric(nullptr), pe.n_pes() == 1 ? EINVAL : EPROTO))
        << "differs between PEs, as their heaps do";
    EXPECT_TRUE(failed(pe.free(bytes), EINVAL));
    // Memory after the registered bytes is mapped, but not symmetric.
    const char byte = 1;
    EXPECT_TRUE(failed(pe.transfers().put(bytes + buffer_bytes, &byte, 1, 0, false), EINVAL));
    EXPECT_TRUE(failed(pe.transfers().put(bytes + buffer_bytes - 1, &byte, 2, 0, false), EINVAL));
    ASSERT_TRUE(succeeded(pe.transfers().put(bytes, &byte, 1, 1 - pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.unregister_symmetric(bytes)));
    EXPECT_TRUE(failed(pe.transfers().put(bytes, &byte, 1, 0, false), EINVAL));
    EXPECT_TRUE(failed(pe.unregister_symmetric(bytes), EINVAL));
    // Only its registration has ended, and its place is free again.
    EXPECT_EQ(own.read(0, 1)[0], 1);
    for (int round = 0; round < 3; ++round) {
      auto again = pe.register_symmetric(own.address(), buffer_bytes);
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_EQ(*again, bytes);
      const char value = static_cast<char>(10 + round);
      ASSERT_TRUE(succeeded(pe.transfers().put(bytes + 5, &value, 1, 1 - pe.pe(), false)));
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      EXPECT_EQ(own.read(5, 1)[0], value);
      ASSERT_TRUE(succeeded(pe.unregister_symmetric(bytes)));
    }
  });
}

/// Also where the caller frees its own mapping first: the others still have theirs.
TEST(SymmetricBuffer, FinalizeReleasesRegisteredBuffers) {
  const auto run = [](int rounds) {
    for (int round = 0; round < rounds; ++round) {
      run_shmem_job({}, [](Pe& pe) {
        OwnBuffer own(pe);
        OwnBuffer freed(pe);
        ASSERT_TRUE(pe.register_symmetric(own.address(), buffer_bytes));
        auto made = pe.register_symmetric(freed.address(), buffer_bytes);
        ASSERT_TRUE(made) << made.error().text();
        freed.free();
        const std::uint64_t word = 5;
        ASSERT_TRUE(succeeded(pe.transfers().put(*made, &word, 8, 1 - pe.pe(), false)));
        ASSERT_TRUE(succeeded(pe.barrier_all()));
        EXPECT_EQ(tests::device_bytes(pe, *made, 1)[0], 5);
        ASSERT_TRUE(succeeded(pe.barrier_all()));
      });
    }
  };
  run(1);
  const auto before = tests::count_process_resources();
  run(2);
  EXPECT_EQ(tests::count_process_resources(), before);
}

TEST(SymmetricBuffer, SharesTheHeapsRangeWithItsGrowth) {
  run_shmem_job({.heap_max_bytes = std::uint64_t{128} << 20}, [](Pe& pe) {
    OwnBuffer own(pe);
    OwnBuffer second(pe);
    OwnBuffer large(pe, AllocationKind::vmm_exportable, std::size_t{128} << 20);
    auto first = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(first) << first.error().text();
    auto more = pe.register_symmetric(second.address(), buffer_bytes);
    ASSERT_TRUE(more) << more.error().text();
    EXPECT_TRUE(failed(pe.register_symmetric(large.address(), std::size_t{128} << 20), ENOMEM,
                       testing::HasSubstr("GDRKIT_SHMEM_HEAP_MAX")));
    // The heap grows up to the buffers and not into them.
    auto* const object = tests::zeroed<char>(pe, std::size_t{100} << 20);
    EXPECT_TRUE(failed(pe.allocate(std::size_t{24} << 20, 1, false), ENOMEM));
    const std::uint64_t word = 0x55 + static_cast<unsigned>(pe.pe());
    for (void* const at : {*first, *more, static_cast<void*>(object)}) {
      ASSERT_TRUE(succeeded(pe.transfers().put(at, &word, 8, 1 - pe.pe(), false)));
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_EQ(own.read(0, 1)[0], 0x55 + 1 - pe.pe());
    EXPECT_EQ(second.read(0, 1)[0], 0x55 + 1 - pe.pe());
    EXPECT_EQ(tests::device_bytes(pe, object, 1)[0], 0x55 + 1 - pe.pe());
    // The gap that the first one leaves is taken again.
    ASSERT_TRUE(succeeded(pe.unregister_symmetric(*first)));
    auto again = pe.register_symmetric(own.address(), buffer_bytes);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, *first);
  });
}

/// Memory that BAR1 cannot map: copies serve it, and BAR1 still serves the heap.
TEST(SymmetricBuffer, CopiesIntoMemoryThatCannotBePinned) {
  if (tests::is_gpu_place()) GTEST_SKIP() << "emulated memory that refuses to be pinned";
  run_shmem_job({}, [](Pe& pe) {
    constexpr std::size_t size = std::size_t{2} << 20;
    constexpr std::size_t page = platform::emulated_page_bytes;
    // Kind 1: managed memory.
    const base::UniqueFd file(::memfd_create("gdrkit-emulated:1:2097152", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file.get(), size), 0);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const reserved = ::mmap(nullptr, 2 * size, PROT_NONE, flags, -1, 0);
    ASSERT_NE(reserved, MAP_FAILED);
    const std::uint64_t own = (reinterpret_cast<std::uint64_t>(reserved) + page - 1) / page * page + page;
    ASSERT_TRUE(succeeded(platform::emulated_adopt(file.get(), own, size)));
    auto made = pe.register_symmetric(reinterpret_cast<void*>(own), size);
    ASSERT_TRUE(made) << made.error().text();
    auto* const object = tests::zeroed<char>(pe, 8);
    const std::uint64_t word = 77;
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(succeeded(pe.transfers().put(*made, &word, 8, 1 - pe.pe(), false)));
      std::uint64_t seen = 0;
      ASSERT_TRUE(succeeded(pe.transfers().get(&seen, *made, 8, 1 - pe.pe(), false)));
      EXPECT_EQ(seen, word);
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_EQ(*reinterpret_cast<const volatile std::uint64_t*>(own), word);
    ASSERT_TRUE(succeeded(pe.transfers().put(object, &word, 8, 1 - pe.pe(), false)));
    auto described = pe.transfers().describe(1 - pe.pe());
    ASSERT_TRUE(described);
    EXPECT_THAT(*described, HasSubstr(pe.connections().remote() == nullptr ? "bar1: put from host" : "ucx"));
    ASSERT_TRUE(succeeded(pe.unregister_symmetric(*made)));
    ::munmap(reserved, 2 * size);
  });
}

/// More chunks than BAR1's table has: copies serve the later ones.
TEST(SymmetricHeapGrowth, TransfersReachChunksBeyondTheBar1Table) {
  if (tests::is_gpu_place()) GTEST_SKIP() << "needs 17 GiB that are not written to";
  run_shmem_job({.heap_max_bytes = std::uint64_t{20} << 30}, [](Pe& pe) {
    void* last = nullptr;
    for (int growth = 0; growth < 260; ++growth) {
      auto made = pe.allocate(std::size_t{64} << 20, 1, false);
      ASSERT_TRUE(made) << made.error().text();
      last = *made;
    }
    const std::uint64_t word = 0x1234;
    ASSERT_TRUE(succeeded(pe.transfers().put(last, &word, 8, 1 - pe.pe(), false)));
    std::uint64_t seen = 0;
    ASSERT_TRUE(succeeded(pe.transfers().get(&seen, last, 8, 1 - pe.pe(), false)));
    EXPECT_EQ(seen, word);
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
