// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The parts of `gdrkit shmem`: gdrkit shmem <part> [options]. To add one, add a line here and in shmem.cpp's table.
#pragma once

#include "cli/interface/command_line.hpp"

namespace gdrkit::transfer::shmem {

// argv[0] is the part's name. Each throws as a subcommand does.
cli::ExitCode run_info(cli::Front front, int argc, char** argv);
cli::ExitCode run_check(cli::Front front, int argc, char** argv);
cli::ExitCode run_bench(cli::Front front, int argc, char** argv);

}  // namespace gdrkit::transfer::shmem
