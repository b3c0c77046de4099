// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/nccl_job.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/interface/exit_code.hpp"
#include "transfer/shmem/bench/peer_gpu.hpp"

namespace gdrkit::transfer::shmem {

NcclJob::NcclJob(const PeerFiles& files) {
  // As for NVSHMEM. What the user has set stays.
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
  const auto calls = platform::nccl_calls(files.nccl.empty() ? nullptr : files.nccl.c_str());
  if (!calls)
    throw cli::Failure(cli::ExitCode::cannot_run, std::string(calls.error().text()) + "; name the file with --nccl");
  calls_ = *calls;
  rank_.emplace(*calls_, "NCCL", "");
}

void NcclJob::make_id(const Request&, unsigned char* id) {
  const platform::NcclUniqueId made = rank_->make_id();
  static_assert(sizeof made == id_bytes);
  std::memcpy(id, &made, sizeof made);
}

void NcclJob::start(const Request& request) {
  device_ = open_peer_gpu(request.pe, "NCCL");
  platform::NcclUniqueId id;
  std::memcpy(&id, request.id, sizeof id);
  rank_->join(id, request.pe, request.n_pes);
  library_ = engines::NcclLibrary(*rank_, *device_);
  meeting_ = allocate(2 * sizeof(float));
}

void* NcclJob::allocate(std::size_t size_bytes) {
  auto memory = device_->allocate(platform::AllocationKind::cuda_malloc, size_bytes);
  if (!memory) throw cli::Failure(cli::ExitCode::failed, memory.error().text());
  if (auto filled = device_->fill(memory->address(), 0, size_bytes); !filled) {
    throw cli::Failure(cli::ExitCode::failed, filled.error().text());
  }
  memory_.push_back(std::move(*memory));
  return reinterpret_cast<void*>(memory_.back().address());
}

void* NcclJob::create_stream() {
  const auto stream = device_->create_stream();
  if (!stream) throw cli::Failure(cli::ExitCode::failed, stream.error().text());
  stream_ = reinterpret_cast<void*>(stream->handle);
  return stream_;
}

int NcclJob::meet() {
  auto* const floats = static_cast<float*>(meeting_);
  return library_.reduce_on_stream(floats + 1, floats, sizeof(float), stream_) | library_.synchronize(stream_);
}

void NcclJob::end() {
  (void)calls_->comm_destroy(rank_->communicator());
  memory_.clear();
}

std::string NcclJob::version() const { return engines::nccl_version_text(*calls_); }

}  // namespace gdrkit::transfer::shmem
