// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/device_engines.hpp"

#include <cstdint>

namespace gdrkit::engine {
namespace {

struct Row {
  Direction direction;
  HostMemory host_memory;
  std::size_t up_to_bytes;
  Choice choice;
};

constexpr std::size_t kib = 1024;
constexpr Direction from = Direction::from_device;
constexpr Direction to = Direction::to_device;
constexpr HostMemory pinned = HostMemory::pinned;
constexpr HostMemory ordinary = HostMemory::ordinary;

// Crossovers on an H200 (docs/results/2026-11-22-h200-mover-probe). Rows of ordinary memory from the device add a copy
// out of pinned memory to those times. To the device, a core stores faster than it fills pinned memory.
constexpr Row rows[] = {
    {from, pinned, 3 * kib, {Id::cpu, Id::cpu}},
    {from, pinned, 8 * kib, {Id::mover, Id::cpu}},
    {from, pinned, 4096 * kib, {Id::mover, Id::copy_engine}},
    {from, pinned, SIZE_MAX, {Id::copy_engine, Id::copy_engine}},
    {from, ordinary, 3 * kib, {Id::cpu, Id::cpu}},
    {from, ordinary, 8 * kib, {Id::mover, Id::cpu}},
    {from, ordinary, 64 * kib, {Id::mover, Id::copy_engine}},
    {from, ordinary, SIZE_MAX, {Id::copy_engine, Id::copy_engine}},
    {to, pinned, 112 * kib, {Id::cpu, Id::cpu}},
    {to, pinned, 256 * kib, {Id::mover, Id::cpu}},
    {to, pinned, 1024 * kib, {Id::mover, Id::copy_engine}},
    {to, pinned, SIZE_MAX, {Id::copy_engine, Id::copy_engine}},
    {to, ordinary, SIZE_MAX, {Id::cpu, Id::cpu}},
};

}  // namespace

std::size_t largest_for_cpu(Direction direction) noexcept {
  return direction == from ? 3 * kib : direction == to ? 112 * kib : 0;
}

Choice choose(Direction direction, HostMemory host_memory, std::size_t size_bytes) noexcept {
  for (const Row& row : rows) {
    if (row.direction == direction && row.host_memory == host_memory && size_bytes <= row.up_to_bytes)
      return row.choice;
  }
  return {Id::copy_engine, Id::copy_engine};  // on_device
}

}  // namespace gdrkit::engine
