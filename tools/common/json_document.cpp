// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "tools/common/json_document.hpp"

#include <cstdio>

#include "gdrkit/gdrkit.h"

namespace gdrkit::tools {

Json json_head(const char* tool, const Machine& machine, const std::string& backend, bool is_emulated,
               const std::optional<Place>& place) {
  Result result;
  result.tool = tool;
  result.version = gdrkit_version();
  result.date = today();
  result.is_emulated = is_emulated;
  result.backend = backend;
  result.machine = machine;
  result.place = place;
  return head_json(result);
}

void print_json(const Json& document) { std::fputs(text_of(document).c_str(), stdout); }

}  // namespace gdrkit::tools
