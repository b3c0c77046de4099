// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the checks of group environment share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/doctor/check.hpp"
#include "diag/machine/environment.hpp"

namespace gdrkit::diag::doctor {

/// What is set; nothing, with a finding that says why, when the variables are not known.
[[nodiscard]] std::optional<Environment> environment_or_unknown(const Machine& machine, Findings& findings);
/// "'INFO' in the environment", below the name as subject
[[nodiscard]] std::string told(const Setting& setting);
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);
/// The variable's value; "" when it is not set.
[[nodiscard]] std::string value_of(const Environment& environment, const std::string& name);
/// A remedy for this setting: `unset NAME`, or the line of the file to take out.
[[nodiscard]] std::string removal(const Setting& setting);

/// NCCL_NET_GDR_LEVEL as one of NCCL's names; "" when NCCL passes the text over.
[[nodiscard]] std::string nccl_level_of(const std::string& text);
/// Whether a path of class `path` (PIX) is at most `level`; false for a class that NCCL does not know.
[[nodiscard]] bool is_within_nccl_level(const std::string& path, const std::string& level);

/// Compares UCX_NET_DEVICES with the devices of the machine.
void judge_ucx_devices(const Machine& machine, const Setting& setting, Findings& findings);

/// A filter of names as NCCL reads it: a list of starts of names; with a leading ^ of those to leave out, with a
/// leading = of whole names.
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
