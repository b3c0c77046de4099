// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/nccl_rank.hpp"

#include <utility>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::engines {

std::string nccl_version_text(const platform::NcclCalls& calls) {
  return cli::format("%d.%d.%d", calls.version / 10000, calls.version / 100 % 100, calls.version % 100);
}

NcclRank::NcclRank(const platform::NcclCalls& calls, std::string who, const char* remedy)
    : calls_(&calls), who_(std::move(who)), remedy_(remedy) {}

platform::NcclUniqueId NcclRank::make_id() const {
  platform::NcclUniqueId id;
  require(calls_->get_unique_id(&id), "ncclGetUniqueId");
  return id;
}

void NcclRank::join(const platform::NcclUniqueId& id, int rank, int n_ranks) {
  rank_ = rank;
  n_ranks_ = n_ranks;
  require(calls_->comm_init_rank(&communicator_, n_ranks, id, rank), "ncclCommInitRank");
}

void NcclRank::leave() {
  require(calls_->comm_destroy(communicator_), "ncclCommDestroy");
  communicator_ = nullptr;
}

void NcclRank::check() const {
  int error = platform::nccl_success;
  require(calls_->comm_get_async_error(communicator_, &error), "ncclCommGetAsyncError");
  if (error != platform::nccl_in_progress) require(error, "an operation in a stream");
}

void NcclRank::require(int result, const char* what) const {
  if (result == platform::nccl_success) return;
  const char* const detail = calls_->get_last_error(communicator_);
  const bool has_detail = detail != nullptr && *detail != '\0';
  cli::fail(cli::format("%s: %s failed with %d (%s)%s%s%s", who_.c_str(), what, result,
                        calls_->get_error_string(result), has_detail ? ": " : "", has_detail ? detail : "", remedy_));
}

void NcclRank::enqueue(const Call& call, void* stream) const {
  const auto* input = reinterpret_cast<const void*>(call.input);
  auto* output = reinterpret_cast<void*>(call.output);
  const int type = static_cast<int>(call.type->nccl);
  const int reduction = static_cast<int>(call.reduction->nccl);
  const std::size_t part = call.part;
  const bool has_gather = calls_->gather != nullptr && calls_->scatter != nullptr;
  const CollectiveKind kind = call.collective->kind;
  // Like nccl-tests. NCCL would launch a GPU kernel for sends and receives of 0 bytes.
  if (part == 0 &&
      (kind == CollectiveKind::alltoall || kind == CollectiveKind::gather || kind == CollectiveKind::scatter))
    return;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return require(calls_->all_reduce(input, output, part, type, reduction, communicator_, stream), "ncclAllReduce");
    case CollectiveKind::all_gather:
      return require(calls_->all_gather(input, output, part, type, communicator_, stream), "ncclAllGather");
    case CollectiveKind::reduce_scatter:
      return require(calls_->reduce_scatter(input, output, part, type, reduction, communicator_, stream),
                     "ncclReduceScatter");
    case CollectiveKind::broadcast:
      return require(calls_->broadcast(input, output, part, type, call.root, communicator_, stream), "ncclBroadcast");
    case CollectiveKind::reduce:
      return require(calls_->reduce(input, output, part, type, reduction, call.root, communicator_, stream),
                     "ncclReduce");
    case CollectiveKind::gather:
      if (!has_gather) return send_and_receive(call, stream);
      return require(calls_->gather(input, output, part, type, call.root, communicator_, stream), "ncclGather");
    case CollectiveKind::scatter:
      if (!has_gather) return send_and_receive(call, stream);
      return require(calls_->scatter(input, output, part, type, call.root, communicator_, stream), "ncclScatter");
    case CollectiveKind::alltoall:
      if (calls_->alltoall == nullptr) return send_and_receive(call, stream);
      return require(calls_->alltoall(input, output, part, type, communicator_, stream), "ncclAlltoAll");
    default: return send_and_receive(call, stream);
  }
}

/// Collectives without a function in this NCCL, as point-to-point calls.
void NcclRank::send_and_receive(const Call& call, void* stream) const {
  const int type = static_cast<int>(call.type->nccl);
  const std::size_t part_bytes = call.part * call.type->size_bytes;
  const auto part_of = [part_bytes](std::uint64_t buffer, int rank) {
    return buffer + part_bytes * static_cast<std::size_t>(rank);
  };
  const auto send = [&](std::uint64_t from, int rank, std::size_t parts = 1) {
    require(calls_->send(reinterpret_cast<const void*>(from), parts * call.part, type, rank, communicator_, stream),
            "ncclSend");
  };
  const auto receive = [&](std::uint64_t to, int rank, std::size_t parts = 1) {
    require(calls_->recv(reinterpret_cast<void*>(to), parts * call.part, type, rank, communicator_, stream),
            "ncclRecv");
  };
  const int own = rank_;
  begin_group();
  switch (call.collective->kind) {
    case CollectiveKind::sendrecv:
      send(call.input, (own + 1) % n_ranks_);
      receive(call.output, (own + n_ranks_ - 1) % n_ranks_);
      break;
    case CollectiveKind::gather:
      send(call.input, call.root);
      for (int rank = 0; own == call.root && rank < n_ranks_; ++rank) receive(part_of(call.output, rank), rank);
      break;
    case CollectiveKind::scatter:
      for (int rank = 0; own == call.root && rank < n_ranks_; ++rank) send(part_of(call.input, rank), rank);
      receive(call.output, call.root);
      break;
    case CollectiveKind::hypercube:
      if (call.step == 0) {
        if (call.input == part_of(call.output, own)) break;
        send(call.input, own);
        receive(part_of(call.output, own), own);
      } else {
        // Each of the two ranks has the parts of its half of the cube.
        const int parts = 1 << (call.step - 1);
        const int first = own & ~(parts - 1);
        send(part_of(call.output, first), own ^ parts, static_cast<std::size_t>(parts));
        receive(part_of(call.output, first ^ parts), own ^ parts, static_cast<std::size_t>(parts));
      }
      break;
    default:  // alltoall
      for (int rank = 0; rank < n_ranks_; ++rank) {
        send(part_of(call.input, rank), rank);
        receive(part_of(call.output, rank), rank);
      }
  }
  end_group();
}

}  // namespace gdrkit::transfer::engines
