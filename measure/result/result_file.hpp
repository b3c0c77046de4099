// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ResultFile: results as JSON documents, written and read back.
#pragma once

#include <stdexcept>
#include <string>

#include "measure/result/result.hpp"

namespace gdrkit::measure {

/// The fault of a file and its position: an error message.
class BadResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One JSON document, indented, ending in a newline.
[[nodiscard]] std::string to_json_text(const Result& result);
/// Validates every field that it reads. `name`: of the text in the error message. Throws BadResult.
[[nodiscard]] Result result_from_json(const std::string& text, const std::string& name);
/// Reads a file of at most 256 MiB. Throws BadResult, also if it cannot be read.
[[nodiscard]] Result read_result(const std::string& path);

}  // namespace gdrkit::measure
