// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrkitJob: one PE of libgdrkit_shmem for bench's worker.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "cli/interface/demand.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "transfer/engines/gdrkit_library.hpp"
#include "transfer/job/pe_session.hpp"
#include "transfer/shmem/bench/device_batch.hpp"
#include "transfer/shmem/bench/station.hpp"
#include "transfer/shmem/bench/wire.hpp"

namespace gdrkit::transfer::shmem {

/// All throw Failure.
class GdrkitJob {
 public:
  using Library = engines::GdrkitLibrary;

  void make_id(const Request& /*request*/, unsigned char* id) {
    gdrkit_shmem_unique_id_t made{};
    job::require(gdrkit_shmem_get_unique_id(&made), "get_unique_id");
    static_assert(sizeof made == id_bytes);
    std::memcpy(id, &made, sizeof made);
  }
  void start(const Request& request) {
    job::SessionRequest session_request;
    session_request.membership = job::JobMembership{{}, request.pe, request.n_pes};
    std::memcpy(&session_request.membership->id, request.id, id_bytes);
    session_request.heap_bytes = heap_bytes_for(request.size_bytes);
    session_.emplace(session_request);
  }
  [[nodiscard]] void* allocate(std::size_t size_bytes) {
    void* address = nullptr;
    if (gdrkit_shmem_calloc(size_bytes, 1, &address) != 0)
      cli::fail(job::last_error(cli::format("calloc of %zu bytes", size_bytes)));
    return address;
  }
  [[nodiscard]] void* create_stream() {
    job::require(gdrkit_shmem_stream_create(&stream_), "stream_create");
    return stream_;
  }
  void register_buffer(const void* memory, std::size_t size_bytes) {
    job::require(gdrkit_shmem_buffer_register(memory, size_bytes), "buffer_register");
  }
  void unregister_buffer(const void* memory) {
    job::require(gdrkit_shmem_buffer_unregister(memory), "buffer_unregister");
  }
  /// Also starts the proxy, whose thread must not share the CPU to which the calling thread is bound later.
  void prepare_device() {
    gdrkit_shmem_device_state state{};
    (void)gdrkit_shmem_get_device_state(&state);  // launch() reports errors
    auto loaded = platform::GpuKernels::load<platform::GpuKernel::shmem>(device());
    if (loaded) {
      gpu_kernels_.emplace(std::move(*loaded));
    } else {
      why_no_device_ = loaded.error().text();
    }
  }
  /// "" if GPU kernels can be launched; after prepare_device().
  [[nodiscard]] const std::string& why_no_device() const noexcept { return why_no_device_; }
  /// In the default stream.
  void launch(DeviceBatch* batch) {
    gdrkit_shmem_device_state& state = batch->parameters.state;
    job::require(gdrkit_shmem_get_device_state(&state), "get_device_state");
    state.limit_ns = device_limit_ns;
    cli::demand(gpu_kernels_->launch(batch->parameters, batch->shape, {}));
  }
  /// Collective.
  [[nodiscard]] int sync_all() { return library_.sync_all(); }
  void end() {
    gpu_kernels_.reset();
    if (stream_ != nullptr) job::require(gdrkit_shmem_stream_destroy(stream_), "stream_destroy");
    session_->end();
  }
  [[nodiscard]] platform::Device& device() { return session_->device(); }
  [[nodiscard]] std::string version() const { return gdrkit_version(); }
  [[nodiscard]] const Library& library() const noexcept { return library_; }

 private:
  /// Less than the time for which bench waits for a reply.
  static constexpr std::uint64_t device_limit_ns = 20'000'000'000;
  std::optional<job::PeSession> session_;
  void* stream_ = nullptr;
  std::optional<platform::GpuKernels> gpu_kernels_;
  std::string why_no_device_;
  Library library_;
};

}  // namespace gdrkit::transfer::shmem
