// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/known_variables.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace gdrkit::diag {
namespace {

constexpr std::size_t largest_distance = 2;
/// Shorter names may differ by two characters and mean something else.
constexpr std::size_t shortest_for_two = 6;

struct Table {
  const char* prefix;
  bool is_complete;  ///< false: unlisted names may still be valid
  std::vector<std::string> names;
};

const std::vector<Table>& tables() {
#define GDRKIT_VARIABLE(name) #name,
  static const std::vector<Table> all = {
      {"NCCL_",
       true,
       {
#include "diag/machine/variables_nccl.def"
       }},
      {"NVSHMEM_",
       true,
       {
#include "diag/machine/variables_nvshmem.def"
       }},
      {"UCX_",
       false,
       {
#include "diag/machine/variables_ucx.def"
       }},
  };
#undef GDRKIT_VARIABLE
  return all;
}

/// Names with a library's prefix that something else reads: plug-ins, PyTorch, tests, job scripts.
bool is_exempt(const std::string& name) {
  constexpr const char* starts[] = {"TORCH_NCCL_",
                                    "NCCL_OFI_",
                                    "NCCL_ASYNC_ERROR_HANDLING",
                                    "NCCL_BLOCKING_WAIT",
                                    "NCCL_DESYNC_",
                                    "NCCL_UCX_",
                                    "NCCL_PLUGIN_",
                                    "NCCL_SHARP_",
                                    "NCCL_FASTRAK_",
                                    "NCCL_GPUDIRECTTCPX_",
                                    "NCCL_PROFILE",
                                    "NCCL_TUNER_",
                                    "NCCL_TESTS_",
                                    "NCCL_HOME",
                                    "NCCL_ROOT",
                                    "NCCL_VERSION",
                                    "NCCL_INCLUDE",
                                    "NCCL_LIB",
                                    "NCCL_DIR",
                                    "NCCL_PATH",
                                    "NCCL_TESTS",
                                    "NCCL_PREFIX",
                                    "NCCL_CTRAN_",
                                    "NCCL_COLLTRACE",
                                    "NCCL_RAS_",
                                    "NCCL_GIN_",
                                    "NCCL_NETWORK",
                                    "NCCL_SOURCE",
                                    "NCCL_INSTALL",
                                    "NCCL_BUILD",
                                    "NVSHMEM_HOME",
                                    "NVSHMEM_DIR",
                                    "NVSHMEM_PREFIX",
                                    "NVSHMEM_ROOT",
                                    "NVSHMEM_PATH",
                                    "NVSHMEM_LIB",
                                    "NVSHMEM_INCLUDE",
                                    "NVSHMEM_MACHINE_READABLE_OUTPUT",
                                    "NVSHMEMTEST_",
                                    "NVSHMEM_TEST",
                                    "NVSHMEM_INSTALL",
                                    "NVSHMEM_BUILD",
                                    "NVSHMEM_USE_",
                                    "NVSHMEM_SRC",
                                    "UCX_HOME",
                                    "UCX_DIR",
                                    "UCX_PREFIX",
                                    "UCX_ROOT",
                                    "UCX_PATH",
                                    "UCX_LIB",
                                    "UCX_INCLUDE",
                                    "UCX_VERSION",
                                    "UCX_INSTALL"};
  return std::ranges::any_of(starts, [&](const char* start) { return name.starts_with(start); });
}

/// Fields of transports, which are too many for a table.
bool is_ucx_transport(const std::string& rest) {
  constexpr const char* starts[] = {
      "RC_",        "DC_",     "UD_",     "SRD_",   "GGA_",   "TCP_", "CUDA_", "GDR_",   "ROCM_", "ZE_",    "POSIX_",
      "SYSV_",      "SELF_",   "CMA_",    "KNEM_",  "XPMEM_", "MM_",  "SHM_",  "UGNI_",  "RDMA_", "MLX5_",  "IB_MLX5_",
      "IB_RCACHE_", "IB_REG_", "IB_ODP_", "IB_TX_", "IB_RX_", "MEM_", "PERF_", "STATS_", "EFA_",  "RDMACM_"};
  return std::ranges::any_of(starts, [&](const char* start) { return rest.starts_with(start); });
}

std::string upper(std::string text) {
  for (char& character : text) character = static_cast<char>(std::toupper(static_cast<unsigned char>(character)));
  return text;
}

bool has(const Table& table, const std::string& rest) {
  return std::ranges::find(table.names, rest) != table.names.end();
}

/// The name with its prefix, from any table; "" if none contains it.
std::string exact(const std::string& name) {
  for (const Table& table : tables()) {
    if (name.starts_with(table.prefix) && has(table, name.substr(std::string(table.prefix).size()))) return name;
  }
  return {};
}

std::string nearest(const Table& table, const std::string& rest) {
  std::size_t best = (rest.size() < shortest_for_two ? 1 : largest_distance) + 1;
  std::string found;
  for (const std::string& name : table.names) {
    const std::size_t distance = edit_distance(rest, name, best - 1);
    if (distance < best) {
      best = distance;
      found = table.prefix + name;
    }
  }
  return found;
}

/// NCCL_ with a missing or wrong letter. CCL_ and RCCL_ are prefixes of other libraries.
std::string with_prefix_fixed(const std::string& name) {
  const auto underscore = name.find('_');
  if (underscore == std::string::npos) return {};
  for (const Table& table : tables()) {
    const std::string prefix = table.prefix;
    const std::string start = name.substr(0, underscore + 1);
    const bool is_near = edit_distance(start, prefix, 1) == 1 && start != "RCCL_";
    const std::string rest = name.substr(underscore + 1);
    if (is_near && rest.size() >= shortest_for_two && has(table, rest)) return prefix + rest;
  }
  return {};
}

}  // namespace

std::size_t edit_distance(const std::string& one, const std::string& other, std::size_t limit) {
  const std::size_t difference = one.size() > other.size() ? one.size() - other.size() : other.size() - one.size();
  if (difference > limit) return limit + 1;
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t column = 0; column <= other.size(); ++column) row[column] = column;
  for (std::size_t line = 1; line <= one.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column <= other.size(); ++column) {
      const std::size_t exchanged = diagonal + (one[line - 1] == other[column - 1] ? 0 : 1);
      diagonal = row[column];
      row[column] = std::min({row[column] + 1, row[column - 1] + 1, exchanged});
    }
  }
  return std::min(row.back(), limit + 1);
}

NameVerdict judge_name(const std::string& name) {
  if (is_exempt(name) || !exact(name).empty()) return {Knowledge::known, ""};
  if (const std::string plain = exact(upper(topology::trimmed(name))); !plain.empty())
    return {Knowledge::near_to, plain};
  for (const Table& table : tables()) {
    if (!name.starts_with(table.prefix)) continue;
    const std::string rest = name.substr(std::string(table.prefix).size());
    if (!table.is_complete && is_ucx_transport(rest)) return {Knowledge::known, ""};
    if (const std::string meant = nearest(table, rest); !meant.empty()) return {Knowledge::near_to, meant};
    return {table.is_complete ? Knowledge::unknown : Knowledge::known, ""};
  }
  if (const std::string meant = with_prefix_fixed(name); !meant.empty()) return {Knowledge::near_to, meant};
  return {};
}

const std::vector<RetiredVariable>& retired_variables() {
  static const std::vector<RetiredVariable> all = {
#define GDRKIT_RETIRED(name, value, fate, successor) {name, value, fate, successor},
#include "diag/machine/retired_variables.def"
#undef GDRKIT_RETIRED
  };
  return all;
}

}  // namespace gdrkit::diag
