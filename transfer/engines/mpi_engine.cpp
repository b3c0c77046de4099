// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The site's own MPI, through the plug-in that was compiled for it.
#include <algorithm>
#include <climits>
#include <optional>

#include "transfer/engines/mpi_plugin.hpp"
#include "transfer/engines/rank_buffers.hpp"

namespace gdrkit::transfer::engines {
namespace {

gdrkit_osu_mpi_collective mpi_collective(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::alltoall: return GDRKIT_OSU_MPI_ALLTOALL;
    case CollectiveKind::broadcast: return GDRKIT_OSU_MPI_BCAST;
    case CollectiveKind::all_gather: return GDRKIT_OSU_MPI_ALLGATHER;
    case CollectiveKind::reduce: return GDRKIT_OSU_MPI_REDUCE;
    case CollectiveKind::gather: return GDRKIT_OSU_MPI_GATHER;
    case CollectiveKind::scatter: return GDRKIT_OSU_MPI_SCATTER;
    default: return GDRKIT_OSU_MPI_ALLREDUCE;
  }
}

class MpiEngine : public MessageEngine {
 public:
  explicit MpiEngine(const MessageRequest& request) : start_(*request.mpi), mpi_(start_.calls()) {
    // The size of each buffer includes the engine's spare byte.
    if (std::max(request.source_bytes, request.target_bytes) > static_cast<std::size_t>(INT_MAX)) {
      cli::reject("gdrkit osu: MPI counts bytes in an int: use -m below 2G with --engine mpi");
    }
    job::ProcessGroup& processes = *request.processes;
    if (start_.rank() != processes.process() || start_.ranks() != processes.n_processes()) {
      cli::cannot_run(
          cli::format("gdrkit osu: %s reports rank %d of %d, but the launcher started rank %d of %d; start the ranks "
                      "with the mpirun of %s",
                      start_.version().c_str(), start_.rank(), start_.ranks(), processes.process(),
                      processes.n_processes(), start_.version().c_str()));
    }
    check_cuda(request);
    buffers_.emplace(request);
    if (request.is_one_sided) {
      require(mpi_.share(pointer(buffers_->target()), request.target_bytes), "MPI_Win_create");
    }
  }

  [[nodiscard]] std::string version() const override { return start_.version(); }
  [[nodiscard]] std::uint64_t source() const override { return buffers_->source(); }
  [[nodiscard]] std::uint64_t target() const override { return buffers_->target(); }
  [[nodiscard]] std::string path() const override {
    const int support = mpi_.has_cuda();
    return version() + (support > 0    ? ", with CUDA support"
                        : support == 0 ? ", without CUDA support"
                                       : ", CUDA support unknown");
  }

  void send(int peer, std::size_t size_bytes) override {
    require(mpi_.send(pointer(source()), size_bytes, peer), "MPI_Send");
  }
  void receive(int peer, std::size_t size_bytes) override {
    require(mpi_.receive(pointer(target()), size_bytes, peer), "MPI_Recv");
  }
  void send_window(int peer, std::size_t size_bytes, const Window& window) override {
    exchange(peer, size_bytes, window, window.count, 0);
  }
  void receive_window(int peer, std::size_t size_bytes, const Window& window) override {
    exchange(peer, size_bytes, window, 0, window.count);
  }
  void exchange_window(int peer, std::size_t size_bytes, const Window& window) override {
    exchange(peer, size_bytes, window, window.count, window.count);
  }

  void put(int peer, std::size_t size_bytes) override {
    require(mpi_.put(pointer(source()), size_bytes, peer), "MPI_Put");
  }
  void get(int peer, std::size_t size_bytes) override {
    require(mpi_.get(pointer(source()), size_bytes, peer), "MPI_Get");
  }
  void flush(int peer) override { require(mpi_.flush(peer), "MPI_Win_flush"); }
  void fetch_add(int peer) override {
    require(mpi_.fetch_add(pointer(source()), pointer(source() + sizeof(std::int64_t)), peer), "MPI_Fetch_and_op");
    flush(peer);
  }

  void run_collective(CollectiveKind kind, std::size_t size_bytes) override {
    require(mpi_.run(mpi_collective(kind), pointer(source()), pointer(target()), size_bytes), "a collective of MPI");
  }

  void barrier() override { require(mpi_.run(GDRKIT_OSU_MPI_BARRIER, nullptr, nullptr, 0), "MPI_Barrier"); }
  void end() override { require(mpi_.end(), "MPI_Finalize"); }

 private:
  static void* pointer(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

  void require(int code, const char* what) const { start_.require(code, what); }

  /// Collective, and the same on all ranks, so that MPI ends in order.
  void check_cuda(const MessageRequest& request) {
    job::ProcessGroup& processes = *request.processes;
    const bool needs_it = request.place != 'H' && !processes.choice().is_emulated;
    const std::vector<double> all = processes.gather(needs_it && mpi_.has_cuda() == 0 ? 1 : 0);
    if (std::ranges::all_of(all, [](double lacks) { return lacks == 0; })) return;
    const std::string version = start_.version();
    end();
    cli::cannot_run(
        cli::format("gdrkit osu: %s accepts only host memory: MPIX_Query_cuda_support reports no CUDA support; use "
                    "host buffers (H H), or an MPI with CUDA support",
                    version.c_str()));
  }

  void exchange(int peer, std::size_t size_bytes, const Window& window, int sends, int receives) {
    require(mpi_.exchange(pointer(source()), sends, pointer(target()), receives, size_bytes, window.stride_bytes, peer),
            "MPI_Waitall");
  }

  const MpiStart& start_;
  const gdrkit_osu_mpi_table& mpi_;
  std::optional<RankBuffers> buffers_;
};

}  // namespace

std::unique_ptr<MessageEngine> make_mpi_messages(const MessageRequest& request) {
  return std::make_unique<MpiEngine>(request);
}

}  // namespace gdrkit::transfer::engines
