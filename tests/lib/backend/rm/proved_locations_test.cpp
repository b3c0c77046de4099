// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A mapping is not compared only if everything that an earlier comparison proved is unchanged.
#include "backend/rm/proved_locations.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace gdrkit::backend::rm {
namespace {

constexpr std::uint64_t page = 0x10000;

/// Four pages of memory from cuMemAlloc, the second to the fifth of their object.
struct Mapped {
  DeviceRange range;
  std::vector<OwnedPiece> pieces = {{1, 2, page, 4 * page, {3, 4, page, 4 * page}}};

  Mapped() {
    range.attributes.device_ordinal = 0;
    range.attributes.buffer_id = 7;
    range.attributes.is_legacy_ipc_capable = 1;
    range.page_address = 0x7f0000000000;
    range.page_bytes = 4 * page;
  }
};

TEST(ProvedLocations, ContainsTheComparedPagesAndPartsOfThem) {
  ProvedLocations proved;
  Mapped mapped;
  EXPECT_FALSE(proved.contains(mapped.range, mapped.pieces));
  proved.add(mapped.range, mapped.pieces, mapped.range.page_bytes);
  EXPECT_TRUE(proved.contains(mapped.range, mapped.pieces));
  mapped.range.page_address += page;
  mapped.range.page_bytes = page;
  mapped.pieces[0].source.offset += page;
  EXPECT_TRUE(proved.contains(mapped.range, mapped.pieces));
}

TEST(ProvedLocations, EachDifferenceRequiresAComparison) {
  ProvedLocations proved;
  const Mapped compared;
  proved.add(compared.range, compared.pieces, compared.range.page_bytes);
  const std::vector<std::pair<const char*, std::function<void(Mapped&)>>> differences = {
      {"buffer ID", [](Mapped& other) { ++other.range.attributes.buffer_id; }},
      {"device", [](Mapped& other) { ++other.range.attributes.device_ordinal; }},
      {"client", [](Mapped& other) { ++other.pieces[0].source.client; }},
      {"object", [](Mapped& other) { ++other.pieces[0].source.object; }},
      {"offset", [](Mapped& other) { other.pieces[0].source.offset += page; }},
      {"pages after", [](Mapped& other) { other.range.page_bytes += page; }},
      {"pages before", [](Mapped& other) { other.range.page_address -= page, other.pieces[0].source.offset -= page; }},
      {"several objects", [](Mapped& other) { other.pieces.push_back(other.pieces[0]); }},
  };
  for (const auto& [name, change] : differences) {
    Mapped other;
    change(other);
    EXPECT_FALSE(proved.contains(other.range, other.pieces)) << name;
  }
}

TEST(ProvedLocations, RemembersOnlyOneObjectOfCuMemAlloc) {
  const std::vector<std::pair<const char*, std::function<void(Mapped&)>>> kinds = {
      {"cuMemMap or a pool", [](Mapped& other) { other.range.attributes.is_legacy_ipc_capable = 0; }},
      {"no buffer ID", [](Mapped& other) { other.range.attributes.buffer_id = 0; }},
      {"imported file", [](Mapped& other) { other.pieces[0].source = {}; }},
      {"several objects", [](Mapped& other) { other.pieces.push_back(other.pieces[0]); }},
  };
  for (const auto& [name, change] : kinds) {
    ProvedLocations proved;
    Mapped other;
    change(other);
    proved.add(other.range, other.pieces, other.range.page_bytes);
    EXPECT_FALSE(proved.contains(other.range, other.pieces)) << name;
  }
}

TEST(ProvedLocations, SmallerMappingProvesOnlyItsPages) {
  ProvedLocations proved;
  Mapped mapped;
  proved.add(mapped.range, mapped.pieces, 2 * page);
  EXPECT_FALSE(proved.contains(mapped.range, mapped.pieces));
  mapped.range.page_bytes = 2 * page;
  EXPECT_TRUE(proved.contains(mapped.range, mapped.pieces));
}

}  // namespace
}  // namespace gdrkit::backend::rm
