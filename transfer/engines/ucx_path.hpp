// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UcxPath: which transports UCX really uses, from what it prints of its own objects.
#pragma once

#include <string>
#include <vector>

#include "platform/vendor/ucx_library.hpp"

namespace gdrkit::transfer::engines {

/// The lanes of an endpoint, from ucp_ep_print_info(), with what each is for: "posix/memory (am), cma/memory (rma_bw)".
[[nodiscard]] std::string ucx_lanes_in(const std::string& printed);
/// Whether ucp_context_print_info() names this memory domain, so that UCX has opened it.
[[nodiscard]] bool has_ucx_domain(const std::string& printed, const std::string& domain);

/// For people: the ranks whose number is 0, with what it costs them and the remedy; "" where no rank is.
[[nodiscard]] std::string describe_ranks_without_hooks(const std::vector<double>& is_hooked);

/// For people: the lanes of `endpoint`, and which libgdrapi serves the domain gdr_copy, if any does.
[[nodiscard]] std::string describe_ucx_path(const platform::UcxCalls& calls, platform::UcxContext* context,
                                            platform::UcxEndpoint* endpoint, bool understands_gpu);

}  // namespace gdrkit::transfer::engines
