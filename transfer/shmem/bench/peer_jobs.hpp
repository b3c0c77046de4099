// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The jobs of other libraries for bench's worker: NvshmemJob, one PE of an installed NVSHMEM, and NcclJob, one rank of
// an installed NCCL.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/device/device.hpp"
#include "transfer/engines/nccl_library.hpp"
#include "transfer/engines/nccl_rank.hpp"
#include "transfer/engines/nvshmem_library.hpp"
#include "transfer/shmem/bench/device_batch.hpp"
#include "transfer/shmem/bench/peer_files.hpp"
#include "transfer/shmem/bench/wire.hpp"

namespace gdrkit::transfer::shmem {

/// All throw Failure. NVSHMEM itself ends the process where it fails.
class NvshmemJob {
 public:
  using Library = engines::NvshmemLibrary;

  explicit NvshmemJob(const PeerFiles& files);
  void make_id(const Request& request, unsigned char* id);
  void start(const Request& request);
  [[nodiscard]] void* allocate(std::size_t size_bytes);
  [[nodiscard]] void* create_stream();
  /// Ordinary host memory needs no registration.
  void register_buffer(const void* /*memory*/, std::size_t /*size_bytes*/) {}
  void unregister_buffer(const void* /*memory*/) {}
  /// Loads NVSHMEM's device side, where there is one.
  void prepare_device();
  [[nodiscard]] const std::string& why_no_device() const noexcept { return why_no_device_; }
  /// In the default stream.
  void launch(DeviceBatch* batch);
  [[nodiscard]] int sync_all() { return library_.sync_all(); }
  void end();
  [[nodiscard]] platform::Device& device() { return *device_; }
  [[nodiscard]] std::string version() const;
  [[nodiscard]] const Library& library() const noexcept { return library_; }

 private:
  Library library_;
  std::string device_path_;
  std::unique_ptr<platform::Device> device_;
  int pe_ = 0;
  int n_pes_ = 1;
  platform::Module module_;
  platform::Function gpu_kernel_;
  std::string why_no_device_;
};

/// All throw Failure.
class NcclJob {
 public:
  using Library = engines::NcclLibrary;

  explicit NcclJob(const PeerFiles& files);
  void make_id(const Request& request, unsigned char* id);
  void start(const Request& request);
  /// Memory of this PE's GPU only: NCCL has no symmetric addresses.
  [[nodiscard]] void* allocate(std::size_t size_bytes);
  [[nodiscard]] void* create_stream();
  /// Ordinary host memory needs no registration.
  void register_buffer(const void* /*memory*/, std::size_t /*size_bytes*/) {}
  void unregister_buffer(const void* /*memory*/) {}
  void prepare_device() {}
  [[nodiscard]] const std::string& why_no_device() const noexcept { return why_no_device_; }
  void launch(DeviceBatch*) {}
  [[nodiscard]] int sync_all();
  void end();
  [[nodiscard]] platform::Device& device() { return *device_; }
  [[nodiscard]] std::string version() const;
  [[nodiscard]] const Library& library() const noexcept { return library_; }

 private:
  const platform::NcclCalls* calls_;
  std::unique_ptr<platform::Device> device_;
  std::optional<engines::NcclRank> rank_;
  std::vector<platform::Allocation> memory_;
  void* stream_ = nullptr;
  void* sync_buffer_ = nullptr;  // two floats
  Library library_;
  std::string why_no_device_ = "NCCL is not called from GPU kernels";
};

}  // namespace gdrkit::transfer::shmem
