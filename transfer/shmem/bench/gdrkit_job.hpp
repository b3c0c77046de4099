// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrkitJob: one PE of libgdrkit_shmem for bench's worker.
#pragma once

#include <cstring>
#include <optional>
#include <string>

#include "gdrkit/gdrkit.h"
#include "platform/device/device.hpp"
#include "transfer/shmem/bench/gdrkit_library.hpp"
#include "transfer/shmem/bench/station.hpp"
#include "transfer/shmem/bench/wire.hpp"
#include "transfer/shmem/pe_session.hpp"

namespace gdrkit::tools::pgas {

/// All throw Failure.
class GdrkitJob {
 public:
  using Library = GdrkitLibrary;

  void make_id(unsigned char* id) {
    gdrkit_shmem_unique_id_t made{};
    require(gdrkit_shmem_get_unique_id(&made), "get_unique_id");
    static_assert(sizeof made == id_bytes);
    std::memcpy(id, &made, sizeof made);
  }
  void start(const Request& request) {
    SessionRequest asked;
    asked.membership = JobMembership{{}, request.pe, request.n_pes};
    std::memcpy(&asked.membership->id, request.id, id_bytes);
    asked.heap_bytes = heap_bytes_for(request.size_bytes);
    session_.emplace(asked);
  }
  [[nodiscard]] void* allocate(std::size_t size_bytes) {
    void* const address = gdrkit_shmem_calloc(size_bytes, 1);
    if (address == nullptr) throw Failure(ExitCode::failed, last_error(format("calloc of %zu bytes", size_bytes)));
    return address;
  }
  void end() { session_->end(); }
  [[nodiscard]] platform::Device& device() { return session_->device(); }
  [[nodiscard]] std::string version() const { return gdrkit_version(); }
  [[nodiscard]] const Library& library() const noexcept { return library_; }

 private:
  std::optional<PeSession> session_;
  Library library_;
};

}  // namespace gdrkit::tools::pgas
