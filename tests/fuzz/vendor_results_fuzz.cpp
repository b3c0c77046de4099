// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A driver and a libcuda that return arbitrary bytes in any structure, or any failure. The rm backend must not return a
// mapping that its checks found wrong, must release everything, and must not write to the user's memory.
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "backend/rm/rm_backend.hpp"
#include "fakes/fake_cuda.hpp"
#include "fakes/fake_rm.hpp"
#include "fakes/wire.hpp"
#include "fuzz_target.hpp"

using namespace gdrkit;
using fakes::get;
using fakes::put;

namespace {

constexpr std::size_t part_bytes = 2 * 65536;
constexpr int scenes = 6;

/// One corruption: the change of the n-th result.
struct Corruption {
  std::uint8_t call;
  std::uint8_t where;  ///< index of the buffer in the result; 0xff: the call fails
  std::uint16_t offset;
  std::uint32_t value;
  std::uint8_t width;  ///< 1, 4 or 8 bytes
};

/// The input: two bytes that select the scene and the driver, then nine bytes for each corruption.
class Corruptions {
 public:
  Corruptions(const std::uint8_t* data, std::size_t size) {
    for (std::size_t at = 2; at + 9 <= size; at += 9) {
      corruptions_.push_back(
          {data[at], data[at + 1], get<std::uint16_t>(data, at + 2), get<std::uint32_t>(data, at + 4), data[at + 8]});
    }
  }

  /// Begins the next result. Returns 0, or the failure that replaces it.
  int begin() {
    ++call_;
    for (const Corruption& corruption : corruptions_) {
      if (corruption.call == call_ && corruption.where == 0xff)
        return corruption.value == 0 ? 1 : static_cast<int>(corruption.value % 1000);
    }
    return 0;
  }
  /// Changes the bytes of one buffer of the result.
  bool corrupt(std::uint8_t where, void* bytes, std::size_t size) const {
    bool is_changed = false;
    for (const Corruption& corruption : corruptions_) {
      if (corruption.call != call_ || corruption.where % 4 != where || corruption.where == 0xff || size == 0) continue;
      const std::size_t width = corruption.width % 3 == 0 ? 1 : corruption.width % 3 == 1 ? 4 : 8;
      const std::uint64_t value = corruption.value;
      const std::size_t at = corruption.offset % size;
      std::memcpy(static_cast<std::uint8_t*>(bytes) + at, &value, std::min(width, size - at));
      is_changed = true;
    }
    return is_changed;
  }
  bool are_attributes_changed = false;

 private:
  std::vector<Corruption> corruptions_;
  std::uint8_t call_ = 0xff;
};

class CorruptingSystem final : public driver::System {
 public:
  CorruptingSystem(fakes::FakeRm& inner, Corruptions& corruptions) : inner_(inner), corruptions_(corruptions) {}

  int open(const char* path, int flags) noexcept override { return inner_.open(path, flags); }
  int close(int fd) noexcept override { return inner_.close(fd); }
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    return inner_.mmap(hint, length, protection, flags, fd, offset, mapped);
  }
  int munmap(void* address, std::size_t length) noexcept override { return inner_.munmap(address, length); }
  int access(const char* path, int mode) noexcept override { return inner_.access(path, mode); }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return inner_.madvise(address, length, advice);
  }

  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    if (const int failure = corruptions_.begin(); failure != 0) return -failure;
    const int result = inner_.ioctl(fd, request, argument);
    if (_IOC_NR(request) == fakes::command::rm_control) {
      auto* parameters = reinterpret_cast<std::uint8_t*>(get<std::uintptr_t>(argument, 16));
      const auto size = get<std::uint32_t>(argument, 24);
      if (get<std::uint32_t>(argument, 8) == fakes::control_command::surface_info) {
        corruptions_.corrupt(2, reinterpret_cast<void*>(get<std::uintptr_t>(parameters, 8)),
                             8 * std::size_t{get<std::uint32_t>(parameters, 0)});
      }
      corruptions_.corrupt(1, parameters, size);
    }
    corruptions_.corrupt(0, argument, _IOC_SIZE(request));
    return result;
  }
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    if (const int failure = corruptions_.begin(); failure != 0) return -failure;
    const ssize_t size = inner_.read_text(path, buffer, capacity);
    if (size > 0) corruptions_.corrupt(0, buffer, static_cast<std::size_t>(size));
    return size;
  }

 private:
  fakes::FakeRm& inner_;
  Corruptions& corruptions_;
};

class CorruptingCuda final : public fakes::CudaTable<CorruptingCuda> {
 public:
  CorruptingCuda(fakes::FakeCuda& inner, Corruptions& corruptions)
      : CudaTable(inner.calls()), corruptions_(corruptions) {}

  template <class Call>
  int around(const char*, Call call) noexcept {
    return call();
  }
  int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
    fakes::PointerResults results;
    const int result = driver::pointer_attributes(*inner_, address, &results.attributes);
    const int reported =
        corrupted(result, &results.attributes, sizeof results.attributes, &corruptions_.are_attributes_changed);
    return reported == 0 ? results.put(count, numbers, targets) : reported;
  }
  int device_get_attribute(int* value, int attribute, int device) noexcept {
    return corrupted(inner_->device_get_attribute(value, attribute, device), value, sizeof *value);
  }
  int device_get_pci_bus_id(char* text, int capacity, int device) noexcept {
    const int result = inner_->device_get_pci_bus_id(text, capacity, device);
    return corrupted(result, text, std::strlen(text));
  }
  int device_get_uuid(void* uuid, int device) noexcept {
    return corrupted(inner_->device_get_uuid(uuid, device), uuid, sizeof(driver::CudaUuid));
  }
  int ctx_get_current(void** context) noexcept {
    return corrupted(inner_->ctx_get_current(context), context, sizeof *context);
  }
  int primary_ctx_get_state(int device, unsigned* flags, int* active) noexcept {
    return corrupted(inner_->primary_ctx_get_state(device, flags, active), active, sizeof *active);
  }
  int export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                    driver::ObservedExport* observed) noexcept {
    *observed = {};
    if (const int failure = corruptions_.begin(); failure != 0) return failure;
    const int result = inner_->export_dmabuf(address, size, flags, observed);
    for (auto& seen : observed->ioctls) {
      corruptions_.corrupt(0, seen.argument.data(), seen.argument.size());
      if (corruptions_.corrupt(1, &seen.result, sizeof seen.result)) seen.result = -(seen.result & 0xfff);
      corruptions_.corrupt(2, &seen.request, sizeof seen.request);
    }
    std::uint8_t times = 1;
    if (corruptions_.corrupt(3, &times, 1) && !observed->ioctls.empty())
      observed->ioctls.resize(times % 4, observed->ioctls.front());
    return result;
  }
  int ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept {
    return corrupted(inner_->ipc_get_mem_handle(handle, address), handle, sizeof(driver::CudaIpcHandle));
  }
  int stream_synchronize(void* stream) noexcept {
    const int failure = corruptions_.begin();
    const int result = inner_->stream_synchronize(stream);
    if (gathered_ != nullptr) corruptions_.corrupt(0, gathered_, gathered_bytes_);
    gathered_ = nullptr;
    return failure != 0 ? failure : result;
  }
  int memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept {
    if (const int failure = corruptions_.begin(); failure != 0) return failure;
    const int result = inner_->memcpy_2d_async(copy, stream);
    gathered_ = result == 0 ? copy->target_host : nullptr;
    gathered_bytes_ = copy->width * copy->height;
    return result;
  }

 private:
  int corrupted(int result, void* value, std::size_t size, bool* is_changed = nullptr) {
    if (const int failure = corruptions_.begin(); failure != 0) return failure;
    const bool changed = result == 0 && corruptions_.corrupt(0, value, size);
    if (changed && is_changed != nullptr) *is_changed = true;
    return result;
  }

  Corruptions& corruptions_;
  void* gathered_ = nullptr;
  std::size_t gathered_bytes_ = 0;
};

struct Scene {
  Scene(std::uint8_t which, std::uint8_t version)
      : rm(fakes::driver_models()[version % fakes::driver_models().size()], {fakes::make_gpu(0), fakes::make_gpu(1)}),
        cuda(rm) {
    bytes = part_bytes;
    // Another allocation with its own content, as the target of wrong handles.
    cuda.fill_pattern(cuda.malloc_at(part_bytes, 0, part_bytes), part_bytes, 99);
    switch (which % scenes) {
      case 0: address = cuda.malloc_at(4 * part_bytes, part_bytes + 512, bytes); break;
      case 1: address = cuda.malloc_at(4 * part_bytes, 0, bytes); break;  // plain
      case 2:
        bytes = 3 * part_bytes;
        address = cuda.vmm({part_bytes, part_bytes, part_bytes}, false, 16 * part_bytes);
        break;
      case 3:
        bytes = 3 * part_bytes;
        address = cuda.vmm({part_bytes, part_bytes, part_bytes}, true, 16 * part_bytes);
        cuda.is_hook_installable = false;
        break;
      case 4:
        (void)cuda.pool_malloc(part_bytes);
        address = cuda.pool_malloc(bytes);
        break;
      default:
        address = cuda.malloc_at(4 * part_bytes, part_bytes, bytes);
        cuda.is_hook_installable = false;
        settings.allow_ipc_handle = true;
        break;
    }
    if (which % scenes != 1) cuda.fill_pattern(address, bytes);
  }

  fakes::FakeRm rm;
  fakes::FakeCuda cuda;
  base::Settings settings;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Returns whether a violation is an error of the backend: corrupted results cannot cause it.
bool is_own_fault(const std::string& violation) {
  return violation.find("not open") != std::string::npos || violation.find("not mapped") != std::string::npos ||
         violation.find("user's memory") != std::string::npos || violation.find("default stream") != std::string::npos;
}

void use(Scene& scene, CorruptingSystem& system, CorruptingCuda& cuda, const Corruptions& corruptions,
         const std::vector<std::uint8_t>& content) {
  auto backend = backend::rm::open_rm_on(system, cuda, scene.settings);
  if (!backend) return;
  auto pin = (*backend)->pin({scene.address, scene.bytes, false, true});
  if (!pin) return;
  auto mapped = (*pin)->map((*pin)->page_bytes(), backend::MappingType::none);
  if (!mapped) {
    FUZZ_CHECK(mapped.error().errno_value > 0 && mapped.error().text()[0] != '\0');
    return;
  }
  FUZZ_CHECK(mapped->verification != backend::Verification::none);
  FUZZ_CHECK(mapped->size_bytes == (*pin)->page_bytes());
  if (mapped->verification == backend::Verification::content && !corruptions.are_attributes_changed) {
    const auto* own = static_cast<const std::uint8_t*>(mapped->address) + (scene.address - (*pin)->page_address());
    FUZZ_CHECK(std::memcmp(own, content.data(), content.size()) == 0);
  }
  (void)(*pin)->unmap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  Scene scene(data[0], data[1]);
  const auto content = scene.cuda.read(scene.address, scene.bytes);
  Corruptions corruptions(data, size);
  CorruptingSystem system(scene.rm, corruptions);
  CorruptingCuda cuda(scene.cuda, corruptions);
  use(scene, system, cuda, corruptions, content);
  FUZZ_CHECK(scene.rm.census() == fakes::Census());
  FUZZ_CHECK(scene.cuda.census() == fakes::CudaCensus());
  FUZZ_CHECK(scene.cuda.read(scene.address, scene.bytes) == content);
  for (const std::string& violation : scene.rm.violations().list()) FUZZ_CHECK(!is_own_fault(violation));
  return 0;
}

std::vector<fuzz::Bytes> gdrkit::fuzz::seeds() {
  std::vector<Bytes> seeds;
  // No corruption in every scene; then one corruption of each kind at each of the first sixty results.
  for (std::uint8_t scene = 0; scene < scenes; ++scene) seeds.push_back({scene, static_cast<std::uint8_t>(scene * 2)});
  for (std::uint8_t call = 0; call < 60; ++call) {
    for (const std::uint8_t where :
         {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{0xff}}) {
      const auto scene = static_cast<std::uint8_t>((call + where) % scenes);
      seeds.push_back(
          {scene, std::uint8_t{10}, call, where, static_cast<std::uint8_t>(call * 4 % 56), 0, 1, 0, 0, 0, 1});
    }
  }
  // An export that names the other allocation, or another offset in the right one, in either layout.
  constexpr std::uint32_t other_object = 0x5c000096, other_offset = 0x10000;
  const auto low = [](std::uint32_t word, int byte) { return static_cast<std::uint8_t>(word >> 8 * byte); };
  for (std::uint8_t call = 10; call < 40; ++call) {
    for (const auto& [version, handles, offsets] : {std::array{0u, 32u, 544u}, std::array{10u, 36u, 552u}}) {
      for (const auto& [at, value] : {std::array{handles, other_object}, std::array{offsets, other_offset}}) {
        for (const std::uint8_t scene : {std::uint8_t{0}, std::uint8_t{2}}) {
          seeds.push_back({scene, low(version, 0), call, 0, low(at, 0), low(at, 1), low(value, 0), low(value, 1),
                           low(value, 2), low(value, 3), 1});
        }
      }
    }
  }
  return seeds;
}
