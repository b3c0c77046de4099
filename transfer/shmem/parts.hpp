// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The parts of `gdrkit shmem`: gdrkit shmem <part> [options]. To add one, add a line here and in shmem.cpp's table.
#pragma once

#include "cli/common/command_line.hpp"

namespace gdrkit::tools::shmem {

// argv[0] is the part's name. Each throws as a subcommand does.
ExitCode run_info(Front front, int argc, char** argv);
ExitCode run_check(Front front, int argc, char** argv);
ExitCode run_bench(Front front, int argc, char** argv);

}  // namespace gdrkit::tools::shmem
