// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NumaOptions: --numa and --no-bind, for tools that measure.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"
#include "platform/device/device.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::cli {

struct NumaOptions {
  std::string numa = "auto";
  bool no_bind = false;
};

/// Appends --numa and --no-bind; `options` must outlive the parsing. Not under GDRCopy's names.
void add_numa_options(CommandLine* line, NumaOptions* options);
/// For tools that measure in one place: without `--numa all`, which choose_one_place() refuses.
void add_place_options(CommandLine* line, NumaOptions* options);

/// What the options ask for.
struct NumaChoice {
  enum class Kind { automatic, all, pair, keep };
  Kind kind = Kind::automatic;
  platform::NodePair pair;  ///< of Kind::pair
};

/// Throws Failure(usage), naming the nodes there are, for nodes that this machine does not have. Call it before
/// anything is printed.
[[nodiscard]] NumaChoice choose_nodes(const NumaOptions& options, const std::string& sysfs_root = "/sys");

/// As choose_nodes(); Failure(usage) for `all` too.
[[nodiscard]] NumaChoice choose_one_place(const NumaOptions& options);

/// Where `device` is; `placement` binds for it.
[[nodiscard]] platform::Placement placement_for(const platform::Device& device);
/// Binds the calling thread, and the memory that it touches from now on. A sweep begins at the automatic place. Throws
/// Failure(cannot_run) when nodes that were asked for by number cannot be had.
[[nodiscard]] platform::Placed place(const NumaChoice& choice, platform::Placement* placement);
/// A line, and one with advice if there is any.
void print_place(const platform::Placed& placed);

}  // namespace gdrkit::cli
