// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The dmabuf backend: maps device memory that CUDA exports as dma-bufs, with drivers that let a CPU map them.
#pragma once

#include <atomic>
#include <memory>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::dmabuf {

/// The driver's refusal to map dma-bufs, kept until the process exits: the driver cannot be replaced while the process
/// uses it, and each test costs as much as the rest of an open. Thread safe; survives forks. Shortages are not kept.
class KnownRefusal {
 public:
  [[nodiscard]] const base::Error* get() const noexcept { return error_.load(std::memory_order_acquire); }
  void keep(const base::Error& error) noexcept;

 private:
  std::atomic<const base::Error*> error_{nullptr};  // never freed: other threads may read it
};

/// Opens the backend on the given interfaces, which must outlive it. If the process has an active primary context, maps
/// scratch memory as a test; the error names the step that failed. Without a test, opens as Traits::is_untried if the
/// backend was requested by name or the CUDA version is known to work.
/// `known`: an automatic choice does not repeat a test that the driver refused; nullptr: it does.
base::Result<std::unique_ptr<Backend>> open_dmabuf_on(driver::System& system, const driver::CudaCalls& cuda,
                                                      const base::Settings& settings,
                                                      KnownRefusal* known = nullptr) noexcept;

}  // namespace gdrkit::backend::dmabuf
