// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvshmemJob: one PE of an installed NVSHMEM for bench's worker.
#pragma once

#include <memory>
#include <string>

#include "platform/device/device.hpp"
#include "transfer/shmem/bench/nvshmem_library.hpp"
#include "transfer/shmem/bench/wire.hpp"

namespace gdrkit::tools::pgas {

/// All throw Failure. NVSHMEM itself ends the process where it fails.
class NvshmemJob {
 public:
  using Library = NvshmemLibrary;

  /// `path`: of libnvshmem_host.so.3; "" where the system finds it.
  explicit NvshmemJob(const std::string& path);
  void make_id(unsigned char* id);
  void start(const Request& request);
  [[nodiscard]] void* allocate(std::size_t size_bytes);
  void end() { library_.calls().hostlib_finalize(); }
  [[nodiscard]] platform::Device& device() { return *device_; }
  [[nodiscard]] std::string version() const;
  [[nodiscard]] const Library& library() const noexcept { return library_; }

 private:
  Library library_;
  std::unique_ptr<platform::Device> device_;
};

/// The file that --peer nvshmem loads: `wanted`, else from $NVSHMEM_HOME or Python's packages; "" if none is found.
[[nodiscard]] std::string find_nvshmem(const std::string& wanted);

}  // namespace gdrkit::tools::pgas
