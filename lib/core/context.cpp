// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Contexts: open, describe, close.
#include <new>
#include <utility>

#include "core/core.hpp"
#include "core/fork_guard.hpp"
#include "core/open.hpp"
#include "core/records.hpp"

namespace gdrkit::core {
namespace {

base::Result<copy::Copier> choose_copier(const cpu::Features& features, const base::Settings& settings) noexcept {
  return copy::choose(features, cpu::MappingType::write_combining, settings.copy_kernel.c_str());
}

/// A forked child must not destroy or lock any part of the context, so it only invalidates the handle.
base::Status close_inherited(ContextSlot& context, Handle handle) noexcept {
  if (context.first_pin != nullptr || context.first_buffer != nullptr) {
    return base::fail_literal(EACCES,
                              "cannot close the context: the context has pins or buffers of the parent process; close "
                              "the context in the parent process");
  }
  if (!context.handle.compare_exchange_strong(handle, 0))
    return base::fail(EINVAL, "cannot close the context: it is already closed");
  return {};
}

}  // namespace

base::Result<Handle> open_with(std::unique_ptr<backend::Backend> backend, const base::Settings& settings,
                               const engine::CudaCalls* cuda, const engine::ResidenceLimits& limits) noexcept try {
  const base::Result<copy::Copier> copier = choose_copier(cpu::detect(), settings);
  if (!copier) return base::pass(copier);
  if (base::Status guarded = install_fork_handlers(); !guarded) return base::pass(guarded);
  const BackendCall call;  // until the end: a child finds the backend's resources through its slot
  draw_handle_key();

  std::string forced_copy_kernel = settings.copy_kernel;
  auto engines = std::make_unique<engine::Engines>(*backend, settings.engine, cuda, limits, settings.cache_directory);
  const base::Result<ContextSlot*> acquired = context_table.acquire(registry_mutex);
  if (!acquired) return base::pass(acquired);
  // The slot's lock is not required: holders of a stale handle only read atomic fields, `handle` first.
  ContextSlot& context = **acquired;
  context.owner_pid.store(current_pid(), std::memory_order_relaxed);
  context.info = {backend->traits(), copier->store_name, copier->load_name};
  context.features = cpu::detect();
  context.forced_copy_kernel = std::move(forced_copy_kernel);
  context.backend = std::move(backend);
  context.engines = std::move(engines);
  const Handle handle = make_handle(HandleKind::context, context.generation, context.index);
  context.handle.store(handle, std::memory_order_release);
  return handle;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while opening a context");
}

base::Result<Handle> open_first_of(std::span<const backend::Registration> backends,
                                   const base::Settings& settings) noexcept try {
  // Before any backend is opened, so that an unusable forced copy kernel fails without device access.
  if (const base::Result<copy::Copier> copier = choose_copier(cpu::detect(), settings); !copier) {
    return base::pass(copier);
  }
  if (base::Status guarded = install_fork_handlers(); !guarded) return base::pass(guarded);
  const BackendCall call;  // from the first descriptor that a backend opens until its slot is published
  base::Result<std::unique_ptr<backend::Backend>> chosen = choose_backend(backends, settings);
  if (!chosen) return base::pass(chosen);
  return open_with(std::move(*chosen), settings);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while choosing a backend");
}

base::Result<Handle> open(const base::Settings& settings) noexcept {
  return open_first_of(backend::registrations(), settings);
}

base::Status close(Handle handle) noexcept {
  ContextSlot* const context = context_table.find_live(handle);
  if (context == nullptr) return not_a_handle("context", handle);
  if (!check_process(*context)) return close_inherited(*context, handle);
  // This rejects new calls, so the exclusive lock waits only for calls that are already running.
  Handle expected = handle;
  if (!context->handle.compare_exchange_strong(expected, 0))
    return base::fail(EINVAL, "cannot close the context: it is already closed");
  base::Status first;
  {
    const std::unique_lock lock(context->mutex);
    while (OwnedSlot* const pin = any_of(context->first_pin)) {
      const std::lock_guard pin_lock(pin->mutex);
      base::keep_first(first, take_down_pin(*context, static_cast<PinSlot&>(*pin)));
    }
    while (OwnedSlot* const buffer = any_of(context->first_buffer)) {
      const std::lock_guard buffer_lock(buffer->mutex);
      base::keep_first(first, take_down_buffer(*context, static_cast<BufferSlot&>(*buffer)));
    }
    {
      const BackendCall call;
      context->engines.reset();
      context->backend.reset();
    }
    context->forced_copy_kernel.clear();
  }
  context_table.release(context, registry_mutex);
  return first;
}

base::Result<ContextInfo> context_info(Handle handle) noexcept {
  const base::Result<HeldContext> context = HeldContext::hold(handle);
  if (!context) return base::pass(context);
  return (*context)->info;
}

base::Result<std::string> engine_profile_path(Handle handle, int device) noexcept {
  const base::Result<HeldContext> context = HeldContext::hold(handle);
  if (!context) return base::pass(context);
  return (*context)->engines->profile_path(device);
}

base::Result<CopyKernelReport> copy_kernel(unsigned index) noexcept {
  const auto kernels = copy::kernels();
  if (index >= kernels.size())
    return base::fail(ENOENT, "invalid copy kernel index %u: this library has %zu copy kernels", index, kernels.size());
  const copy::KernelInfo& kernel = kernels[index];
  return CopyKernelReport{kernel.name, kernel.runs_on(cpu::detect())};
}

}  // namespace gdrkit::core
