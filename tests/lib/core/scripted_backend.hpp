// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A backend that a test controls with a script: its own memory, failures and pauses in each call, wrong results.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>

#include "backend/backend.hpp"

namespace gdrkit::tests {

inline constexpr std::uint64_t scripted_device_start = 0x7000'0000'0000;
inline constexpr std::size_t scripted_device_bytes = 1 << 20;
inline constexpr std::size_t scripted_page_bytes = 65536;

/// The device memory and the behavior of each call. Shared by the test and the backend of the context.
struct Script {
  Script() {
    void* memory = ::mmap(nullptr, scripted_device_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    device = memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
  }
  ~Script() { ::munmap(device, scripted_device_bytes); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  std::uint8_t* device = nullptr;  ///< device address scripted_device_start

  backend::Traits traits{"scripted", scripted_page_bytes, true, false, false};
  cpu::MappingType type = cpu::MappingType::write_combining;
  backend::Verification verification = backend::Verification::content;

  // The errno to return; 0 for success. Teardown releases its object even if it fails.
  std::atomic<int> pin_error{0}, map_error{0}, unmap_error{0}, unpin_error{0};
  std::atomic<int> allocate_error{0}, buffer_copy_error{0}, buffer_free_error{0};
  std::atomic<bool> is_invalidated{false};
  bool keeps_memory = true;  ///< of the pins; false: is_invalidated counts
  // Called at the start of the backend's call.
  std::function<void()> on_pin = [] {}, on_map = [] {}, on_unmap = [] {}, on_unpin = [] {}, on_close = [] {},
                        on_buffer_free = [] {};
  // Changes a result before it is returned.
  std::function<void(std::uint64_t* page_address, std::size_t* page_bytes)> bend_pin = [](auto*, auto*) {};
  std::function<void(backend::MappedRegion*)> bend_map = [](auto*) {};
  std::function<void(std::uint64_t* address, std::size_t* size_bytes)> bend_buffer = [](auto*, auto*) {};

  std::mutex mutex;  ///< guards the three below
  backend::PinRequest last_request;
  std::size_t last_map_bytes = 0;
  cpu::MappingType last_map_type = cpu::MappingType::none;

  std::atomic<int> backends{0}, pins{0}, mappings{0}, buffers{0};  ///< live objects
  std::atomic<int> pin_calls{0}, map_calls{0}, unmap_calls{0}, unpin_calls{0};
  std::atomic<int> allocate_calls{0}, buffer_copy_calls{0}, buffer_free_calls{0}, last_device{-1};
  std::atomic<int> abandoned_backends{0}, abandoned_pins{0}, abandoned_buffers{0};
};

/// Every buffer starts at the start of the device memory.
class ScriptedBuffer final : public backend::BackendBuffer {
 public:
  ScriptedBuffer(Script& script, std::size_t size_bytes) : script_(script) {
    address_ = scripted_device_start;
    size_bytes_ = size_bytes;
    script_.bend_buffer(&address_, &size_bytes_);
    ++script_.buffers;
  }
  ~ScriptedBuffer() override {
    if (!is_gone_) (void)free();
  }

  base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept override {
    ++script_.buffer_copy_calls;
    if (const int error = script_.buffer_copy_error) return base::fail(error, "scripted: the driver's copy fails");
    std::memcpy(script_.device + offset, source, size_bytes);
    return {};
  }
  base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept override {
    ++script_.buffer_copy_calls;
    if (const int error = script_.buffer_copy_error) return base::fail(error, "scripted: the driver's copy fails");
    std::memcpy(target, script_.device + offset, size_bytes);
    return {};
  }
  base::Status free() noexcept override {
    script_.on_buffer_free();
    ++script_.buffer_free_calls;
    if (!is_gone_) --script_.buffers;
    is_gone_ = true;
    if (const int error = script_.buffer_free_error) return base::fail(error, "scripted: free fails");
    return {};
  }
  void abandon_after_fork() noexcept override { ++script_.abandoned_buffers; }

 private:
  Script& script_;
  bool is_gone_ = false;
};

class ScriptedPin final : public backend::BackendPin {
 public:
  ScriptedPin(Script& script, std::uint64_t page_address, std::size_t page_bytes) : script_(script) {
    offset_ = page_address - scripted_device_start;
    script_.bend_pin(&page_address, &page_bytes);
    page_address_ = page_address;
    page_bytes_ = page_bytes;
    ++script_.pins;
  }
  ~ScriptedPin() override {
    if (!is_gone_) (void)unpin();
  }

  base::Result<backend::MappedRegion> map(std::size_t size_bytes, cpu::MappingType requested) noexcept override {
    script_.on_map();
    ++script_.map_calls;
    {
      const std::lock_guard lock(script_.mutex);
      script_.last_map_bytes = size_bytes;
      script_.last_map_type = requested;
    }
    if (const int error = script_.map_error) return base::fail(error, "scripted: map fails");
    is_mapped_ = true;
    ++script_.mappings;
    backend::MappedRegion region{script_.device + offset_, (size_bytes + 4095) & ~std::size_t{4095}, script_.type,
                                 script_.verification};
    script_.bend_map(&region);
    return region;
  }

  base::Status unmap() noexcept override {
    script_.on_unmap();
    ++script_.unmap_calls;
    if (is_mapped_) --script_.mappings;
    is_mapped_ = false;
    if (const int error = script_.unmap_error) return base::fail(error, "scripted: unmap fails");
    return {};
  }

  base::Status unpin() noexcept override {
    script_.on_unpin();
    ++script_.unpin_calls;
    if (is_mapped_) --script_.mappings;
    is_mapped_ = false;
    if (!is_gone_) --script_.pins;
    is_gone_ = true;
    if (const int error = script_.unpin_error) return base::fail(error, "scripted: unpin fails");
    return {};
  }

  bool is_invalidated() const noexcept override { return script_.is_invalidated; }
  bool keeps_memory() const noexcept override { return script_.keeps_memory; }
  void abandon_after_fork() noexcept override { ++script_.abandoned_pins; }

 private:
  Script& script_;
  std::uint64_t offset_ = 0;
  bool is_mapped_ = false;
  bool is_gone_ = false;
};

class ScriptedBackend final : public backend::Backend {
 public:
  explicit ScriptedBackend(Script& script) : script_(script) { ++script_.backends; }
  ~ScriptedBackend() override {
    script_.on_close();
    --script_.backends;
  }

  const backend::Traits& traits() const noexcept override { return script_.traits; }

  base::Result<std::unique_ptr<backend::BackendPin>> pin(const backend::PinRequest& request) noexcept override {
    script_.on_pin();
    ++script_.pin_calls;
    {
      const std::lock_guard lock(script_.mutex);
      script_.last_request = request;
    }
    if (const int error = script_.pin_error) return base::fail(error, "scripted: pin fails");
    if (request.address < scripted_device_start ||
        request.address + request.size_bytes > scripted_device_start + scripted_device_bytes) {
      return base::fail(EINVAL, "scripted: not device memory");
    }
    const std::uint64_t mask = scripted_page_bytes - 1;
    const std::uint64_t first = request.address & ~mask;
    const std::uint64_t end = (request.address + request.size_bytes + mask) & ~mask;
    return std::unique_ptr<backend::BackendPin>(new ScriptedPin(script_, first, end - first));
  }

  base::Result<std::unique_ptr<backend::BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override {
    ++script_.allocate_calls;
    script_.last_device = device;
    if (const int error = script_.allocate_error) return base::fail(error, "scripted: allocate fails");
    return std::unique_ptr<backend::BackendBuffer>(new ScriptedBuffer(script_, size_bytes));
  }

  void abandon_after_fork() noexcept override { ++script_.abandoned_backends; }

 private:
  Script& script_;
};

}  // namespace gdrkit::tests
