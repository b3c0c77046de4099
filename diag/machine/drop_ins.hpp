// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DropIns: files of a configuration that is spread over folders, as systemd, modprobe and others read it.
#pragma once

#include <string>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

/// Paths of the files "*.conf" in the order in which they are read: by name, whatever their folder. `folders`, the most
/// important first: of several files with one name the first alone counts. A folder that is not there holds nothing;
/// not found: one that could not be listed.
[[nodiscard]] topology::Fact<std::vector<std::string>> drop_ins(const topology::MachineView& view,
                                                                const std::vector<std::string>& folders);

}  // namespace gdrkit::diag
