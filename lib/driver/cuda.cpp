// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/cuda.hpp"

#include <iterator>

#include "driver/ioctl_hook.hpp"

namespace gdrkit::driver {
namespace {

constexpr unsigned export_to_dmabuf_fd_number = 0xd9;

template <class Call>
int on_device(const CudaCalls& calls, int ordinal, Call call) noexcept {
  int device = 0;
  const int result = calls.device_get(&device, ordinal);
  return result != 0 ? result : call(device);
}

}  // namespace

int pointer_attributes(const CudaCalls& calls, std::uint64_t address, PointerAttributes* attributes) noexcept {
  PointerAttributes got;
  // Booleans are read into 32-bit words that are 0 before: the driver writes only as many bytes as its own type has.
  void* targets[] = {&got.context,      &got.memory_type,    &got.buffer_id,
                     &got.is_managed,   &got.device_ordinal, &got.is_legacy_ipc_capable,
                     &got.range_start,  &got.range_size,     &got.allowed_handle_types,
                     &got.mapping_size, &got.mapping_base};
  int numbers[] = {1, 2, 7, 8, 9, 10, 11, 12, 14, 18, 19};  // CUpointer_attribute, in the order of targets
  static_assert(std::size(targets) == std::size(numbers));
  const int result = calls.pointer_get_attributes(static_cast<unsigned>(std::size(targets)), numbers, targets, address);
  if (result == 0) *attributes = got;
  return result;
}

int pointer_host_address(const CudaCalls& calls, std::uint64_t address, std::uint64_t* host) noexcept {
  std::uint64_t got = 0;
  void* targets[] = {&got};
  int numbers[] = {4};  // CU_POINTER_ATTRIBUTE_HOST_POINTER
  const int result = calls.pointer_get_attributes(1, numbers, targets, address);
  if (result == 0) *host = got;
  return result;
}

int device_attribute(const CudaCalls& calls, int ordinal, int attribute, int* value) noexcept {
  if (calls.device_get_attribute == nullptr) return cuda_error_not_supported;
  return on_device(calls, ordinal, [&](int device) { return calls.device_get_attribute(value, attribute, device); });
}

int device_pci_bus_id(const CudaCalls& calls, int ordinal, char* text, int capacity) noexcept {
  return on_device(calls, ordinal, [&](int device) { return calls.device_get_pci_bus_id(text, capacity, device); });
}

int device_uuid(const CudaCalls& calls, int ordinal, CudaUuid* uuid) noexcept {
  return on_device(calls, ordinal, [&](int device) { return calls.device_get_uuid(uuid->data(), device); });
}

int primary_ctx_is_active(const CudaCalls& calls, int ordinal, int* active) noexcept {
  unsigned flags = 0;
  return on_device(calls, ordinal, [&](int device) { return calls.primary_ctx_get_state(device, &flags, active); });
}

int gather_async(const CudaCalls& calls, void* target, std::uint64_t source, std::size_t pitch, std::size_t width,
                 std::size_t rows, void* stream) noexcept {
  CudaMemcpy2d copy{};
  copy.source_type = cuda_memory_type_device;
  copy.source_device = source;
  copy.source_pitch = pitch;
  copy.target_type = cuda_memory_type_host;
  copy.target_host = target;
  copy.target_pitch = width;
  copy.width = width;
  copy.height = rows;
  return calls.memcpy_2d_async(&copy, stream);
}

int export_dmabuf_observed(std::uint64_t address, std::size_t size, unsigned long long flags,
                           ObservedExport* observed) noexcept {
  *observed = {};
  const auto library = cuda_library();
  const auto calls = cuda_calls();
  if (!library || !calls || (*calls)->mem_get_range_handle == nullptr) return cuda_error_not_supported;
  const IoctlObserver observer(*library, export_to_dmabuf_fd_number, &observed->ioctls);
  observed->hook = observer.installed();
  int fd = -1;
  const int result = (*calls)->mem_get_range_handle(&fd, address, size, cuda_mem_range_handle_type_dmabuf_fd, flags);
  if (result == 0) observed->dmabuf_fd = fd;
  return result;
}

std::optional<bool> has_access(const CudaCalls& calls, std::uint64_t address, int ordinal, int access) noexcept {
  unsigned long long flags = 0;
  const CudaMemLocation location{cuda_mem_location_type_device, ordinal};
  if (calls.mem_get_access == nullptr || calls.mem_get_access(&flags, &location, address) != 0) return std::nullopt;
  const auto required = static_cast<unsigned>(access);
  return (flags & required) == required;
}

int device_with_access(const CudaCalls& calls, std::uint64_t address, int own, int access) noexcept {
  constexpr int device_limit = 64;  // more than any machine has
  if (has_access(calls, address, own, access).value_or(true)) return own;
  for (int other = 0; other < device_limit; ++other) {
    const std::optional<bool> found = has_access(calls, address, other, access);
    if (!found) break;
    if (*found) return other;
  }
  return own;
}

}  // namespace gdrkit::driver
