// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/nccl_library.hpp"

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::shmem {
namespace {

constexpr int of_bytes = static_cast<int>(platform::NcclType::uint8);
constexpr int of_floats = static_cast<int>(platform::NcclType::float32);
constexpr int sum = static_cast<int>(platform::NcclReduction::sum);

}  // namespace

void NcclLibrary::require(int code, const char* what) const {
  if (code == platform::nccl_success) return;
  throw Failure(ExitCode::failed, format("NCCL: %s failed with %d (%s): %s", what, code, calls_->get_error_string(code),
                                         calls_->get_last_error(communicator_)));
}

int NcclLibrary::broadcast_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
  require(calls_->broadcast(source, target, size_bytes, of_bytes, 0, communicator_, stream), "ncclBroadcast");
  return 0;
}

int NcclLibrary::fcollect_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
  require(calls_->all_gather(source, target, size_bytes, of_bytes, communicator_, stream), "ncclAllGather");
  return 0;
}

int NcclLibrary::alltoall_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
  require(calls_->group_start(), "ncclGroupStart");
  for (int pe = 0; pe < n_pes_; ++pe) {
    const std::size_t offset = size_bytes * static_cast<std::size_t>(pe);
    require(calls_->send(static_cast<const char*>(source) + offset, size_bytes, of_bytes, pe, communicator_, stream),
            "ncclSend");
    require(calls_->recv(static_cast<char*>(target) + offset, size_bytes, of_bytes, pe, communicator_, stream),
            "ncclRecv");
  }
  require(calls_->group_end(), "ncclGroupEnd");
  return 0;
}

int NcclLibrary::reduce_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
  require(calls_->all_reduce(source, target, size_bytes / sizeof(float), of_floats, sum, communicator_, stream),
          "ncclAllReduce");
  return 0;
}

int NcclLibrary::reducescatter_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
  require(calls_->reduce_scatter(source, target, size_bytes / sizeof(float), of_floats, sum, communicator_, stream),
          "ncclReduceScatter");
  return 0;
}

int NcclLibrary::synchronize(void* stream) const {
  if (auto done = device_->synchronize(platform::Stream{reinterpret_cast<std::uint64_t>(stream)}); !done) {
    throw Failure(ExitCode::failed, done.error().text());
  }
  int error = platform::nccl_success;
  require(calls_->comm_get_async_error(communicator_, &error), "ncclCommGetAsyncError");
  require(error, "an operation in a stream");
  return 0;
}

}  // namespace gdrkit::tools::shmem
