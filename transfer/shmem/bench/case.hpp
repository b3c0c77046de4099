// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Case: one thing that `gdrkit shmem bench` measures: one line of cases.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/shmem_params.hpp"

namespace gdrkit::transfer::shmem {

enum class Who : std::uint8_t { one_sided, together };
enum class Sizes : std::uint8_t { word, sweep, few, small, messages, bulk, wide, collective, parts, none };
enum class Quantity : std::uint8_t { latency, bandwidth, rate };

/// Which threads of a GPU kernel work: one group, all groups of a grid with a part of the bytes each, or all threads of
/// a grid with an operation each.
enum class Groups : std::uint8_t { one, grid, every_thread };

/// What a case of GPU kernels launches.
struct DeviceWork {
  platform::ShmemOperation operation;
  platform::ShmemScope scope;
  Groups groups;
  bool completes_each;  ///< quiet after each operation
};

struct Case {
  const char* name;
  const char* side;       ///< the caller: "host", "stream", "device"
  const char* operation;  ///< "put"
  const char* scope;      ///< "host", "stream", "thread", "warp", "block", "grid"
  const char* memory;     ///< the local side, or ""
  const char* completion;
  Who who;
  Sizes sizes;
  std::optional<DeviceWork> device = std::nullopt;

  [[nodiscard]] Quantity quantity() const noexcept;
  [[nodiscard]] bool is_collective() const noexcept { return sizes == Sizes::collective; }
  [[nodiscard]] bool has_size() const noexcept { return sizes != Sizes::none; }
  /// "put from host memory, quiet", "barrier_all", "put by a block"
  [[nodiscard]] std::string title() const;
};

/// In the order of cases.def; a case's number is its place here.
[[nodiscard]] const std::vector<Case>& all_cases();

struct SizeRange {
  std::size_t smallest_bytes = 8;
  std::size_t largest_bytes = std::size_t{1} << 20;
  std::size_t largest_bulk_bytes = std::size_t{256} << 20;  ///< 0: no bandwidth
  int n_pes = 2;                                            ///< whose parts of a collective share an object
};
/// What NVSHMEM must reserve for a case's largest size where its own choice is too small, else 0. Its other cases, and
/// its start, are measured without, as the reserve has a part in them: it is made for each of up to 64 teams, and
/// `reduce` chooses its algorithm by it.
[[nodiscard]] std::size_t nvshmem_scratch_bytes(const Case& one, const SizeRange& range);

/// Ascending; {0} for cases without a size.
[[nodiscard]] std::vector<std::size_t> sizes_of(const Case& one, const SizeRange& range);

}  // namespace gdrkit::transfer::shmem
