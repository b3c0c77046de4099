// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OtherProcess: a result that another process of this program measures. The sample then includes differences between
// processes (memory addresses, address space).
#pragma once

#include <string>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

/// This program's file, regardless of its name.
inline constexpr const char* this_program = "/proc/self/exe";

/// Runs `program` with `arguments`, as "gdrkit ARGUMENTS", and reads the result that it prints. It ends with this
/// process, and shares its standard error. Throws Failure(failed) if it cannot run or prints no result.
[[nodiscard]] measure::Result result_of_process(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace gdrkit::measure::bench
