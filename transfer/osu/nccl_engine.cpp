// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The installed NCCL, by the engine of `gdrkit nccl`: a collective is enqueued and waited for.
#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/vendor/nccl_library.hpp"
#include "transfer/engines/engine.hpp"
#include "transfer/osu/osu_engine.hpp"

namespace gdrkit::tools::osu {
namespace {

engines::CollectiveKind nccl_collective(Loop loop) {
  switch (loop) {
    case Loop::all_to_all: return engines::CollectiveKind::alltoall;
    case Loop::broadcast: return engines::CollectiveKind::broadcast;
    case Loop::all_gather: return engines::CollectiveKind::all_gather;
    case Loop::reduce: return engines::CollectiveKind::reduce;
    case Loop::gather: return engines::CollectiveKind::gather;
    case Loop::scatter: return engines::CollectiveKind::scatter;
    default: return engines::CollectiveKind::all_reduce;
  }
}

std::unique_ptr<engines::Engine> make_inner(const engines::EngineRequest& request) {
  for (const engines::EngineKind& kind : engines::all_engines()) {
    if (std::string(kind.name) == "nccl") return kind.make(request);
  }
  throw Failure(ExitCode::failed, "gdrkit osu: there is no engine nccl");
}

class NcclCollectives : public OsuEngine {
 public:
  explicit NcclCollectives(const EngineRequest& request) : processes_(*request.processes) {
    if (request.place != 'D') {
      throw Failure(ExitCode::usage, "gdrkit osu: --engine nccl takes device memory only: D");
    }
    platform::Device& device = processes_.session().device();
    auto stream = device.create_stream();
    if (!stream) throw Failure(ExitCode::failed, std::string("gdrkit osu: ") + stream.error().text());
    engine_ =
        make_inner({&processes_, {{processes_.process(), &device, *stream}}, processes_.n_processes(), request.nccl});
    source_ = engine_->allocate(0, request.source_bytes);
    target_ = engine_->allocate(0, request.target_bytes);
    call_.input = source_;
    call_.output = target_;
    for (const engines::ElementType& type : engines::all_element_types()) {
      if (type.nccl == platform::NcclType::uint8) call_.type = &type;
    }
    call_.reduction = &engines::all_reductions().front();  // sum
  }

  [[nodiscard]] std::string version() const override { return engine_->version(); }
  [[nodiscard]] std::uint64_t source() const override { return source_; }
  [[nodiscard]] std::uint64_t target() const override { return target_; }
  [[nodiscard]] std::string path() const override { return engine_->path(); }

  void run_collective(Loop loop, std::size_t size_bytes) override {
    const auto kind = static_cast<std::size_t>(nccl_collective(loop));
    call_.collective = &engines::all_collectives()[kind];
    call_.part = size_bytes;
    engine_->enqueue(0, call_);
    engine_->wait();
  }
  void barrier() override { processes_.barrier(); }
  void end() override { engine_->end(); }

 private:
  job::ProcessGroup& processes_;
  std::unique_ptr<engines::Engine> engine_;
  std::uint64_t source_ = 0;
  std::uint64_t target_ = 0;
  engines::Call call_;
};

}  // namespace

std::unique_ptr<OsuEngine> make_nccl_engine(const EngineRequest& request) {
  return std::make_unique<NcclCollectives>(request);
}

}  // namespace gdrkit::tools::osu
