// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The doctor's advice in a result's document; for *_json.cpp files only.
#pragma once

#include "cli/common/json_document.hpp"
#include "transfer/report/doctor_advice.hpp"

namespace gdrkit::tools::report {

/// null where the doctor was not asked.
[[nodiscard]] Json doctor_json(const DoctorAdvice& advice);

}  // namespace gdrkit::tools::report
