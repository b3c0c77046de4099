// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/document_options.hpp"

#include "cli/interface/common_options.hpp"

namespace gdrkit::transfer::report {

void add_document_options(cli::CommandLine* line, DocumentOptions* options, char json_letter) {
  line->options.push_back(cli::json_option(&options->json, "docs/transfers.md"));
  line->options.back().short_name = json_letter;
  line->options.push_back(
      {'\0', "csv", "[FILE]", &options->csv,
       "write every value as comma-separated values to FILE, or to standard output instead of the text", false});
  line->options.push_back(
      {'\0', "compare", "OLD.json", &options->compare_path,
       "compare with an earlier result; exit code 1 if something is slower, 2 if what matters cannot be judged", false,
       false});
  line->options.push_back(
      {'\0', "force", "", &options->is_forced, "with --compare: also with a result of another machine", false});
}

}  // namespace gdrkit::transfer::report
