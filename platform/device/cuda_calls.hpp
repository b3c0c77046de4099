// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The driver's functions (lib/driver/cuda_calls.hpp) for code that uses platform and not the private headers of lib.
#pragma once

#include "driver/cuda_calls.hpp"

namespace gdrkit::platform {

using driver::cuda_calls;
using driver::cuda_error_not_ready;
using driver::cuda_mem_access_read_write;
using driver::cuda_mem_allocation_type_pinned;
using driver::cuda_mem_granularity_recommended;
using driver::cuda_mem_handle_type_posix_fd;
using driver::cuda_mem_location_type_device;
using driver::cuda_memory_type_device;
using driver::cuda_memory_type_host;
using driver::cuda_pointer_attribute_device_ordinal;
using driver::cuda_pointer_attribute_memory_type;
using driver::cuda_stream_non_blocking;
using driver::CudaCalls;
using driver::CudaMemAccessDesc;
using driver::CudaMemAllocationProp;

}  // namespace gdrkit::platform
