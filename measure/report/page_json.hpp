// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PageJson: a page as data for programs: the same headings, values and remarks as the HTML.
#pragma once

#include "cli/interface/document_option.hpp"
#include "measure/report/page.hpp"

namespace gdrkit::measure::report {

/// Writes to the destination of --json: {"schema": "gdrkit.report/1", "title", "summary", "chapters": [{"heading",
/// "summary", "warnings", "sections": [{"heading", "blocks"}]}]}. A block has a "kind" and the contents of that kind.
/// Values in tables are text as on the page; points of charts are numbers in the units of their axes.
void write_page_json(const cli::DocumentOption& option, const Page& page);

}  // namespace gdrkit::measure::report
