// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Worker: one PE of one library in a separate process, which executes the requests of bench. Between requests it waits
// on a socket, and uses neither its CPU nor its GPU.
#pragma once

#include <string>

#include "cli/interface/exit_code.hpp"
#include "transfer/shmem/bench/peer_files.hpp"

namespace gdrkit::transfer::shmem {

/// `library`: "gdrkit", "nvshmem" or "nccl". Returns when bench requests the end or has ended.
cli::ExitCode run_worker(const std::string& library, const PeerFiles& files, int socket);

}  // namespace gdrkit::transfer::shmem
