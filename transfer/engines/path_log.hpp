// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The path of the data: PathLog, according to NCCL's log, and the transports in UCX's printed descriptions of its
// objects.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "platform/vendor/ucx_library.hpp"

namespace gdrkit::transfer::engines {

/// The contents of one process's log lines.
struct NcclPaths {
  std::map<std::string, int> channels;  ///< "P2P/CUMEM": number of channels
  bool has_nvls = false;
  std::string network;  ///< "Socket", "IB"; "" if the log does not contain it
  std::string gdrcopy;  ///< "library 2.6 driver 2.6" if NCCL uses a libgdrapi; otherwise ""

  /// Human-readable: "P2P/CUMEM (24 channels); GDRCopy is off (NCCL_GDRCOPY_ENABLE=1 turns it on)".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] NcclPaths parse_nccl_log(const std::string& log);

/// Collects the log from its construction on. NCCL reads its settings once, so construct it before NCCL's first call.
/// If the user has set NCCL_DEBUG or NCCL_DEBUG_FILE, these are kept and the log is unavailable.
class PathLog {
 public:
  PathLog();

  /// The contents of the log so far, or why they are unknown.
  [[nodiscard]] std::string text() const;

 private:
  base::UniqueFd file_;
};

/// The lanes of an endpoint from ucp_ep_print_info(), with their uses: "posix/memory (am), cma/memory (rma_bw)".
[[nodiscard]] std::string ucx_lanes_in(const std::string& printed);
/// Whether ucp_context_print_info() lists this memory domain, which means that UCX has opened it.
[[nodiscard]] bool has_ucx_domain(const std::string& printed, const std::string& domain);

/// Human-readable: the ranks whose number is 0, the consequence and the remedy; "" if there are none.
[[nodiscard]] std::string describe_ranks_without_hooks(const std::vector<double>& is_hooked);

/// Human-readable: the lanes of `endpoint`, and the libgdrapi behind the domain gdr_copy, if any.
[[nodiscard]] std::string describe_ucx_path(const platform::UcxCalls& calls, platform::UcxContext* context,
                                            platform::UcxEndpoint* endpoint, bool supports_gpu);

}  // namespace gdrkit::transfer::engines
