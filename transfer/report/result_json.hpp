// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The document of a suite's result, and the doctor's advice in it; for files that write documents only.
#pragma once

#include "cli/interface/document_option.hpp"
#include "measure/result/result_document.hpp"
#include "transfer/report/doctor_advice.hpp"

namespace gdrkit::transfer::report {

/// null if the doctor was not run.
[[nodiscard]] cli::Json doctor_json(const DoctorAdvice& advice);
/// The result's head and series, the suite's own fields, and `ok`. Does nothing if the option was not given.
void write_result_json(const cli::DocumentOption& option, const measure::Result& result, const cli::Json& fields);

}  // namespace gdrkit::transfer::report
