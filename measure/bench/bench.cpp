// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// bench: measures all sections, prints and stores the result, and compares it with an earlier one.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cli/interface/document_option.hpp"
#include "measure/bench/compare_run.hpp"
#include "measure/bench/options.hpp"
#include "measure/bench/output/csv.hpp"
#include "measure/bench/output/summary.hpp"
#include "measure/bench/session.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure::bench {
namespace {

void print(std::FILE* out, const std::string& text) {
  if (std::fputs(text.c_str(), out) < 0 || std::fflush(out) != 0) {
    cli::fail(std::string("cannot write the output: ") + std::strerror(errno));
  }
}

/// Writes the files first: the figures must not be lost if the table cannot be printed.
void write_out(const BenchOptions& options, const Result& result) {
  if (options.common.json.is_in_file()) cli::write_document(options.common.json, to_json_text(result));
  if (options.csv.is_in_file()) cli::write_document(options.csv, to_csv_text(result));
  print(stdout, options.common.json.is_on_stdout() ? to_json_text(result)
                : options.csv.is_on_stdout()       ? to_csv_text(result)
                                                   : summary_text(result));
}

/// --compare OLD --with NEW: compares without measuring.
cli::ExitCode compare_files(const BenchOptions& options) {
  CompareRun run(options);
  const Result current = narrowed(read_result_file(options.with_path), options);
  const CompareReport report = run.compare_with(current, nullptr);
  print(stdout, cli::printable(report_text(report)));
  return report.exit_code();
}

}  // namespace

cli::ExitCode run_bench(cli::Front front, int argc, char** argv) {
  BenchOptions options;
  if (const auto ended = parse_bench_options(front, argc, argv, &options)) return *ended;
  if (!options.with_path.empty()) return compare_files(options);
  std::optional<CompareRun> comparison;
  if (!options.compare_path.empty()) {
    comparison.emplace(options);
    options.cpu = comparison->cpu();
  }
  Session session(options);
  if (comparison) comparison->check(session.result());
  session.measure_all();
  const Result result = session.result();
  write_out(options, result);
  cli::ExitCode code = result.is_ok ? cli::ExitCode::ok : cli::ExitCode::failed;
  if (comparison) {
    const CompareReport report = comparison->compare_with(result, &session);
    // Text would corrupt a document on standard output.
    print(options.is_document_on_stdout() ? stderr : stdout, cli::printable(report_text(report)));
    if (code == cli::ExitCode::ok) code = report.exit_code();
  }
  return code;
}

}  // namespace gdrkit::measure::bench
