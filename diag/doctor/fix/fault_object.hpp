// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FaultObject: the values of ADDRESS, ADAPTER, PORT and INTERFACE for a finding.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag::doctor {

/// The known and safe words, by placeholder. A missing placeholder cannot be filled.
using FaultObject = std::map<std::string, std::string>;

/// `subject`: a PCI address, an adapter (mlx5_0), its port (mlx5_0:1) or a network interface.
[[nodiscard]] FaultObject object_of(const std::string& subject, const Machine& machine);

enum class Quoting { none, shell };

/// `text` with every placeholder replaced; empty if one of them cannot be.
[[nodiscard]] std::optional<std::string> filled(const std::string& text, const FaultObject& object, Quoting quoting);

}  // namespace gdrkit::diag::doctor
