// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verdicts as JSON; for *_json.cpp files only.
#pragma once

#include "cli/common/json_document.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::tools::doctor {

[[nodiscard]] Json verdicts_json(const Verdicts& verdicts);

}  // namespace gdrkit::tools::doctor
