// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/bind/visible_devices.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Failure(ExitCode::usage, "gdrkit bind: CUDA_VISIBLE_DEVICES='" + text + "': " + why);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const auto begin = word.find_first_not_of(' ');
    words.push_back(begin == std::string::npos ? "" : word.substr(begin, word.find_last_not_of(' ') - begin + 1));
    at = end + 1;
  }
  return words;
}

std::size_t find_uuid(const std::string& text, const std::string& word, const std::vector<NamedGpu>& gpus) {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < gpus.size(); ++index) {
    if (!gpus[index].uuid.empty() && gpus[index].uuid.rfind(word, 0) == 0) found.push_back(index);
  }
  if (found.size() == 1) return found.front();
  const bool are_known = std::any_of(gpus.begin(), gpus.end(), [](const NamedGpu& gpu) { return !gpu.uuid.empty(); });
  if (!found.empty()) refuse(text, "'" + word + "' is a prefix of several UUIDs");
  refuse(text, are_known ? "no GPU has the UUID '" + word + "'"
                         : "UUIDs are not known here (/proc/driver/nvidia/gpus); choose the GPU with --gpu N");
}

}  // namespace

bool are_equal(const std::vector<NamedGpu>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](const NamedGpu& gpu) { return gpu.kind == gpus.front().kind; });
}

VisibleDevices parse_visible_devices(const std::string& text, const std::vector<NamedGpu>& gpus, bool is_pci_order) {
  VisibleDevices visible;
  bool has_uuid = false;
  for (const std::string& word : words_of(text)) {
    if (word.rfind("MIG-", 0) == 0)
      refuse(text, "files do not tell which GPU a MIG instance belongs to; choose it with --gpu N");
    std::size_t index = 0;
    if (word.rfind("GPU-", 0) == 0) {
      has_uuid = true;
      index = find_uuid(text, word, gpus);
    } else {
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), index);
      const bool is_number = error == std::errc() && stop == word.data() + word.size() && !word.empty();
      // CUDA takes what stands before the first word that names no GPU.
      if (!is_number || index >= gpus.size()) break;
      if (!is_pci_order && !are_equal(gpus)) {
        refuse(text,
               "the GPUs differ, and CUDA then numbers them by speed; set CUDA_DEVICE_ORDER=PCI_BUS_ID, or choose the "
               "GPU with --gpu N");
      }
    }
    if (std::find(visible.gpus.begin(), visible.gpus.end(), index) != visible.gpus.end()) {
      refuse(text, "names a GPU twice: CUDA then shows no GPU");
    }
    visible.gpus.push_back(index);
  }
  if (visible.gpus.empty()) refuse(text, "hides all GPUs from the program");
  visible.is_one_by_uuid = has_uuid && visible.gpus.size() == 1;
  return visible;
}

}  // namespace gdrkit::tools
