// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libgdrkit_shmem as a CollectiveEngine (on a stream) and as a MessageEngine (the CPU waits). The processes of the
// group are its PEs.
#include <optional>
#include <string>

#include "gdrkit/gdrkit.h"
#include "gdrkit/shmem.h"
#include "transfer/engines/collective_engine.hpp"
#include "transfer/engines/message_engine.hpp"

namespace gdrkit::transfer::engines {
namespace {

constexpr gdrkit_shmem_team_t team = GDRKIT_SHMEM_TEAM_WORLD;

/// Common code of both adapters. Error messages begin with the name of the program.
class Shmem {
 public:
  explicit Shmem(const char* program) : program_(program) {}

  void require(int code, const char* what) const {
    if (code < 0) {
      cli::fail(std::string(program_) + ": " + what + ": " + gdrkit_shmem_last_error());
    }
  }
  /// Returns zeroed memory, which is freed with the job. Collective.
  template <class T>
  [[nodiscard]] T* allocate(std::size_t count, const char* what) const {
    void* memory = nullptr;
    require(gdrkit_shmem_calloc(count, sizeof(T), &memory), what);
    return static_cast<T*>(memory);
  }
  [[nodiscard]] static std::string version() { return std::string("gdrkit_shmem ") + gdrkit_version(); }

 private:
  const char* program_;
};

gdrkit_shmem_reduction shmem_reduction(const Reduction& reduction) {
  switch (reduction.nccl) {
    case platform::NcclReduction::product: return GDRKIT_SHMEM_PROD;
    case platform::NcclReduction::maximum: return GDRKIT_SHMEM_MAX;
    case platform::NcclReduction::minimum: return GDRKIT_SHMEM_MIN;
    default: return GDRKIT_SHMEM_SUM;
  }
}

gdrkit_shmem_type shmem_type(const ElementType& type) {
  switch (type.nccl) {
    case platform::NcclType::int8: return GDRKIT_SHMEM_TYPE_INT8;
    case platform::NcclType::uint8: return GDRKIT_SHMEM_TYPE_UINT8;
    case platform::NcclType::int32: return GDRKIT_SHMEM_TYPE_INT32;
    case platform::NcclType::uint32: return GDRKIT_SHMEM_TYPE_UINT32;
    case platform::NcclType::int64: return GDRKIT_SHMEM_TYPE_INT64;
    case platform::NcclType::uint64: return GDRKIT_SHMEM_TYPE_UINT64;
    case platform::NcclType::float16: return GDRKIT_SHMEM_TYPE_HALF;
    case platform::NcclType::float64: return GDRKIT_SHMEM_TYPE_DOUBLE;
    case platform::NcclType::bfloat16: return GDRKIT_SHMEM_TYPE_BFLOAT16;
    default: return GDRKIT_SHMEM_TYPE_FLOAT;
  }
}

class ShmemCollectives : public CollectiveEngine {
 public:
  explicit ShmemCollectives(const CollectiveRequest& request)
      : rank_(request.locals.front().rank), n_ranks_(request.n_ranks) {
    if (request.locals.size() != 1) {
      cli::reject(
          "gdrkit nccl: --engine shmem supports one GPU per process; omit -g, and start several processes with gdrkit "
          "run -n N -- gdrkit nccl ...");
    }
    if (request.registration != Registration::none) {
      cli::reject("gdrkit nccl: cannot use -R with --engine shmem: symmetric memory is always registered; omit -R");
    }
    session_.emplace(request.processes->shmem_request());
    shmem_.require(gdrkit_shmem_stream_create(&stream_), "stream_create");
    arrived_ = shmem_.allocate<std::uint64_t>(most_steps, "calloc of a signal");
  }

  [[nodiscard]] std::string version() const override { return Shmem::version(); }
  [[nodiscard]] std::string version_field() const override { return "gdrkit_shmem"; }

  [[nodiscard]] std::string refusal(const Collective& collective, const ElementType& type,
                                    const Reduction& reduction) const override {
    if (collective.kind == CollectiveKind::reduce) return "gdrkit_shmem does not support reductions to one root";
    if (!collective.is_reducing) return "";
    if (reduction.nccl == platform::NcclReduction::average) return "gdrkit_shmem does not support averages";
    const bool is_float8 = type.nccl == platform::NcclType::float8e4m3 || type.nccl == platform::NcclType::float8e5m2;
    return is_float8 ? std::string("gdrkit_shmem does not reduce ") + type.name : "";
  }

  [[nodiscard]] bool runs_in_place(const Collective& collective) const override {
    return collective.kind != CollectiveKind::reduce_scatter && collective.kind != CollectiveKind::alltoall;
  }

  /// Returns memory that is freed with the job.
  [[nodiscard]] std::uint64_t allocate(int, std::size_t size_bytes) override {
    void* memory = nullptr;
    shmem_.require(gdrkit_shmem_malloc(size_bytes, &memory), "malloc of the buffers (-e)");
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
        return shmem_.require(
            gdrkit_shmem_reduce_on_stream(team, shmem_type(*call.type), shmem_reduction(*call.reduction), target,
                                          source, call.part, stream_),
            "reduce_on_stream");
      case CollectiveKind::reduce_scatter:
        return shmem_.require(
            gdrkit_shmem_reducescatter_on_stream(team, shmem_type(*call.type), shmem_reduction(*call.reduction), target,
                                                 source, call.part, stream_),
            "reducescatter_on_stream");
      case CollectiveKind::all_gather:
        return shmem_.require(gdrkit_shmem_fcollect_on_stream(team, target, source, part_bytes, stream_),
                              "fcollect_on_stream");
      case CollectiveKind::alltoall:
        return shmem_.require(gdrkit_shmem_alltoall_on_stream(team, target, source, part_bytes, stream_),
                              "alltoall_on_stream");
      case CollectiveKind::broadcast:
        return shmem_.require(gdrkit_shmem_broadcast_on_stream(team, target, source, part_bytes, call.root, stream_),
                              "broadcast_on_stream");
      case CollectiveKind::gather: return gather(as_bytes(target), source, part_bytes, call.root);
      case CollectiveKind::scatter:
        return scatter(as_bytes(target), static_cast<const char*>(source), part_bytes, call.root);
      case CollectiveKind::hypercube: return exchange(as_bytes(target), source, part_bytes, call.step);
      default: return send_and_receive(target, source, part_bytes);
    }
  }

  void wait() override { shmem_.require(gdrkit_shmem_stream_synchronize(stream_), "stream_synchronize"); }

  [[nodiscard]] std::string path() const override {
    const int reached = gdrkit_shmem_team_n_pes(GDRKIT_SHMEM_TEAM_SHARED);
    return cli::format("GPU kernels by loads and stores on the memory of %d of %d PEs", reached, n_ranks_);
  }

  void end() override {
    shmem_.require(gdrkit_shmem_barrier_all(), "barrier_all");
    shmem_.require(gdrkit_shmem_stream_destroy(stream_), "stream_destroy");
    session_->end();
  }

 private:
  /// Limit of signal words: word 0 is for sendrecv, gather and scatter, word i for step i of hypercube.
  static constexpr std::size_t most_steps = 32;
  static char* as_bytes(void* buffer) noexcept { return static_cast<char*>(buffer); }

  /// Afterwards the other PE's word is at least `value`.
  void put_with_signal(void* target, const void* source, std::size_t size_bytes, int step, gdrkit_shmem_signal how,
                       std::uint64_t value, int pe) {
    shmem_.require(
        gdrkit_shmem_put_signal_on_stream(target, source, size_bytes, arrived_ + step, value, how, pe, stream_),
        "put_signal_on_stream");
  }
  void wait_for_signal(int step, std::uint64_t value) {
    shmem_.require(gdrkit_shmem_signal_wait_until_on_stream(arrived_ + step, GDRKIT_SHMEM_GE, value, stream_),
                   "signal_wait_until_on_stream");
  }
  void copy_own(void* target, const void* source, std::size_t size_bytes) {
    if (target == source) return;
    shmem_.require(gdrkit_shmem_put_on_stream(target, source, size_bytes, rank_, stream_), "put_on_stream");
  }

  /// Sends to the next PE and receives from the previous one.
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
    // In place, the offset of a PE's part depends on the PE.
    const auto part_of = [&](int pe) { return part_bytes * static_cast<std::size_t>(pe); };
    const bool is_in_place = source + part_of(rank_) == target;
    for (int pe = 0; pe < n_ranks_; ++pe) {
      if (pe == rank_) continue;
      char* const there = is_in_place ? target - part_of(rank_) + part_of(pe) : target;
      put_with_signal(there, source + part_of(pe), part_bytes, 0, GDRKIT_SHMEM_SIGNAL_SET, exchanges_, pe);
    }
    copy_own(target, source + part_of(rank_), part_bytes);
  }

  /// A step of hypercube: exchanges this PE's half of the cube with the peer's half.
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

  Shmem shmem_{"gdrkit nccl"};
  std::optional<job::PeSession> session_;
  int rank_;
  int n_ranks_;
  void* stream_ = nullptr;
  std::uint64_t* arrived_ = nullptr;  // symmetric: one signal word per step
  std::uint64_t exchanges_ = 0;
};

/// A message is a put with a signal into the receiver's symmetric buffer. The CPU waits for the signal.
class ShmemMessages : public MessageEngine {
 public:
  explicit ShmemMessages(const MessageRequest& request) : processes_(*request.processes) {
    session_.emplace(processes_.shmem_request());
    const auto ranks = static_cast<std::size_t>(processes_.n_processes());
    source_ = shmem_.allocate<char>(request.source_bytes, no_memory);
    target_ = shmem_.allocate<char>(request.target_bytes, no_memory);
    word_ = shmem_.allocate<std::uint64_t>(1, no_memory);
    arrived_ = shmem_.allocate<std::uint64_t>(ranks, no_memory);
    sent_.resize(ranks);
    received_.resize(ranks);
  }

  [[nodiscard]] std::string version() const override { return Shmem::version(); }
  [[nodiscard]] std::uint64_t source() const override { return reinterpret_cast<std::uint64_t>(source_); }
  [[nodiscard]] std::uint64_t target() const override { return reinterpret_cast<std::uint64_t>(target_); }

  [[nodiscard]] std::string path() const override {
    const int other = (processes_.process() + 1) % processes_.n_processes();
    char text[900] = "";
    if (gdrkit_shmem_describe(other, text, sizeof text) < 0) return gdrkit_shmem_last_error();
    std::string ways;
    for (const char* at = text; *at != '\0'; ++at) ways += *at == '\n' ? std::string("; ") : std::string(1, *at);
    return ways;
  }

  void send(int peer, std::size_t size_bytes) override { send_part(peer, 0, 0, size_bytes); }
  void receive(int peer, std::size_t) override { wait_for_message(peer); }

  /// The last message carries the signal, ordered after the others.
  void send_window(int peer, std::size_t size_bytes, const Window& window) override {
    std::size_t offset = 0;
    for (int i = 1; i < window.count; ++i, offset += window.stride_bytes) {
      shmem_.require(gdrkit_shmem_put_nbi(target_ + offset, source_ + offset, size_bytes, peer), "put_nbi");
    }
    shmem_.require(gdrkit_shmem_fence(), "fence");
    send_part(peer, offset, offset, size_bytes);
    shmem_.require(gdrkit_shmem_quiet(), "quiet");
  }
  void receive_window(int peer, std::size_t, const Window&) override { wait_for_message(peer); }
  void exchange_window(int peer, std::size_t size_bytes, const Window& window) override {
    send_window(peer, size_bytes, window);
    wait_for_message(peer);
  }

  void put(int peer, std::size_t size_bytes) override {
    shmem_.require(gdrkit_shmem_put_nbi(target_, source_, size_bytes, peer), "put_nbi");
  }
  void get(int peer, std::size_t size_bytes) override {
    shmem_.require(gdrkit_shmem_get_nbi(source_, target_, size_bytes, peer), "get_nbi");
  }
  void flush(int) override { shmem_.require(gdrkit_shmem_quiet(), "quiet"); }
  void fetch_add(int peer) override {
    std::uint64_t before = 0;
    shmem_.require(gdrkit_shmem_atomic(word_, sizeof *word_, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &before, peer), "atomic");
  }

  void run_collective(CollectiveKind kind, std::size_t size_bytes) override {
    switch (kind) {
      case CollectiveKind::all_reduce:
        return shmem_.require(
            gdrkit_shmem_reduce(team, GDRKIT_SHMEM_TYPE_UINT8, GDRKIT_SHMEM_SUM, target_, source_, size_bytes),
            "reduce");
      case CollectiveKind::alltoall:
        return shmem_.require(gdrkit_shmem_alltoall(team, target_, source_, size_bytes), "alltoall");
      case CollectiveKind::broadcast:
        return shmem_.require(gdrkit_shmem_broadcast(team, target_, source_, size_bytes, 0), "broadcast");
      case CollectiveKind::all_gather:
        return shmem_.require(gdrkit_shmem_fcollect(team, target_, source_, size_bytes), "fcollect");
      case CollectiveKind::gather: return gather(size_bytes);
      case CollectiveKind::scatter: return scatter(size_bytes);
      default: return MessageEngine::run_collective(kind, size_bytes);
    }
  }

  void barrier() override { shmem_.require(gdrkit_shmem_barrier_all(), "barrier_all"); }
  void end() override { session_->end(); }

 private:
  static constexpr const char* no_memory = "symmetric buffers";

  static std::uint64_t& count_of(std::vector<std::uint64_t>& counts, int peer) {
    return counts[static_cast<std::size_t>(peer)];
  }
  void send_part(int peer, std::size_t to, std::size_t from, std::size_t size_bytes) {
    shmem_.require(gdrkit_shmem_put_signal(target_ + to, source_ + from, size_bytes, arrived_ + processes_.process(),
                                           ++count_of(sent_, peer), GDRKIT_SHMEM_SIGNAL_SET, peer),
                   "put_signal");
  }
  [[nodiscard]] std::size_t place_of(int pe, std::size_t size_bytes) const {
    return static_cast<std::size_t>(pe) * size_bytes;
  }

  /// Rank 0 also sends a message to itself.
  void gather(std::size_t size_bytes) {
    send_part(0, place_of(processes_.process(), size_bytes), 0, size_bytes);
    for (int pe = 0; processes_.is_first() && pe < processes_.n_processes(); ++pe) wait_for_message(pe);
  }
  void scatter(std::size_t size_bytes) {
    for (int pe = 0; processes_.is_first() && pe < processes_.n_processes(); ++pe) {
      send_part(pe, 0, place_of(pe, size_bytes), size_bytes);
    }
    wait_for_message(0);
  }

  void wait_for_message(int peer) {
    shmem_.require(
        gdrkit_shmem_signal_wait_until(arrived_ + peer, GDRKIT_SHMEM_GE, ++count_of(received_, peer), nullptr),
        "signal_wait_until");
  }

  Shmem shmem_{"gdrkit osu"};
  job::ProcessGroup& processes_;
  std::optional<job::PeSession> session_;
  char* source_ = nullptr;
  char* target_ = nullptr;
  std::uint64_t* word_ = nullptr;
  std::uint64_t* arrived_ = nullptr;  // word i: number of messages received from PE i
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

}  // namespace

std::unique_ptr<CollectiveEngine> make_shmem_collectives(const CollectiveRequest& request) {
  return std::make_unique<ShmemCollectives>(request);
}

std::unique_ptr<MessageEngine> make_shmem_messages(const MessageRequest& request) {
  return std::make_unique<ShmemMessages>(request);
}

}  // namespace gdrkit::transfer::engines
