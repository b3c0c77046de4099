// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/document_option.hpp"

#include <cstdio>

#include "cli/interface/whole_file.hpp"

namespace gdrkit::cli {

void write_document(const DocumentOption& option, const std::string& text) {
  if (option.is_in_file()) write_whole_file(option.path, text);
  if (option.is_on_stdout()) std::fputs(text.c_str(), stdout);
}

}  // namespace gdrkit::cli
