// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The numbers of PEs in words, for error messages.
#pragma once

#include <string>
#include <vector>

namespace gdrkit::shmem_impl::bootstrap {

/// Ascending: "PE 3", "PEs 3, 5-9 and 12", "PEs 1, 3, 5, 7, 9, 11, 13, 15 and 200 more".
[[nodiscard]] std::string pe_list_text(const std::vector<int>& pes);

}  // namespace gdrkit::shmem_impl::bootstrap
