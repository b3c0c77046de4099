// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// report: one or several results as one self-contained HTML page.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/interface/command_line.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/whole_file.hpp"
#include "measure/report/page.hpp"
#include "measure/report/report_page.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure::report {
namespace {

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< "": stdout
  std::string title;
  cli::DocumentOption json;
};

std::vector<measure::Result> read_all(const std::vector<std::string>& paths) {
  std::vector<measure::Result> results;
  for (const std::string& path : paths) {
    try {
      results.push_back(measure::read_result(path == "-" ? "/dev/stdin" : path));
    } catch (const measure::BadResult& bad) {
      cli::reject(std::string("gdrkit report: ") + bad.what());
    }
  }
  return results;
}

void print(const std::string& html) {
  // A full disk or a closed pipe, which would otherwise go unnoticed.
  if (std::fwrite(html.data(), 1, html.size(), stdout) != html.size() || std::fflush(stdout) != 0) {
    cli::fail("gdrkit report: cannot write the page to standard output: " + std::string(std::strerror(errno)));
  }
}

/// Throws Failure(usage) if there is no input, or if the page would replace an input or fill a terminal.
void check(const ReportOptions& options, bool is_terminal) {
  if (options.inputs.empty()) {
    cli::reject(
        "gdrkit report: no result given; give a result file, for example from 'gdrkit bench --json=FILE'\n"
        "Try: gdrkit report --help");
  }
  for (const std::string& input : options.inputs) {
    if (options.json.is_in_file() && cli::are_one_file(input, options.json.path)) {
      cli::reject("gdrkit report: " + input + " is an input, which --json would replace; give another file");
    }
  }
  if (options.output.empty()) {
    if (!is_terminal || options.json.is_on_stdout()) return;
    cli::reject("gdrkit report: cannot write HTML to a terminal; give a file with -o, or redirect stdout");
  }
  for (const std::string& input : options.inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(input, options.output, error)) {
      cli::reject("gdrkit report: " + options.output + " is an input, which the page would replace; give another file");
    }
  }
}

}  // namespace

cli::ExitCode run_report(cli::Front front, int argc, char** argv) {
  ReportOptions options;
  cli::CommandLine line;
  line.name = "report";
  line.uses_device = false;
  line.summary = "Writes one HTML page of one or several results; compares two of them, the older one first.";
  line.example =
      "gdrkit report bench.json -o bench.html\n"
      "  gdrkit report --title \"Before and after\" old.json new.json -o change.html\n"
      "  gdrkit bench --json | gdrkit report - >bench.html";
  line.operands = {&options.inputs, "RESULT...", "results written by --json (schema 2); - for stdin"};
  line.options = {
      {'o', "output", "FILE", &options.output, "write the page to FILE (default: standard output)"},
      {'t', "title", "TEXT", &options.title, "heading of the page"},
      cli::json_option(&options.json, "measure/report/README.md"),
  };
  if (const auto ended = cli::parse(line, front, argc, argv)) return *ended;
  check(options, ::isatty(STDOUT_FILENO) != 0);
  const Page page = page_of(read_all(options.inputs), options.title);
  if (options.json.is_given) write_page_json(options.json, page);
  if (!options.output.empty()) {
    cli::write_whole_file(options.output, page_html(page));
  } else if (!options.json.is_on_stdout()) {
    print(page_html(page));
  }
  return cli::ExitCode::ok;
}

}  // namespace gdrkit::measure::report
