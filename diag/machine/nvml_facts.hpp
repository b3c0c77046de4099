// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvmlFacts: the GPU facts from NVML and CUDA's device attributes, and /gdrkit/nvml.json, which stores them in a
// recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// For every fact: absent: NVML reports that this GPU or driver does not support it; unreadable: the call failed, or a
/// recording does not contain it; malformed: the recording is invalid. Each has its reason.
struct NvmlLink {
  std::int64_t index = 0;  ///< NVML's index
#define GDRKIT_NVML_LINK(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
  bool operator==(const NvmlLink&) const = default;
};

struct NvmlGpu {
  std::int64_t index = 0;  ///< NVML's index, which nvidia-smi shows
#define GDRKIT_NVML_GPU(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
  std::vector<NvmlLink> links;
  bool operator==(const NvmlGpu&) const = default;
};

/// Two GPUs by their positions in NvmlFacts::gpus, first < second. NVML's results are symmetric.
struct NvmlPair {
  std::size_t first = 0;
  std::size_t second = 0;
#define GDRKIT_NVML_PAIR(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
  bool operator==(const NvmlPair&) const = default;
};

struct NvmlFacts {
#define GDRKIT_NVML_SYSTEM(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
  std::vector<NvmlGpu> gpus;
  std::vector<NvmlPair> pairs;  ///< every two GPUs

  bool operator==(const NvmlFacts&) const = default;
  /// nullptr if NVML does not show the GPU at this address.
  [[nodiscard]] const NvmlGpu* gpu_at(std::string_view address) const noexcept;
  /// In either order of the addresses; nullptr if there is no such pair.
  [[nodiscard]] const NvmlPair* pair_of(std::string_view one, std::string_view other) const noexcept;
};

/// The text of a value of p2p_read, p2p_write or p2p_nvlink: "works", or the reason why it does not.
[[nodiscard]] const char* p2p_text(std::int64_t status) noexcept;

inline constexpr const char* nvml_recording = "/gdrkit/nvml.json";
inline constexpr std::size_t most_nvml_gpus = 64;
inline constexpr std::size_t most_nvml_links = 64;  ///< of one GPU

/// The document, schema gdrkit.nvml/1, also for a failed query. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json_text(const topology::Fact<NvmlFacts>& facts);
/// The inverse of to_json_text(). Any other input is malformed, as a whole or field by field.
[[nodiscard]] topology::Fact<NvmlFacts> parse_nvml_facts(std::string_view text);
/// Of a recording; unreadable if the recording does not contain such a file.
[[nodiscard]] topology::Fact<NvmlFacts> read_nvml_facts(const topology::MachineView& view);

}  // namespace gdrkit::diag
