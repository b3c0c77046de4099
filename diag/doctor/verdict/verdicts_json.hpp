// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verdicts as JSON; for *_json.cpp files only.
#pragma once

#include "cli/interface/json_document.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::diag::doctor {

[[nodiscard]] cli::Json verdicts_json(const Verdicts& verdicts);

}  // namespace gdrkit::diag::doctor
