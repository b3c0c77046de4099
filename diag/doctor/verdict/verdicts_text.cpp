// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <map>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::diag::doctor {
namespace {

std::string list_of(const char* before, const std::vector<std::string>& ids) {
  return ids.empty() ? "" : before + cli::joined(ids, ", ");
}

constexpr const char* indent = "         ";

void print_wrapped(const std::string& first, const std::string& text) {
  std::fputs(cli::wrapped(first, indent, text).c_str(), stdout);
}

/// "NCCL     direct access on 7 of 8 GPUs, by dma-buf"
void print_summary(const char* library, const char* what, const std::vector<const Access*>& all,
                   const char* of = "GPU") {
  std::map<std::string, unsigned> ways;
  unsigned unknown = 0;
  for (const Access* access : all) {
    if (access->use == Judgment::yes) ++ways[access->via];
    unknown += access->use == Judgment::unknown;
  }
  unsigned direct = 0;
  std::vector<std::string> names;
  for (const auto& [way, count] : ways) {
    direct += count;
    names.push_back(way);
  }
  print_wrapped(cli::format("%-8s ", library),
                cli::format("%s on %u of %s", what, direct, cli::counted(all.size(), of).c_str()) +
                    list_of(", by ", names) + (unknown == 0 ? "" : cli::format(", unknown on %u", unknown)));
}

/// "NVLink, at most 478.1 GB/s"; for PCIe also the state of ACS and of the IOMMU.
std::string path_text(const PeerVerdict& peer) {
  std::string text = peer.route;
  if (peer.gbyte_per_s > 0) text += cli::format(", at most %.1f GB/s", peer.gbyte_per_s);
  if (peer.route != "NVLink") text += "; ACS " + peer.acs + ", IOMMU " + cli::printable(peer.iommu);
  return text;
}

/// GPUs with the same text share one line.
struct Folded {
  std::string first;  ///< "GPU0 0000:13:00.0 with mlx5_0 (PIX)"
  unsigned more;
};

/// By text, in order of first occurrence.
class Lines {
 public:
  void add(const std::string& who, const std::string& what) {
    const auto [at, is_new] = index_.try_emplace(what, all_.size());
    if (is_new) {
      all_.push_back({what, {who, 0}});
    } else {
      ++all_[at->second].second.more;
    }
  }

  void print() const {
    for (const auto& [what, folded] : all_) {
      print_wrapped(indent,
                    folded.first + (folded.more == 0 ? "" : cli::format(" and %u more", folded.more)) + ": " + what);
    }
  }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::pair<std::string, Folded>> all_;
};

std::string name_of_gpu(const GpuVerdict& gpu) { return gpu.name + " " + gpu.address; }

std::string blocked_text(const Access& access, const std::vector<std::string>& blocked_by) {
  return std::string(name_of(access.use)) + ": " + cli::printable(access.reason) + list_of("; blocked by ", blocked_by);
}

/// Equal pairs share one line.
void print_peers(const Verdicts& verdicts) {
  if (verdicts.peers.empty()) return;
  std::vector<const Access*> all;
  Lines lines;
  for (const PeerVerdict& peer : verdicts.peers) {
    all.push_back(&peer.access);
    const std::string slowed = list_of("; slowed by ", peer.slowed_by);
    lines.add(name_of_gpu(verdicts.gpus[peer.gpu]) + " with " + verdicts.gpus[peer.peer].name + " (" + peer.path + ")",
              peer.access.use == Judgment::yes
                  ? path_text(peer) + slowed
                  : blocked_text(peer.access, peer.blocked_by) + slowed + "; path: " + path_text(peer));
  }
  print_summary("peers", "direct access", all, "GPU pair");
  lines.print();
}

}  // namespace

void print_verdicts_text(const Verdicts& verdicts) {
  if (verdicts.gpus.empty()) {
    print_wrapped("verdict  ", "direct access does not apply: " + verdicts.nothing);
    return;
  }
  for (const LibraryVerdict& library : verdicts.libraries) {
    std::vector<const Access*> best;
    for (const PairVerdict& pair : library.pairs) {
      if (pair.is_best) best.push_back(&pair.access);
    }
    print_summary(library.name, "direct access", best);
    Lines lines;
    for (const PairVerdict& pair : library.pairs) {
      if (!pair.is_best) continue;
      const std::string who =
          name_of_gpu(verdicts.gpus[pair.gpu]) + " with " + cli::printable(pair.adapter) + " (" + pair.path + ")";
      if (pair.access.use != Judgment::yes) {
        lines.add(who, blocked_text(pair.access, pair.blocked_by));
      } else if (!pair.slowed_by.empty()) {
        lines.add(who, "slowed" + list_of(" by ", pair.slowed_by));
      }
    }
    lines.print();
  }
  if (!verdicts.nothing.empty())
    print_wrapped("", "NCCL, UCX, NVSHMEM: direct access does not apply: " + verdicts.nothing);
  print_peers(verdicts);
  std::vector<const Access*> mappings;
  for (const GpuVerdict& gpu : verdicts.gpus) mappings.push_back(&gpu.mapping);
  print_summary("gdrkit", "maps memory", mappings);
  Lines lines;
  for (const GpuVerdict& gpu : verdicts.gpus) {
    if (gpu.mapping.use != Judgment::yes) lines.add(name_of_gpu(gpu), blocked_text(gpu.mapping, gpu.blocked_by));
  }
  lines.print();
}

}  // namespace gdrkit::diag::doctor
