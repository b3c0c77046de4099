// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libgdrkit_shmem: its collectives on a stream, between the processes of the group, which are its PEs.
#include <string>

#include "gdrkit/gdrkit.h"
#include "gdrkit/shmem.h"
#include "transfer/engines/engine.hpp"

namespace gdrkit::tools::engines {
namespace {

void require_shmem(int code, const char* what) {
  if (code < 0) throw Failure(ExitCode::failed, std::string("gdrkit nccl: ") + what + ": " + gdrkit_shmem_last_error());
}

gdrkit_shmem_reduction shmem_reduction(const Reduction& reduction) {
  switch (reduction.nccl) {
    case NcclReduction::product: return GDRKIT_SHMEM_PROD;
    case NcclReduction::maximum: return GDRKIT_SHMEM_MAX;
    case NcclReduction::minimum: return GDRKIT_SHMEM_MIN;
    default: return GDRKIT_SHMEM_SUM;
  }
}

gdrkit_shmem_type shmem_type(const ElementType& type) {
  switch (type.nccl) {
    case NcclType::int8: return GDRKIT_SHMEM_TYPE_INT8;
    case NcclType::uint8: return GDRKIT_SHMEM_TYPE_UINT8;
    case NcclType::int32: return GDRKIT_SHMEM_TYPE_INT32;
    case NcclType::uint32: return GDRKIT_SHMEM_TYPE_UINT32;
    case NcclType::int64: return GDRKIT_SHMEM_TYPE_INT64;
    case NcclType::uint64: return GDRKIT_SHMEM_TYPE_UINT64;
    case NcclType::float16: return GDRKIT_SHMEM_TYPE_HALF;
    case NcclType::float64: return GDRKIT_SHMEM_TYPE_DOUBLE;
    case NcclType::bfloat16: return GDRKIT_SHMEM_TYPE_BFLOAT16;
    default: return GDRKIT_SHMEM_TYPE_FLOAT;
  }
}

class ShmemEngine : public Engine {
 public:
  explicit ShmemEngine(const EngineRequest& request) : rank_(request.locals.front().rank), n_ranks_(request.n_ranks) {
    if (request.locals.size() != 1) {
      throw Failure(
          ExitCode::usage,
          "gdrkit nccl: --engine shmem has one GPU for each process: leave -g out, and start several by gdrkit "
          "run -n N -- gdrkit nccl ...");
    }
    if (request.registration != Registration::none) {
      throw Failure(
          ExitCode::usage,
          "gdrkit nccl: -R: buffers of --engine shmem are symmetric memory, which is registered; leave it out");
    }
    require_shmem(gdrkit_shmem_stream_create(&stream_), "stream_create");
    arrived_ = static_cast<std::uint64_t*>(gdrkit_shmem_calloc(most_steps, sizeof *arrived_));
    if (arrived_ == nullptr) require_shmem(-1, "calloc of a signal");
  }

  [[nodiscard]] std::string version() const override { return std::string("gdrkit_shmem ") + gdrkit_version(); }
  [[nodiscard]] std::string version_field() const override { return "gdrkit_shmem"; }

  [[nodiscard]] std::string refusal(const Collective& collective, const ElementType& type,
                                    const Reduction& reduction) const override {
    if (collective.kind == CollectiveKind::reduce) return "gdrkit_shmem has no reduction to one root";
    if (!collective.is_reducing) return "";
    if (reduction.nccl == NcclReduction::average) return "gdrkit_shmem has no average";
    const bool is_float8 = type.nccl == NcclType::float8e4m3 || type.nccl == NcclType::float8e5m2;
    return is_float8 ? std::string("gdrkit_shmem does not reduce ") + type.name : "";
  }

  [[nodiscard]] bool runs_in_place(const Collective& collective) const override {
    return collective.kind != CollectiveKind::reduce_scatter && collective.kind != CollectiveKind::alltoall;
  }

  /// Freed with the heap.
  [[nodiscard]] std::uint64_t allocate(int, std::size_t size_bytes) override {
    void* const memory = gdrkit_shmem_malloc(size_bytes);
    if (memory == nullptr) require_shmem(-1, "cannot allocate symmetric memory; make -e smaller");
    return reinterpret_cast<std::uint64_t>(memory);
  }

  void begin_group() override {}
  void end_group() override {}

  void enqueue(int, const Call& call) override {
    const auto* source = reinterpret_cast<const void*>(call.input);
    auto* target = reinterpret_cast<void*>(call.output);
    const std::size_t part_bytes = call.part * call.type->size_bytes;
    switch (call.collective->kind) {
      case CollectiveKind::all_reduce:
        return require_shmem(
            gdrkit_shmem_reduce_on_stream(team, shmem_type(*call.type), shmem_reduction(*call.reduction), target,
                                          source, call.part, stream_),
            "reduce_on_stream");
      case CollectiveKind::reduce_scatter:
        return require_shmem(
            gdrkit_shmem_reducescatter_on_stream(team, shmem_type(*call.type), shmem_reduction(*call.reduction), target,
                                                 source, call.part, stream_),
            "reducescatter_on_stream");
      case CollectiveKind::all_gather:
        return require_shmem(gdrkit_shmem_fcollect_on_stream(team, target, source, part_bytes, stream_),
                             "fcollect_on_stream");
      case CollectiveKind::alltoall:
        return require_shmem(gdrkit_shmem_alltoall_on_stream(team, target, source, part_bytes, stream_),
                             "alltoall_on_stream");
      case CollectiveKind::broadcast:
        return require_shmem(gdrkit_shmem_broadcast_on_stream(team, target, source, part_bytes, call.root, stream_),
                             "broadcast_on_stream");
      case CollectiveKind::gather: return gather(as_bytes(target), source, part_bytes, call.root);
      case CollectiveKind::scatter:
        return scatter(as_bytes(target), static_cast<const char*>(source), part_bytes, call.root);
      case CollectiveKind::hypercube: return exchange(as_bytes(target), source, part_bytes, call.step);
      default: return send_and_receive(target, source, part_bytes);
    }
  }

  void wait() override { require_shmem(gdrkit_shmem_stream_synchronize(stream_), "stream_synchronize"); }

  [[nodiscard]] std::string path() const override {
    const int reached = gdrkit_shmem_team_n_pes(GDRKIT_SHMEM_TEAM_SHARED);
    return format("GPU kernels by loads and stores on the memory of %d of %d PEs", reached, n_ranks_);
  }

  void end() override {
    require_shmem(gdrkit_shmem_barrier_all(), "barrier_all");
    require_shmem(gdrkit_shmem_stream_destroy(stream_), "stream_destroy");
  }

 private:
  static constexpr gdrkit_shmem_team_t team = GDRKIT_SHMEM_TEAM_WORLD;

  /// Words for signals: the copy of hypercube, and an exchange with each neighbour.
  static constexpr std::size_t most_steps = 32;
  static char* as_bytes(void* buffer) noexcept { return static_cast<char*>(buffer); }

  /// The other PE's word then has at least `value`.
  void put_with_signal(void* target, const void* source, std::size_t size_bytes, int step, gdrkit_shmem_signal how,
                       std::uint64_t value, int pe) {
    require_shmem(
        gdrkit_shmem_put_signal_on_stream(target, source, size_bytes, arrived_ + step, value, how, pe, stream_),
        "put_signal_on_stream");
  }
  void wait_for_signal(int step, std::uint64_t value) {
    require_shmem(gdrkit_shmem_signal_wait_until_on_stream(arrived_ + step, GDRKIT_SHMEM_GE, value, stream_),
                  "signal_wait_until_on_stream");
  }
  void copy_own(void* target, const void* source, std::size_t size_bytes) {
    if (target == source) return;
    require_shmem(gdrkit_shmem_put_on_stream(target, source, size_bytes, rank_, stream_), "put_on_stream");
  }

  /// To the next PE, and from the one before.
  void send_and_receive(void* target, const void* source, std::size_t part_bytes) {
    ++exchanges_;
    put_with_signal(target, source, part_bytes, 0, GDRKIT_SHMEM_SIGNAL_SET, exchanges_, (rank_ + 1) % n_ranks_);
    wait_for_signal(0, exchanges_);
  }

  void gather(char* target, const void* source, std::size_t part_bytes, int root) {
    ++exchanges_;
    char* const own = target + part_bytes * static_cast<std::size_t>(rank_);
    if (rank_ != root) return put_with_signal(own, source, part_bytes, 0, GDRKIT_SHMEM_SIGNAL_ADD, 1, root);
    copy_own(own, source, part_bytes);
    wait_for_signal(0, exchanges_ * static_cast<std::uint64_t>(n_ranks_ - 1));
  }

  void scatter(char* target, const char* source, std::size_t part_bytes, int root) {
    ++exchanges_;
    if (rank_ != root) return wait_for_signal(0, exchanges_);
    // In place each PE has its part at another address.
    const auto part_of = [&](int pe) { return part_bytes * static_cast<std::size_t>(pe); };
    const bool is_in_place = source + part_of(rank_) == target;
    for (int pe = 0; pe < n_ranks_; ++pe) {
      if (pe == rank_) continue;
      char* const there = is_in_place ? target - part_of(rank_) + part_of(pe) : target;
      put_with_signal(there, source + part_of(pe), part_bytes, 0, GDRKIT_SHMEM_SIGNAL_SET, exchanges_, pe);
    }
    copy_own(target, source + part_of(rank_), part_bytes);
  }

  /// A step of hypercube: the parts of the own half of the cube for those of the other.
  void exchange(char* target, const void* source, std::size_t part_bytes, int step) {
    if (step == 0) {
      ++exchanges_;
      return copy_own(target + part_bytes * static_cast<std::size_t>(rank_), source, part_bytes);
    }
    const int parts = 1 << (step - 1);
    char* const first = target + part_bytes * static_cast<std::size_t>(rank_ & ~(parts - 1));
    put_with_signal(first, first, part_bytes * static_cast<std::size_t>(parts), step, GDRKIT_SHMEM_SIGNAL_SET,
                    exchanges_, rank_ ^ parts);
    wait_for_signal(step, exchanges_);
  }

  int rank_;
  int n_ranks_;
  void* stream_ = nullptr;
  std::uint64_t* arrived_ = nullptr;  // symmetric: of each step, what has come
  std::uint64_t exchanges_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_shmem_engine(const EngineRequest& request) {
  return std::make_unique<ShmemEngine>(request);
}

}  // namespace gdrkit::tools::engines
