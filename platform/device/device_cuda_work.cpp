// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GPU work of CudaDevice: copies on streams, GPU kernels, events. Drivers may lack most of these functions.
#include "platform/device/device_cuda.hpp"

namespace gdrkit::platform {
namespace {

base::Status lacking(const char* call) noexcept {
  return base::fail(ENOSYS, "the NVIDIA driver does not provide %s; update the driver", call);
}

/// Calls `call` with these arguments if the driver has it.
template <class... Parameters, class... Arguments>
base::Status call_if_there(const char* name, int (*call)(Parameters...), Arguments... arguments) noexcept {
  return call == nullptr ? lacking(name) : check(call(arguments...), name);
}

}  // namespace

base::Status CudaDevice::copy_to_device_async(std::uint64_t target, const void* source, std::size_t size_bytes,
                                              Stream stream) noexcept {
  return check_at(calls_.memcpy_host_to_device_async(target, source, size_bytes, as_pointer(stream.handle)),
                  "cuMemcpyHtoDAsync", target, size_bytes);
}

base::Status CudaDevice::copy_to_host_async(void* target, std::uint64_t source, std::size_t size_bytes,
                                            Stream stream) noexcept {
  return check_at(calls_.memcpy_device_to_host_async(target, source, size_bytes, as_pointer(stream.handle)),
                  "cuMemcpyDtoHAsync", source, size_bytes);
}

base::Status CudaDevice::copy_device_to_device_async(std::uint64_t target, std::uint64_t source, std::size_t size_bytes,
                                                     Stream stream) noexcept {
  if (calls_.memcpy_device_to_device_async == nullptr) return lacking("cuMemcpyDtoDAsync");
  return check_at(calls_.memcpy_device_to_device_async(target, source, size_bytes, as_pointer(stream.handle)),
                  "cuMemcpyDtoDAsync", target, size_bytes);
}

base::Status CudaDevice::store_word_async(std::uint64_t target, std::uint64_t value, std::size_t size_bytes,
                                          Stream stream) noexcept {
  constexpr unsigned with_fence = 0;  // CU_STREAM_WRITE_VALUE_DEFAULT
  if (size_bytes == sizeof value) {
    if (calls_.stream_write_value64 == nullptr) return lacking("cuStreamWriteValue64");
    return check_at(calls_.stream_write_value64(as_pointer(stream.handle), target, value, with_fence),
                    "cuStreamWriteValue64", target, size_bytes);
  }
  if (calls_.stream_write_value32 == nullptr) return lacking("cuStreamWriteValue32");
  return check_at(
      calls_.stream_write_value32(as_pointer(stream.handle), target, static_cast<std::uint32_t>(value), with_fence),
      "cuStreamWriteValue32", target, size_bytes);
}

base::Result<bool> CudaDevice::is_finished(Stream stream) noexcept {
  if (calls_.stream_query == nullptr) return base::pass(lacking("cuStreamQuery"));
  const int result = calls_.stream_query(as_pointer(stream.handle));
  if (result == cuda_error_not_ready) return false;
  if (auto queried = check(result, "cuStreamQuery"); !queried) return base::pass(queried);
  return true;
}

base::Result<bool> CudaDevice::is_capturing(Stream stream) noexcept {
  int status = 0;
  auto called = call_if_there("cuStreamIsCapturing", calls_.stream_is_capturing, as_pointer(stream.handle), &status);
  if (!called) return base::pass(called);
  return status != 0;
}

base::Result<Event> CudaDevice::create_event() noexcept {
  void* event = nullptr;
  auto created = call_if_there("cuEventCreate", calls_.event_create, &event, driver::cuda_event_default);
  if (!created) return base::pass(created);
  return Event{reinterpret_cast<std::uint64_t>(event)};
}

base::Status CudaDevice::destroy_event(Event event) noexcept {
  return call_if_there("cuEventDestroy", calls_.event_destroy, as_pointer(event.handle));
}

base::Status CudaDevice::record(Event event, Stream stream) noexcept {
  return call_if_there("cuEventRecord", calls_.event_record, as_pointer(event.handle), as_pointer(stream.handle));
}

base::Status CudaDevice::synchronize(Event event) noexcept {
  return call_if_there("cuEventSynchronize", calls_.event_synchronize, as_pointer(event.handle));
}

base::Status CudaDevice::wait(Stream stream, Event event) noexcept {
  return call_if_there("cuStreamWaitEvent", calls_.stream_wait_event, as_pointer(stream.handle),
                       as_pointer(event.handle), 0U);
}

base::Result<double> CudaDevice::elapsed_ms(Event begin, Event end) noexcept {
  float milliseconds = 0;
  auto read = call_if_there("cuEventElapsedTime", calls_.event_elapsed_time, &milliseconds, as_pointer(begin.handle),
                            as_pointer(end.handle));
  if (!read) return base::pass(read);
  return static_cast<double>(milliseconds);
}

base::Result<Module> CudaDevice::load_module(const void* image) noexcept {
  if (image == nullptr) return base::fail(EINVAL, "cannot load GPU code: the image is empty");
  const RelaxedCaptureScope outside_captures(calls_);
  void* module = nullptr;
  auto loaded = call_if_there("cuModuleLoadData", calls_.module_load_data, &module, image);
  if (!loaded) return base::pass(loaded);
  return Module{reinterpret_cast<std::uint64_t>(module)};
}

base::Status CudaDevice::unload_module(Module module) noexcept {
  return call_if_there("cuModuleUnload", calls_.module_unload, as_pointer(module.handle));
}

base::Result<Function> CudaDevice::get_function(Module module, const char* name) noexcept {
  void* function = nullptr;
  auto found =
      call_if_there("cuModuleGetFunction", calls_.module_get_function, &function, as_pointer(module.handle), name);
  if (!found) return base::pass(found);
  return Function{reinterpret_cast<std::uint64_t>(function)};
}

base::Status CudaDevice::load_function(Function function) noexcept {
  const RelaxedCaptureScope outside_captures(calls_);
  return call_if_there("cuFuncLoad", calls_.func_load, as_pointer(function.handle));
}

base::Status CudaDevice::launch(Function function, LaunchShape shape, Stream stream, void** parameters) noexcept {
  return call_if_there("cuLaunchKernel", calls_.launch_kernel, as_pointer(function.handle), shape.blocks, 1U, 1U,
                       shape.threads, 1U, 1U, 0U, as_pointer(stream.handle), parameters, static_cast<void**>(nullptr));
}

base::Result<Module> CudaDevice::module_of_library(void* library) noexcept {
  void* module = nullptr;
  auto found = call_if_there("cuLibraryGetModule", calls_.library_get_module, &module, library);
  if (!found) return base::pass(found);
  return Module{reinterpret_cast<std::uint64_t>(module)};
}

base::Result<Symbol> CudaDevice::get_symbol(Module module, const char* name) noexcept {
  Symbol symbol;
  auto found = call_if_there("cuModuleGetGlobal", calls_.module_get_global, &symbol.address, &symbol.size_bytes,
                             as_pointer(module.handle), name);
  if (!found) return base::pass(found);
  return symbol;
}

base::Status CudaDevice::launch_cooperative(Function function, const CooperativeShape& shape, Stream stream,
                                            void** parameters) noexcept {
  return call_if_there("cuLaunchCooperativeKernel", calls_.launch_cooperative_kernel, as_pointer(function.handle),
                       shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
                       shape.shared_bytes, as_pointer(stream.handle), parameters);
}

base::Result<int> CudaDevice::cooperative_blocks(Function function, unsigned threads,
                                                 std::size_t shared_bytes) noexcept {
  int on_each = 0;
  auto called = call_if_there("cuOccupancyMaxActiveBlocksPerMultiprocessor", calls_.occupancy, &on_each,
                              as_pointer(function.handle), static_cast<int>(threads), shared_bytes);
  if (!called) return base::pass(called);
  auto multiprocessors = attribute(DeviceAttribute::multiprocessor_count);
  if (!multiprocessors) return multiprocessors;
  return on_each * *multiprocessors;
}

base::Status CudaDevice::launch_host_function(Stream stream, void (*function)(void*), void* argument) noexcept {
  return call_if_there("cuLaunchHostFunc", calls_.launch_host_func, as_pointer(stream.handle), function, argument);
}

base::Result<std::uint64_t> CudaDevice::device_address(const void* host) noexcept {
  std::uint64_t address = 0;
  auto found = call_if_there("cuMemHostGetDevicePointer", calls_.mem_host_get_device_pointer, &address,
                             const_cast<void*>(host), 0U);
  if (!found) return base::pass(found);
  return address;
}

base::Result<DeviceMemory> CudaDevice::memory() noexcept {
  DeviceMemory memory;
  auto got = call_if_there("cuMemGetInfo", calls_.mem_get_info, &memory.free_bytes, &memory.total_bytes);
  if (!got) return base::pass(got);
  return memory;
}

base::Result<int> CudaDevice::attribute(DeviceAttribute attribute) noexcept {
  int value = 0;
  auto got =
      call_if_there("cuDeviceGetAttribute", calls_.device_get_attribute, &value, static_cast<int>(attribute), device_);
  if (!got) return base::pass(got);
  return value;
}

base::Result<bool> CudaDevice::can_access_peer(Device& peer) noexcept {
  if (peer.is_emulated()) return false;
  int can = 0;
  auto called = call_if_there("cuDeviceCanAccessPeer", calls_.device_can_access_peer, &can, device_,
                              static_cast<CudaDevice&>(peer).device_);
  if (!called) return base::pass(called);
  return can != 0;
}

base::Status CudaDevice::enable_peer_access(Device& peer) noexcept {
  if (peer.is_emulated())
    return base::fail_literal(EINVAL, "peer access between a GPU and the emulated device is not possible");
  if (calls_.ctx_enable_peer_access == nullptr) return lacking("cuCtxEnablePeerAccess");
  const int result = calls_.ctx_enable_peer_access(static_cast<CudaDevice&>(peer).context_, 0);
  if (result == driver::cuda_error_peer_access_already_enabled) return {};
  return check(result, "cuCtxEnablePeerAccess");
}

}  // namespace gdrkit::platform
