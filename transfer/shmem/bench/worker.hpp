// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Worker: one PE of one library in a process of its own, which does what bench asks for. While it is not asked, it
// waits on a socket: it uses neither its CPU nor its GPU.
#pragma once

#include <string>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::pgas {

/// `library`: "gdrkit" or "nvshmem" (loaded from `nvshmem_path`). Returns once bench asks for the end, or is gone.
ExitCode run_worker(const std::string& library, const std::string& nvshmem_path, int socket);

}  // namespace gdrkit::tools::pgas
