// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/document_options.hpp"

#include "cli/interface/common_options.hpp"

namespace gdrkit::transfer::report {

void add_document_options(cli::CommandLine* line, DocumentOptions* options, char json_letter) {
  line->options.push_back(cli::json_option(&options->json, "docs/transfers.md"));
  line->options.back().short_name = json_letter;
  line->options.push_back(
      {'\0', "csv", "[FILE]", &options->csv, "write all values as CSV to FILE, or to standard output", false});
  line->options.push_back({'\0', "compare", "OLD.json", &options->compare_path,
                           "compare with an earlier result (exit code 1: slower)", false, false});
  line->options.push_back(
      {'\0', "force", "", &options->is_forced, "with --compare: accept a result of another machine", false});
}

}  // namespace gdrkit::transfer::report
