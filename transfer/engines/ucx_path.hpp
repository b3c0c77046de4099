// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UcxPath: the transports that UCX uses, from UCX's printed descriptions of its objects.
#pragma once

#include <string>
#include <vector>

#include "platform/vendor/ucx_library.hpp"

namespace gdrkit::transfer::engines {

/// The lanes of an endpoint from ucp_ep_print_info(), with their uses: "posix/memory (am), cma/memory (rma_bw)".
[[nodiscard]] std::string ucx_lanes_in(const std::string& printed);
/// Whether ucp_context_print_info() lists this memory domain, which means that UCX has opened it.
[[nodiscard]] bool has_ucx_domain(const std::string& printed, const std::string& domain);

/// Human-readable: the ranks whose number is 0, the consequence and the remedy; "" if there are none.
[[nodiscard]] std::string describe_ranks_without_hooks(const std::vector<double>& is_hooked);

/// Human-readable: the lanes of `endpoint`, and the libgdrapi behind the domain gdr_copy, if any.
[[nodiscard]] std::string describe_ucx_path(const platform::UcxCalls& calls, platform::UcxContext* context,
                                            platform::UcxEndpoint* endpoint, bool understands_gpu);

}  // namespace gdrkit::transfer::engines
