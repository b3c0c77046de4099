// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The CUDA driver calls that the live tests make for the application's part, resolved at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "driver/cuda_library.hpp"

namespace gdrkit::live {

using DevicePointer = unsigned long long;

/// The driver function of that exact exported name; the test process ends when the driver lacks it.
template <class Function>
Function* driver_function(const char* name) {
  auto symbol = driver::cuda_symbol(name);
  if (!symbol) std::abort();
  return reinterpret_cast<Function*>(*symbol);
}

struct CudaDriver {
#define GDRKIT_LIVE_CALL(result, name, arguments) result(*name) arguments = driver_function<result arguments>(#name)
  GDRKIT_LIVE_CALL(int, cuInit, (unsigned));
  GDRKIT_LIVE_CALL(int, cuDeviceGetCount, (int*));
  GDRKIT_LIVE_CALL(int, cuDeviceGetPCIBusId, (char*, int, int));
  GDRKIT_LIVE_CALL(int, cuDeviceGetAttribute, (int*, int, int));
  GDRKIT_LIVE_CALL(int, cuDevicePrimaryCtxRetain, (void**, int));
  GDRKIT_LIVE_CALL(int, cuDevicePrimaryCtxRelease_v2, (int));
  GDRKIT_LIVE_CALL(int, cuDevicePrimaryCtxGetState, (int, unsigned*, int*));
  GDRKIT_LIVE_CALL(int, cuCtxSetCurrent, (void*));
  GDRKIT_LIVE_CALL(int, cuCtxGetCurrent, (void**));
  GDRKIT_LIVE_CALL(int, cuCtxSynchronize, ());
  GDRKIT_LIVE_CALL(int, cuMemAlloc_v2, (DevicePointer*, std::size_t));
  GDRKIT_LIVE_CALL(int, cuMemFree_v2, (DevicePointer));
  GDRKIT_LIVE_CALL(int, cuMemGetInfo_v2, (std::size_t*, std::size_t*));
  GDRKIT_LIVE_CALL(int, cuMemcpyDtoH_v2, (void*, DevicePointer, std::size_t));
  GDRKIT_LIVE_CALL(int, cuMemcpyHtoD_v2, (DevicePointer, const void*, std::size_t));
  GDRKIT_LIVE_CALL(int, cuMemsetD32Async, (DevicePointer, unsigned, std::size_t, void*));
  GDRKIT_LIVE_CALL(int, cuModuleLoadData, (void**, const void*));
  GDRKIT_LIVE_CALL(int, cuModuleGetFunction, (void**, void*, const char*));
  GDRKIT_LIVE_CALL(int, cuLaunchKernel,
                   (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                    void**));
  GDRKIT_LIVE_CALL(int, cuStreamCreate, (void**, unsigned));
  GDRKIT_LIVE_CALL(int, cuStreamDestroy_v2, (void*));
  GDRKIT_LIVE_CALL(int, cuStreamQuery, (void*));
  GDRKIT_LIVE_CALL(int, cuStreamSynchronize, (void*));
  GDRKIT_LIVE_CALL(int, cuStreamBeginCapture_v2, (void*, int));
  GDRKIT_LIVE_CALL(int, cuStreamEndCapture, (void*, void**));
  GDRKIT_LIVE_CALL(int, cuGraphGetNodes, (void*, void**, std::size_t*));
  GDRKIT_LIVE_CALL(int, cuGraphDestroy, (void*));
#undef GDRKIT_LIVE_CALL
};

}  // namespace gdrkit::live
