// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fake_cuda_driver.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/cuda_calls.hpp"

namespace gdrkit::tests {
namespace {

using namespace driver;  // the types in the list

constexpr int invalid_value = 1;
constexpr int not_initialized = 3;
constexpr int no_binary_for_gpu = 209;
constexpr int not_found = 500;
constexpr int not_ready = 600;
constexpr int peer_access_already_enabled = 704;
constexpr std::size_t granularity = std::size_t{2} << 20;

FakeCudaDriver& fake() { return FakeCudaDriver::instance(); }

std::uint64_t obtain(std::size_t size) {
  return reinterpret_cast<std::uint64_t>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096));
}
void give_back(std::uint64_t address) { std::free(reinterpret_cast<void*>(address)); }
int found(bool is_found) { return is_found ? 0 : invalid_value; }

#define ENTER(name) \
  if (const int failed = fake().enter(name)) return failed

// What no test needs of the driver yet: found by its name where namespace `played` has no function of that name.
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  [[maybe_unused]] int member(__VA_ARGS__) { return driver::cuda_error_not_supported; }
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL

namespace played {

int init(unsigned) {
  ENTER("init");
  return 0;
}
int driver_get_version(int* version) {
  ENTER("driver_get_version");
  *version = 13000;
  return 0;
}
int device_get_count(int* count) {
  ENTER("device_get_count");
  *count = fake().device_count;
  return 0;
}
int device_get(int* device, int ordinal) {
  ENTER("device_get");
  *device = ordinal + 10;
  return 0;
}
int device_get_name(char* name, int capacity, int) {
  ENTER("device_get_name");
  std::snprintf(name, static_cast<std::size_t>(capacity), "Fake H200");
  return 0;
}
int device_get_pci_bus_id(char* text, int capacity, int) {
  ENTER("device_get_pci_bus_id");
  std::snprintf(text, static_cast<std::size_t>(capacity), "0001:AF:1C.0");
  return 0;
}
int device_get_uuid(void* uuid, int) {
  ENTER("device_get_uuid");
  std::memset(uuid, 0x5a, 16);
  return 0;
}
int primary_ctx_retain(void** context, int device) {
  ENTER("primary_ctx_retain");
  ++fake().retained;
  *context = reinterpret_cast<void*>(std::uintptr_t{0x1000} + static_cast<unsigned>(device));
  return 0;
}
int primary_ctx_release(int) {
  ENTER("primary_ctx_release");
  --fake().retained;
  return 0;
}
int ctx_get_current(void** context) {
  ENTER("ctx_get_current");
  *context = fake().current_context;
  return 0;
}
int ctx_set_current(void* context) {
  ENTER("ctx_set_current");
  fake().current_context = context;
  return 0;
}
int ctx_synchronize() {
  ENTER("ctx_synchronize");
  return 0;
}

int allocate(std::uint64_t* address, std::size_t size) {
  *address = obtain(size);
  fake().memory[*address] = size;
  return 0;
}
int release(std::uint64_t address) {
  if (fake().memory.erase(address) == 0) return invalid_value;
  give_back(address);
  return 0;
}
int mem_alloc(std::uint64_t* address, std::size_t size) {
  ENTER("mem_alloc");
  return allocate(address, size);
}
int mem_free(std::uint64_t address) {
  ENTER("mem_free");
  return release(address);
}
int mem_alloc_managed(std::uint64_t* address, std::size_t size, unsigned flags) {
  ENTER("mem_alloc_managed");
  return flags == 1 ? allocate(address, size) : invalid_value;
}
int mem_alloc_host(void** address, std::size_t size) {
  ENTER("mem_alloc_host");
  *address = reinterpret_cast<void*>(obtain(size));
  fake().host_memory.insert(reinterpret_cast<std::uint64_t>(*address));
  return 0;
}
int mem_free_host(void* address) {
  ENTER("mem_free_host");
  if (fake().host_memory.erase(reinterpret_cast<std::uint64_t>(address)) == 0) return invalid_value;
  std::free(address);
  return 0;
}
int mem_alloc_async(std::uint64_t* address, std::size_t size, void* stream) {
  ENTER("mem_alloc_async");
  return fake().streams.count(stream) == 1 ? allocate(address, size) : invalid_value;
}
int mem_free_async(std::uint64_t address, void* stream) {
  ENTER("mem_free_async");
  return fake().streams.count(stream) == 1 ? release(address) : invalid_value;
}
int mem_get_address_range(std::uint64_t* start, std::size_t* size, std::uint64_t address) {
  ENTER("mem_get_address_range");
  const auto entry = fake().memory.find(address);
  if (entry == fake().memory.end()) return invalid_value;
  *start = address;
  *size = entry->second;
  return 0;
}

int mem_get_granularity(std::size_t* size, const platform::CudaMemAllocationProp*, int option) {
  ENTER("mem_get_granularity");
  *size = granularity;
  return found(option == 1);
}
int mem_address_reserve(std::uint64_t* address, std::size_t size, std::size_t, std::uint64_t, unsigned long long) {
  ENTER("mem_address_reserve");
  *address = obtain(size);
  fake().reservations[*address] = size;
  return found(size % granularity == 0);
}
int mem_address_free(std::uint64_t address, std::size_t size) {
  ENTER("mem_address_free");
  const auto entry = fake().reservations.find(address);
  if (entry == fake().reservations.end() || entry->second != size || fake().mappings.count(address) != 0)
    return invalid_value;
  fake().reservations.erase(entry);
  give_back(address);
  return 0;
}
int mem_create(std::uint64_t* handle, std::size_t size, const platform::CudaMemAllocationProp* properties,
               unsigned long long) {
  ENTER("mem_create");
  fake().last_properties = *properties;
  *handle = 0xabc0 + fake().handles.size();
  fake().handles.insert(*handle);
  return found(size % granularity == 0);
}
int mem_release(std::uint64_t handle) {
  ENTER("mem_release");
  return found(fake().handles.erase(handle) == 1);
}
int mem_map(std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle, unsigned long long) {
  ENTER("mem_map");
  if (offset != 0 || fake().handles.count(handle) == 0 || fake().reservations.count(address) == 0) return invalid_value;
  fake().mappings[address] = size;
  fake().is_accessible = false;
  return 0;
}
int mem_unmap(std::uint64_t address, std::size_t) {
  ENTER("mem_unmap");
  return found(fake().mappings.erase(address) == 1);
}
int mem_set_access(std::uint64_t address, std::size_t size, const platform::CudaMemAccessDesc* access,
                   std::size_t count) {
  ENTER("mem_set_access");
  const auto entry = fake().mappings.find(address);
  if (entry == fake().mappings.end() || entry->second != size || count != 1 || access->flags != 3) return invalid_value;
  fake().is_accessible = true;
  return 0;
}

int copy(const char* name, std::uint64_t target, std::uint64_t source, std::size_t size) {
  ENTER(name);
  if (fake().current_context == nullptr) return not_initialized;
  std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), size);
  return 0;
}
std::uint64_t word(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
int memcpy_host_to_device(std::uint64_t target, const void* source, std::size_t size) {
  return copy("memcpy_host_to_device", target, word(source), size);
}
int memcpy_device_to_host(void* target, std::uint64_t source, std::size_t size) {
  return copy("memcpy_device_to_host", word(target), source, size);
}
int memcpy_host_to_device_async(std::uint64_t target, const void* source, std::size_t size, void*) {
  return copy("memcpy_host_to_device_async", target, word(source), size);
}
int memcpy_device_to_host_async(void* target, std::uint64_t source, std::size_t size, void*) {
  return copy("memcpy_device_to_host_async", word(target), source, size);
}
int memset_d8(std::uint64_t target, unsigned char value, std::size_t size) {
  ENTER("memset_d8");
  std::memset(reinterpret_cast<void*>(target), value, size);
  return 0;
}
int pointer_set_attribute(const void* value, int attribute, std::uint64_t address) {
  ENTER("pointer_set_attribute");
  unsigned on = 0;
  std::memcpy(&on, value, sizeof on);
  return found(on == 1 && attribute == 6 && fake().memory.count(address) == 1);
}
int stream_create(void** stream, unsigned flags) {
  ENTER("stream_create");
  *stream = reinterpret_cast<void*>(std::uintptr_t{0x2000} + fake().log.size());
  fake().streams.insert(*stream);
  return found(flags == 1);
}
int stream_destroy(void* stream) {
  ENTER("stream_destroy");
  return found(fake().streams.erase(stream) == 1);
}
int stream_synchronize(void* stream) {
  ENTER("stream_synchronize");
  return found(stream == nullptr || fake().streams.count(stream) == 1);
}

bool is_stream(void* stream) { return stream == nullptr || fake().streams.count(stream) == 1; }
int stream_query(void* stream) {
  ENTER("stream_query");
  if (!is_stream(stream)) return invalid_value;
  return fake().is_busy ? not_ready : 0;
}
int stream_is_capturing(void* stream, int* status) {
  ENTER("stream_is_capturing");
  if (!is_stream(stream)) return invalid_value;
  *status = fake().is_capturing ? 1 : 0;
  return 0;
}
int stream_wait_event(void* stream, void* event, unsigned flags) {
  ENTER("stream_wait_event");
  return found(flags == 0 && is_stream(stream) && fake().events.count(event) == 1);
}
int event_create(void** event, unsigned flags) {
  ENTER("event_create");
  *event = reinterpret_cast<void*>(std::uintptr_t{0x3000} + fake().log.size());
  fake().events[*event] = -1;
  return found(flags == 0);
}
int event_destroy(void* event) {
  ENTER("event_destroy");
  return found(fake().events.erase(event) == 1);
}
int event_record(void* event, void* stream) {
  ENTER("event_record");
  const auto entry = fake().events.find(event);
  if (entry == fake().events.end() || !is_stream(stream)) return invalid_value;
  entry->second = static_cast<int>(fake().log.size());
  return 0;
}
int event_synchronize(void* event) {
  ENTER("event_synchronize");
  return found(fake().events.count(event) == 1);
}
int event_elapsed_time(float* milliseconds, void* begin, void* end) {
  ENTER("event_elapsed_time");
  const auto first = fake().events.find(begin);
  const auto last = fake().events.find(end);
  if (first == fake().events.end() || last == fake().events.end() || first->second < 0 || last->second < 0)
    return invalid_value;
  *milliseconds = static_cast<float>(last->second - first->second);  // one for each call between
  return 0;
}

int exchange_stream_capture_mode(int* mode) {
  std::swap(*mode, fake().capture_mode);
  return 0;
}
int module_load_data(void** module, const void* image) {
  ENTER("module_load_data");
  fake().capture_modes_of_loads.push_back(fake().capture_mode);
  if (!fake().takes_any_image && std::strcmp(static_cast<const char*>(image), fake_image) != 0)
    return no_binary_for_gpu;
  *module = reinterpret_cast<void*>(std::uintptr_t{0x4000} + fake().log.size());
  fake().modules.insert(*module);
  return 0;
}
int module_unload(void* module) {
  ENTER("module_unload");
  return found(fake().modules.erase(module) == 1);
}
int module_get_function(void** function, void* module, const char* name) {
  ENTER("module_get_function");
  if (fake().modules.count(module) == 0) return invalid_value;
  if (!fake().takes_any_image && std::strcmp(name, "store_word") != 0) return not_found;
  fake().functions.emplace_back(name);
  *function = reinterpret_cast<void*>(&fake());
  return 0;
}
int library_get_module(void** module, void* library) {
  ENTER("library_get_module");
  *module = library;
  return fake().modules.count(library) == 0 ? invalid_value : 0;
}
int module_get_global(std::uint64_t* address, std::size_t* size, void* module, const char* name) {
  ENTER("module_get_global");
  if (fake().modules.count(module) == 0) return invalid_value;
  if (std::strcmp(name, "a_symbol") != 0) return not_found;
  *address = 0x5000;
  *size = 24;
  return 0;
}
int launch_cooperative_kernel(void* function, unsigned x, unsigned y, unsigned z, unsigned thread_x, unsigned thread_y,
                              unsigned thread_z, unsigned shared_bytes, void* stream, void**) {
  ENTER("launch_cooperative_kernel");
  fake().last_blocks = x * y * z;
  fake().last_threads = thread_x * thread_y * thread_z;
  return found(function == &fake() && is_stream(stream) && shared_bytes == 64);
}
int occupancy(int* blocks, void* function, int threads, std::size_t shared_bytes) {
  ENTER("occupancy");
  *blocks = 2048 / threads;
  return found(function == &fake() && shared_bytes == 64);
}
int func_load(void* function) {
  ENTER("func_load");
  return found(function == &fake());
}
/// The one GPU kernel there is writes its second parameter to its first.
int launch_kernel(void* function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned thread_y,
                  unsigned thread_z, unsigned shared_bytes, void* stream, void** parameters, void** extra) {
  ENTER("launch_kernel");
  if (function != &fake() || !is_stream(stream) || extra != nullptr || shared_bytes != 0) return invalid_value;
  if (y != 1 || z != 1 || thread_y != 1 || thread_z != 1) return invalid_value;
  fake().last_blocks = blocks;
  fake().last_threads = threads;
  if (fake().takes_any_image) {
    std::memcpy(fake().last_parameters.data(), parameters[0], fake().last_parameters.size());
    return 0;
  }
  std::uint64_t target = 0;
  std::memcpy(&target, parameters[0], sizeof target);
  std::memcpy(reinterpret_cast<void*>(target), parameters[1], sizeof(std::uint64_t));
  return 0;
}
int launch_host_func(void* stream, void (*function)(void*), void* argument) {
  ENTER("launch_host_func");
  if (!is_stream(stream)) return invalid_value;
  function(argument);
  return 0;
}

int mem_host_get_device_pointer(std::uint64_t* address, void* host, unsigned flags) {
  ENTER("mem_host_get_device_pointer");
  *address = word(host) + device_address_distance;
  return found(flags == 0 && fake().host_memory.count(word(host)) + fake().registered.count(host) == 1);
}
int mem_host_register(void* host, std::size_t size, unsigned flags) {
  ENTER("mem_host_register");
  if (size == 0 || flags != 3) return invalid_value;
  fake().registered.insert(host);
  return 0;
}
int mem_host_unregister(void* host) {
  ENTER("mem_host_unregister");
  return found(fake().registered.erase(host) == 1);
}
int memcpy_device_to_device_async(std::uint64_t target, std::uint64_t source, std::size_t size, void*) {
  return copy("memcpy_device_to_device_async", target, source, size);
}
int memcpy_peer_async(std::uint64_t target, void* target_context, std::uint64_t source, void* source_context,
                      std::size_t size, void*) {
  fake().last_peer_copy = {source_context, target_context};
  return copy("memcpy_peer_async", target, source, size);
}
int device_can_access_peer(int* can, int device, int peer) {
  ENTER("device_can_access_peer");
  *can = device != peer ? 1 : 0;
  return 0;
}
int ctx_enable_peer_access(void* context, unsigned flags) {
  ENTER("ctx_enable_peer_access");
  if (flags != 0) return invalid_value;
  return fake().peers.insert(context).second ? 0 : peer_access_already_enabled;
}
int mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  ENTER("mem_get_info");
  *free_bytes = std::size_t{3} << 30;
  *total_bytes = std::size_t{4} << 30;
  return 0;
}
int device_get_attribute(int* value, int attribute, int device) {
  ENTER("device_get_attribute");
  *value = attribute * 100 + device;
  return 0;
}

platform::CudaCalls make_table() {
  platform::CudaCalls made;
#define GDRKIT_CUDA_CALL(member, symbol, ...) made.member = &member;
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
  return made;
}

}  // namespace played
}  // namespace

FakeCudaDriver& FakeCudaDriver::instance() {
  static FakeCudaDriver driver;
  return driver;
}

const platform::CudaCalls& FakeCudaDriver::calls() {
  static const platform::CudaCalls table = played::make_table();
  return table;
}

void FakeCudaDriver::reset() {
  for (const auto& [address, size] : memory) give_back(address);
  for (const auto& [address, size] : reservations) give_back(address);
  for (const std::uint64_t address : host_memory) give_back(address);
  *this = FakeCudaDriver();
}

int FakeCudaDriver::enter(const std::string& name) {
  const bool is_to_fail = fail_at == static_cast<int>(log.size());
  log.push_back(name);
  return is_to_fail ? failure : 0;
}

}  // namespace gdrkit::tests
