// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VerbsFacts: libibverbs' results on dma-buf for each RDMA device, and /gdrkit/verbs.json, which stores them in a
// recording.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diag/topology/machine_view.hpp"
#include "platform/vendor/verbs_library.hpp"

namespace gdrkit::driver {
struct VerbsCalls;
}

namespace gdrkit::diag {

struct VerbsDevice {
  std::string name;  ///< mlx5_0
  /// Whether it can register a dma-buf. absent: libibverbs lacks the call; unreadable: an earlier call failed, or the
  /// result was inconclusive; malformed: the recording is invalid.
  topology::Fact<bool> dmabuf;
};

struct VerbsFacts {
  topology::Fact<bool> dmabuf_call;  ///< the loaded libibverbs exports ibv_reg_dmabuf_mr
  std::vector<VerbsDevice> devices;

  /// nullptr if libibverbs does not show a device of this name.
  [[nodiscard]] const VerbsDevice* device_named(std::string_view name) const noexcept;
};

inline constexpr const char* verbs_recording = "/gdrkit/verbs.json";
inline constexpr std::size_t most_verbs_devices = 256;

/// Queries every device as NCCL and UCX do: opens it and registers a dma-buf that does not exist. Pins nothing and
/// closes everything that it opened.
[[nodiscard]] topology::Fact<VerbsFacts> gather_verbs_facts(const platform::VerbsCalls& verbs);

/// The document, schema gdrkit.verbs/1, also for a failed query. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json_text(const topology::Fact<VerbsFacts>& facts);
/// The inverse of to_json_text(). Any other input is malformed, as a whole or fact by fact.
[[nodiscard]] topology::Fact<VerbsFacts> parse_verbs_facts(std::string_view text);
/// Of a recording; unreadable if the recording does not contain such a file.
[[nodiscard]] topology::Fact<VerbsFacts> read_verbs_facts(const topology::MachineView& view);

}  // namespace gdrkit::diag
