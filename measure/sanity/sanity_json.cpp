// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "measure/sanity/sanity.hpp"

namespace gdrkit::measure::sanity {
namespace {

const char* list_name(List list) {
  switch (list) {
    case List::original: return "original";
    case List::own: return "own";
    case List::extended: return "extended";
  }
  return "";
}

const char* result_name(Verdict verdict) {
  return verdict == Verdict::passed ? "passed" : verdict == Verdict::waived ? "waived" : "failed";
}

}  // namespace

void write_sanity_json(const SanityOptions& options, const SanityReport& report) {
  cli::Json document = cli::json_head("sanity", report.machine, report.backend, report.is_emulated);
  document["total"] = report.results.size();
  document["passed"] = report.count(Verdict::passed);
  document["failed"] = report.count(Verdict::failed);
  document["waived"] = report.count(Verdict::waived);
  document["tests"] = cli::Json::array();
  for (const Result& result : report.results) {
    document["tests"].push_back({{"name", result.test.name},
                                 {"list", list_name(result.test.list)},
                                 {"result", result_name(result.outcome.verdict)},
                                 {"reason", result.outcome.reason},
                                 {"seconds", result.outcome.seconds}});
  }
  document["ok"] = report.count(Verdict::failed) == 0;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::sanity
