// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmDevice: one GPU in our RM client, with its node and its device and subdevice objects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/rm/kept_mappings.hpp"
#include "backend/rm/rm_client.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

struct Bar1Figures {
  std::uint32_t size_mib = 0;
  std::uint32_t available_mib = 0;
  std::uint32_t contiguous_mib = 0;
};

/// Thread safe. Keeps one file of the GPU open, because RM requires it for the device object. Must not outlive its
/// client.
class RmDevice {
 public:
  /// Opens the GPU at `pci_bus_id` ("0000:3b:00.0", CUDA's format) and checks that it has the UUID that CUDA reports.
  static base::Result<std::unique_ptr<RmDevice>> open(RmClient& client, KeptMappings& kept, driver::System& system,
                                                      const char* pci_bus_id, const driver::CudaUuid& uuid) noexcept;
  ~RmDevice();
  RmDevice(const RmDevice&) = delete;
  RmDevice& operator=(const RmDevice&) = delete;

  [[nodiscard]] RmClient& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& pci() const noexcept { return pci_; }
  [[nodiscard]] ObjectHandle device() const noexcept { return device_; }
  [[nodiscard]] ObjectHandle subdevice() const noexcept { return subdevice_; }
  [[nodiscard]] std::uint32_t minor() const noexcept { return minor_; }
  /// Advisory, for error messages. Empty if the driver does not report it.
  [[nodiscard]] std::optional<Bar1Figures> bar1(std::uint32_t fb_info_bytes) const noexcept;
  [[nodiscard]] KeptMappings& kept() const noexcept { return kept_; }
  void abandon_after_fork() noexcept;

 private:
  RmDevice(RmClient& client, KeptMappings& kept, driver::System& system) noexcept
      : client_(client), kept_(kept), system_(system) {}
  base::Status find_card(const char* pci_bus_id) noexcept;
  base::Status allocate_objects() noexcept;
  base::Status check_uuid(const driver::CudaUuid& uuid) noexcept;

  RmClient& client_;
  KeptMappings& kept_;
  driver::System& system_;
  std::string pci_;
  int node_fd_ = -1;
  std::uint32_t gpu_id_ = 0;
  std::uint32_t minor_ = 0;
  ObjectHandle device_ = 0;
  ObjectHandle subdevice_ = 0;
  bool is_open_ = false;  ///< memory may be mapped through it
};

}  // namespace gdrkit::backend::rm
