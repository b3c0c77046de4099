// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The accesses of copies to device memory, instruction by instruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "access_recorder.hpp"
#include "copy/copier.hpp"

namespace gdrkit::copy {
namespace {

using gdrkit::testing::Access;
using gdrkit::testing::AccessRecorder;

constexpr std::size_t line = 64;
constexpr std::size_t sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,  12,  15,  16,  17,  24,  31,  32,  33, 40,
                                 48, 56, 60, 63, 64, 65, 72, 96, 127, 128, 129, 130, 191, 192, 255, 300};

struct Case {
  std::string name;
  Copier copier;
};

/// Every copy kernel that this CPU supports, on a write-combining mapping, and the device mapping, which uses none.
std::vector<Case> all_cases() {
  const cpu::Features features = cpu::detect();
  std::vector<Case> cases;
  for (const KernelInfo& info : kernels()) {
    if (!info.runs_on(features)) continue;
    cases.push_back({info.name, choose(features, MappingType::write_combining, info.name).value()});
  }
  cases.push_back({"device_mapping", choose(features, MappingType::device, "").value()});
  return cases;
}

bool is_one_word(std::size_t offset, std::size_t size) {
  return size <= 8 && std::has_single_bit(size) && offset % size == 0;
}

/// The size of the smallest naturally aligned piece of at least 16 bytes that contains the range.
std::size_t piece_around(std::size_t offset, std::size_t size) {
  std::size_t piece = 16;
  while (offset / piece != (offset + size - 1) / piece) piece *= 2;
  return piece;
}

class CopierAccesses : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    std::iota(host_.begin(), host_.end(), static_cast<unsigned char>(1));
    std::replace(host_.begin(), host_.end(), static_cast<unsigned char>(0), static_cast<unsigned char>(255));
  }
  [[nodiscard]] bool is_scalar() const { return GetParam().name == "scalar" || GetParam().name == "device_mapping"; }

  AccessRecorder recorder_;
  std::vector<unsigned char> host_ = std::vector<unsigned char>(512);
};

TEST_P(CopierAccesses, StoreEachByteOnceNaturallyAligned) {
  const Copier& copier = GetParam().copier;
  for (std::size_t offset = 0; offset <= line; ++offset) {
    for (const std::size_t size : sizes) {
      const std::vector<Access> accesses = recorder_.record_stores(
          [&] { copier.to_device(recorder_.region() + offset, host_.data() + offset % 7, size); });
      std::vector<int> written(AccessRecorder::region_bytes, 0);
      for (const Access& access : accesses) {
        ASSERT_TRUE(std::has_single_bit(access.width)) << access.width;
        ASSERT_EQ(access.offset % access.width, 0u) << "offset " << offset << " size " << size;
        if (is_scalar()) {
          ASSERT_LE(access.width, 8u);
        }
        for (std::size_t byte = 0; byte < access.width; ++byte) ++written[access.offset + byte];
      }
      for (std::size_t byte = 0; byte < written.size(); ++byte) {
        ASSERT_EQ(written[byte], byte >= offset && byte < offset + size ? 1 : 0)
            << "byte " << byte << " offset " << offset << " size " << size;
      }
      if (is_one_word(offset, size)) {
        ASSERT_EQ(accesses.size(), 1u);
      }
    }
  }
}

TEST_P(CopierAccesses, LoadAnAlignedWordByOneScalarAccess) {
  const Copier& copier = GetParam().copier;
  for (const std::size_t size : {1u, 2u, 4u, 8u}) {
    for (std::size_t offset = 0; offset < 128; offset += size) {
      const std::vector<Access> accesses =
          recorder_.record_loads([&] { copier.from_device(host_.data(), recorder_.region() + offset, size); });
      ASSERT_EQ(accesses.size(), 1u) << "offset " << offset << " size " << size;
      EXPECT_EQ(accesses[0].offset, offset);
      EXPECT_FALSE(accesses[0].streaming_load);
    }
  }
}

TEST_P(CopierAccesses, LoadAPieceByOneOrdinaryLoad) {
  const Copier& copier = GetParam().copier;
  if (copier.widest_load_bytes == 0) GTEST_SKIP() << "this copy kernel loads words only";
  for (std::size_t offset = 0; offset <= line; ++offset) {
    for (const std::size_t size : sizes) {
      const std::size_t piece = piece_around(offset, size);
      if (is_one_word(offset, size) || piece > copier.widest_load_bytes) continue;
      const std::vector<Access> accesses =
          recorder_.record_loads([&] { copier.from_device(host_.data(), recorder_.region() + offset, size); });
      ASSERT_EQ(accesses.size(), 1u) << "offset " << offset << " size " << size;
      EXPECT_EQ(accesses[0].offset, offset / piece * piece) << "offset " << offset << " size " << size;
      EXPECT_FALSE(accesses[0].streaming_load);
    }
  }
}

TEST_P(CopierAccesses, LoadEachPlaceOnceAndWholeLinesByStreamingLoads) {
  const Copier& copier = GetParam().copier;
  for (std::size_t offset = 0; offset <= line; ++offset) {
    for (const std::size_t size : sizes) {
      if (is_one_word(offset, size) || piece_around(offset, size) <= copier.widest_load_bytes) continue;
      const std::vector<Access> accesses =
          recorder_.record_loads([&] { copier.from_device(host_.data(), recorder_.region() + offset, size); });
      std::map<std::size_t, std::vector<std::size_t>> by_line;
      for (const Access& access : accesses) {
        ASSERT_EQ(access.streaming_load, copier.streaming_loads) << "offset " << offset << " size " << size;
        by_line[access.offset / line].push_back(access.offset % line);
      }
      ASSERT_EQ(by_line.size(), (offset + size - 1) / line - offset / line + 1);
      ASSERT_EQ(by_line.begin()->first, offset / line);
      ASSERT_EQ(by_line.rbegin()->first, (offset + size - 1) / line);
      for (auto& [number, places] : by_line) {
        std::sort(places.begin(), places.end());
        ASSERT_EQ(std::adjacent_find(places.begin(), places.end()), places.end()) << "twice in line " << number;
        if (!copier.streaming_loads) {
          ASSERT_GE(number * line + places.front(), offset);
          ASSERT_LT(number * line + places.back(), offset + size);
          continue;
        }
        for (std::size_t i = 0; i < places.size(); ++i) ASSERT_EQ(places[i], i * (line / places.size()));
      }
    }
  }
}

TEST_P(CopierAccesses, BothOrdersOfReadsMakeTheSameAccesses) {
  const Copier& copier = GetParam().copier;
  const auto read_as_gdrcopy = [&](std::size_t offset, std::size_t size) {
    Copier::order_before_load<ReadOrder::as_gdrcopy>(size);
    copier.load<ReadOrder::as_gdrcopy>(host_.data(), recorder_.region() + offset, size);
  };
  for (std::size_t offset = 0; offset <= line; ++offset) {
    for (const std::size_t size : sizes) {
      const std::vector<Access> ordered =
          recorder_.record_loads([&] { copier.from_device(host_.data(), recorder_.region() + offset, size); });
      const std::vector<Access> as_gdrcopy = recorder_.record_loads([&] { read_as_gdrcopy(offset, size); });
      ASSERT_EQ(as_gdrcopy.size(), ordered.size()) << "offset " << offset << " size " << size;
      for (std::size_t i = 0; i < ordered.size(); ++i) {
        ASSERT_EQ(as_gdrcopy[i].offset, ordered[i].offset) << "offset " << offset << " size " << size;
        ASSERT_EQ(as_gdrcopy[i].streaming_load, ordered[i].streaming_load) << "offset " << offset << " size " << size;
      }
    }
  }
}

TEST_P(CopierAccesses, AccessNothingForZeroBytes) {
  const Copier& copier = GetParam().copier;
  for (std::size_t offset = 0; offset < line; ++offset) {
    EXPECT_TRUE(
        recorder_.record_stores([&] { copier.to_device(recorder_.region() + offset, host_.data(), 0); }).empty());
    EXPECT_TRUE(
        recorder_.record_loads([&] { copier.from_device(host_.data(), recorder_.region() + offset, 0); }).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(AllCopyKernels, CopierAccesses, ::testing::ValuesIn(all_cases()),
                         [](const auto& chosen) { return chosen.param.name; });

// On a cached mapping, memcpy performs longer copies, but a flag is a single access.
TEST(CopierAccessesToCachedMappings, CopyAFlagByOneAccess) {
  const Copier copier = choose(cpu::detect(), MappingType::cached, "").value();
  AccessRecorder recorder;
  std::vector<unsigned char> host(16, 1);
  for (const std::size_t size : {1u, 2u, 4u, 8u}) {
    for (std::size_t offset = 0; offset < 64; offset += size) {
      const std::vector<Access> stores =
          recorder.record_stores([&] { copier.to_device(recorder.region() + offset, host.data() + 3, size); });
      ASSERT_EQ(stores.size(), 1u) << "offset " << offset << " size " << size;
      EXPECT_EQ(stores[0].offset, offset);
      EXPECT_EQ(stores[0].width, size);
      const std::vector<Access> loads =
          recorder.record_loads([&] { copier.from_device(host.data(), recorder.region() + offset, size); });
      ASSERT_EQ(loads.size(), 1u) << "offset " << offset << " size " << size;
      std::fill(host.begin(), host.end(), static_cast<unsigned char>(1));
    }
  }
}

/// Tests the recorder itself, on which the tests above depend.
TEST(AccessRecorder, RecordsWidthOffsetAndRepetition) {
  AccessRecorder recorder;
  auto* words = reinterpret_cast<volatile std::uint32_t*>(recorder.region());
  const std::vector<Access> stores = recorder.record_stores([&] {
    words[3] = 0x01010101;
    words[3] = 0x01010101;
    *reinterpret_cast<volatile std::uint8_t*>(recorder.region() + 5) = 1;
  });
  ASSERT_EQ(stores.size(), 3u);
  EXPECT_EQ(stores[0].offset, 12u);
  EXPECT_EQ(stores[0].width, 4u);
  EXPECT_EQ(stores[1].width, 4u);
  EXPECT_EQ(stores[2].offset, 5u);
  EXPECT_EQ(stores[2].width, 1u);
  const std::vector<Access> loads = recorder.record_loads([&] { static_cast<void>(words[7]); });
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].offset, 28u);
}

}  // namespace
}  // namespace gdrkit::copy
