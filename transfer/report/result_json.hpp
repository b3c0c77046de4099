// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The document of a suite's result, and the doctor's advice in it; for *_json.cpp files only.
#pragma once

#include "cli/common/document_option.hpp"
#include "measure/result/result_document.hpp"
#include "transfer/report/doctor_advice.hpp"

namespace gdrkit::tools::report {

/// null where the doctor was not asked.
[[nodiscard]] Json doctor_json(const DoctorAdvice& advice);
/// The result's head and series, the suite's own fields, and `ok`. Nothing when the option was not given.
void write_result_json(const DocumentOption& option, const measure::Result& result, const Json& fields);

}  // namespace gdrkit::tools::report
