// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/replay.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "fakes/cuda_table.hpp"
#include "fakes/recording/call_words.hpp"
#include "fakes/recording/canonical_names.hpp"
#include "fakes/recording/device_view.hpp"
#include "fakes/recording/ioctl_words.hpp"

namespace gdrkit::fakes {

class Replay::State {
 public:
  explicit State(Conversation recorded) : conversation(std::move(recorded)) {
    for (const Words& region : conversation.header_lines("region"))
      names.add_region(region.number("first"), region.number("bytes"));
  }

  /// Returns the recorded result, or nullptr if another call was recorded.
  const Words* expect(const std::string& input) {
    if (!failure.empty()) return nullptr;
    if (next == conversation.calls.size()) {
      failure = "after the last recorded call: " + input;
      return nullptr;
    }
    const Conversation::Call& call = conversation.calls[next];
    if (call.input != input) {
      failure = "call " + std::to_string(next) + "\n  recorded " + call.input + "\n  now      " + input;
      return nullptr;
    }
    ++next;
    output = Words(call.output);
    return &output;
  }

  Conversation conversation;
  CanonicalNames names{true};
  DeviceView view;
  std::size_t next = 0;
  Words output;
  std::string failure;
};

class Replay::ReplaySystem final : public driver::System {
 public:
  explicit ReplaySystem(State& state) : state_(state), names_(state.names) {}

  int open(const char* path, int flags) noexcept override {
    const Words* output = state_.expect(call_words::open(path, flags));
    if (output == nullptr) return -EIO;
    const int result = static_cast<int>(output->signed_number("result"));
    return result >= 0 ? names_.descriptor(result) : result;
  }
  int close(int fd) noexcept override {
    const int result = plain(call_words::close(names_, fd));
    names_.forget(CanonicalNames::Kind::descriptor, static_cast<std::uint32_t>(fd));
    return result;
  }
  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    const Words* output = state_.expect(call_words::ioctl(names_, fd, request, argument));
    if (output == nullptr) return -EIO;
    write_ioctl_bytes(*output, request, argument);
    // Names the numbers in the result in the order of the recording.
    Words again;
    add_ioctl_bytes(again, request, argument, names_);
    state_.view.saw_ioctl(request, argument);
    call_words::forget_after_ioctl(names_, request, argument);
    return static_cast<int>(output->signed_number("result"));
  }
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    const Words* output = state_.expect(call_words::mmap(names_, hint, length, protection, flags, fd, offset));
    if (output == nullptr) return -EIO;
    const int result = static_cast<int>(output->signed_number("result"));
    if (result != 0) return result;
    const int kind = (flags & ~(MAP_SHARED | MAP_PRIVATE)) | MAP_PRIVATE | MAP_ANONYMOUS;
    void* made = ::mmap(hint, length, protection, kind, -1, 0);
    if (made == MAP_FAILED) return -errno;
    names_.add_mapping(made, length);
    if (fd >= 0) state_.view.saw_mmap(fd, made, length);
    *mapped = made;
    return 0;
  }
  int munmap(void* address, std::size_t length) noexcept override {
    const int result = plain(call_words::munmap(names_, address, length));
    if (result != 0) return result;
    names_.remove_mapping(address);
    state_.view.saw_munmap(address, length);
    return ::munmap(address, length) == 0 ? 0 : -errno;
  }
  int access(const char* path, int mode) noexcept override { return plain(call_words::access(path, mode)); }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return plain(call_words::madvise(names_, address, length, advice));
  }
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    const Words* output = state_.expect(call_words::read_text(path, capacity));
    if (output == nullptr) return -EIO;
    const auto text = output->bytes("text");
    if (text.size() < capacity) {
      std::copy(text.begin(), text.end(), buffer);
      buffer[text.size()] = '\0';
    }
    return output->signed_number("result");
  }

 private:
  int plain(const std::string& input) {
    const Words* output = state_.expect(input);
    return output == nullptr ? -EIO : static_cast<int>(output->signed_number("result"));
  }

  State& state_;
  CanonicalNames& names_;
};

class Replay::ReplayCuda final : public CudaTable<ReplayCuda> {
 public:
  explicit ReplayCuda(State& state) : state_(state), names_(state.names) {}

  int driver_get_version(int* version) noexcept { return number("cuda.driver_get_version", "version", version); }
  int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
    if (count == 1) return driver::cuda_error_not_supported;  // the host address, for coherent links only
    const Words* output = state_.expect(call_words::of_address(names_, "pointer_get_attributes", address));
    if (output == nullptr) return unknown;
    const int result = result_of(*output);
    if (result != 0) return result;
    const PointerResults results{call_words::attributes_of(*output)};
    Words again;
    call_words::add_attributes(again, names_, results.attributes);
    state_.view.saw_attributes(address, results.attributes);
    return results.put(count, numbers, targets);
  }
  int device_get(int* device, int ordinal) noexcept { return *device = ordinal, 0; }
  int device_get_attribute(int* value, int attribute, int ordinal) noexcept {
    if (attribute == call_words::coherent_link_attribute) return *value = 0, 0;
    return number(call_words::device_get_attribute(ordinal, attribute), "value", value);
  }
  int device_get_pci_bus_id(char* text, int capacity, int ordinal) noexcept {
    const Words* output = state_.expect(call_words::of_device("device_get_pci_bus_id", ordinal));
    if (output == nullptr) return unknown;
    std::strncpy(text, output->text("text").c_str(), static_cast<std::size_t>(capacity));
    return result_of(*output);
  }
  int device_get_uuid(void* uuid, int ordinal) noexcept {
    const Words* output = state_.expect(call_words::of_device("device_get_uuid", ordinal));
    if (output == nullptr) return unknown;
    return brought(*output, "uuid", uuid, sizeof(driver::CudaUuid));
  }
  int ctx_get_current(void** context) noexcept {
    return named("cuda.ctx_get_current", "context", CanonicalNames::Kind::context, context);
  }
  int ctx_push_current(void* context) noexcept {
    return plain(call_words::of_context(names_, "ctx_push_current", context));
  }
  int ctx_pop_current(void** context) noexcept {
    *context = nullptr;  // the library does not use it
    return plain("cuda.ctx_pop_current");
  }
  int primary_ctx_get_state(int ordinal, unsigned*, int* active) noexcept {
    return number(call_words::of_device("primary_ctx_is_active", ordinal), "active", active);
  }
  int primary_ctx_retain(void** context, int ordinal) noexcept {
    return named(call_words::of_device("primary_ctx_retain", ordinal), "context", CanonicalNames::Kind::context,
                 context);
  }
  int primary_ctx_release(int ordinal) noexcept { return plain(call_words::of_device("primary_ctx_release", ordinal)); }
  int exchange_stream_capture_mode(int* mode) noexcept {
    return number(call_words::exchange_stream_capture_mode(*mode), "mode", mode);
  }
  int export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                    driver::ObservedExport* observed) noexcept {
    const Words* output = state_.expect(call_words::export_dmabuf(names_, address, size, flags));
    *observed = {};
    if (output == nullptr) return unknown;
    *observed = call_words::export_of(*output);
    Words again;
    call_words::add_export(again, names_, *observed);
    state_.view.saw_export(address, *observed);
    return result_of(*output);
  }
  int mem_retain_handle(std::uint64_t* handle, void* pointer) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const std::string input = call_words::of_address(names_, "mem_retain_allocation_handle", address);
    const int result = named(input, "handle", CanonicalNames::Kind::allocation, handle);
    if (result == 0) state_.view.saw_retained(address, *handle);
    return result;
  }
  int mem_release(std::uint64_t handle) noexcept {
    return plain(call_words::of_allocation(names_, "mem_release", handle));
  }
  int mem_export(void* target, std::uint64_t handle, int, unsigned long long) noexcept {
    int fd = -1;
    const int result = number(call_words::of_allocation(names_, "mem_export_to_fd", handle), "fd", &fd);
    if (result == 0) state_.view.saw_exported_file(handle, names_.descriptor(fd));
    std::memcpy(target, &fd, sizeof fd);
    return result;
  }
  int ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept {
    const Words* output = state_.expect(call_words::of_address(names_, "ipc_get_mem_handle", address));
    if (output == nullptr) return unknown;
    return brought(*output, "handle", handle, sizeof(driver::CudaIpcHandle));
  }
  int stream_create(void** stream, unsigned) noexcept {
    return named("cuda.stream_create_non_blocking", "stream", CanonicalNames::Kind::stream, stream);
  }
  int stream_destroy(void* stream) noexcept {
    const int result = plain(call_words::of_stream(names_, "stream_destroy", stream));
    names_.forget(CanonicalNames::Kind::stream, reinterpret_cast<std::uint64_t>(stream));
    return result;
  }
  int stream_synchronize(void* stream) noexcept {
    const Words* output = state_.expect(call_words::of_stream(names_, "stream_synchronize", stream));
    if (output == nullptr) return unknown;
    const auto gathered = output->all("gathered");
    std::size_t used = 0;
    for (const Copy& copy : pending_[stream]) {
      if (copy.target == nullptr) {
        state_.view.write(copy.address, copy.width, copy.width, copy.written);
      } else if (used < gathered.size()) {
        const auto bytes = from_hex(gathered[used++]);
        std::memcpy(copy.target, bytes.data(), std::min(bytes.size(), copy.width * copy.rows));
        state_.view.write(copy.address, copy.pitch, copy.width, bytes);
      }
    }
    pending_.erase(stream);
    return result_of(*output);
  }
  int memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept {
    const int result = plain(call_words::gather(names_, *copy, stream));
    if (result == 0) {
      pending_[stream].push_back(
          {copy->target_host, copy->source_device, copy->source_pitch, copy->width, copy->height, {}});
    }
    return result;
  }
  int memcpy_host_to_device_async(std::uint64_t target, const void* source, std::size_t size, void* stream) noexcept {
    const int result = plain(call_words::memcpy_htod(names_, target, source, size, stream));
    const auto* bytes = static_cast<const std::uint8_t*>(source);
    if (result == 0) pending_[stream].push_back({nullptr, target, size, size, 1, {bytes, bytes + size}});
    return result;
  }
  int mem_alloc_async(std::uint64_t* address, std::size_t size, void* stream) noexcept {
    const Words* output = state_.expect(call_words::mem_alloc_async(names_, size, stream));
    if (output == nullptr) return unknown;
    if (result_of(*output) == 0) {
      names_.add_region(output->number("region"), output->number("region_bytes"));
      *address = output->number("address");
    }
    return result_of(*output);
  }
  int mem_free_async(std::uint64_t address, void* stream) noexcept {
    return plain(call_words::mem_free_async(names_, address, stream));
  }

 private:
  static constexpr int unknown = 999;  // CUDA_ERROR_UNKNOWN
  struct Copy {
    void* target;  ///< null: to the device
    std::uint64_t address;
    std::size_t pitch, width, rows;
    std::vector<std::uint8_t> written;
  };

  static int result_of(const Words& output) { return static_cast<int>(output.signed_number("result")); }
  int plain(const std::string& input) {
    const Words* output = state_.expect(input);
    return output == nullptr ? unknown : result_of(*output);
  }
  int number(const std::string& input, const char* word, int* value) {
    const Words* output = state_.expect(input);
    if (output == nullptr) return unknown;
    if (result_of(*output) == 0) *value = static_cast<int>(output->signed_number(word));
    return result_of(*output);
  }
  int named(const std::string& input, const char* word, CanonicalNames::Kind kind, std::uint64_t* value) {
    const Words* output = state_.expect(input);
    if (output == nullptr) return unknown;
    if (result_of(*output) == 0) *value = names_.name(kind, output->number(word));
    return result_of(*output);
  }
  int named(const std::string& input, const char* word, CanonicalNames::Kind kind, void** value) {
    std::uint64_t number = 0;
    const int result = named(input, word, kind, &number);
    if (result == 0) *value = reinterpret_cast<void*>(number);
    return result;
  }
  static int brought(const Words& output, const char* word, void* target, std::size_t size) {
    const auto bytes = output.bytes(word);
    if (bytes.size() == size) std::memcpy(target, bytes.data(), size);
    return result_of(output);
  }

  State& state_;
  CanonicalNames& names_;
  std::map<void*, std::vector<Copy>> pending_;
};

Replay::Replay(Conversation conversation)
    : state_(std::make_unique<State>(std::move(conversation))),
      system_(std::make_unique<ReplaySystem>(*state_)),
      cuda_(std::make_unique<ReplayCuda>(*state_)) {}

Replay::~Replay() = default;

const driver::CudaCalls& Replay::cuda() const noexcept { return *cuda_; }

std::string Replay::failure() const {
  if (!state_->failure.empty()) return state_->failure;
  if (state_->next == state_->conversation.calls.size()) return "";
  return "recorded but not called: " + state_->conversation.calls[state_->next].input;
}

}  // namespace gdrkit::fakes
