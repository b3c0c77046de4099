// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The doctor's advice in a result's document; for *_json.cpp files only.
#pragma once

#include "cli/interface/json_document.hpp"
#include "transfer/common/doctor_advice.hpp"

namespace gdrkit::tools::transfer {

/// null where the doctor was not asked.
[[nodiscard]] cli::Json doctor_json(const DoctorAdvice& advice);

}  // namespace gdrkit::tools::transfer
