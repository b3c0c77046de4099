// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/collective.hpp"

#include <algorithm>

namespace gdrkit::transfer::engines {
namespace {

std::size_t times(Parts parts, std::size_t part, int ranks) noexcept {
  return parts == Parts::one ? part : part * static_cast<std::size_t>(ranks);
}

}  // namespace

std::size_t Collective::part_count(std::size_t size_bytes, std::size_t element_bytes, int ranks) const noexcept {
  const std::size_t count = size_bytes / element_bytes;
  if (sends == Parts::one && receives == Parts::one) return count;
  const std::size_t step = std::max<std::size_t>(16 / element_bytes, 1);
  return count / static_cast<std::size_t>(ranks) / step * step;
}

std::size_t Collective::send_count(std::size_t part, int ranks) const noexcept { return times(sends, part, ranks); }

std::size_t Collective::receive_count(std::size_t part, int ranks) const noexcept {
  return times(receives, part, ranks);
}

std::size_t Collective::table_count(std::size_t part, int ranks) const noexcept {
  return std::max(send_count(part, ranks), receive_count(part, ranks));
}

std::size_t Collective::input_offset(std::size_t part, int rank) const noexcept {
  return sends == Parts::one && receives == Parts::all ? part * static_cast<std::size_t>(rank) : 0;
}

std::size_t Collective::output_offset(std::size_t part, int rank) const noexcept {
  return sends == Parts::all && receives == Parts::one ? part * static_cast<std::size_t>(rank) : 0;
}

double Collective::algorithm_share(int ranks) const noexcept {
  return bus_factor == BusFactor::only_others ? static_cast<double>(ranks - 1) / ranks : 1;
}

int Collective::steps(int ranks) const noexcept {
  if (kind != CollectiveKind::hypercube) return 1;
  int steps = 1;
  for (int reached = 1; reached < ranks; reached *= 2) ++steps;
  return steps;
}

bool Collective::runs_with(int ranks) const noexcept {
  return kind != CollectiveKind::hypercube || (ranks & (ranks - 1)) == 0;
}

double Collective::bus_share(int ranks) const noexcept {
  const double others = static_cast<double>(ranks - 1) / ranks;
  return bus_factor == BusFactor::others ? others : bus_factor == BusFactor::twice_others ? 2 * others : 1;
}

std::vector<Piece> Collective::pieces(std::size_t part, int rank, int ranks, int root) const {
  constexpr int combined = -1;
  const std::size_t own = part * static_cast<std::size_t>(rank);
  std::vector<Piece> all;
  switch (kind) {
    case CollectiveKind::all_reduce: return {{0, part, combined, 0}};
    case CollectiveKind::reduce_scatter: return {{0, part, combined, own}};
    case CollectiveKind::broadcast: return {{0, part, root, 0}};
    case CollectiveKind::scatter: return {{0, part, root, own}};
    case CollectiveKind::sendrecv: return {{0, part, (rank + ranks - 1) % ranks, 0}};
    case CollectiveKind::reduce:
      if (rank == root) all.push_back({0, part, combined, 0});
      return all;
    default:  // the part of each rank; for gather only on the root
      if (kind == CollectiveKind::gather && rank != root) return all;
      for (int source = 0; source < ranks; ++source) {
        const std::size_t first = kind == CollectiveKind::alltoall ? own : 0;
        all.push_back({part * static_cast<std::size_t>(source), part, source, first});
      }
      return all;
  }
}

const std::vector<Collective>& all_collectives() {
  static const std::vector<Collective> all = {
#define GDRKIT_COLLECTIVE(name, sends, receives, bus, reduces, rooted, checked) \
  {CollectiveKind::name, #name, Parts::sends, Parts::receives, BusFactor::bus, reduces, rooted, checked},
#include "transfer/engines/collectives.def"
#undef GDRKIT_COLLECTIVE
  };
  return all;
}

const std::vector<ElementType>& all_element_types() {
  constexpr std::uint32_t wide = 32767;
  static const std::vector<ElementType> all = {
      {"int8", platform::NcclType::int8, 1, 0, 0, 127},
      {"uint8", platform::NcclType::uint8, 1, 0, 0, 255},
      {"int32", platform::NcclType::int32, 4, 0, 0, wide},
      {"uint32", platform::NcclType::uint32, 4, 0, 0, wide},
      {"int64", platform::NcclType::int64, 8, 0, 0, wide},
      {"uint64", platform::NcclType::uint64, 8, 0, 0, wide},
      {"half", platform::NcclType::float16, 2, 10, 15, 2048},
      {"float", platform::NcclType::float32, 4, 23, 127, wide},
      {"double", platform::NcclType::float64, 8, 52, 1023, wide},
      {"bfloat16", platform::NcclType::bfloat16, 2, 7, 127, 256},
      {"f8e4m3", platform::NcclType::float8e4m3, 1, 3, 7, 16},
      {"f8e5m2", platform::NcclType::float8e5m2, 1, 2, 15, 8},
  };
  return all;
}

const ElementType& element_type_of(platform::NcclType type) {
  return all_element_types()[static_cast<std::size_t>(type)];
}

const std::vector<Reduction>& all_reductions() {
  static const std::vector<Reduction> all = {
      {"sum", platform::NcclReduction::sum, platform::PatternKind::sum},
      {"prod", platform::NcclReduction::product, platform::PatternKind::product},
      {"max", platform::NcclReduction::maximum, platform::PatternKind::maximum},
      {"min", platform::NcclReduction::minimum, platform::PatternKind::minimum},
      {"avg", platform::NcclReduction::average, platform::PatternKind::average},
  };
  return all;
}

const Reduction& no_reduction() {
  static const Reduction none = {"none", platform::NcclReduction::sum, platform::PatternKind::bits};
  return none;
}

}  // namespace gdrkit::transfer::engines
