// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Equality of NvmlFacts field by field: outcome, and value or reason.
#pragma once

#include <string>

#include "diag/machine/nvml_facts.hpp"

namespace gdrkit::diag {

template <class T>
[[nodiscard]] bool is_same(const topology::Fact<T>& one, const topology::Fact<T>& other) {
  return one.outcome == other.outcome && (one.is_found() ? one.value == other.value : one.reason == other.reason);
}

[[nodiscard]] inline bool is_equal(const NvmlLink& one, const NvmlLink& other) {
  bool same = one.index == other.index;
#define GDRKIT_NVML_LINK(type, name) same = same && is_same(one.name, other.name);
#include "diag/machine/nvml_facts.def"
  return same;
}

[[nodiscard]] inline bool is_equal(const NvmlGpu& one, const NvmlGpu& other) {
  bool same = one.index == other.index && one.links.size() == other.links.size();
#define GDRKIT_NVML_GPU(type, name) same = same && is_same(one.name, other.name);
#include "diag/machine/nvml_facts.def"
  for (std::size_t i = 0; same && i < one.links.size(); ++i) same = is_equal(one.links[i], other.links[i]);
  return same;
}

[[nodiscard]] inline bool is_equal(const NvmlPair& one, const NvmlPair& other) {
  bool same = one.first == other.first && one.second == other.second;
#define GDRKIT_NVML_PAIR(type, name) same = same && is_same(one.name, other.name);
#include "diag/machine/nvml_facts.def"
  return same;
}

[[nodiscard]] inline bool is_equal(const topology::Fact<NvmlFacts>& one, const topology::Fact<NvmlFacts>& other) {
  if (one.outcome != other.outcome) return false;
  if (!one.is_found()) return one.reason == other.reason;
  const NvmlFacts& a = one.value;
  const NvmlFacts& b = other.value;
  bool same = a.gpus.size() == b.gpus.size() && a.pairs.size() == b.pairs.size();
#define GDRKIT_NVML_SYSTEM(type, name) same = same && is_same(a.name, b.name);
#include "diag/machine/nvml_facts.def"
  for (std::size_t i = 0; same && i < a.gpus.size(); ++i) same = is_equal(a.gpus[i], b.gpus[i]);
  for (std::size_t i = 0; same && i < a.pairs.size(); ++i) same = is_equal(a.pairs[i], b.pairs[i]);
  return same;
}

/// visit(name, fact) for every fact of both documents at the same places: "gpus[1].links[3].remote", one and other.
/// They must have as many GPUs, links and pairs.
template <class Visit>
void for_each_fact(const NvmlFacts& one, const NvmlFacts& other, Visit visit) {
#define GDRKIT_NVML_SYSTEM(type, name) visit(#name, one.name, other.name);
#include "diag/machine/nvml_facts.def"
  for (std::size_t i = 0; i < one.gpus.size() && i < other.gpus.size(); ++i) {
    const std::string gpu = "gpus[" + std::to_string(i) + "].";
#define GDRKIT_NVML_GPU(type, name) visit(gpu + #name, one.gpus[i].name, other.gpus[i].name);
#include "diag/machine/nvml_facts.def"
    for (std::size_t j = 0; j < one.gpus[i].links.size() && j < other.gpus[i].links.size(); ++j) {
      const std::string link = gpu + "links[" + std::to_string(j) + "].";
#define GDRKIT_NVML_LINK(type, name) visit(link + #name, one.gpus[i].links[j].name, other.gpus[i].links[j].name);
#include "diag/machine/nvml_facts.def"
    }
  }
  for (std::size_t i = 0; i < one.pairs.size() && i < other.pairs.size(); ++i) {
    const std::string pair = "pairs[" + std::to_string(i) + "].";
#define GDRKIT_NVML_PAIR(type, name) visit(pair + #name, one.pairs[i].name, other.pairs[i].name);
#include "diag/machine/nvml_facts.def"
  }
}

}  // namespace gdrkit::diag
