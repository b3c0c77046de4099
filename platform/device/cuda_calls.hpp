// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The driver's functions (lib/shim/cuda_calls.hpp) for those who use platform and not the inside of lib.
#pragma once

#include "shim/cuda_calls.hpp"

namespace gdrkit::platform {

using shim::cuda_calls;
using shim::cuda_error_not_ready;
using shim::cuda_error_not_supported;
using shim::cuda_error_peer_access_already_enabled;
using shim::cuda_event_default;
using shim::cuda_host_register_portable_and_mapped;
using shim::cuda_mem_access_read_write;
using shim::cuda_mem_allocation_type_pinned;
using shim::cuda_mem_attach_global;
using shim::cuda_mem_granularity_recommended;
using shim::cuda_mem_handle_type_posix_fd;
using shim::cuda_mem_location_type_device;
using shim::cuda_mem_range_handle_type_dmabuf_fd;
using shim::cuda_memory_type_device;
using shim::cuda_memory_type_host;
using shim::cuda_pointer_attribute_device_ordinal;
using shim::cuda_pointer_attribute_memory_type;
using shim::cuda_pointer_attribute_sync_memops;
using shim::cuda_stream_non_blocking;
using shim::CudaCalls;
using shim::CudaMemAccessDesc;
using shim::CudaMemAllocationProp;
using shim::CudaMemcpy2d;
using shim::CudaMemLocation;

}  // namespace gdrkit::platform
