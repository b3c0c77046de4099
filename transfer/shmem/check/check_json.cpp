// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "transfer/shmem/check/check_report.hpp"

namespace gdrkit::transfer::shmem {

void write_check_json(const cli::DocumentOption& option, const CheckReport& report) {
  cli::Json document = cli::json_head("shmem check", report.machine, "", report.is_emulated);
  document["n_pes"] = report.n_pes;
  document["checks"] = cli::Json::array();
  for (const CheckSummary& one : report.checks) {
    document["checks"].push_back({{"name", one.check->name},
                                  {"summary", one.check->summary},
                                  {"result", one.failures == 0 ? "passed" : "failed"},
                                  {"operations", one.operations},
                                  {"failures", one.failures},
                                  {"seconds", static_cast<double>(one.duration_us) / 1e6},
                                  {"texts", one.texts}});
  }
  document["ok"] = report.is_ok();
  cli::write_json(option, document);
}

}  // namespace gdrkit::transfer::shmem
