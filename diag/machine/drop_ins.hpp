// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DropIns: configuration files spread over folders, in the order used by systemd, modprobe and others.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// Paths of the files "*.conf" in reading order: by name, regardless of their folder. `folders` has the most important
/// first: of several files with one name only the first counts. A missing folder counts as empty. Not found: a folder
/// could not be listed.
[[nodiscard]] topology::Fact<std::vector<std::string>> drop_ins(const topology::MachineView& view,
                                                                const std::vector<std::string>& folders);

}  // namespace gdrkit::diag
