// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How NvmlFacts are asked of a live machine, through function tables that tests replace.
#pragma once

#include <string>

#include "diag/machine/nvml_facts.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nvml_library.hpp"

namespace gdrkit::diag {

/// Initialises NVML, asks everything, shuts it down. A call that fails leaves its facts without a value and with the
/// function and NVML's word for it; found as soon as NVML could be initialised and its GPUs counted.
[[nodiscard]] topology::Fact<NvmlFacts> gather_nvml_facts(const platform::NvmlCalls& nvml);

/// The facts cuda_* of the GPUs that CUDA shows. Initialises CUDA's driver API, and makes no context.
void add_cuda_facts(const platform::CudaCalls& cuda, NvmlFacts* facts);
/// The same facts, unreadable for this reason.
void set_no_cuda_facts(const std::string& reason, NvmlFacts* facts);

}  // namespace gdrkit::diag
