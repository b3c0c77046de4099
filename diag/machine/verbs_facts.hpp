// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// VerbsFacts: what libibverbs answers about dma-buf for each RDMA device, and /gdrkit/verbs.json, which keeps it in a
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
  /// Whether it can register a dma-buf. absent: libibverbs lacks the call; unreadable: a call before it failed, or it
  /// answered what says neither; malformed: the recording holds nonsense.
  topology::Fact<bool> dmabuf;
};

struct VerbsFacts {
  topology::Fact<bool> dmabuf_call;  ///< libibverbs, as the loader found it, has ibv_reg_dmabuf_mr
  std::vector<VerbsDevice> devices;

  /// nullptr when libibverbs does not show a device of this name.
  [[nodiscard]] const VerbsDevice* device_named(std::string_view name) const noexcept;
};

inline constexpr const char* verbs_recording = "/gdrkit/verbs.json";
inline constexpr std::size_t most_verbs_devices = 256;

/// Asks every device as NCCL and UCX do: it is opened, and a dma-buf registered that does not exist. Pins nothing; what
/// was opened is closed again.
[[nodiscard]] topology::Fact<VerbsFacts> gather_verbs_facts(const platform::VerbsCalls& verbs);

/// The document, schema gdrkit.verbs/1: also of a look that failed. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string to_json_text(const topology::Fact<VerbsFacts>& facts);
/// The reverse, exact for what to_json_text() wrote. Anything else is malformed, as a whole or fact by fact.
[[nodiscard]] topology::Fact<VerbsFacts> parse_verbs_facts(std::string_view text);
/// Of a recording; unreadable when it holds no such file.
[[nodiscard]] topology::Fact<VerbsFacts> read_verbs_facts(const topology::MachineView& view);

}  // namespace gdrkit::diag
