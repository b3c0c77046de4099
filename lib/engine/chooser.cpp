// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/chooser.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

namespace gdrkit::engine {
namespace {

constexpr std::size_t kib = 1024;
constexpr Direction from = Direction::from_device;
constexpr Direction to = Direction::to_device;
constexpr HostMemory pinned = HostMemory::pinned;
constexpr HostMemory ordinary = HostMemory::ordinary;

struct Line {
  Direction direction;
  HostMemory host_memory;
  Row row;
};

// Crossovers on H200 and H100 (docs/results/2026-11-23-h200-engines-2 and -3, docs/design/0019-engines.md).
constexpr Line measured[] = {
    {from, pinned, {3 * kib, {Id::cpu, Id::cpu}}},
    {from, pinned, {8 * kib, {Id::mover, Id::cpu}}},
    {from, pinned, {2048 * kib, {Id::mover, Id::copy_engine}}},  // a launch made ahead ends during a slower copy
    {from, pinned, {SIZE_MAX, {Id::copy_engine, Id::copy_engine}}},
    {from, ordinary, {3 * kib, {Id::cpu, Id::cpu}}},
    {from, ordinary, {8 * kib, {Id::mover, Id::cpu}}},
    {from, ordinary, {128 * kib, {Id::mover, Id::copy_engine}}},
    {from, ordinary, {384 * kib, {Id::copy_engine, Id::copy_engine}}},
    {from, ordinary, {1024 * kib, {Id::lanes, Id::copy_engine}}},
    {from, ordinary, {SIZE_MAX, {Id::lanes, Id::lanes}}},
    {to, pinned, {64 * kib, {Id::cpu, Id::cpu}}},
    {to, pinned, {256 * kib, {Id::lanes, Id::cpu}}},
    {to, pinned, {384 * kib, {Id::lanes, Id::copy_engine}}},
    {to, pinned, {768 * kib, {Id::mover, Id::copy_engine}}},
    {to, pinned, {SIZE_MAX, {Id::copy_engine, Id::copy_engine}}},
    {to, ordinary, {64 * kib, {Id::cpu, Id::cpu}}},
    {to, ordinary, {1024 * kib, {Id::lanes, Id::cpu}}},
    {to, ordinary, {SIZE_MAX, {Id::lanes, Id::lanes}}},
};

constexpr const char* heading = "gdrkit engines 1";

bool find_id(const char* name, Id* id) noexcept {
  for (const Registration& entry : registrations()) {
    if (std::strcmp(entry.name, name) == 0) return *id = entry.id, true;
  }
  return false;
}

/// "from_device pinned 4096 mover cpu"; a size of 0 stands for every larger one.
bool read_line(const char* text, Line* line) noexcept {
  char direction[16], memory[16], warm[16], cold[16];
  unsigned long long size = 0;
  int before_size = 0, used = 0;
  if (std::sscanf(text, "%15s %15s %n%19llu %15s %15s %n", direction, memory, &before_size, &size, warm, cold, &used) !=
          5 ||
      text[before_size] == '-' || text[before_size] == '+') {
    return false;
  }
  const bool is_from = std::strcmp(direction, "from_device") == 0;
  const bool is_pinned = std::strcmp(memory, "pinned") == 0;
  line->direction = is_from ? from : to;
  line->host_memory = is_pinned ? pinned : ordinary;
  line->row.up_to_bytes = size == 0 ? SIZE_MAX : size;
  return text[used] == '\0' && (is_from || std::strcmp(direction, "to_device") == 0) &&
         (is_pinned || std::strcmp(memory, "ordinary") == 0) && find_id(warm, &line->row.choice.warm) &&
         find_id(cold, &line->row.choice.cold);
}

}  // namespace

Table::Table() noexcept {
  for (const Line& line : measured) (void)append(line.direction, line.host_memory, line.row);
  find_shortcuts();
}

bool Table::append(Direction direction, HostMemory host_memory, const Row& row) noexcept {
  Column& rows = columns_[static_cast<std::size_t>(direction)][static_cast<std::size_t>(host_memory)];
  const auto end = std::find_if(rows.begin(), rows.end(), [](const Row& each) { return each.up_to_bytes == 0; });
  if (end == rows.end() || (end != rows.begin() && row.up_to_bytes <= end[-1].up_to_bytes)) return false;
  *end = row;
  return true;
}

base::Result<Table> Table::parse(const std::string& text) noexcept try {
  Table table{Empty()};
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string each = text.substr(at, end - at);
    at = end + 1;
    Line line{};
    const bool is_good =
        number == 0 ? each == heading
                    : read_line(each.c_str(), &line) && table.append(line.direction, line.host_memory, line.row);
    if (!is_good) {
      return base::fail(EINVAL, "cannot use the tuning profile: line %zu is invalid; run gdrkit tune again",
                        number + 1);
    }
  }
  for (const auto& of_direction : table.columns_) {
    for (const Column& rows : of_direction) {
      if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.up_to_bytes == SIZE_MAX; })) {
        return base::fail_literal(EINVAL,
                                  "cannot use the tuning profile: the profile is incomplete; run gdrkit tune again");
      }
    }
  }
  table.find_shortcuts();
  return table;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while reading the tuning profile");
}

/// Up to which size both choices are so, and the same for either kind of host memory.
template <class Condition>
std::size_t Table::largest_of(Direction direction, Condition is_so) const noexcept {
  const Row* of_pinned = column(direction, pinned).data();
  const Row* of_ordinary = column(direction, ordinary).data();
  std::size_t largest = 0;
  while (largest != SIZE_MAX && of_pinned->choice == of_ordinary->choice && is_so(of_pinned->choice.warm) &&
         is_so(of_pinned->choice.cold)) {
    largest = std::min(of_pinned->up_to_bytes, of_ordinary->up_to_bytes);
    if (of_pinned->up_to_bytes == largest) ++of_pinned;
    if (of_ordinary->up_to_bytes == largest) ++of_ordinary;
  }
  return largest;
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
  const Row* row = column(direction, host_memory).data();
  while (size_bytes > row->up_to_bytes) ++row;
  return row->choice;
}

}  // namespace gdrkit::engine
