// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Worker: one PE of one library in a process of its own, which does what bench asks for. While it is not asked, it
// waits on a socket: it uses neither its CPU nor its GPU.
#pragma once

#include <string>

#include "cli/interface/exit_code.hpp"
#include "transfer/shmem/bench/peer_files.hpp"

namespace gdrkit::transfer::shmem {

/// `library`: "gdrkit", "nvshmem" or "nccl". Returns once bench asks for the end, or is gone.
cli::ExitCode run_worker(const std::string& library, const PeerFiles& files, int socket);

}  // namespace gdrkit::transfer::shmem
