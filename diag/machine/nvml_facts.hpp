// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvmlFacts: what NVML and CUDA's device attributes say of the GPUs, and /gdrkit/nvml.json, which keeps it in a
// recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// Of every fact: absent: NVML says that this GPU or driver has no such thing; unreadable: the call failed, or a
/// recording does not hold it; malformed: the recording holds nonsense. Each with its reason.
struct NvmlLink {
  std::int64_t index = 0;  ///< NVML's
#define GDRKIT_NVML_LINK(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
};

struct NvmlGpu {
  std::int64_t index = 0;  ///< NVML's, which nvidia-smi shows
#define GDRKIT_NVML_GPU(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
  std::vector<NvmlLink> links;
};

/// Two GPUs by their places in NvmlFacts::gpus, first < second. NVML's answers are the same both ways round.
struct NvmlPair {
  std::size_t first = 0;
  std::size_t second = 0;
#define GDRKIT_NVML_PAIR(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
};

struct NvmlFacts {
#define GDRKIT_NVML_SYSTEM(type, name) topology::Fact<type> name;
#include "diag/machine/nvml_facts.def"
  std::vector<NvmlGpu> gpus;
  std::vector<NvmlPair> pairs;  ///< every two GPUs

  /// nullptr when NVML does not show the GPU at this address.
  [[nodiscard]] const NvmlGpu* gpu_at(std::string_view address) const noexcept;
  /// In either order of the addresses; nullptr when there is no such pair.
  [[nodiscard]] const NvmlPair* pair_of(std::string_view one, std::string_view other) const noexcept;
};

/// The text of a value of p2p_read, p2p_write or p2p_nvlink: "works", or why it does not.
[[nodiscard]] const char* p2p_text(std::int64_t status) noexcept;

inline constexpr const char* nvml_recording = "/gdrkit/nvml.json";
inline constexpr std::size_t most_nvml_gpus = 64;
inline constexpr std::size_t most_nvml_links = 64;  ///< of one GPU

/// The document, schema gdrkit.nvml/1: also of a look that failed. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string to_json_text(const topology::Fact<NvmlFacts>& facts);
/// The reverse, exact for what to_json_text() wrote. Anything else is malformed, as a whole or field by field.
[[nodiscard]] topology::Fact<NvmlFacts> parse_nvml_facts(std::string_view text);
/// Of a recording; unreadable when it holds no such file.
[[nodiscard]] topology::Fact<NvmlFacts> read_nvml_facts(const topology::MachineView& view);

}  // namespace gdrkit::diag
