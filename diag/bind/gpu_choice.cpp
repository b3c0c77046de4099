// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/bind/gpu_choice.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/number.hpp"
#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/machine/environment.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::bind {
namespace {

[[noreturn]] void refuse(const std::string& why) { cli::reject("gdrkit bind: " + why); }

bool contains(const std::vector<std::size_t>& gpus, std::size_t gpu) {
  return std::ranges::find(gpus, gpu) != gpus.end();
}

/// The GPUs of the Slurm step on this node. Slurm numbers all GPUs of the machine in PCI order, also those that the
/// step's control group hides. If devices are constrained, CUDA_VISIBLE_DEVICES counts within the control group.
struct SlurmGpus {
  std::string setting;  ///< SLURM_STEP_GPUS=4,5
  std::vector<int> numbers;
};

std::optional<SlurmGpus> find_slurm_gpus(const Lookup& lookup) {
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    const auto text = lookup(name);
    if (!text || text->empty()) continue;
    const std::string setting = std::string(name) + "=" + *text;
    const auto numbers = platform::parse_number_list(*text);
    if (!numbers) refuse("cannot choose the GPU: " + setting + " is not a list of numbers; use --gpu N");
    return SlurmGpus{setting, *numbers};
  }
  return std::nullopt;
}

std::vector<std::size_t> positions_of(const SlurmGpus& slurm, const std::vector<NamedGpu>& gpus) {
  std::vector<std::size_t> positions;
  for (const int number : slurm.numbers) {
    const auto gpu = static_cast<std::size_t>(number);
    if (gpu >= gpus.size())
      refuse(cli::format(
          "cannot choose the GPU: %s names GPU %d, but this machine has only %s, numbered from 0; use --gpu N",
          slurm.setting.c_str(), number, cli::counted(gpus.size(), "GPU").c_str()));
    if (gpus[gpu].minor && *gpus[gpu].minor != number)
      refuse(
          cli::format("cannot choose the GPU: %d in %s is ambiguous: /dev/nvidia%d, or in PCI order "
                      "/dev/nvidia%d; use --gpu N (in PCI order)",
                      number, slurm.setting.c_str(), number, *gpus[gpu].minor));
    positions.push_back(gpu);
  }
  return positions;
}

class Chooser {
 public:
  Chooser(const Lookup& lookup, const LocalRank& rank, const std::vector<NamedGpu>& gpus, const UsableGpus& usable,
          bool may_wrap)
      : rank_(rank),
        gpus_(gpus),
        usable_(usable),
        may_wrap_(may_wrap),
        list_(lookup("CUDA_VISIBLE_DEVICES")),
        is_pci_order_(lookup("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"),
        slurm_(find_slurm_gpus(lookup)) {}

  GpuChoice choose() const {
    const bool is_constrained = usable_.is_proven && usable_.gpus.size() < gpus_.size();
    if (!slurm_ || is_constrained) return among(usable_.gpus);
    const auto allocated = positions_of(*slurm_, gpus_);
    // If access was not tested, CUDA may count on the machine or within Slurm's GPUs.
    std::vector<std::vector<std::size_t>> countings = {usable_.gpus};
    if (!usable_.is_proven) countings.push_back(allocated);
    std::vector<GpuChoice> choices;
    std::vector<cli::Failure> failures;
    for (const auto& numbered : countings) {
      try {
        const GpuChoice choice = among(numbered);
        if (contains(allocated, choice.gpu)) choices.push_back({choice.gpu, choice.why + " in " + slurm_->setting});
      } catch (const cli::Failure& failure) {
        failures.push_back(failure);
      }
    }
    if (failures.size() == countings.size()) throw failures.front();
    if (choices.empty()) refuse_choice("the GPU that CUDA selects (" + list_text() + ") is not in " + slurm_->setting);
    if (choices.front().gpu != choices.back().gpu)
      refuse_choice("the choice depends on whether CUDA counts all GPUs or only those of " + slurm_->setting);
    return choices.front();
  }

 private:
  [[noreturn]] void refuse_choice(const std::string& why) const {
    refuse("cannot choose the GPU for " + rank_text() + ": " + why + "; use --gpu N");
  }

  std::string list_text() const { return list_ ? "CUDA_VISIBLE_DEVICES=" + *list_ : "CUDA_VISIBLE_DEVICES is not set"; }
  std::string rank_text() const { return rank_.variable + "=" + std::to_string(rank_.value); }

  /// `numbered`: the GPUs that CUDA counts.
  GpuChoice among(const std::vector<std::size_t>& numbered) const {
    VisibleDevices visible;
    if (list_) {
      visible = parse_visible_devices(*list_, gpus_, numbered, is_pci_order_);
    } else if (!is_pci_order_ && !are_equal(gpus_, numbered)) {
      refuse(
          "cannot choose the GPU: CUDA numbers GPUs of different models by speed; set CUDA_DEVICE_ORDER=PCI_BUS_ID, or "
          "use --gpu N");
    } else {
      visible.gpus = numbered;
    }
    if (visible.is_one_by_uuid) return {visible.gpus.front(), "the GPU of CUDA_VISIBLE_DEVICES"};
    // With --gpus-per-task and --gpu-bind each task has its own GPU.
    const bool is_of_task =
        usable_.is_proven && slurm_ && slurm_->numbers.size() > 1 && rank_.variable == "SLURM_LOCALID";
    if (is_of_task && visible.gpus.size() == 1) return {visible.gpus.front(), "the only GPU of this Slurm task"};
    const std::size_t count = visible.gpus.size();
    if (rank_.value >= count && !may_wrap_) {
      refuse(
          cli::format("cannot choose the GPU for %s: this process can use only %s%s; use --wrap to share GPUs, or "
                      "choose one with --gpu N",
                      rank_text().c_str(), cli::counted(count, "GPU").c_str(), list_ ? " (CUDA_VISIBLE_DEVICES)" : ""));
    }
    return {visible.gpus[rank_.value % count], rank_text()};
  }

  const LocalRank& rank_;
  const std::vector<NamedGpu>& gpus_;
  const UsableGpus& usable_;
  bool may_wrap_;
  std::optional<std::string> list_;
  bool is_pci_order_;
  std::optional<SlurmGpus> slurm_;
};

}  // namespace

UsableGpus find_usable_gpus(const std::vector<NamedGpu>& gpus, bool is_live, const NodeTrial& trial) {
  UsableGpus usable;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    // The driver lists all its GPUs; a container runtime hides those that do not belong to the container.
    const auto& minor = gpus[gpu].minor;
    if (minor && trial("/dev/nvidia" + std::to_string(*minor))) usable.gpus.push_back(gpu);
  }
  usable.is_proven = is_live && !usable.gpus.empty();
  if (!usable.gpus.empty()) return usable;
  usable.gpus.resize(gpus.size());
  std::iota(usable.gpus.begin(), usable.gpus.end(), std::size_t{0});
  return usable;
}

bool can_open_node(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
}

GpuChoice choose_gpu(const Lookup& lookup, const LocalRank& rank, const std::vector<NamedGpu>& gpus,
                     const UsableGpus& usable, bool may_wrap) {
  return Chooser(lookup, rank, gpus, usable, may_wrap).choose();
}

LocalRank find_local_rank(const Lookup& lookup) {
  LocalRank rank;
  std::string first;
  for (const char* name : local_rank_variables) {
    const auto text = lookup(name);
    if (!text || text->empty()) continue;
    if (rank.variable.empty()) {
      rank.variable = name;
      first = *text;
    } else if (*text != first) {
      rank.others.push_back(std::string(name) + "=" + *text);
    }
  }
  if (rank.variable.empty()) {
    cli::reject("gdrkit bind: cannot find the local rank: none of " + cli::joined(local_rank_variables, ", ") +
                " is set; start gdrkit bind with mpirun, srun or torchrun, or choose the GPU with --gpu N");
  }
  if (!base::parse_number(first, &rank.value)) {
    cli::reject("gdrkit bind: " + rank.variable + "='" + first +
                "' is not a rank; set it to 0 or a greater number, or use --gpu N");
  }
  return rank;
}

}  // namespace gdrkit::diag::bind
