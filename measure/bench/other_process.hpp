// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OtherProcess: a result that another process of this program measures. What differs from process to process (where
// its memory lies, its address space) is then in the sample.
#pragma once

#include <string>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure::bench {

/// This program's file, whatever name it was called by.
inline constexpr const char* this_program = "/proc/self/exe";

/// Runs `program` with `arguments`, as "gdrkit ARGUMENTS", and reads the result that it prints. It ends with this
/// process; its standard error is this one's. Throws Failure(failed) when it cannot run or prints no result.
[[nodiscard]] measure::Result result_of_process(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace gdrkit::measure::bench
