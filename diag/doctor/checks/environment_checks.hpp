// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Helpers shared by the checks of group environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/doctor/check.hpp"
#include "diag/machine/environment.hpp"

namespace gdrkit::diag::doctor {

/// The settings; if the variables are unknown, adds a finding with the reason and returns nothing.
[[nodiscard]] std::optional<Environment> environment_or_unknown(const Machine& machine, Findings& findings);
/// "'INFO' in the environment", printed after the name
[[nodiscard]] std::string described(const Setting& setting);
/// The words of a list with commas.
[[nodiscard]] std::vector<std::string> listed(const std::string& text);
/// The variable's value; "" when it is not set.
[[nodiscard]] std::string value_of(const Environment& environment, const std::string& name);
/// A remedy for this setting: `unset NAME`, or the line of the file to remove.
[[nodiscard]] std::string removal(const Setting& setting);

/// NCCL_NET_GDR_LEVEL as one of NCCL's names; "" if NCCL ignores the text.
[[nodiscard]] std::string nccl_level_of(const std::string& text);
/// Whether a path of class `path` (PIX) is at most `level`; false for a class unknown to NCCL.
[[nodiscard]] bool is_within_nccl_level(const std::string& path, const std::string& level);

/// Compares UCX_NET_DEVICES with the devices of the machine.
void judge_ucx_devices(const Machine& machine, const Setting& setting, Findings& findings);

/// A filter of names as NCCL parses it: a list of prefixes. A leading ^ excludes them, a leading = matches whole names.
struct NcclFilter {
  struct Token {
    std::string name;
    std::string port;  ///< "" for any
  };
  bool is_exclusion = false;
  bool is_exact = false;
  std::vector<Token> tokens;

  explicit NcclFilter(const std::string& text);
  [[nodiscard]] bool names(const Token& token, const std::string& device) const;
};

}  // namespace gdrkit::diag::doctor
