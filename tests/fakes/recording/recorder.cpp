// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/recorder.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "fakes/cuda_table.hpp"
#include "fakes/recording/call_words.hpp"
#include "fakes/recording/ioctl_words.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {

DeviceRegion region_around(const driver::CudaCalls& cuda, std::uint64_t address) {
  driver::PointerAttributes at;
  if (driver::pointer_attributes(cuda, address, &at) != 0 || at.range_size == 0) return {};
  std::uint64_t first = at.range_start, end = at.range_start + at.range_size;
  // A range's first and last blocks may extend beyond it.
  for (const std::uint64_t inside : {at.range_start, address, end - 1}) {
    driver::PointerAttributes block;
    if (driver::pointer_attributes(cuda, inside, &block) != 0 || block.mapping_size == 0) continue;
    first = std::min(first, block.mapping_base);
    end = std::max(end, block.mapping_base + block.mapping_size);
  }
  return {first, end - first};
}

class Recorder::RecordingSystem final : public driver::System {
 public:
  RecordingSystem(driver::System& inner, Recorder& recorder)
      : inner_(inner), recorder_(recorder), names_(recorder.names_) {}

  int open(const char* path, int flags) noexcept override {
    const std::string input = call_words::open(path, flags);
    const int result = inner_.open(path, flags);
    return note(input, Words().add_signed("result", result >= 0 ? names_.descriptor(result) : result), result);
  }
  int close(int fd) noexcept override {
    const std::string input = call_words::close(names_, fd);
    const int result = inner_.close(fd);
    names_.forget(CanonicalNames::Kind::descriptor, static_cast<std::uint32_t>(fd));
    return note(input, Words().add_signed("result", result), result);
  }
  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    const std::string input = call_words::ioctl(names_, fd, request, argument);
    const int result = inner_.ioctl(fd, request, argument);
    Words output = Words().add_signed("result", result);
    add_ioctl_bytes(output, request, argument, names_);
    call_words::forget_after_ioctl(names_, request, argument);
    return note(input, output, result);
  }
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    const std::string input = call_words::mmap(names_, hint, length, protection, flags, fd, offset);
    const int result = inner_.mmap(hint, length, protection, flags, fd, offset, mapped);
    Words output = Words().add_signed("result", result);
    if (result == 0) {
      names_.add_mapping(*mapped, length);
      output.add("mapped", names_.mapping(*mapped));
    }
    return note(input, output, result);
  }
  int munmap(void* address, std::size_t length) noexcept override {
    const std::string input = call_words::munmap(names_, address, length);
    const int result = inner_.munmap(address, length);
    if (result == 0) names_.remove_mapping(address);
    return note(input, Words().add_signed("result", result), result);
  }
  int access(const char* path, int mode) noexcept override {
    const int result = inner_.access(path, mode);
    return note(call_words::access(path, mode), Words().add_signed("result", result), result);
  }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    const std::string input = call_words::madvise(names_, address, length, advice);
    const int result = inner_.madvise(address, length, advice);
    return note(input, Words().add_signed("result", result), result);
  }
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    const ssize_t result = inner_.read_text(path, buffer, capacity);
    Words output = Words().add_signed("result", result);
    if (result >= 0) output.add_bytes("text", buffer, static_cast<std::size_t>(result));
    return note(call_words::read_text(path, capacity), output, result);
  }

 private:
  template <class Result>
  Result note(const std::string& input, const Words& output, Result result) {
    recorder_.conversation_.calls.push_back({input, output.line()});
    return result;
  }

  driver::System& inner_;
  Recorder& recorder_;
  CanonicalNames& names_;
};

/// The lines contain device ordinals, so cuDeviceGet is not recorded.
class Recorder::RecordingCuda final : public CudaTable<RecordingCuda> {
 public:
  RecordingCuda(const driver::CudaCalls& inner, Recorder& recorder)
      : inner_(inner), recorder_(recorder), names_(recorder.names_) {}

  int driver_get_version(int* version) noexcept {
    const int result = inner_.driver_get_version(version);
    return note("cuda.driver_get_version", result_words(result).add_signed("version", result == 0 ? *version : 0),
                result);
  }
  int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
    if (count == 1) return driver::cuda_error_not_supported;  // the host address, for coherent links only
    PointerResults got;
    const int result = driver::pointer_attributes(inner_, address, &got.attributes);
    const std::string input = call_words::of_address(names_, "pointer_get_attributes", address);
    Words output = result_words(result);
    if (result == 0) call_words::add_attributes(output, names_, got.attributes);
    return note(input, output, result == 0 ? got.put(count, numbers, targets) : result);
  }
  int device_get(int* device, int ordinal) noexcept {
    const int result = inner_.device_get(device, ordinal);
    if (result == 0) ordinals_[*device] = ordinal;
    return result;
  }
  int device_get_attribute(int* value, int attribute, int device) noexcept {
    const int result = inner_.device_get_attribute(value, attribute, device);
    if (attribute == call_words::coherent_link_attribute) return result;
    return note(call_words::device_get_attribute(ordinals_[device], attribute),
                result_words(result).add_signed("value", result == 0 ? *value : 0), result);
  }
  int device_get_pci_bus_id(char* text, int capacity, int device) noexcept {
    const int result = inner_.device_get_pci_bus_id(text, capacity, device);
    return note(call_words::of_device("device_get_pci_bus_id", ordinals_[device]),
                result_words(result).add("text", result == 0 ? std::string(text) : ""), result);
  }
  int device_get_uuid(void* uuid, int device) noexcept {
    const int result = inner_.device_get_uuid(uuid, device);
    return note(call_words::of_device("device_get_uuid", ordinals_[device]),
                result_words(result).add_bytes("uuid", uuid, sizeof(driver::CudaUuid)), result);
  }
  int ctx_get_current(void** context) noexcept {
    const int result = inner_.ctx_get_current(context);
    return note("cuda.ctx_get_current",
                result_words(result).add("context", named(CanonicalNames::Kind::context, result, *context)), result);
  }
  int ctx_push_current(void* context) noexcept {
    const std::string input = call_words::of_context(names_, "ctx_push_current", context);
    return plain(input, inner_.ctx_push_current(context));
  }
  int ctx_pop_current(void** context) noexcept {
    return plain("cuda.ctx_pop_current", inner_.ctx_pop_current(context));
  }
  int primary_ctx_get_state(int device, unsigned* flags, int* active) noexcept {
    const int result = inner_.primary_ctx_get_state(device, flags, active);
    return note(call_words::of_device("primary_ctx_is_active", ordinals_[device]),
                result_words(result).add_signed("active", result == 0 ? *active : 0), result);
  }
  int primary_ctx_retain(void** context, int device) noexcept {
    const int result = inner_.primary_ctx_retain(context, device);
    return note(call_words::of_device("primary_ctx_retain", ordinals_[device]),
                result_words(result).add("context", named(CanonicalNames::Kind::context, result, *context)), result);
  }
  int primary_ctx_release(int device) noexcept {
    return plain(call_words::of_device("primary_ctx_release", ordinals_[device]), inner_.primary_ctx_release(device));
  }
  int exchange_stream_capture_mode(int* mode) noexcept {
    const std::string input = call_words::exchange_stream_capture_mode(*mode);
    const int result = inner_.exchange_stream_capture_mode(mode);
    return note(input, result_words(result).add_signed("mode", *mode), result);
  }
  int export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                    driver::ObservedExport* observed) noexcept {
    const std::string input = call_words::export_dmabuf(names_, address, size, flags);
    const int result = inner_.export_dmabuf(address, size, flags, observed);
    Words output = result_words(result).add_signed("hooked", observed->hook ? 1 : 0);
    call_words::add_export(output, names_, *observed);
    return note(input, output, result);
  }
  int mem_retain_handle(std::uint64_t* handle, void* address) noexcept {
    const std::string input =
        call_words::of_address(names_, "mem_retain_allocation_handle", reinterpret_cast<std::uint64_t>(address));
    const int result = inner_.mem_retain_handle(handle, address);
    return note(input, result_words(result).add("handle", named(CanonicalNames::Kind::allocation, result, *handle)),
                result);
  }
  int mem_release(std::uint64_t handle) noexcept {
    return plain(call_words::of_allocation(names_, "mem_release", handle), inner_.mem_release(handle));
  }
  int mem_export(void* fd, std::uint64_t handle, int type, unsigned long long flags) noexcept {
    const std::string input = call_words::of_allocation(names_, "mem_export_to_fd", handle);
    const int result = inner_.mem_export(fd, handle, type, flags);
    return note(input, result_words(result).add_signed("fd", result == 0 ? names_.descriptor(get<int>(fd, 0)) : -1),
                result);
  }
  int ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept {
    // The meaning of its words is unknown, so they have no names.
    const std::string input = call_words::of_address(names_, "ipc_get_mem_handle", address);
    const int result = inner_.ipc_get_mem_handle(handle, address);
    return note(input, result_words(result).add_bytes("handle", handle, sizeof(driver::CudaIpcHandle)), result);
  }
  int stream_create(void** stream, unsigned flags) noexcept {
    const int result = inner_.stream_create(stream, flags);
    return note("cuda.stream_create_non_blocking",
                result_words(result).add("stream", named(CanonicalNames::Kind::stream, result, *stream)), result);
  }
  int stream_destroy(void* stream) noexcept {
    const std::string input = call_words::of_stream(names_, "stream_destroy", stream);
    const int result = inner_.stream_destroy(stream);
    names_.forget(CanonicalNames::Kind::stream, reinterpret_cast<std::uint64_t>(stream));
    pending_.erase(stream);
    return plain(input, result);
  }
  /// The results of gathers are available, and written, after their stream was synchronised.
  int stream_synchronize(void* stream) noexcept {
    const std::string input = call_words::of_stream(names_, "stream_synchronize", stream);
    const int result = inner_.stream_synchronize(stream);
    Words output = result_words(result);
    for (const auto& [bytes, size] : pending_[stream]) output.add_bytes("gathered", bytes, size);
    pending_.erase(stream);
    return note(input, output, result);
  }
  int memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept {
    const std::string input = call_words::gather(names_, *copy, stream);
    const int result = inner_.memcpy_2d_async(copy, stream);
    if (result == 0) pending_[stream].emplace_back(copy->target_host, copy->width * copy->height);
    return plain(input, result);
  }
  int memcpy_host_to_device_async(std::uint64_t target, const void* source, std::size_t size, void* stream) noexcept {
    const std::string input = call_words::memcpy_htod(names_, target, source, size, stream);
    return plain(input, inner_.memcpy_host_to_device_async(target, source, size, stream));
  }
  int mem_alloc_async(std::uint64_t* address, std::size_t size, void* stream) noexcept {
    const std::string input = call_words::mem_alloc_async(names_, size, stream);
    const int result = inner_.mem_alloc_async(address, size, stream);
    Words output = result_words(result);
    if (result == 0) {
      const DeviceRegion region = region_around(inner_, *address);
      const std::uint64_t canonical = names_.add_region(region.first, region.bytes);
      output.add("address", names_.address(*address)).add("region", canonical).add("region_bytes", region.bytes);
    }
    return note(input, output, result);
  }
  int mem_free_async(std::uint64_t address, void* stream) noexcept {
    const std::string input = call_words::mem_free_async(names_, address, stream);
    return plain(input, inner_.mem_free_async(address, stream));
  }

 private:
  static Words result_words(int result) { return Words().add_signed("result", result); }
  std::string named(CanonicalNames::Kind kind, int result, const void* real) {
    return named(kind, result, reinterpret_cast<std::uint64_t>(real));
  }
  std::string named(CanonicalNames::Kind kind, int result, std::uint64_t real) {
    return Words().add("x", result == 0 ? names_.name(kind, real) : 0).text("x");
  }
  int plain(const std::string& input, int result) { return note(input, result_words(result), result); }
  int note(const std::string& input, const Words& output, int result) {
    recorder_.conversation_.calls.push_back({input, output.line()});
    return result;
  }

  const driver::CudaCalls& inner_;
  Recorder& recorder_;
  CanonicalNames& names_;
  std::map<int, int> ordinals_;  ///< by the driver's name of the device
  std::map<void*, std::vector<std::pair<void*, std::size_t>>> pending_;
};

Recorder::Recorder(driver::System& system, const driver::CudaCalls& cuda)
    : system_(std::make_unique<RecordingSystem>(system, *this)),
      cuda_(std::make_unique<RecordingCuda>(cuda, *this)),
      inner_cuda_(cuda) {}

Recorder::~Recorder() = default;

const driver::CudaCalls& Recorder::cuda() const noexcept { return *cuda_; }

std::uint64_t Recorder::add_region_of(std::uint64_t address) {
  const DeviceRegion region = region_around(inner_cuda_, address);
  const std::uint64_t canonical = names_.add_region(region.first, region.bytes);
  conversation_.header.emplace_back("region", Words().add("first", canonical).add("bytes", region.bytes));
  return names_.address(address);
}

}  // namespace gdrkit::fakes
