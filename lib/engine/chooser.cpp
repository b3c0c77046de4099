// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/chooser.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace gdrkit::engine {
namespace {

constexpr std::size_t kib = 1024;
constexpr Direction from = Direction::from_device;
constexpr Direction to = Direction::to_device;
constexpr HostMemory pinned = HostMemory::pinned;
constexpr HostMemory ordinary = HostMemory::ordinary;

// Crossovers on H200 and H100 (docs/results/2026-11-23-h200-engines-2, docs/design/0019-engines.md).
constexpr Row measured[] = {
    {from, pinned, 3 * kib, {Id::cpu, Id::cpu}},
    {from, pinned, 8 * kib, {Id::mover, Id::cpu}},
    {from, pinned, 2048 * kib, {Id::mover, Id::copy_engine}},  // a launch made ahead ends during a slower copy
    {from, pinned, SIZE_MAX, {Id::copy_engine, Id::copy_engine}},
    {from, ordinary, 3 * kib, {Id::cpu, Id::cpu}},
    {from, ordinary, 8 * kib, {Id::mover, Id::cpu}},
    {from, ordinary, 128 * kib, {Id::mover, Id::copy_engine}},
    {from, ordinary, 384 * kib, {Id::copy_engine, Id::copy_engine}},
    {from, ordinary, 1024 * kib, {Id::lanes, Id::copy_engine}},
    {from, ordinary, SIZE_MAX, {Id::lanes, Id::lanes}},
    {to, pinned, 64 * kib, {Id::cpu, Id::cpu}},
    {to, pinned, 384 * kib, {Id::lanes, Id::cpu}},
    {to, pinned, 768 * kib, {Id::mover, Id::copy_engine}},
    {to, pinned, SIZE_MAX, {Id::copy_engine, Id::copy_engine}},
    {to, ordinary, 64 * kib, {Id::cpu, Id::cpu}},
    {to, ordinary, 1024 * kib, {Id::lanes, Id::cpu}},
    {to, ordinary, SIZE_MAX, {Id::lanes, Id::lanes}},
};

constexpr const char* heading = "gdrkit engines 1";

bool find_id(const char* name, Id* id) noexcept {
  for (const Registration& entry : registrations()) {
    if (std::strcmp(entry.name, name) == 0) return *id = entry.id, true;
  }
  return false;
}

/// "from_device pinned 4096 mover cpu"; a size of 0 stands for every larger one.
bool read_row(const char* line, Row* row) noexcept {
  char direction[16], memory[16], warm[16], cold[16];
  unsigned long long size = 0;
  int used = 0;
  if (std::sscanf(line, "%15s %15s %20llu %15s %15s %n", direction, memory, &size, warm, cold, &used) != 5)
    return false;
  const bool is_from = std::strcmp(direction, "from_device") == 0;
  const bool is_pinned = std::strcmp(memory, "pinned") == 0;
  row->direction = is_from ? from : to;
  row->host_memory = is_pinned ? pinned : ordinary;
  row->up_to_bytes = size == 0 ? SIZE_MAX : size;
  return line[used] == '\0' && (is_from || std::strcmp(direction, "to_device") == 0) &&
         (is_pinned || std::strcmp(memory, "ordinary") == 0) && find_id(warm, &row->choice.warm) &&
         find_id(cold, &row->choice.cold);
}

}  // namespace

Table::Table() noexcept : count_(std::size(measured)) {
  std::copy(std::begin(measured), std::end(measured), rows_.begin());
  find_shortcuts();
}

base::Result<Table> Table::parse(const std::string& text) noexcept try {
  Table table(0);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const bool is_heading = number == 0;
    if (is_heading ? line != heading
                   : table.count_ == table.rows_.size() || !read_row(line.c_str(), &table.rows_[table.count_++])) {
      return base::fail(EINVAL, "line %zu of the engines' profile is not one of \"gdrkit tune\"", number + 1);
    }
  }
  for (const Direction direction : {from, to}) {
    for (const HostMemory memory : {pinned, ordinary}) {
      std::size_t last = 0;
      for (std::size_t row = 0; row < table.count_; ++row) {
        const Row& each = table.rows_[row];
        if (each.direction != direction || each.host_memory != memory) continue;
        if (each.up_to_bytes <= last) return base::fail_literal(EINVAL, "the engines' profile has sizes out of order");
        last = each.up_to_bytes;
      }
      if (last != SIZE_MAX) return base::fail_literal(EINVAL, "the engines' profile does not cover every copy");
    }
  }
  table.find_shortcuts();
  return table;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while reading the engines' profile");
}

/// Up to which size both choices are so, and the same for either kind of host memory.
template <class Condition>
std::size_t Table::largest_of(Direction direction, Condition is_so) const noexcept {
  for (std::size_t largest = 0; largest != SIZE_MAX;) {
    std::size_t next = SIZE_MAX;  // between the ends of two rows nothing changes
    for (std::size_t row = 0; row < count_; ++row) {
      const Row& each = rows_[row];
      if (each.direction == direction && each.up_to_bytes > largest) next = std::min(next, each.up_to_bytes);
    }
    const Choice choice = choose(direction, pinned, next);
    if (choice != choose(direction, ordinary, next) || !is_so(choice.warm) || !is_so(choice.cold)) return largest;
    largest = next;
  }
  return SIZE_MAX;
}

void Table::find_shortcuts() noexcept {
  const auto is_cpu = [](Id id) { return id == Id::cpu; };
  const auto are_cpus = [](Id id) { return id == Id::cpu || id == Id::lanes; };
  for (const Direction direction : {from, to}) {
    const auto at = static_cast<std::size_t>(direction);
    largest_for_cpu_[at] = largest_of(direction, is_cpu);
    // From the device, lanes have the GPU copy.
    largest_by_cpus_[at] = direction == to ? largest_of(direction, are_cpus) : largest_for_cpu_[at];
  }
}

Choice Table::choose(Direction direction, HostMemory host_memory, std::size_t size_bytes) const noexcept {
  for (std::size_t row = 0; row < count_; ++row) {
    const Row& each = rows_[row];
    if (each.direction == direction && each.host_memory == host_memory && size_bytes <= each.up_to_bytes)
      return each.choice;
  }
  return {Id::copy_engine, Id::copy_engine};  // on_device
}

}  // namespace gdrkit::engine
