// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/capi/current_device.hpp"

#include <cstdio>

namespace gdrkit::shmem_impl::capi {

std::optional<int> current_device(const platform::CudaCalls* calls) noexcept {
  int device = 0;
  if (calls == nullptr || calls->ctx_get_device == nullptr || calls->ctx_get_device(&device) != 0) return std::nullopt;
  return device;
}

std::optional<int> chosen_device(const platform::CudaCalls* calls) noexcept {
  const auto device = current_device(calls);
  return device && *device != 0 ? device : std::nullopt;
}

void DeviceWarning::warn_if_different(core::Pe& pe, const char* call) noexcept {
  const auto device = current_device(pe.connections().cuda());
  const int own = pe.device().identity().ordinal;
  if (!device || *device == own || !is_enabled_.exchange(false)) return;
  std::fprintf(stderr,
               "gdrkit shmem: %s: GPU %d is current in this thread, but PE %d uses GPU %d; call cudaSetDevice(%d), or "
               "choose the GPU before init\n",
               call, *device, pe.pe(), own, own);
}

}  // namespace gdrkit::shmem_impl::capi
