// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DocumentHead: the first fields of every JSON document; docs/result-schema.md defines them.
#pragma once

#include <optional>
#include <string>

#include "platform/facts/machine.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::cli {

/// Incremented when a field changes its meaning or is removed, not when fields are added.
inline constexpr int schema_version = 2;

struct DocumentHead {
  int version_of_schema = schema_version;
  std::string tool;
  std::string version;  ///< gdrkit's
  std::string date;     ///< UTC, "2026-11-21"
  bool is_emulated = false;
  std::string backend;
  platform::Machine machine;
  std::optional<platform::Place> place;
};

/// With today's date and this version of gdrkit.
[[nodiscard]] DocumentHead head_of(const char* tool, const platform::Machine& machine, const std::string& backend,
                                   bool is_emulated, const std::optional<platform::Place>& place = std::nullopt);

}  // namespace gdrkit::cli
