// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/gpu_code.hpp"

#include <cinttypes>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace gdrkit::shmem_impl::parts {

base::Result<std::unique_ptr<GpuCode>> GpuCode::make(Connections& connections, Transfers& transfers) {
  auto control = stream::StreamControl::make(connections.device(), connections.node());
  if (!control) return base::pass(control);
  return std::unique_ptr<GpuCode>(new GpuCode(connections, transfers, std::move(*control)));
}

gdrkit_shmem_device_state GpuCode::state() const noexcept {
  constexpr std::int64_t longest_ms = 60'000;
  const std::int64_t limit_ms = connections_.limit().count();
  gdrkit_shmem_device_state state{};
  state.pe = connections_.pe();
  state.n_pes = connections_.n_pes();
  state.heap_address = connections_.heap().own_address(0);
  state.heap_bytes = connections_.heap().max_bytes();
  state.stride_bytes = connections_.heap().stride_bytes();
  state.sync_address = connections_.heap().own_address(0);
  state.control_address = control_->device_address();
  state.limit_ns = static_cast<std::uint64_t>(limit_ms == 0 ? longest_ms : limit_ms) * 1'000'000;
  state.teams_address = connections_.teams_address() + TeamMemory::table();
  const proxy::Proxy* const proxy = transfers_.proxy();
  state.proxy_address = proxy != nullptr ? proxy->device_address() : 0;
  return state;
}

base::Status GpuCode::watch() noexcept {
  if (auto watched = watch_peers(); !watched) return watched;
  proxy::Proxy* const proxy = transfers_.proxy();
  return proxy != nullptr ? proxy->serve() : base::Status();
}

base::Status GpuCode::check_waits() noexcept try {
  proxy::Proxy* const proxy = transfers_.proxy();
  if (auto failed = proxy != nullptr ? proxy->take_failure() : base::Status(); !failed) {
    (void)control_->take_timed_out_wait();  // the proxy's failure is the cause of these timeouts
    return base::fail_vendor(failed.error().errno_value, failed.error().vendor_code, "PE %d: %s", connections_.pe(),
                             failed.error().text());
  }
  const auto word = control_->take_timed_out_wait();
  if (!word) return {};
  const auto of_proxy = proxy != nullptr ? proxy->text_of_wait(*word) : std::nullopt;
  char address[32];
  std::snprintf(address, sizeof address, "0x%" PRIx64, *word);
  const std::string what = of_proxy ? *of_proxy : std::string("the word at ") + address;
  if (const int dead = control_->dead_pe(); dead >= 0) {
    return base::fail(ECONNRESET,
                      "a GPU kernel of PE %d stopped waiting for %s: PE %d has ended; see the error message of PE %d",
                      connections_.pe(), what.c_str(), dead, dead);
  }
  return base::fail(
      ETIMEDOUT, "a GPU kernel of PE %d timed out while waiting for %s; raise the limit with gdrkit_shmem_set_timeout",
      connections_.pe(), what.c_str());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while reporting a GPU wait that timed out");
}

base::Status GpuCode::fill_state(gdrkit_shmem_fill_state_t fill) noexcept {
  if (connections_.device().is_emulated()) return {};
  if (auto watched = watch(); !watched) return watched;
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  const gdrkit_shmem_device_state state = this->state();
  if (const int failed = fill(&state); failed != 0) {
    return base::fail_vendor(
        EIO, failed, "cannot initialize the program's GPU code for PE %d: CUDA error %d; compile the code for this GPU",
        connections_.pe(), failed);
  }
  return {};
}

base::Result<platform::Symbol> GpuCode::find_variable(void* module, const char* name) noexcept {
  if (module == nullptr) return base::fail_literal(EINVAL, "cannot initialize the CUDA module: the handle is NULL");
  return connections_.with_device(
      [&] { return connections_.device().get_symbol({reinterpret_cast<std::uint64_t>(module)}, name); });
}

base::Status GpuCode::initialise_module(void* module) noexcept {
  if (module == nullptr) return base::fail_literal(EINVAL, "cannot initialize the CUDA module: the handle is NULL");
  if (auto watched = watch(); !watched) return watched;
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  const gdrkit_shmem_device_state state = this->state();
  auto symbol = find_variable(module, "gdrkit_shmem_state");
  if (!symbol) {
    const base::Error& error = symbol.error();
    return base::fail_vendor(
        error.errno_value, error.vendor_code,
        "cannot initialize the CUDA module: %s; compile the module with GDRKIT_SHMEM_MODULE defined "
        "(gdrkit/shmem_state.cuh)",
        error.text());
  }
  if (symbol->size_bytes != sizeof state) {
    return base::fail(
        EPROTO,
        "cannot initialize the CUDA module: gdrkit_shmem_state has %zu bytes in the module, but %zu bytes in "
        "this library; recompile the module",
        symbol->size_bytes, sizeof state);
  }
  return connections_.device().copy_to_device(symbol->address, &state, sizeof state);
}

base::Result<void*> GpuCode::module_of(void* library) noexcept {
  if (library == nullptr) return base::fail_literal(EINVAL, "cannot initialize the CUlibrary: the handle is NULL");
  auto module = connections_.with_device([&] { return connections_.device().module_of_library(library); });
  if (!module) return base::pass(module);
  return reinterpret_cast<void*>(module->handle);
}

base::Status GpuCode::initialise_library(void* library) noexcept {
  auto module = module_of(library);
  return module ? initialise_module(*module) : base::pass(module);
}

base::Result<int> GpuCode::cooperative_blocks(void* function, unsigned threads, std::size_t shared_bytes) noexcept {
  if (function == nullptr || threads == 0)
    return base::fail_literal(EINVAL, "cannot launch the GPU kernel: the function is NULL, or a block has 0 threads");
  const platform::Function kernel{reinterpret_cast<std::uint64_t>(function)};
  return connections_.with_device(
      [&] { return connections_.device().cooperative_blocks(kernel, threads, shared_bytes); });
}

base::Status GpuCode::launch_cooperative(void* function, const platform::CooperativeShape& shape, void* stream,
                                         void** parameters) noexcept {
  const unsigned threads = shape.block[0] * shape.block[1] * shape.block[2];
  const std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  auto most = cooperative_blocks(function, threads, shape.shared_bytes);
  if (!most) return base::pass(most);
  if (*most < 1) {
    return base::fail(
        EINVAL,
        "cannot launch the GPU kernel: PE %d's GPU cannot run a block of %u threads and %u bytes of shared "
        "memory; use fewer threads or less shared memory",
        connections_.pe(), threads, shape.shared_bytes);
  }
  if (blocks == 0)
    return base::fail(EINVAL, "cannot launch the GPU kernel: the grid has 0 blocks; use 1 to %d blocks", *most);
  if (blocks > static_cast<std::uint64_t>(*most)) {
    return base::fail(EINVAL,
                      "cannot launch the GPU kernel: PE %d's GPU cannot run %" PRIu64
                      " blocks of %u threads and %u bytes of shared memory at the same time; use 1 to %d blocks",
                      connections_.pe(), blocks, threads, shape.shared_bytes, *most);
  }
  if (auto watched = watch(); !watched) return watched;
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  return connections_.device().launch_cooperative({reinterpret_cast<std::uint64_t>(function)}, shape,
                                                  {reinterpret_cast<std::uint64_t>(stream)}, parameters);
}

}  // namespace gdrkit::shmem_impl::parts
