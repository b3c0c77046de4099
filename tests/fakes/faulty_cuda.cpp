// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FaultyCuda: one line for each call of the seam.
#include "fakes/allocation_faults.hpp"
#include "fakes/fault_injection.hpp"

namespace gdrkit::fakes {
namespace {

/// Not made when it fails.
template <class Call>
int take(FaultPlan& plan, const char* name, Call call) noexcept {
  const SuspendAllocationFaults mine;
  Fault fault;
  return plan.strikes_cuda(name, &fault) ? fault.cuda_result : call();
}

/// Made in any case.
template <class Call>
int give_back(FaultPlan& plan, const char* name, Call call) noexcept {
  const SuspendAllocationFaults mine;
  Fault fault;
  const bool is_struck = plan.strikes_cuda(name, &fault);
  const int result = call();
  return is_struck && result == 0 ? fault.cuda_result : result;
}

}  // namespace

int FaultyCuda::driver_get_version(int* version) noexcept {
  return take(plan_, "driver_get_version", [&] { return inner_.driver_get_version(version); });
}

int FaultyCuda::pointer_get_attributes(std::uint64_t address, driver::PointerAttributes* attributes) noexcept {
  return take(plan_, "pointer_get_attributes", [&] { return inner_.pointer_get_attributes(address, attributes); });
}

int FaultyCuda::pointer_get_host_address(std::uint64_t address, std::uint64_t* host) noexcept {
  return take(plan_, "pointer_get_host_address", [&] { return inner_.pointer_get_host_address(address, host); });
}

int FaultyCuda::device_get_attribute(int ordinal, int attribute, int* value) noexcept {
  return take(plan_, "device_get_attribute", [&] { return inner_.device_get_attribute(ordinal, attribute, value); });
}

int FaultyCuda::device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept {
  return take(plan_, "device_get_pci_bus_id", [&] { return inner_.device_get_pci_bus_id(ordinal, text, capacity); });
}

int FaultyCuda::device_get_uuid(int ordinal, driver::CudaUuid* uuid) noexcept {
  return take(plan_, "device_get_uuid", [&] { return inner_.device_get_uuid(ordinal, uuid); });
}

int FaultyCuda::ctx_get_current(std::uint64_t* context) noexcept {
  return take(plan_, "ctx_get_current", [&] { return inner_.ctx_get_current(context); });
}

int FaultyCuda::ctx_push_current(std::uint64_t context) noexcept {
  return take(plan_, "ctx_push_current", [&] { return inner_.ctx_push_current(context); });
}

int FaultyCuda::primary_ctx_is_active(int ordinal, int* active) noexcept {
  return take(plan_, "primary_ctx_is_active", [&] { return inner_.primary_ctx_is_active(ordinal, active); });
}

int FaultyCuda::primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept {
  return take(plan_, "primary_ctx_retain", [&] { return inner_.primary_ctx_retain(ordinal, context); });
}

int FaultyCuda::mem_retain_allocation_handle(std::uint64_t address, std::uint64_t* handle) noexcept {
  return take(plan_, "mem_retain_allocation_handle",
              [&] { return inner_.mem_retain_allocation_handle(address, handle); });
}

int FaultyCuda::mem_export_to_fd(std::uint64_t handle, int* fd) noexcept {
  return take(plan_, "mem_export_to_fd", [&] { return inner_.mem_export_to_fd(handle, fd); });
}

int FaultyCuda::ipc_get_mem_handle(std::uint64_t address, driver::CudaIpcHandle* handle) noexcept {
  return take(plan_, "ipc_get_mem_handle", [&] { return inner_.ipc_get_mem_handle(address, handle); });
}

int FaultyCuda::stream_create_non_blocking(std::uint64_t* stream) noexcept {
  return take(plan_, "stream_create_non_blocking", [&] { return inner_.stream_create_non_blocking(stream); });
}

int FaultyCuda::stream_synchronize(std::uint64_t stream) noexcept {
  return give_back(plan_, "stream_synchronize", [&] { return inner_.stream_synchronize(stream); });
}

int FaultyCuda::gather_dtoh_async(void* target, std::uint64_t source, std::size_t pitch, std::size_t width,
                                  std::size_t rows, std::uint64_t stream) noexcept {
  return take(plan_, "gather_dtoh_async",
              [&] { return inner_.gather_dtoh_async(target, source, pitch, width, rows, stream); });
}

int FaultyCuda::memcpy_htod_async(std::uint64_t target, const void* source, std::size_t size,
                                  std::uint64_t stream) noexcept {
  return take(plan_, "memcpy_htod_async", [&] { return inner_.memcpy_htod_async(target, source, size, stream); });
}

int FaultyCuda::mem_alloc_async(std::uint64_t* address, std::size_t size, std::uint64_t stream) noexcept {
  return take(plan_, "mem_alloc_async", [&] { return inner_.mem_alloc_async(address, size, stream); });
}

int FaultyCuda::init() noexcept {
  return take(plan_, "init", [&] { return inner_.init(); });
}

int FaultyCuda::mem_alloc(std::uint64_t* address, std::size_t size) noexcept {
  return take(plan_, "mem_alloc", [&] { return inner_.mem_alloc(address, size); });
}

int FaultyCuda::mem_free(std::uint64_t address) noexcept {
  return give_back(plan_, "mem_free", [&] { return inner_.mem_free(address); });
}

int FaultyCuda::memcpy_dtoh_async(void* target, std::uint64_t source, std::size_t size, std::uint64_t stream) noexcept {
  return take(plan_, "memcpy_dtoh_async", [&] { return inner_.memcpy_dtoh_async(target, source, size, stream); });
}

int FaultyCuda::ctx_pop_current() noexcept {
  return give_back(plan_, "ctx_pop_current", [&] { return inner_.ctx_pop_current(); });
}

int FaultyCuda::primary_ctx_release(int ordinal) noexcept {
  return give_back(plan_, "primary_ctx_release", [&] { return inner_.primary_ctx_release(ordinal); });
}

int FaultyCuda::mem_release(std::uint64_t handle) noexcept {
  return give_back(plan_, "mem_release", [&] { return inner_.mem_release(handle); });
}

int FaultyCuda::stream_destroy(std::uint64_t stream) noexcept {
  return give_back(plan_, "stream_destroy", [&] { return inner_.stream_destroy(stream); });
}

int FaultyCuda::mem_free_async(std::uint64_t address, std::uint64_t stream) noexcept {
  return give_back(plan_, "mem_free_async", [&] { return inner_.mem_free_async(address, stream); });
}

int FaultyCuda::exchange_stream_capture_mode(int* mode) noexcept {
  constexpr int relaxed = 2;
  const auto exchange = [&] { return inner_.exchange_stream_capture_mode(mode); };
  // Relaxing takes, restoring gives back.
  return *mode == relaxed ? take(plan_, "exchange_stream_capture_mode", exchange)
                          : give_back(plan_, "exchange_stream_capture_mode", exchange);
}

int FaultyCuda::export_dmabuf(std::uint64_t address, std::size_t size, std::uint64_t flags,
                              driver::ObservedExport* observed) noexcept {
  *observed = {};
  return take(plan_, "export_dmabuf", [&] { return inner_.export_dmabuf(address, size, flags, observed); });
}

}  // namespace gdrkit::fakes
