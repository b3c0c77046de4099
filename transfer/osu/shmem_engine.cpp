// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libgdrkit_shmem: a message is a put with a signal into the receiver's symmetric buffer. The CPU waits for the signal.
#include "gdrkit/gdrkit.h"
#include "gdrkit/shmem.h"
#include "transfer/osu/osu_engine.hpp"

namespace gdrkit::tools::osu {
namespace {

void require_osu_shmem(int code, const char* what) {
  if (code < 0) throw Failure(ExitCode::failed, std::string("gdrkit osu: ") + what + ": " + gdrkit_shmem_last_error());
}

template <class T>
T* symmetric(std::size_t count) {
  void* const memory = gdrkit_shmem_calloc(count, sizeof(T));
  if (memory == nullptr) require_osu_shmem(-1, "cannot allocate symmetric memory");
  return static_cast<T*>(memory);
}

class ShmemEngine : public OsuEngine {
 public:
  explicit ShmemEngine(const EngineRequest& request) : processes_(*request.processes) {
    if (request.place != 'D') {
      throw Failure(ExitCode::usage,
                    "gdrkit osu: buffers of --engine shmem are symmetric memory, which is device memory: D D");
    }
    const auto ranks = static_cast<std::size_t>(processes_.n_processes());
    source_ = symmetric<char>(request.source_bytes);
    target_ = symmetric<char>(request.target_bytes);
    word_ = symmetric<std::uint64_t>(1);
    arrived_ = symmetric<std::uint64_t>(ranks);
    sent_.resize(ranks);
    received_.resize(ranks);
  }

  [[nodiscard]] std::string version() const override { return std::string("gdrkit_shmem ") + gdrkit_version(); }
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

  /// The last message carries the signal, behind the others.
  void send_window(int peer, std::size_t size_bytes, const Window& window) override {
    std::size_t offset = 0;
    for (int i = 1; i < window.count; ++i, offset += window.stride_bytes) {
      require_osu_shmem(gdrkit_shmem_put_nbi(target_ + offset, source_ + offset, size_bytes, peer), "put_nbi");
    }
    require_osu_shmem(gdrkit_shmem_fence(), "fence");
    send_part(peer, offset, offset, size_bytes);
    require_osu_shmem(gdrkit_shmem_quiet(), "quiet");
  }
  void receive_window(int peer, std::size_t, const Window&) override { wait_for_message(peer); }
  void exchange_window(int peer, std::size_t size_bytes, const Window& window) override {
    send_window(peer, size_bytes, window);
    wait_for_message(peer);
  }

  void put(int peer, std::size_t size_bytes) override {
    require_osu_shmem(gdrkit_shmem_put_nbi(target_, source_, size_bytes, peer), "put_nbi");
  }
  void get(int peer, std::size_t size_bytes) override {
    require_osu_shmem(gdrkit_shmem_get_nbi(source_, target_, size_bytes, peer), "get_nbi");
  }
  void flush(int) override { require_osu_shmem(gdrkit_shmem_quiet(), "quiet"); }
  void fetch_add(int peer) override {
    std::uint64_t before = 0;
    require_osu_shmem(gdrkit_shmem_atomic(word_, sizeof *word_, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &before, peer),
                      "atomic");
  }

  void run_collective(Loop loop, std::size_t size_bytes) override {
    constexpr gdrkit_shmem_team_t team = GDRKIT_SHMEM_TEAM_WORLD;
    switch (loop) {
      case Loop::all_reduce:
        return require_osu_shmem(
            gdrkit_shmem_reduce(team, GDRKIT_SHMEM_TYPE_UINT8, GDRKIT_SHMEM_SUM, target_, source_, size_bytes),
            "reduce");
      case Loop::all_to_all:
        return require_osu_shmem(gdrkit_shmem_alltoall(team, target_, source_, size_bytes), "alltoall");
      case Loop::broadcast:
        return require_osu_shmem(gdrkit_shmem_broadcast(team, target_, source_, size_bytes, 0), "broadcast");
      case Loop::all_gather:
        return require_osu_shmem(gdrkit_shmem_fcollect(team, target_, source_, size_bytes), "fcollect");
      case Loop::gather: return gather(size_bytes);
      case Loop::scatter: return scatter(size_bytes);
      default: return require_osu_shmem(gdrkit_shmem_barrier_all(), "barrier_all");
    }
  }

  void barrier() override { processes_.barrier(); }
  /// The heap goes with the PE.
  void end() override { processes_.barrier(); }

 private:
  static std::uint64_t& count_of(std::vector<std::uint64_t>& counts, int peer) {
    return counts[static_cast<std::size_t>(peer)];
  }
  void send_part(int peer, std::size_t to, std::size_t from, std::size_t size_bytes) {
    require_osu_shmem(gdrkit_shmem_put_signal(target_ + to, source_ + from, size_bytes, arrived_ + processes_.process(),
                                              ++count_of(sent_, peer), GDRKIT_SHMEM_SIGNAL_SET, peer),
                      "put_signal");
  }
  [[nodiscard]] std::size_t place_of(int pe, std::size_t size_bytes) const {
    return static_cast<std::size_t>(pe) * size_bytes;
  }

  /// Messages to and from rank 0, which also sends one to itself.
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
    require_osu_shmem(
        gdrkit_shmem_signal_wait_until(arrived_ + peer, GDRKIT_SHMEM_GE, ++count_of(received_, peer), nullptr),
        "signal_wait_until");
  }

  job::ProcessGroup& processes_;
  char* source_ = nullptr;
  char* target_ = nullptr;
  std::uint64_t* word_ = nullptr;
  std::uint64_t* arrived_ = nullptr;  // word i: how many messages PE i has sent here
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

}  // namespace

std::unique_ptr<OsuEngine> make_shmem_engine(const EngineRequest& request) {
  return std::make_unique<ShmemEngine>(request);
}

}  // namespace gdrkit::tools::osu
