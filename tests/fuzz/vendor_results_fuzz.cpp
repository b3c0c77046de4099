// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A driver and a libcuda that answer nonsense: any bytes in any structure they return, any failure. The rm backend must
// not hand out a mapping that it saw to be wrong, must give everything back, and must not touch the user's memory.
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

/// One lie: what the n-th answer is changed to.
struct Lie {
  std::uint8_t call;
  std::uint8_t where;  ///< which of the buffers an answer has; 0xff: the call fails
  std::uint16_t offset;
  std::uint32_t value;
  std::uint8_t width;  ///< 1, 4 or 8 bytes
};

/// The input: two bytes that choose the scene and the driver, then nine bytes for each lie.
class Lies {
 public:
  Lies(const std::uint8_t* data, std::size_t size) {
    for (std::size_t at = 2; at + 9 <= size; at += 9) {
      lies_.push_back(
          {data[at], data[at + 1], get<std::uint16_t>(data, at + 2), get<std::uint32_t>(data, at + 4), data[at + 8]});
    }
  }

  /// Begins the next answer: 0, or the failure it is to be instead.
  int begin() {
    ++call_;
    for (const Lie& lie : lies_) {
      if (lie.call == call_ && lie.where == 0xff) return lie.value == 0 ? 1 : static_cast<int>(lie.value % 1000);
    }
    return 0;
  }
  /// Changes the bytes of one buffer of the answer.
  bool tell(std::uint8_t where, void* bytes, std::size_t size) const {
    bool is_changed = false;
    for (const Lie& lie : lies_) {
      if (lie.call != call_ || lie.where % 4 != where || lie.where == 0xff || size == 0) continue;
      const std::size_t width = lie.width % 3 == 0 ? 1 : lie.width % 3 == 1 ? 4 : 8;
      const std::uint64_t value = lie.value;
      const std::size_t at = lie.offset % size;
      std::memcpy(static_cast<std::uint8_t*>(bytes) + at, &value, std::min(width, size - at));
      is_changed = true;
    }
    return is_changed;
  }
  bool are_attributes_changed = false;

 private:
  std::vector<Lie> lies_;
  std::uint8_t call_ = 0xff;
};

class LyingSystem final : public driver::System {
 public:
  LyingSystem(fakes::FakeRm& inner, Lies& lies) : inner_(inner), lies_(lies) {}

  int open(const char* path, int flags) noexcept override { return inner_.open(path, flags); }
  int close(int fd) noexcept override { return inner_.close(fd); }
  int mmap(void* wanted, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    return inner_.mmap(wanted, length, protection, flags, fd, offset, mapped);
  }
  int munmap(void* address, std::size_t length) noexcept override { return inner_.munmap(address, length); }
  int access(const char* path, int mode) noexcept override { return inner_.access(path, mode); }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return inner_.madvise(address, length, advice);
  }

  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    if (const int failure = lies_.begin(); failure != 0) return -failure;
    const int result = inner_.ioctl(fd, request, argument);
    if (_IOC_NR(request) == fakes::command::rm_control) {
      auto* parameters = reinterpret_cast<std::uint8_t*>(get<std::uintptr_t>(argument, 16));
      const auto size = get<std::uint32_t>(argument, 24);
      if (get<std::uint32_t>(argument, 8) == fakes::control_command::surface_info) {
        lies_.tell(2, reinterpret_cast<void*>(get<std::uintptr_t>(parameters, 8)),
                   8 * std::size_t{get<std::uint32_t>(parameters, 0)});
      }
      lies_.tell(1, parameters, size);
    }
    lies_.tell(0, argument, _IOC_SIZE(request));
    return result;
  }
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    if (const int failure = lies_.begin(); failure != 0) return -failure;
    const ssize_t size = inner_.read_text(path, buffer, capacity);
    if (size > 0) lies_.tell(0, buffer, static_cast<std::size_t>(size));
    return size;
  }

 private:
  fakes::FakeRm& inner_;
  Lies& lies_;
};

class LyingCuda final : public fakes::CudaTable<LyingCuda> {
 public:
  LyingCuda(fakes::FakeCuda& inner, Lies& lies) : CudaTable(inner.calls()), lies_(lies) {}

  template <class Call>
  int around(const char*, Call call) noexcept {
    return call();
  }
  int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
    fakes::PointerAnswers answers;
    const int result = driver::pointer_attributes(*inner_, address, &answers.attributes);
    const int told = answer(result, &answers.attributes, sizeof answers.attributes, &lies_.are_attributes_changed);
    return told == 0 ? answers.put(count, numbers, targets) : told;
  }
  int device_get_attribute(int* value, int attribute, int device) noexcept {
    return answer(inner_->device_get_attribute(value, attribute, device), value, sizeof *value);
  }
  int device_get_pci_bus_id(char* text, int capacity, int device) noexcept {
    const int result = inner_->device_get_pci_bus_id(text, capacity, device);
    return answer(result, text, std::strlen(text));
  }
  int device_get_uuid(void* uuid, int device) noexcept {
    return answer(inner_->device_get_uuid(uuid, device), uuid, sizeof(driver::CudaUuid));
  }
  int ctx_get_current(void** context) noexcept {
    return answer(inner_->ctx_get_current(context), context, sizeof *context);
  }
  int primary_ctx_get_state(int device, unsigned* flags, int* active) noexcept {
    return answer(inner_->primary_ctx_get_state(device, flags, active), active, sizeof *active);
  }
  int export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                    driver::ObservedExport* observed) noexcept {
    *observed = {};
    if (const int failure = lies_.begin(); failure != 0) return failure;
    const int result = inner_->export_dmabuf(address, size, flags, observed);
    for (auto& seen : observed->ioctls) {
      lies_.tell(0, seen.argument.data(), seen.argument.size());
      if (lies_.tell(1, &seen.result, sizeof seen.result)) seen.result = -(seen.result & 0xfff);
      lies_.tell(2, &seen.request, sizeof seen.request);
    }
    std::uint8_t times = 1;
    if (lies_.tell(3, &times, 1) && !observed->ioctls.empty())
      observed->ioctls.resize(times % 4, observed->ioctls.front());
    return result;
  }
  int ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept {
    return answer(inner_->ipc_get_mem_handle(handle, address), handle, sizeof(driver::CudaIpcHandle));
  }
  int stream_synchronize(void* stream) noexcept {
    const int failure = lies_.begin();
    const int result = inner_->stream_synchronize(stream);
    if (gathered_ != nullptr) lies_.tell(0, gathered_, gathered_bytes_);
    gathered_ = nullptr;
    return failure != 0 ? failure : result;
  }
  int memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept {
    if (const int failure = lies_.begin(); failure != 0) return failure;
    const int result = inner_->memcpy_2d_async(copy, stream);
    gathered_ = result == 0 ? copy->target_host : nullptr;
    gathered_bytes_ = copy->width * copy->height;
    return result;
  }

 private:
  int answer(int result, void* value, std::size_t size, bool* is_changed = nullptr) {
    if (const int failure = lies_.begin(); failure != 0) return failure;
    const bool changed = result == 0 && lies_.tell(0, value, size);
    if (changed && is_changed != nullptr) *is_changed = true;
    return result;
  }

  Lies& lies_;
  void* gathered_ = nullptr;
  std::size_t gathered_bytes_ = 0;
};

struct Scene {
  Scene(std::uint8_t which, std::uint8_t version)
      : rm(fakes::driver_models()[version % fakes::driver_models().size()], {fakes::make_gpu(0), fakes::make_gpu(1)}),
        cuda(rm) {
    bytes = part_bytes;
    // Another allocation with content of its own, for wrong handles to lead to.
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

/// What a lying driver cannot bring about.
bool is_own_fault(const std::string& violation) {
  return violation.find("not open") != std::string::npos || violation.find("not mapped") != std::string::npos ||
         violation.find("user's memory") != std::string::npos || violation.find("default stream") != std::string::npos;
}

void use(Scene& scene, LyingSystem& system, LyingCuda& cuda, const Lies& lies,
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
  if (mapped->verification == backend::Verification::content && !lies.are_attributes_changed) {
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
  Lies lies(data, size);
  LyingSystem system(scene.rm, lies);
  LyingCuda cuda(scene.cuda, lies);
  use(scene, system, cuda, lies, content);
  FUZZ_CHECK(scene.rm.census() == fakes::Census());
  FUZZ_CHECK(scene.cuda.census() == fakes::CudaCensus());
  FUZZ_CHECK(scene.cuda.read(scene.address, scene.bytes) == content);
  for (const std::string& violation : scene.rm.violations().list()) FUZZ_CHECK(!is_own_fault(violation));
  return 0;
}

std::vector<fuzz::Bytes> gdrkit::fuzz::seeds() {
  std::vector<Bytes> seeds;
  // The truth in every scene; then one lie of each sort at each of the first sixty answers.
  for (std::uint8_t scene = 0; scene < scenes; ++scene) seeds.push_back({scene, static_cast<std::uint8_t>(scene * 2)});
  for (std::uint8_t call = 0; call < 60; ++call) {
    for (const std::uint8_t where :
         {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{0xff}}) {
      const auto scene = static_cast<std::uint8_t>((call + where) % scenes);
      seeds.push_back(
          {scene, std::uint8_t{10}, call, where, static_cast<std::uint8_t>(call * 4 % 56), 0, 1, 0, 0, 0, 1});
    }
  }
  // An export that names the other allocation, or another place in the right one, in either layout.
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
