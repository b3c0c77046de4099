// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Map never returns a mapping that was found to refer to other memory. Verification never writes to the user's memory.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "fakes/fault_injection.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::HasSubstr;

class RmVerification : public OnRmMachine {
 protected:
  static constexpr std::size_t size = 1 * mib;

  void pin_distinct_words() { pin(machine.allocate(size), size); }
  void pin_zeros() { pin(machine.cuda.malloc(size), size); }
  /// Pins memory whose every mapping is compared.
  void pin_vmm() { pin(machine.filled(machine.cuda.vmm({2 * mib}, false), 2 * mib), size); }

  Verification map() { return map_or_fail(*pinned).verification; }
  void expect_other_memory_is_rejected() {
    machine.rm.set_mapping_shows(fakes::MappingShows::other_memory);
    expect_map_fails(EIO, HasSubstr("the CPU and CUDA read different data"));
  }
  void expect_a_lost_gpu_is_reported() {
    machine.rm.set_mapping_shows(fakes::MappingShows::all_ones);
    expect_map_fails(ENODEV, HasSubstr("GPU is lost or BAR1 is disabled"));
  }
  /// From now on, the GPU writes the first word before or after each read of CUDA, or both.
  void write_a_word(bool is_before, bool is_after) {
    const auto write = [this] {
      ++last_word;
      machine.cuda.write(address, &last_word, sizeof last_word);
    };
    if (is_before) machine.cuda.before_gather = write;
    if (is_after) machine.cuda.after_gather = write;
  }

  std::uint64_t last_word = 0;
};

TEST_F(RmVerification, RejectsAMappingOfOtherMemory) {
  pin_distinct_words();
  expect_other_memory_is_rejected();
  machine.rm.set_mapping_shows(fakes::MappingShows::memory);
  EXPECT_EQ(map(), Verification::content) << "the pin must stay valid after a rejected mapping";
}

TEST_F(RmVerification, RejectsAMappingOfOtherMemoryIfTheUsersIsAllZeros) {
  pin_zeros();
  expect_other_memory_is_rejected();
}

TEST_F(RmVerification, ComparesEveryPieceOfARange) {
  for (unsigned wrong = 0; wrong < 3; ++wrong) {
    RmMachine other;
    const std::uint64_t start = other.filled(other.cuda.vmm({128 * kib, 128 * kib, 128 * kib}, false), 384 * kib);
    auto opened = open_or_fail(other);
    auto held = pin_or_fail(*opened, start, 384 * kib);
    other.rm.set_mapping_shows(fakes::MappingShows::other_memory, wrong);
    EXPECT_FALSE(held->map(held->page_bytes(), MappingType::none)) << "from piece " << wrong << " on";
  }
}

TEST_F(RmVerification, DetectsALostGpuByAllOnes) {
  pin_distinct_words();
  expect_a_lost_gpu_is_reported();
}

TEST_F(RmVerification, DetectsALostGpuByAllOnesIfTheUsersMemoryIsAllZeros) {
  pin_zeros();
  expect_a_lost_gpu_is_reported();
}

TEST_F(RmVerification, ComparesContentThatIsNotTrivial) {
  pin_distinct_words();
  EXPECT_EQ(map(), Verification::content);
  EXPECT_EQ(machine.cuda.census().scratch_allocations, 0u);
}

TEST_F(RmVerification, FindsDifferencesAtEitherEndOfTheRange) {
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{size - 64}}) {
    RmMachine other;
    const std::uint64_t start = other.allocate(size);
    auto opened = open_or_fail(other);
    auto held = pin_or_fail(*opened, start, size);
    // CUDA reads a line that the mapping does not: it is written before CUDA's read and restored afterwards.
    const auto line = other.cuda.read(start + at, 64);
    const std::vector<std::uint8_t> shifted(line.rbegin(), line.rend());
    other.cuda.write(start + at, shifted.data(), shifted.size());
    other.cuda.after_gather = [&] { other.cuda.write(start + at, line.data(), line.size()); };
    other.cuda.before_gather = [&] { other.cuda.write(start + at, shifted.data(), shifted.size()); };
    EXPECT_FALSE(held->map(held->page_bytes(), MappingType::none)) << "offset " << at;
    other.cuda.after_gather = other.cuda.before_gather = nullptr;
  }
}

TEST_F(RmVerification, CalibratesOnceAndComparesEachTimeIfTheContentIsTrivial) {
  pin_zeros();
  EXPECT_EQ(map(), Verification::calibrated);
  ASSERT_TRUE(pinned->unmap());
  const unsigned exports = machine.cuda.exports_made();
  unsigned gathers = 0;
  machine.cuda.before_gather = [&] { ++gathers; };
  EXPECT_EQ(map(), Verification::calibrated);
  EXPECT_EQ(machine.cuda.exports_made(), exports) << "must not calibrate again";
  EXPECT_GT(gathers, 0u) << "trivial content proves nothing";
  machine.cuda.before_gather = nullptr;
}

TEST_F(RmVerification, RejectsEqualTrivialContentIfScratchMemoryDiffers) {
  pin_zeros();
  const std::vector<std::uint8_t> ones(size, 0xff);
  machine.cuda.write(address, ones.data(), ones.size());
  machine.rm.set_mapping_shows(fakes::MappingShows::all_ones);
  expect_map_fails(EIO, HasSubstr("cannot verify mappings"));
  EXPECT_EQ(machine.cuda.census().scratch_allocations, 0u);
  expect_map_fails(EIO, HasSubstr("cannot verify mappings"));
}

TEST_F(RmVerification, TreatsOneRepeatedByteAsTrivial) {
  pin_zeros();
  const std::vector<std::uint8_t> bytes(size, 0x7f);
  machine.cuda.write(address, bytes.data(), bytes.size());
  EXPECT_EQ(map(), Verification::calibrated);
}

TEST_F(RmVerification, VerifiesStructureWithoutScratchMemory) {
  machine.plan.fail_every("mem_create", {0, 0, 2});
  pin_zeros();
  EXPECT_EQ(map(), Verification::structural);
  EXPECT_TRUE(machine.plan.was_reached());
}

TEST_F(RmVerification, ToleratesAWriterThatIsFasterThanOneComparison) {
  pin_distinct_words();
  std::uint64_t seed = 2;
  machine.cuda.after_gather = [&] { machine.cuda.fill_pattern(address, size, seed++); };
  const Verification verification = map();
  // Content that changes between any two reads is ignored. Then scratch memory is used.
  EXPECT_TRUE(verification == Verification::content || verification == Verification::calibrated);
  EXPECT_GT(seed, 3u) << "the writer must run between the reads";
}

TEST_F(RmVerification, VerifiesByTheLinesThatAWriterDoesNotChange) {
  pin_distinct_words();
  write_a_word(false, true);
  EXPECT_EQ(map(), Verification::content);
  EXPECT_GT(last_word, 1u) << "the writer must run between the reads";
}

TEST_F(RmVerification, MapsWhileASampledWordIsWrittenContinuously) {
  pin_distinct_words();
  write_a_word(true, true);
  EXPECT_EQ(map(), Verification::content);
}

TEST_F(RmVerification, DetectsOtherMemoryWhileAWordIsWritten) {
  pin_distinct_words();
  write_a_word(true, false);
  expect_other_memory_is_rejected();
}

TEST_F(RmVerification, CalibratesAfterATemporaryLackOfDescriptors) {
  pin_zeros();
  machine.rm.set_descriptor_limit(census.descriptors + 1);
  EXPECT_EQ(map(), Verification::structural);
  ASSERT_TRUE(pinned->unmap());
  machine.rm.set_descriptor_limit(1024);
  EXPECT_EQ(map(), Verification::calibrated);
}

TEST_F(RmVerification, ComparesAnAllocationOnce) {
  pin_distinct_words();
  unsigned gathers = 0;
  machine.cuda.before_gather = [&] { ++gathers; };
  EXPECT_EQ(map(), Verification::content);
  EXPECT_GT(gathers, 0u);
  gathers = 0;
  ASSERT_TRUE(pinned->unmap());
  EXPECT_EQ(map(), Verification::content);
  EXPECT_EQ(gathers, 0u);
  // Another pin, of a part.
  auto part = pin_or_fail(*backend, address, size / 2);
  EXPECT_EQ(map_or_fail(*part).verification, Verification::content);
  EXPECT_EQ(gathers, 0u);
  machine.cuda.before_gather = nullptr;
}

TEST_F(RmVerification, DetectsALostGpuAtALaterMap) {
  pin_distinct_words();
  EXPECT_EQ(map(), Verification::content);
  ASSERT_TRUE(pinned->unmap());
  expect_a_lost_gpu_is_reported();
}

TEST_F(RmVerification, ComparesPagesThatWereNotCompared) {
  pin_distinct_words();
  auto part = pin_or_fail(*backend, address, size / 2);
  ASSERT_TRUE(part->map(part->page_bytes(), MappingType::none));
  census = machine.rm.census();
  expect_other_memory_is_rejected();
}

TEST_F(RmVerification, ComparesAnotherAllocationAtTheSameAddress) {
  pin_distinct_words();
  EXPECT_EQ(map(), Verification::content);
  ASSERT_TRUE(pinned->unpin());
  machine.cuda.replace_allocation(address);
  machine.cuda.fill_pattern(address, size, 2);
  pinned = pin_or_fail(*backend, address, size);
  census = machine.rm.census();
  expect_other_memory_is_rejected();
}

TEST_F(RmVerification, ComparesMemoryOfTheVirtualMemoryCallsEachTime) {
  pin_vmm();
  EXPECT_EQ(map(), Verification::content);
  ASSERT_TRUE(pinned->unmap());
  expect_other_memory_is_rejected();
}

TEST_F(RmVerification, ToleratesAConcurrentWriterOfWholeLines) {
  pin_vmm();
  std::atomic<bool> is_done{false};
  const auto memory = machine.cuda.memory_at(address).lock();
  auto* word = reinterpret_cast<std::atomic<std::uint64_t>*>(memory->bytes().data());
  std::thread writer([&] {
    for (std::uint64_t value = 0; !is_done; ++value) word[5].store(value, std::memory_order_relaxed);
  });
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(tests::succeeded(pinned->map(pinned->page_bytes(), MappingType::none)));
    EXPECT_TRUE(pinned->unmap());
  }
  is_done = true;
  writer.join();
  EXPECT_EQ(map(), Verification::content);
}

TEST_F(RmVerification, DoesNotWriteToTheRangeOrItsNeighbors) {
  for (const std::uint64_t seed : {0U, 1U}) {
    RmMachine other;
    const std::uint64_t before = other.cuda.malloc(4096);
    const std::uint64_t start = other.cuda.malloc(100000);
    (void)other.cuda.malloc(4096);
    if (seed != 0) other.cuda.fill_pattern(before, 200000, seed);
    const auto memory = other.cuda.memory_at(start).lock();
    const std::vector<std::uint8_t> block(memory->bytes().begin(), memory->bytes().end());
    {
      auto opened = open_or_fail(other);
      auto held = pin_or_fail(*opened, start, 100000);
      (void)map_or_fail(*held);
      EXPECT_TRUE(std::equal(block.begin(), block.end(), memory->bytes().begin())) << "while mapped";
    }
    EXPECT_TRUE(std::equal(block.begin(), block.end(), memory->bytes().begin())) << "afterwards";
  }
}

TEST_F(RmVerification, RejectsMemoryThatCudaCannotRead) {
  pin_zeros();
  machine.plan.fail_every("memcpy_2d_async", {0, 0, 700});
  EXPECT_THAT(tests::text_of(pinned->map(pinned->page_bytes(), MappingType::none)), HasSubstr("ILLEGAL_ADDRESS"));
  EXPECT_EQ(machine.rm.census(), census);
}

}  // namespace
}  // namespace gdrkit::backend::rm
