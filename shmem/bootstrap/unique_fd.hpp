// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UniqueFd of lib/base.
#pragma once

#include "base/unique_fd.hpp"

namespace gdrkit::shmem_impl::bootstrap {

using base::UniqueFd;

}  // namespace gdrkit::shmem_impl::bootstrap
