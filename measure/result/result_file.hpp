// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ResultFile: results as JSON documents, written and read back.
#pragma once

#include <stdexcept>
#include <string>

#include "measure/result/result.hpp"

namespace gdrkit::measure {

/// What is wrong with a file, and where in it: an error message.
class BadResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One JSON document, indented, ending in a newline.
[[nodiscard]] std::string to_json_text(const Result& result);
/// Checks every field it reads. `name`: of the text in the error message. Throws BadResult.
[[nodiscard]] Result result_from_json(const std::string& text, const std::string& name);
/// Of a file of at most 256 MiB. Throws BadResult, also when it cannot be read.
[[nodiscard]] Result read_result(const std::string& path);

}  // namespace gdrkit::measure
