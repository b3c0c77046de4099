// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/bind/visible_devices.hpp"

#include <algorithm>
#include <cstddef>

#include "base/number.hpp"
#include "cli/interface/exit_code.hpp"
#include "diag/topology/text_parts.hpp"

namespace gdrkit::diag::bind {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  cli::reject("gdrkit bind: cannot use CUDA_VISIBLE_DEVICES='" + text + "': " + why);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : topology::split(text + ",", ',')) words.push_back(topology::trimmed(word, " "));
  return words;
}

std::size_t find_uuid(const std::string& text, const std::string& word, const std::vector<NamedGpu>& gpus) {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < gpus.size(); ++index) {
    if (!gpus[index].uuid.empty() && gpus[index].uuid.starts_with(word)) found.push_back(index);
  }
  if (found.size() == 1) return found.front();
  const bool are_known = std::ranges::any_of(gpus, [](const NamedGpu& gpu) { return !gpu.uuid.empty(); });
  if (!found.empty()) refuse(text, "'" + word + "' is a prefix of several UUIDs; write the whole UUID");
  refuse(text, are_known ? "no GPU has the UUID '" + word + "'; run 'nvidia-smi -L' for the UUIDs"
                         : "found no UUID of a GPU in /proc/driver/nvidia/gpus; choose the GPU with --gpu N");
}

/// The form of drivers before 470, "MIG-GPU-8f1c.../1/0", contains the GPU; "MIG-8f1c..." does not.
std::size_t find_mig(const std::string& text, const std::string& word, const std::vector<NamedGpu>& gpus,
                     const std::vector<std::size_t>& numbered) {
  constexpr std::size_t mark = 4;  // "MIG-"
  if (word.compare(mark, mark, "GPU-") == 0) return find_uuid(text, word.substr(mark, word.find('/') - mark), gpus);
  if (numbered.size() == 1) return numbered.front();
  refuse(text, "the GPU of the MIG instance is unknown; choose the GPU with --gpu N");
}

}  // namespace

bool are_equal(const std::vector<NamedGpu>& gpus, const std::vector<std::size_t>& numbered) {
  return std::ranges::all_of(numbered, [&](std::size_t gpu) { return gpus[gpu].kind == gpus[numbered.front()].kind; });
}

VisibleDevices parse_visible_devices(const std::string& text, const std::vector<NamedGpu>& gpus,
                                     const std::vector<std::size_t>& numbered, bool is_pci_order) {
  VisibleDevices visible;
  bool has_uuid = false;
  for (const std::string& word : words_of(text)) {
    const bool is_mig = word.starts_with("MIG-");
    std::size_t gpu = 0;
    if (is_mig || word.starts_with("GPU-")) {
      has_uuid = true;
      gpu = is_mig ? find_mig(text, word, gpus, numbered) : find_uuid(text, word, gpus);
      if (std::ranges::find(numbered, gpu) == numbered.end())
        refuse(text, "this process cannot open '" + word + "'; list only GPUs that this process can open");
    } else {
      std::size_t index = 0;
      // CUDA ignores everything from the first word that is not a GPU.
      if (!base::parse_number(word, &index) || index >= numbered.size()) break;
      if (!is_pci_order && !are_equal(gpus, numbered)) {
        refuse(text,
               "CUDA numbers GPUs of different models by speed; set CUDA_DEVICE_ORDER=PCI_BUS_ID, or choose the GPU "
               "with --gpu N");
      }
      gpu = numbered[index];
    }
    if (std::ranges::find(visible.gpus, gpu) != visible.gpus.end()) {
      refuse(text, "a GPU is listed twice, so CUDA shows no GPU; list each GPU once");
    }
    visible.gpus.push_back(gpu);
    if (is_mig) break;  // CUDA uses only the first MIG instance
  }
  if (visible.gpus.empty()) refuse(text, "this value hides all GPUs from the program; list at least one GPU");
  visible.is_one_by_uuid = has_uuid && visible.gpus.size() == 1;
  return visible;
}

}  // namespace gdrkit::diag::bind
