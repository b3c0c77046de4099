// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DmabufMachine: a fake machine whose driver supports mapping dma-bufs, with the dmabuf backend on it.
#pragma once

#include "backend/dmabuf/dmabuf_backend.hpp"
#include "lib/backend/rm/rm_machine.hpp"

namespace gdrkit::backend::dmabuf {

using fakes::mib;
using rm::kib;

struct DmabufMachine : rm::RmMachine {
  explicit DmabufMachine(fakes::FakeCuda::Options options = fakes::FakeCuda::Options())
      : RmMachine(fakes::driver_model("580.159.04"), 1, std::move(options)) {
    rm.set_dmabuf({0, false, false});
    cuda.driver_version = 13030;
    cuda.set_cuts_pool_exports(false);
    cuda.is_hook_installable = false;  // the backend needs no hook
  }

  base::Result<std::unique_ptr<Backend>> open() { return open_dmabuf_on(rm, cuda, settings); }
  /// Fails the test if the backend cannot be opened.
  std::unique_ptr<Backend> open_or_fail() {
    auto opened = open();
    if (opened) return std::move(*opened);
    ADD_FAILURE() << "open: " << opened.error().text();
    return nullptr;
  }
  /// A pin of fresh memory with distinct words in it.
  std::unique_ptr<BackendPin> pin_of(Backend& backend, std::uint64_t at, std::size_t size_bytes) {
    cuda.fill_pattern(at, size_bytes);
    return pin_or_fail(backend, at, size_bytes);
  }
};

}  // namespace gdrkit::backend::dmabuf
