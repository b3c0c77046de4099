// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/env/proposal.hpp"

#include <algorithm>

namespace gdrkit::diag::env {
namespace {

std::vector<std::size_t> matched(const RankLayout& layout) {
  std::vector<std::size_t> adapters;
  for (const RankPlace& place : layout.ranks) {
    if (place.adapter) adapters.push_back(*place.adapter);
  }
  return adapters;
}

/// Why an active adapter without a matched GPU is excluded from GPU traffic; "" if it is not.
std::string exclusion_reason(const RankLayout& layout, const std::vector<std::size_t>& ours, std::size_t index) {
  if (ours.empty() || std::ranges::find(ours, index) != ours.end()) return {};
  const AdapterUse& use = layout.adapters[index];
  double slowest = layout.adapters[ours.front()].rate_gb_per_s;
  for (const std::size_t other : ours) slowest = std::min(slowest, layout.adapters[other].rate_gb_per_s);
  if (use.is_ethernet != layout.adapters[ours.front()].is_ethernet)
    return "it is on another network than the adapters near the GPUs";
  if (use.rate_gb_per_s < slowest) return "no GPU is near it, and it is slower than the adapters near the GPUs";
  return {};
}

/// Removes elements whose key occurred before: Open MPI's rules also propose UCX's settings.
template <class T, class Key>
void keep_first(std::vector<T>* all, Key key) {
  std::vector<T> kept;
  for (T& one : *all) {
    const auto is_same = [&](const T& other) { return key(other) == key(one); };
    if (std::ranges::none_of(kept, is_same)) kept.push_back(std::move(one));
  }
  *all = std::move(kept);
}

}  // namespace

bool is_plain(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-+") ==
             std::string::npos;
}

std::vector<std::string> devices_of(const Facts& facts) {
  std::vector<std::string> devices;
  for (const std::size_t index : facts.chosen) devices.push_back(facts.layout.adapters[index].device());
  return devices;
}

Facts gather(const Machine& machine, const Environment& environment, const Libraries& libraries,
             const RankLayout& layout, const UserOptions& user_options) {
  Facts facts{machine, environment, libraries, layout, user_options, {}, {}};
  const auto ours = matched(layout);
  for (std::size_t index = 0; index < layout.adapters.size(); ++index) {
    const AdapterUse& use = layout.adapters[index];
    if (!use.is_active) continue;
    const std::string why = use.is_usable ? exclusion_reason(layout, ours, index) : use.why_not;
    if (why.empty() && is_plain(use.device())) {
      facts.chosen.push_back(index);
    } else {
      facts.left_out.push_back(use.name + ": " +
                               (why.empty() ? "its name has characters that launchers do not accept" : why));
    }
  }
  // While the state of one adapter is unknown, the list of adapters to name is a guess.
  const bool is_open = std::ranges::any_of(layout.adapters, [](const AdapterUse& use) { return use.is_unread; });
  if (is_open) facts.left_out.clear();
  return facts;
}

bool Proposal::is_for(CommLibrary library) const { return std::ranges::find(libraries, library) != libraries.end(); }

std::string Proposal::library_names() const {
  std::vector<std::string> names;
  for (const CommLibrary library : libraries) names.emplace_back(name_of(library));
  return joined(names, ",");
}

Proposal propose(const std::vector<CommLibrary>& libraries, const Facts& facts) {
  Proposal proposal;
  proposal.libraries = libraries;
  proposal.matching = facts.layout.matching.hash;
  for (const RankPlace& place : facts.layout.ranks) {
    const auto& gpu = facts.layout.tree.gpus[place.gpu];
    std::string adapter;
    if (place.adapter) adapter = facts.layout.adapters[*place.adapter].device();
    proposal.ranks.push_back({place, gpu.name, gpu.function.name, is_plain(adapter) ? adapter : "", {}});
  }
  if (facts.layout.ranks.empty()) {
    proposal.notes.push_back(facts.layout.tree.pci_outcome == Outcome::found
                                 ? "this machine has no NVIDIA GPU, so nothing is proposed"
                                 : "cannot determine whether this machine has a GPU: " + facts.layout.tree.pci_reason);
    return proposal;
  }
  for (const AdapterUse& use : facts.layout.adapters) {
    if (use.is_unread)
      proposal.notes.push_back("cannot determine whether " + use.name + " can be used: " + use.why_not);
  }
  if (facts.machine.adapter_outcome != Outcome::found && facts.machine.adapter_outcome != Outcome::absent) {
    proposal.notes.push_back("the list of RDMA adapters is unknown: " + facts.machine.adapter_reason);
  }
  constexpr void (*rules[])(const Facts&, Proposal*) = {&propose_nccl, &propose_ucx, &propose_nvshmem, &propose_openmpi,
                                                        &propose_mvapich2};
  for (const CommLibrary library : libraries) rules[static_cast<std::size_t>(library)](facts, &proposal);
  keep_first(&proposal.job, [](const ProposedSetting& one) { return one.name; });
  keep_first(&proposal.notes, [](const std::string& note) { return note; });
  for (ProposedSetting& setting : proposal.job) {
    const Setting* present = facts.environment.find(setting.name);
    setting.is_set = present != nullptr && present->value == setting.value;
  }
  return proposal;
}

}  // namespace gdrkit::diag::env
