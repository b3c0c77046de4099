// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Series of `gdrkit shmem bench`: what it measured of one case and library, in the case's unit.
#pragma once

#include <string>

#include "measure/result/result.hpp"
#include "transfer/shmem/bench/case.hpp"

namespace gdrkit::transfer::shmem {

/// The time from the start of the processes to the end of the first put. `n_pes`: of the job.
[[nodiscard]] measure::Series start_series(const std::string& library, int n_pes);
[[nodiscard]] measure::Series case_series(const Case& one, const std::string& library, int n_pes);
/// `single`: of count 0 where none was timed.
[[nodiscard]] measure::Point case_point(const Case& one, std::size_t size_bytes, const measure::Measured& measured,
                                        measure::Single single);
[[nodiscard]] const char* unit_name(Quantity quantity);
[[nodiscard]] const char* quantity_name(Quantity quantity);

}  // namespace gdrkit::transfer::shmem
