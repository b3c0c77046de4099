// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrdrvPin: one range that the gdrdrv kernel module pinned, and its mapping.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "backend/gdrdrv/module_file.hpp"

namespace gdrkit::backend::gdrdrv {

class GdrdrvPin final : public BackendPin {
 public:
  struct Range {
    std::uint64_t page_address;
    std::uint64_t page_bytes;
    bool force_pcie;
  };
  /// Pins `range`, and fails if the module's description of the pin differs from the request. `device`: PCI address, ""
  /// if unknown.
  static base::Result<std::unique_ptr<BackendPin>> create(ModuleFile& file, const Range& range,
                                                          const std::string& device);
  GdrdrvPin(const GdrdrvPin&) = delete;
  GdrdrvPin& operator=(const GdrdrvPin&) = delete;
  ~GdrdrvPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override;
  base::Status unpin() noexcept override;
  [[nodiscard]] bool is_invalidated() const noexcept override;
  [[nodiscard]] bool keeps_memory() const noexcept override { return file_.is_persistent(); }
  void abandon_after_fork() noexcept override;

 private:
  GdrdrvPin(ModuleFile& file, const Range& range, std::string device) noexcept;
  base::Status take(const Range& range) noexcept;
  base::Status check_state() noexcept;
  base::Status request_type(MappingType requested) noexcept;
  base::Status map_pages(std::size_t bytes) noexcept;
  base::Result<MappingType> read_type(MappingType requested) noexcept;

  ModuleFile& file_;
  std::uint64_t handle_ = 0;  ///< any number, including 0
  bool is_pinned_ = false;
  bool has_requested_type_ = false;  ///< the module keeps a request until the next one
  mutable std::atomic<bool> is_invalidated_{false};
  void* address_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace gdrkit::backend::gdrdrv
