// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory: an end's send and receive buffers, in host or GPU memory, registered with the RDMA device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/interface/device_choice.hpp"
#include "gdrkit/gdrkit.h"
#include "transfer/perftest/endpoint.hpp"

namespace gdrkit::transfer::perftest {

struct GpuRange {
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
};
/// A dma-buf of the range. The caller closes it.
using DmabufExporter = std::function<base::Result<int>(const GpuRange&)>;

struct Registration {
  Held<platform::VerbsRegion> region;
  std::string how;  ///< human-readable: "dma-buf", or "peer memory (no dma-buf: why)"
};
/// Registers by dma-buf. If that fails and is not required, registers by the address, which a peer-memory module
/// resolves. Throws Failure with both reasons.
[[nodiscard]] Registration register_gpu_memory(const Verbs& verbs, platform::VerbsDomain* domain, const GpuRange& range,
                                               int access, const DmabufExporter& exporter, bool needs_dmabuf);

/// Every queue pair has a slot that it sends from, and one that the other end writes or sends to and reads from. Each
/// slot has one byte more than a message, to detect writes past its end.
class Memory {
 public:
  Memory(const Endpoint& endpoint, const Plan& plan);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  [[nodiscard]] std::uint32_t lkey() const noexcept { return region_->lkey; }
  [[nodiscard]] std::uint32_t rkey() const noexcept { return region_->rkey; }
  [[nodiscard]] std::uint64_t sending(int pair) const noexcept { return address_ + offset(pair); }
  [[nodiscard]] std::uint64_t receiving(int pair) const noexcept { return address_ + offset(pairs_ + pair); }
  /// Largest message with its header and the byte after it.
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }

  /// Writes any bytes at an address of a slot.
  void write(std::uint64_t address, const void* bytes, std::size_t size_bytes);
  void read(void* bytes, std::uint64_t address, std::size_t size_bytes);

  /// One byte as seen by the CPU, for GPU memory through a mapping of gdrkit. Only for write_lat.
  [[nodiscard]] const volatile std::uint8_t* polled(std::uint64_t address) const noexcept {
    return view_ + (address - address_);
  }
  /// Visible to the RDMA device on return.
  void mark(std::uint64_t address, std::uint8_t value);

  /// "host memory", or the GPU and the type of registration.
  [[nodiscard]] const std::string& how() const noexcept { return how_; }
  [[nodiscard]] bool is_emulated() const noexcept { return choice_.is_emulated; }
  [[nodiscard]] const cli::DeviceChoice& choice() const noexcept { return choice_; }
  [[nodiscard]] platform::Device* device() noexcept { return device_.get(); }

 private:
  [[nodiscard]] std::size_t offset(int slot) const noexcept { return slot_bytes_ * static_cast<std::size_t>(slot); }
  void allocate_host();
  void allocate_gpu(const Plan& plan);
  void map_gpu();
  void register_with(const Endpoint& endpoint, const Plan& plan);

  int pairs_;
  std::size_t slot_bytes_;
  std::size_t size_bytes_;
  std::uint64_t address_ = 0;
  cli::DeviceChoice choice_;
  std::unique_ptr<platform::Device> device_;  // nullptr: host memory
  platform::Allocation allocation_;
  std::unique_ptr<void, void (*)(void*)> host_;
  gdrkit_context_t context_{};
  gdrkit_pin_t pin_{};
  volatile std::uint8_t* view_ = nullptr;
  std::string how_;
  Held<platform::VerbsRegion> region_;
};

}  // namespace gdrkit::transfer::perftest
