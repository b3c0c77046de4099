// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/env/formats.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/shell_word.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::env {
namespace {

/// A comment must stay on one line, regardless of the file's contents.
std::string one_line(const std::string& text) {
  std::string line = cli::printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

void comment(const std::string& text) { std::fputs(cli::wrapped("# ", "# ", one_line(text)).c_str(), stdout); }

std::string reason_of(const ProposedSetting& setting) {
  return setting.reason + (setting.because.empty() ? "" : " (" + joined(setting.because, ", ") + ")") +
         (setting.is_set ? "; already set to this" : "");
}

bool has_rank_settings(const Proposal& proposal) {
  return std::ranges::any_of(proposal.ranks, [](const ProposedRank& rank) { return !rank.settings.empty(); });
}

/// A text that several checks report is printed once.
void print_judged(const std::vector<Judged>& judged) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Judged& one : judged) {
    const std::string text = one.finding.subject + (one.finding.subject.empty() ? "" : ": ") + one.finding.text;
    const std::string start = std::string("now ") + doctor::name_of(one.finding.state) + " ";
    const auto same = std::ranges::find_if(
        lines, [&](const auto& line) { return line.second == text && line.first.starts_with(start); });
    if (same == lines.end()) {
      lines.emplace_back(start + one.check, text);
    } else {
      same->first += ", " + one.check;
    }
  }
  for (const auto& [checks, text] : lines) comment(checks + ": " + text);
}

bool has_fault(const std::vector<Judged>& judged) {
  return std::ranges::any_of(judged, [](const Judged& one) {
    return one.finding.state == doctor::State::warn || one.finding.state == doctor::State::fail;
  });
}

/// The start of all formats; false if there is nothing to set.
bool print_head(const Document& document) {
  const Proposal& proposal = document.proposal;
  comment("gdrkit env " + proposal.library_names() + ", from " + document.root +
          cli::format(", matching %016llx", static_cast<unsigned long long>(proposal.matching)));
  print_judged(document.judged);
  for (const std::string& note : proposal.notes) comment("note: " + note);
  const bool is_empty = proposal.job.empty() && !has_rank_settings(proposal);
  if (is_empty && !proposal.ranks.empty())
    comment("nothing needs to be set for " + proposal.library_names() + " on this machine" +
            (has_fault(document.judged) ? "; unset the faulty settings above" : ""));
  return !is_empty;
}

void print_rank_comments(const Proposal& proposal) {
  if (!has_rank_settings(proposal)) return;
  comment("set per rank, because " + proposal.rank_reason + "; 'gdrkit bind -- PROGRAM' sets these variables:");
  for (std::size_t rank = 0; rank < proposal.ranks.size(); ++rank) {
    for (const auto& [name, value] : proposal.ranks[rank].settings)
      comment(cli::format("  local rank %zu: ", rank) + name + "=" + value);
  }
}

void print_sh(const Document& document) {
  if (!print_head(document)) return;
  for (const ProposedSetting& setting : document.proposal.job) {
    comment(reason_of(setting));
    std::printf("export %s=%s\n", setting.name.c_str(), cli::shell_word(setting.value).c_str());
  }
  print_rank_comments(document.proposal);
}

/// NAME=VALUE of the names with this prefix, comments on their own lines. No quotes: docker's --env-file and NCCL's and
/// UCX's files take them literally.
void print_assignments(const Document& document, const std::string& prefix) {
  if (!print_head(document)) return;
  for (const ProposedSetting& setting : document.proposal.job) {
    if (!setting.name.starts_with(prefix)) continue;
    comment(reason_of(setting));
    std::printf("%s=%s\n", setting.name.c_str(), cli::printable(setting.value).c_str());
  }
  print_rank_comments(document.proposal);
}

void print_dotenv(const Document& document) { print_assignments(document, ""); }

void print_nccl_conf(const Document& document) {
  if (!document.proposal.is_for(CommLibrary::nccl))
    cli::reject(
        "gdrkit env: cannot write nccl.conf: only NCCL uses this file; use 'gdrkit env nccl --format nccl.conf'");
  print_assignments(document, "NCCL_");
}

void print_ucx_conf(const Document& document) {
  if (!document.proposal.is_for(CommLibrary::ucx) && !document.proposal.is_for(CommLibrary::openmpi))
    cli::reject(
        "gdrkit env: cannot write ucx.conf: only UCX and Open MPI use this file; use "
        "'gdrkit env ucx --format ucx.conf'");
  print_assignments(document, "UCX_");
}

/// A rankfile of Open MPI and arguments of mpirun.
void print_ompi(const Document& document) {
  (void)print_head(document);
  std::string arguments;
  for (const ProposedSetting& setting : document.proposal.job) {
    comment(setting.name + ": " + reason_of(setting));
    constexpr const char* mca = "OMPI_MCA_";
    const bool is_mca = setting.name.starts_with(mca);
    arguments += is_mca
                     ? " --mca " + setting.name.substr(std::string(mca).size()) + " " + cli::shell_word(setting.value)
                     : " -x " + setting.name + "=" + cli::shell_word(setting.value);
  }
  print_rank_comments(document.proposal);
  const auto& ranks = document.proposal.ranks;
  if (ranks.empty()) return;
  comment(cli::format("hostfile: one line for each node: NAME slots=%zu", ranks.size()));
  comment("rankfile instead of gdrkit bind, for the first node:");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    comment(cli::format("  rank %zu=+n0 slot=%s", rank, platform::to_list_text(ranks[rank].place.cpus).c_str()));
  }
  std::printf("mpirun%s --map-by ppr:%zu:node --bind-to none gdrkit bind -- PROGRAM\n", arguments.c_str(),
              ranks.size());
}

void print_slurm(const Document& document) {
  print_sh(document);
  const auto& ranks = document.proposal.ranks;
  std::vector<std::string> masks;
  std::vector<std::string> nodes;
  for (const ProposedRank& rank : ranks) {
    if (!rank.place.cpus.empty()) masks.push_back(mask_of(rank.place.cpus));
    if (rank.place.node >= 0) nodes.push_back(std::to_string(rank.place.node));
  }
  if (ranks.empty()) return;
  comment(
      "srun binds ranks with CPU masks if the job has all of these CPUs; otherwise use 'srun --cpu-bind=none gdrkit "
      "bind -- PROGRAM', which binds within the job's CPUs");
  std::printf("srun --ntasks-per-node=%zu", ranks.size());
  if (masks.size() == ranks.size()) std::printf(" --cpu-bind=mask_cpu:%s", joined(masks, ",").c_str());
  if (nodes.size() == ranks.size()) std::printf(" --mem-bind=map_mem:%s", joined(nodes, ",").c_str());
  std::printf(" PROGRAM\n");
}

/// JSON strings are valid YAML strings.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : one_line(text))
    result += (character == '"' || character == '\\' ? std::string("\\") : std::string()) + character;
  return result + "\"";
}

bool has_adapters(const Proposal& proposal) {
  return std::ranges::any_of(proposal.ranks, [](const ProposedRank& rank) { return !rank.adapter.empty(); });
}

void print_k8s(const Document& document) {
  (void)print_head(document);
  const Proposal& proposal = document.proposal;
  print_rank_comments(proposal);
  std::printf("spec:\n  containers:\n    - name: CONTAINER\n");
  if (!proposal.job.empty()) std::printf("      env:\n");
  for (const ProposedSetting& setting : proposal.job) {
    std::fputs(cli::wrapped("        # ", "        # ", one_line(reason_of(setting))).c_str(), stdout);
    std::printf("        - {name: %s, value: %s}\n", setting.name.c_str(), quoted(setting.value).c_str());
  }
  std::printf("      resources:\n        limits: {nvidia.com/gpu: %zu}%s\n", proposal.ranks.size(),
              has_adapters(proposal) ? "  # and the resource of the cluster's RDMA device plug-in" : "");
  if (has_adapters(proposal))
    std::printf("      securityContext:\n        capabilities: {add: [\"IPC_LOCK\"]}  # RDMA locks memory\n");
  std::printf(
      "      volumeMounts:\n        - {name: shm, mountPath: /dev/shm}\n  volumes:\n    - name: shm  # the default of "
      "64 MiB is too small for several ranks\n      emptyDir: {medium: Memory}\n");
}

void print_docker(const Document& document) {
  (void)print_head(document);
  std::string arguments = document.proposal.ranks.empty() ? "" : " --gpus all";
  if (has_adapters(document.proposal)) arguments += " --device=/dev/infiniband --cap-add=IPC_LOCK --ulimit memlock=-1";
  arguments += " --ipc=host";
  for (const ProposedSetting& setting : document.proposal.job) {
    comment(setting.name + ": " + reason_of(setting));
    arguments += " -e " + cli::shell_word(setting.name + "=" + setting.value);
  }
  print_rank_comments(document.proposal);
  std::printf("docker run%s IMAGE\n", arguments.c_str());
}

struct Format {
  const char* name;
  void (*print)(const Document&);
};

constexpr Format formats[] = {{"sh", &print_sh},
                              {"dotenv", &print_dotenv},
                              {"nccl.conf", &print_nccl_conf},
                              {"ucx.conf", &print_ucx_conf},
                              {"ompi", &print_ompi},
                              {"slurm", &print_slurm},
                              {"k8s", &print_k8s},
                              {"docker", &print_docker}};

}  // namespace

std::string mask_of(const std::vector<int>& cpus) {
  if (cpus.empty()) return "0x0";
  std::string digits(static_cast<std::size_t>(cpus.back()) / 4 + 1, '0');
  for (const int cpu : cpus) {
    char& digit = digits[digits.size() - 1 - static_cast<std::size_t>(cpu) / 4];
    const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | 1 << (cpu % 4);
    digit = "0123456789abcdef"[value];
  }
  return "0x" + digits;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& one : formats) names.emplace_back(one.name);
  return names;
}

void print_as(const std::string& format_name, const Document& document) {
  for (const Format& one : formats) {
    if (format_name == one.name) return one.print(document);
  }
  cli::reject("gdrkit env: unknown format '" + format_name + "'");
}

}  // namespace gdrkit::diag::env
