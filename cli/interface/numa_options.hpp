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

/// Appends --numa and --no-bind; `options` must outlive the parsing. Not available under GDRCopy's names.
void add_numa_options(CommandLine* line, NumaOptions* options);
/// For tools that measure in one place: without `--numa all`, which choose_one_place() rejects.
void add_place_options(CommandLine* line, NumaOptions* options);

/// The nodes that the options select.
struct NumaChoice {
  enum class Kind { automatic, all, pair, keep };
  Kind kind = Kind::automatic;
  platform::NodePair pair;  ///< of Kind::pair
};

/// Throws Failure(usage) with the existing nodes if the options name others. Call it before anything is printed.
[[nodiscard]] NumaChoice choose_nodes(const NumaOptions& options, const std::string& sysfs_root = "/sys");

/// Like choose_nodes(), but also throws Failure(usage) for `all`.
[[nodiscard]] NumaChoice choose_one_place(const NumaOptions& options);

/// The place of `device`; `placement` binds for it.
[[nodiscard]] platform::Placement placement_for(const platform::Device& device);
/// Binds the calling thread, and the memory that it touches from now on. A sweep starts at the automatic place. Throws
/// Failure(cannot_run) if nodes that were given by number are unavailable.
[[nodiscard]] platform::Placed place(const NumaChoice& choice, platform::Placement* placement);
/// Prints a line, and a second one if there is advice.
void print_place(const platform::Placed& placed);

}  // namespace gdrkit::cli
