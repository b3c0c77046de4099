// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/slot_table.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

namespace gdrkit::core {
namespace {

struct Slot : SlotHeader {};
using SmallTable = SlotTable<Slot, 4, 3>;
static_assert(SmallTable::capacity == 8);

class SlotTableTest : public testing::Test {
 protected:
  void SetUp() override { draw_handle_key(); }
  void TearDown() override {
    // The table never frees its slots, so the test frees those of its own tables.
    for (std::uint32_t index = 0; index < SmallTable::capacity; index += 4) delete[] table.find(index);
  }
  Slot* acquire() {
    const base::Result<Slot*> slot = table.acquire(mutex);
    return slot ? *slot : nullptr;
  }

  SmallTable table;
  std::mutex mutex;
};

TEST_F(SlotTableTest, FindsNothingBeforeTheFirstAcquire) {
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(table.find(8), nullptr);
  EXPECT_EQ(table.find(1u << 19), nullptr);
  EXPECT_EQ(table.find_live(0), nullptr);
  EXPECT_EQ(table.find_live(make_handle(HandleKind::pin, 0, 0)), nullptr);
}

TEST_F(SlotTableTest, ReusesASlotWithANewGeneration) {
  Slot* const first = acquire();
  ASSERT_NE(first, nullptr);
  const std::uint64_t generation = first->generation;
  table.release(first, mutex);
  Slot* const second = acquire();
  EXPECT_EQ(second, first);
  EXPECT_GT(second->generation, generation);
}

TEST_F(SlotTableTest, ReturnsEnomemIfAllSlotsAreInUseAndRecovers) {
  std::set<Slot*> slots;
  for (std::uint32_t i = 0; i < SmallTable::capacity; ++i) slots.insert(acquire());
  EXPECT_EQ(slots.size(), SmallTable::capacity);
  EXPECT_EQ(slots.count(nullptr), 0u);
  EXPECT_TRUE(tests::failed(table.acquire(mutex), ENOMEM));
  table.release(*slots.begin(), mutex);
  EXPECT_EQ(acquire(), *slots.begin());
}

TEST_F(SlotTableTest, RetiresASlotThatHasUsedAllGenerations) {
  Slot* const slot = acquire();
  slot->generation = last_generation;
  table.release(slot, mutex);
  EXPECT_NE(acquire(), slot);
}

TEST_F(SlotTableTest, FindsOnlyALiveHandle) {
  Slot* const slot = acquire();
  const Handle handle = make_handle(HandleKind::pin, slot->generation, slot->index);
  EXPECT_EQ(table.find_live(handle), nullptr);
  slot->handle = handle;
  EXPECT_EQ(table.find_live(handle), slot);
  EXPECT_EQ(table.find_live(handle ^ 1u << 30), nullptr);
  slot->handle = 0;
  EXPECT_EQ(table.find_live(handle), nullptr);
}

TEST_F(SlotTableTest, ForgetsOnlyFreeSlots) {
  Slot* const kept = acquire();
  Slot* const released = acquire();
  table.release(released, mutex);
  table.forget_free_slots();
  Slot* const next = acquire();
  EXPECT_NE(next, kept);
  EXPECT_NE(next, released);
}

TEST_F(SlotTableTest, NeverSharesASlotBetweenThreads) {
  std::atomic<int> clashes{0};
  tests::run_together(8, [this, &clashes](int i) {
    for (int round = 0; round < 2000; ++round) {
      Slot* const slot = acquire();
      if (slot == nullptr) continue;
      if (slot->handle.exchange(static_cast<Handle>(i) + 1) != 0) ++clashes;
      if (slot->handle.exchange(0) != static_cast<Handle>(i) + 1) ++clashes;
      table.release(slot, mutex);
    }
  });
  EXPECT_EQ(clashes, 0);
}

}  // namespace
}  // namespace gdrkit::core
