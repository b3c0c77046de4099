// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Gathers NvmlFacts from a live machine, through function tables that tests replace.
#pragma once

#include <string>

#include "diag/machine/nvml_facts.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nvml_library.hpp"

namespace gdrkit::diag {

/// Initializes NVML, runs all queries and shuts NVML down. A failed call leaves its fact without a value, with the
/// function and NVML's error name. The result is found if NVML was initialized and its GPUs were counted.
[[nodiscard]] topology::Fact<NvmlFacts> gather_nvml_facts(const platform::NvmlCalls& nvml);

/// Adds the facts cuda_* of the GPUs that CUDA shows. Initializes CUDA's driver API without creating a context.
void add_cuda_facts(const platform::CudaCalls& cuda, NvmlFacts* facts);
/// Sets the same facts to unreadable, with this reason.
void set_no_cuda_facts(const std::string& reason, NvmlFacts* facts);

}  // namespace gdrkit::diag
