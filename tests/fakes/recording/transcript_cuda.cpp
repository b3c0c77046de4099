// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "fakes/cuda_table.hpp"
#include "fakes/recording/ioctl_words.hpp"
#include "fakes/recording/transcript_state.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

using Kind = CanonicalNames::Kind;

std::uint64_t to_word(const void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

/// fd= and seen=, then request<i>=, failed<i>= and argument<i>= for each observed ioctl.
void add_export(Words& words, CanonicalNames& names, const driver::ObservedExport& observed) {
  words.add_signed("fd", names.descriptor(observed.dmabuf_fd)).add("seen", std::uint64_t{observed.ioctls.size()});
  for (std::size_t i = 0; i < observed.ioctls.size(); ++i) {
    const std::string number = std::to_string(i);
    words.add("request" + number, std::uint64_t{observed.ioctls[i].request})
        .add_signed("failed" + number, observed.ioctls[i].result)
        .add("argument" + number, export_bytes(observed.ioctls[i], names));
  }
}

driver::ObservedExport export_of(const Words& words) {
  driver::ObservedExport observed;
  observed.dmabuf_fd = static_cast<int>(words.signed_number("fd"));
  if (words.signed_number("hooked") == 0) observed.hook = base::fail(EOPNOTSUPP, "not hooked when recorded");
  for (std::uint64_t i = 0; i < words.number("seen"); ++i) {
    const std::string number = std::to_string(i);
    driver::ObservedIoctl seen;
    seen.request = words.number("request" + number);
    seen.result = static_cast<int>(words.signed_number("failed" + number));
    seen.argument = words.bytes("argument" + number);
    observed.ioctls.push_back(std::move(seen));
  }
  return observed;
}

/// The lines contain device ordinals, so cuDeviceGet is not recorded.
class TranscriptCuda final : public CudaTable<TranscriptCuda> {
 public:
  explicit TranscriptCuda(Transcript::State& state) : state_(state), driver_(state.inner_cuda), names_(state.names) {}

  int driver_get_version(int* version) noexcept {
    return exchange(
        "driver_get_version", Words(), [&] { return driver_->driver_get_version(version); },
        [&](Words& words, int result) { number(words, result, "version", version); });
  }
  int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
    if (count == 1) return driver::cuda_error_not_supported;  // the host address, for coherent links only
    PointerResults got;
    const auto make = [&] { return driver::pointer_attributes(*driver_, address, &got.attributes); };
    const int result = exchange("pointer_get_attributes", at(address), make, [&](Words& words, int done) {
      if (done != 0) return;
      attributes(words, &got.attributes);
      if (state_.is_replay()) state_.view.saw_attributes(address, got.attributes);
    });
    return result == 0 ? got.put(count, numbers, targets) : result;
  }
  int device_get(int* device, int ordinal) noexcept {
    if (state_.is_replay()) *device = ordinal;
    const int result = state_.is_replay() ? 0 : driver_->device_get(device, ordinal);
    if (result == 0) ordinals_[*device] = ordinal;
    return result;
  }
  int device_get_attribute(int* value, int attribute, int device) noexcept {
    // Whether the link to the GPU is coherent. Not part of conversations: recorded GPUs are on PCIe, where the result
    // is 0, and some recordings are older than this call.
    constexpr int pageable_memory_access_uses_host_page_tables = 100;
    const auto make = [&] { return driver_->device_get_attribute(value, attribute, device); };
    if (attribute == pageable_memory_access_uses_host_page_tables) {
      *value = 0;
      return state_.is_replay() ? 0 : make();
    }
    return exchange("device_get_attribute", of_device(device).add_signed("attribute", attribute), make,
                    [&](Words& words, int result) { number(words, result, "value", value); });
  }
  int device_get_pci_bus_id(char* text, int capacity, int device) noexcept {
    const auto make = [&] { return driver_->device_get_pci_bus_id(text, capacity, device); };
    return exchange("device_get_pci_bus_id", of_device(device), make, [&](Words& words, int result) {
      if (state_.is_replay()) {
        std::strncpy(text, words.text("text").c_str(), static_cast<std::size_t>(capacity));
      } else {
        words.add("text", result == 0 ? std::string(text) : "");
      }
    });
  }
  int device_get_uuid(void* uuid, int device) noexcept {
    return exchange(
        "device_get_uuid", of_device(device), [&] { return driver_->device_get_uuid(uuid, device); },
        [&](Words& words, int) { bytes(words, "uuid", uuid, sizeof(driver::CudaUuid)); });
  }
  int ctx_get_current(void** context) noexcept {
    return exchange(
        "ctx_get_current", Words(), [&] { return driver_->ctx_get_current(context); },
        [&](Words& words, int result) { name(words, result, "context", Kind::context, context); });
  }
  int ctx_push_current(void* context) noexcept {
    return exchange("ctx_push_current", Words().add("context", names_.name(Kind::context, to_word(context))),
                    [&] { return driver_->ctx_push_current(context); });
  }
  int ctx_pop_current(void** context) noexcept {
    *context = nullptr;  // the library does not use it
    return exchange("ctx_pop_current", Words(), [&] { return driver_->ctx_pop_current(context); });
  }
  int primary_ctx_get_state(int device, unsigned* flags, int* active) noexcept {
    const auto make = [&] { return driver_->primary_ctx_get_state(device, flags, active); };
    return exchange("primary_ctx_is_active", of_device(device), make,
                    [&](Words& words, int result) { number(words, result, "active", active); });
  }
  int primary_ctx_retain(void** context, int device) noexcept {
    const auto make = [&] { return driver_->primary_ctx_retain(context, device); };
    return exchange("primary_ctx_retain", of_device(device), make,
                    [&](Words& words, int result) { name(words, result, "context", Kind::context, context); });
  }
  int primary_ctx_release(int device) noexcept {
    return exchange("primary_ctx_release", of_device(device), [&] { return driver_->primary_ctx_release(device); });
  }
  int exchange_stream_capture_mode(int* mode) noexcept {
    const auto make = [&] { return driver_->exchange_stream_capture_mode(mode); };
    return exchange("exchange_stream_capture_mode", Words().add_signed("mode", *mode), make,
                    [&](Words& words, int result) { number(words, result, "mode", mode); });
  }
  int export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                    driver::ObservedExport* observed) noexcept {
    *observed = {};
    const Words arguments = at(address).add("size", std::uint64_t{size}).add("flags", std::uint64_t{flags});
    const auto make = [&] { return driver_->export_dmabuf(address, size, flags, observed); };
    return exchange("export_dmabuf", arguments, make, [&](Words& words, int) {
      if (state_.is_replay()) *observed = export_of(words);
      if (!state_.is_replay()) words.add_signed("hooked", observed->hook ? 1 : 0);
      // In a replay only to name the numbers.
      add_export(words, names_, *observed);
      if (state_.is_replay()) state_.view.saw_export(address, *observed);
    });
  }
  int mem_retain_handle(std::uint64_t* handle, void* pointer) noexcept {
    const auto make = [&] { return driver_->mem_retain_handle(handle, pointer); };
    const auto output = [&](Words& words, int result) { name(words, result, "handle", Kind::allocation, handle); };
    const int result = exchange("mem_retain_allocation_handle", at(to_word(pointer)), make, output);
    if (result == 0 && state_.is_replay()) state_.view.saw_retained(to_word(pointer), *handle);
    return result;
  }
  int mem_release(std::uint64_t handle) noexcept {
    return exchange("mem_release", of_allocation(handle), [&] { return driver_->mem_release(handle); });
  }
  int mem_export(void* target, std::uint64_t handle, int type, unsigned long long flags) noexcept {
    const auto make = [&] { return driver_->mem_export(target, handle, type, flags); };
    return exchange("mem_export_to_fd", of_allocation(handle), make, [&](Words& words, int result) {
      if (!state_.is_replay()) {
        words.add_signed("fd", result == 0 ? names_.descriptor(get<int>(target, 0)) : -1);
        return;
      }
      const int fd = result == 0 ? static_cast<int>(words.signed_number("fd")) : -1;
      if (result == 0) state_.view.saw_exported_file(handle, names_.descriptor(fd));
      std::memcpy(target, &fd, sizeof fd);
    });
  }
  int ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept {
    // The meaning of its words is unknown, so they have no names.
    return exchange(
        "ipc_get_mem_handle", at(address), [&] { return driver_->ipc_get_mem_handle(handle, address); },
        [&](Words& words, int) { bytes(words, "handle", handle, sizeof(driver::CudaIpcHandle)); });
  }
  int stream_create(void** stream, unsigned flags) noexcept {
    return exchange(
        "stream_create_non_blocking", Words(), [&] { return driver_->stream_create(stream, flags); },
        [&](Words& words, int result) { name(words, result, "stream", Kind::stream, stream); });
  }
  int stream_destroy(void* stream) noexcept {
    const int result = exchange("stream_destroy", on(stream), [&] { return driver_->stream_destroy(stream); });
    names_.forget(Kind::stream, to_word(stream));
    pending_.erase(stream);
    return result;
  }
  /// The results of gathers are available, and written, after their stream was synchronised.
  int stream_synchronize(void* stream) noexcept {
    const auto make = [&] { return driver_->stream_synchronize(stream); };
    return exchange("stream_synchronize", on(stream), make, [&](Words& words, int) {
      const auto gathered = words.all("gathered");
      std::size_t used = 0;
      for (const Copy& copy : pending_[stream]) {
        const bool is_gather = copy.target != nullptr;
        if (!state_.is_replay()) {
          if (is_gather) words.add_bytes("gathered", copy.target, copy.width * copy.rows);
        } else if (!is_gather) {
          state_.view.write(copy.address, copy.width, copy.width, copy.written);
        } else if (used < gathered.size()) {
          const auto read = from_hex(gathered[used++]);
          std::memcpy(copy.target, read.data(), std::min(read.size(), copy.width * copy.rows));
          state_.view.write(copy.address, copy.pitch, copy.width, read);
        }
      }
      pending_.erase(stream);
    });
  }
  int memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept {
    const Words arguments = Words()
                                .add("source", names_.address(copy->source_device))
                                .add("pitch", std::uint64_t{copy->source_pitch})
                                .add("width", std::uint64_t{copy->width})
                                .add("rows", std::uint64_t{copy->height})
                                .add("stream", named(stream));
    const auto make = [&] { return driver_->memcpy_2d_async(copy, stream); };
    const int result = exchange("gather_dtoh_async", arguments, make);
    if (result == 0) {
      pending_[stream].push_back(
          {copy->target_host, copy->source_device, copy->source_pitch, copy->width, copy->height, {}});
    }
    return result;
  }
  int memcpy_host_to_device_async(std::uint64_t target, const void* source, std::size_t size, void* stream) noexcept {
    const Words arguments =
        Words().add("target", names_.address(target)).add_bytes("bytes", source, size).add("stream", named(stream));
    const auto make = [&] { return driver_->memcpy_host_to_device_async(target, source, size, stream); };
    const int result = exchange("memcpy_htod_async", arguments, make);
    const auto* written = static_cast<const std::uint8_t*>(source);
    if (result == 0) pending_[stream].push_back({nullptr, target, size, size, 1, {written, written + size}});
    return result;
  }
  int mem_get_granularity(std::size_t* size, const driver::CudaMemAllocationProp* properties, int option) noexcept {
    const auto make = [&] { return driver_->mem_get_granularity(size, properties, option); };
    return exchange("mem_get_granularity", of_device(properties->location.id), make, [&](Words& words, int result) {
      if (result == 0) value(words, "size", size);
    });
  }
  int mem_address_reserve(std::uint64_t* address, std::size_t size, std::size_t alignment, std::uint64_t hint,
                          unsigned long long flags) noexcept {
    const auto make = [&] { return driver_->mem_address_reserve(address, size, alignment, hint, flags); };
    return exchange("mem_address_reserve", Words().add("size", std::uint64_t{size}), make,
                    [&](Words& words, int result) {
                      if (result != 0) return;
                      const std::uint64_t first = state_.is_replay() ? words.number("address") : *address;
                      *address = first;
                      const std::uint64_t canonical = names_.add_region(first, size);
                      if (!state_.is_replay()) words.add("address", canonical);
                    });
  }
  int mem_address_free(std::uint64_t address, std::size_t size) noexcept {
    return exchange("mem_address_free", at(address).add("size", std::uint64_t{size}),
                    [&] { return driver_->mem_address_free(address, size); });
  }
  int mem_create(std::uint64_t* handle, std::size_t size, const driver::CudaMemAllocationProp* properties,
                 unsigned long long flags) noexcept {
    const Words arguments = of_device(properties->location.id).add("size", std::uint64_t{size});
    const auto make = [&] { return driver_->mem_create(handle, size, properties, flags); };
    return exchange("mem_create", arguments, make,
                    [&](Words& words, int result) { name(words, result, "handle", Kind::allocation, handle); });
  }
  int mem_map(std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle,
              unsigned long long flags) noexcept {
    const Words arguments =
        at(address).add("size", std::uint64_t{size}).add("handle", names_.name(Kind::allocation, handle));
    return exchange("mem_map", arguments, [&] { return driver_->mem_map(address, size, offset, handle, flags); });
  }
  int mem_set_access(std::uint64_t address, std::size_t size, const driver::CudaMemAccessDesc* access,
                     std::size_t count) noexcept {
    return exchange("mem_set_access", at(address).add("size", std::uint64_t{size}),
                    [&] { return driver_->mem_set_access(address, size, access, count); });
  }
  int mem_unmap(std::uint64_t address, std::size_t size) noexcept {
    return exchange("mem_unmap", at(address).add("size", std::uint64_t{size}),
                    [&] { return driver_->mem_unmap(address, size); });
  }

 private:
  /// A copy that a stream was given; it is complete when the stream is synchronised.
  struct Copy {
    void* target;  ///< null: to the device
    std::uint64_t address;
    std::size_t pitch, width, rows;
    std::vector<std::uint8_t> written;
  };

  template <class Make, class Output>
  int exchange(const std::string& call, const Words& arguments, Make make, Output output) {
    constexpr int unknown = 999;  // CUDA_ERROR_UNKNOWN
    return state_.exchange("cuda." + call, arguments, unknown, make, output);
  }
  template <class Make>
  int exchange(const std::string& call, const Words& arguments, Make make) {
    return exchange(call, arguments, make, [](Words&, int) {});
  }

  [[nodiscard]] Words at(std::uint64_t address) const { return Words().add("address", names_.address(address)); }
  [[nodiscard]] Words on(const void* stream) const { return Words().add("stream", named(stream)); }
  [[nodiscard]] Words of_device(int device) { return Words().add_signed("ordinal", ordinals_[device]); }
  [[nodiscard]] Words of_allocation(std::uint64_t handle) const {
    return Words().add("handle", names_.name(Kind::allocation, handle));
  }
  [[nodiscard]] std::uint64_t named(const void* stream) const { return names_.name(Kind::stream, to_word(stream)); }

  // Results: written to the words of a recording, read from those of a replay. Of a failed call 0 is written, and
  // nothing is read.
  void number(Words& words, int result, const char* word, int* value) const {
    if (!state_.is_replay()) {
      words.add_signed(word, result == 0 ? *value : 0);
    } else if (result == 0) {
      *value = static_cast<int>(words.signed_number(word));
    }
  }
  void name(Words& words, int result, const char* word, Kind kind, std::uint64_t* value) const {
    if (!state_.is_replay()) {
      words.add(word, result == 0 ? names_.name(kind, *value) : 0);
    } else if (result == 0) {
      *value = names_.name(kind, words.number(word));
    }
  }
  void name(Words& words, int result, const char* word, Kind kind, void** pointer) const {
    std::uint64_t value = state_.is_replay() ? 0 : to_word(*pointer);
    name(words, result, word, kind, &value);
    if (state_.is_replay() && result == 0) *pointer = reinterpret_cast<void*>(value);
  }
  void bytes(Words& words, const char* word, void* target, std::size_t size) const {
    if (!state_.is_replay()) {
      words.add_bytes(word, target, size);
      return;
    }
    const auto read = words.bytes(word);
    if (read.size() == size) std::memcpy(target, read.data(), size);
  }
  template <class Value>
  void value(Words& words, const char* word, Value* value) const {
    if (state_.is_replay()) {
      *value = static_cast<Value>(words.number(word));
    } else {
      words.add(word, std::uint64_t{*value});
    }
  }
  void address(Words& words, const char* word, std::uint64_t* value) const {
    if (state_.is_replay()) {
      *value = words.number(word);
    } else {
      words.add(word, names_.address(*value));
    }
  }
  void attributes(Words& words, driver::PointerAttributes* at) const {
    name(words, 0, "context", Kind::context, &at->context);
    value(words, "memory_type", &at->memory_type);
    value(words, "managed", &at->is_managed);
    number(words, 0, "ordinal", &at->device_ordinal);
    address(words, "range", &at->range_start);
    value(words, "range_bytes", &at->range_size);
    address(words, "block", &at->mapping_base);
    value(words, "block_bytes", &at->mapping_size);
    name(words, 0, "buffer", Kind::buffer, &at->buffer_id);
    value(words, "handle_types", &at->allowed_handle_types);
    value(words, "ipc", &at->is_legacy_ipc_capable);
  }

  Transcript::State& state_;
  const driver::CudaCalls* const driver_;
  CanonicalNames& names_;
  std::map<int, int> ordinals_;  ///< by the driver's name of the device
  std::map<void*, std::vector<Copy>> pending_;
};

}  // namespace

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

std::shared_ptr<const driver::CudaCalls> make_cuda(Transcript::State& state) {
  const auto made = std::make_shared<TranscriptCuda>(state);
  return {made, &made->calls()};
}

}  // namespace gdrkit::fakes
