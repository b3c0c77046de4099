// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// nvshmem.h alone brings what NVSHMEM's brings, and NVSHMEM's paths lead to it.
#include <nvshmem.h>
//
#include <bootstrap_device_host/nvshmem_uniqueid.h>
#include <device/nvshmemx_collective_launch_apis.h>
#include <device/nvshmemx_defines.h>
#include <device_host/nvshmem_tensor.h>
#include <device_host/nvshmem_types.h>
#include <device_host_transport/nvshmem_constants.h>
#include <host/nvshmem_coll_api.h>
#include <host/nvshmemx_api.h>
#include <non_abi/nvshmemx_error.h>
#include <nvshmem_host.h>
#include <device/nvshmemx_coll_defines.cuh>
#include <device/tile/nvshmemx_tile_api.hpp>
#include <device/tile/nvshmemx_tile_api_defines.cuh>
#include <device_host/nvshmem_common.cuh>

#if !defined(_GLIBCXX_STRING)
#error "nvshmem.h does not include <string>"
#endif
static_assert(sizeof(__half) == 2 && sizeof(__nv_bfloat16) == 2);
static_assert(NVSHMEMX_SUCCESS == 0 && NVSHMEMX_ERROR_INTERNAL == 7);
static_assert(nvshmemx::NVLS_TWO_SHOT_PUSH_NBI == 2 && nvshmemx::tile_algo_t::REMOTE_PULL_NBI == 1);
constexpr nvshmemx::Tensor column(static_cast<float*>(nullptr),
                                  nvshmemx::make_layout(nvshmemx::make_shape(3, ConstInt<1>{}),
                                                        nvshmemx::make_stride(ConstInt<4>{}, 1)));
static_assert(cuda::std::get<0>(column.shape()) == 3 && cuda::std::get<0>(column.layout().stride()) == 4);
static_assert(std::is_same_v<decltype(column)::value_type, float> && column.data() == nullptr);

#if defined(__CUDACC__)
__global__ void uses_cooperative_groups(int* count) {
  if (cooperative_groups::this_thread_block().thread_rank() == 0) *count = nvshmem_n_pes();
}
#endif

int check(CUmodule module, CUlibrary library, cudaStream_t stream) {
  int status = 0;
  assert(module != nullptr);
  status = nvshmemx_cumodule_init(module);
  NVSHMEMI_NZ_ERROR_JMP(status, NVSHMEMX_ERROR_INTERNAL, out, "no status %d", status);
  status = nvshmemx_culibrary_init(library);
  nvshmemx_quiet_on_stream(stream);
out:
  if (status != NVSHMEMX_SUCCESS) NVSHMEMI_ERROR_PRINT("failed: %s", nvshmemx_status_string(status));
  return status;
}
