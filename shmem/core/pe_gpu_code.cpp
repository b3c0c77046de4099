// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE does for GPU code.
#include <cinttypes>

#include "platform/device/device_scope.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

base::Status Pe::watch_for_gpu_kernels() noexcept {
  if (auto watched = control_->watch(); !watched) return watched;
  proxy::Proxy* const proxy = transfers_->proxy();
  return proxy != nullptr ? proxy->serve() : base::Status();
}

base::Status Pe::fill_state(gdrkit_shmem_fill_state_t fill) noexcept {
  if (connections_->device().is_emulated()) return {};
  if (auto watched = watch_for_gpu_kernels(); !watched) return watched;
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  const gdrkit_shmem_device_state state = device_state();
  if (const int failed = fill(&state); failed != 0) {
    return base::fail_vendor(EIO, failed,
                             "giving PE %d's state to a translation unit's GPU code failed with %d: is its GPU code "
                             "built for this GPU?",
                             connections_->pe(), failed);
  }
  return {};
}

base::Status Pe::initialise_module(void* module) noexcept {
  if (module == nullptr) return base::fail_literal(EINVAL, "the module is NULL");
  if (auto watched = watch_for_gpu_kernels(); !watched) return watched;
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  const gdrkit_shmem_device_state state = device_state();
  auto symbol = connections_->device().get_symbol({reinterpret_cast<std::uint64_t>(module)}, "gdrkit_shmem_state");
  if (!symbol) {
    const base::Error& error = symbol.error();
    return base::fail_vendor(error.errno_value, error.vendor_code,
                             "%s: compile the module with GDRKIT_SHMEM_MODULE defined (gdrkit/shmem_state.cuh)",
                             error.text());
  }
  if (symbol->size_bytes != sizeof state) {
    return base::fail(EPROTO, "the module's gdrkit_shmem_state has %zu bytes, this library's %zu: compile it anew",
                      symbol->size_bytes, sizeof state);
  }
  return connections_->device().copy_to_device(symbol->address, &state, sizeof state);
}

base::Result<int> Pe::cooperative_blocks(void* function, unsigned threads, std::size_t shared_bytes) noexcept {
  if (function == nullptr || threads == 0) return base::fail_literal(EINVAL, "a launch needs a function and threads");
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return base::pass(current);
  return connections_->device().cooperative_blocks({reinterpret_cast<std::uint64_t>(function)}, threads, shared_bytes);
}

base::Status Pe::launch_cooperative(void* function, const platform::CooperativeShape& shape, void* stream,
                                    void** parameters) noexcept {
  const unsigned threads = shape.block[0] * shape.block[1] * shape.block[2];
  const std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  auto most = cooperative_blocks(function, threads, shape.shared_bytes);
  if (!most) return base::pass(most);
  if (blocks == 0 || blocks > static_cast<std::uint64_t>(*most)) {
    return base::fail(EINVAL,
                      "%" PRIu64
                      " blocks of %u threads and %u bytes of shared memory do not run at once: PE %d's GPU "
                      "takes 1 to %d",
                      blocks, threads, shape.shared_bytes, connections_->pe(), *most);
  }
  if (auto watched = watch_for_gpu_kernels(); !watched) return watched;
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  return connections_->device().launch_cooperative({reinterpret_cast<std::uint64_t>(function)}, shape,
                                                   {reinterpret_cast<std::uint64_t>(stream)}, parameters);
}

}  // namespace gdrkit::shmem_impl::core
