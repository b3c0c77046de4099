// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RawRm: the driver's ioctls as raw bytes, to test a fake or real driver directly.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "driver/system.hpp"
#include "fakes/fake_gpu.hpp"
#include "fakes/rm_state.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {

/// Every call returns the status word; `last_result` is the result of the ioctl itself.
class RawRm {
 public:
  explicit RawRm(driver::System& rm) : rm_(rm), control_(rm.open("/dev/nvidiactl", O_RDWR)) {}

  [[nodiscard]] int control_file() const { return control_; }
  int last_result = 0;

  Handle add_client() {
    auto bytes = words<32>({0, 0, 0, rm_class::root});
    call(control_, command::rm_alloc, bytes);
    root = get<Handle>(bytes.data(), 8);
    return root;
  }
  std::uint32_t allocate(Handle parent, Handle object, std::uint32_t object_class, std::uint32_t instance) {
    auto parameters = words<56>({instance});
    auto bytes = words<32>({root, parent, object, object_class});
    put(bytes.data(), 16, parameters.data());
    call(control_, command::rm_alloc, bytes);
    // One of the two words, depending on the version; the other was passed as zero.
    return get<std::uint32_t>(bytes.data(), 24) | get<std::uint32_t>(bytes.data(), 28);
  }
  std::uint32_t free(Handle object) {
    auto bytes = words<16>({root, 0, object});
    call(control_, command::rm_free, bytes);
    return get<std::uint32_t>(bytes.data(), 12);
  }
  std::uint32_t duplicate(Handle parent, Handle object, Handle source_client, Handle source) {
    auto bytes = words<28>({root, parent, object, source_client, source});
    call(control_, command::rm_dup, bytes);
    return get<std::uint32_t>(bytes.data(), 24);
  }
  int open_device(const FakeGpu& gpu) {
    const int fd = rm_.open(gpu.node().c_str(), O_RDWR);
    link(fd);
    return fd;
  }
  int link(int fd) {
    auto bytes = words<4>({static_cast<std::uint32_t>(control_)});
    call(fd, command::register_fd, bytes);
    return last_result;
  }
  std::uint32_t map(Handle device, Handle memory, std::uint64_t offset, std::uint64_t length, int fd) {
    auto bytes = words<56>({root, device, memory});
    put(bytes.data(), 16, offset);
    put(bytes.data(), 24, length);
    put(bytes.data(), 48, fd);
    call(control_, command::rm_map, bytes);
    linear = get<std::uint64_t>(bytes.data(), 32);
    flags = get<std::uint32_t>(bytes.data(), 44);
    return get<std::uint32_t>(bytes.data(), 40);
  }
  std::uint32_t unmap(Handle device, Handle memory, std::uint64_t linear_address) {
    auto bytes = words<32>({root, device, memory});
    put(bytes.data(), 16, linear_address);
    call(control_, command::rm_unmap, bytes);
    return get<std::uint32_t>(bytes.data(), 24);
  }
  std::uint32_t control(Handle object, std::uint32_t command_word, void* parameters, std::uint32_t size) {
    auto bytes = words<32>({root, object, command_word});
    put(bytes.data(), 16, parameters);
    put(bytes.data(), 24, size);
    call(control_, command::rm_control, bytes);
    return get<std::uint32_t>(bytes.data(), 28);
  }
  template <std::size_t size>
  int call(int fd, unsigned number, std::array<std::uint8_t, size>& bytes) {
    last_result = rm_.ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'F', number, size), bytes.data());
    return last_result;
  }

  /// A structure that begins with these words; the rest is zero.
  template <std::size_t size>
  [[nodiscard]] static std::array<std::uint8_t, size> words(std::initializer_list<std::uint32_t> first) {
    std::array<std::uint8_t, size> bytes{};
    std::memcpy(bytes.data(), first.begin(), first.size() * sizeof(std::uint32_t));
    return bytes;
  }

  Handle root = 0;
  std::uint64_t linear = 0;
  std::uint32_t flags = 0;

 private:
  driver::System& rm_;
  int control_;
};

}  // namespace gdrkit::fakes
