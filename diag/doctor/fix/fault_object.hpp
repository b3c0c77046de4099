// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FaultObject: what the words ADDRESS, ADAPTER, PORT and INTERFACE stand for in a finding.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag::doctor {

/// The words that are known and safe, by placeholder; a placeholder that is not in it cannot be filled.
using FaultObject = std::map<std::string, std::string>;

/// `subject`: a PCI address, an adapter (mlx5_0), its port (mlx5_0:1) or a network interface.
[[nodiscard]] FaultObject object_of(const std::string& subject, const Machine& machine);

[[nodiscard]] bool has_placeholder(const std::string& text);

enum class Quoting { none, shell };

/// `text` with every placeholder replaced; empty when one of them cannot be.
[[nodiscard]] std::optional<std::string> filled(const std::string& text, const FaultObject& object, Quoting quoting);

}  // namespace gdrkit::diag::doctor
