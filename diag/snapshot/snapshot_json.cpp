// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "diag/snapshot/recorded_paths.hpp"
#include "diag/snapshot/summary.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::snapshot {

void write_summary_json(const cli::DocumentOption& option, const Summary& summary) {
  cli::write_json(option, {{"schema", "gdrkit.snapshot/1"},
                           {"version", gdrkit_version()},
                           {"root", summary.root},
                           {"level", summary.level},
                           {"is_redacted", summary.is_redacted},
                           {"archive", summary.file},
                           {"bytes", summary.bytes},
                           {"files", summary.files},
                           {"missed", summary.missed},
                           {"exit_code", static_cast<int>(summary.exit_code())}});
}

void write_list_json(const cli::DocumentOption& option) {
  cli::Json json = {{"schema", "gdrkit.snapshot-list/1"}, {"version", gdrkit_version()}, {"paths", cli::Json::array()}};
  for (const RecordedPath& path : recorded_paths()) {
    json["paths"].push_back({{"kind", name_of(path.kind)}, {"pattern", path.pattern}, {"purpose", path.purpose}});
  }
  json["variables"] = recorded_variables();
  cli::write_json(option, json);
}

}  // namespace gdrkit::diag::snapshot
