// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DmabufMachine: a fake machine whose driver can map dma-bufs, with the dmabuf backend.
#pragma once

#include "backend/dmabuf/dmabuf_backend.hpp"
#include "lib/backend/rm/rm_machine.hpp"

namespace gdrkit::backend::dmabuf {

using fakes::mib;
using rm::kib;

struct DmabufMachine : rm::RmMachine {
  explicit DmabufMachine(Options options = {}, fakes::FakeGpu gpu = fakes::make_gpu(0))
      : RmMachine(std::move(options), std::move(gpu)) {
    rm.set_dmabuf({0, false, false});
    cuda.driver_version = 13030;
    cuda.set_cuts_pool_exports(false);
    cuda.is_hook_installable = false;  // the backend does not use the hook
  }

  base::Result<std::unique_ptr<Backend>> open() { return open_dmabuf_on(system, faulty_cuda, settings); }
};

}  // namespace gdrkit::backend::dmabuf
