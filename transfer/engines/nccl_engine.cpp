// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The installed NCCL, loaded at run time, as a CollectiveEngine and as a MessageEngine.
#include <sched.h>

#include "base/result.hpp"
#include "cli/interface/demand.hpp"
#include "platform/device/device.hpp"
#include "platform/vendor/nccl_library.hpp"
#include "transfer/engines/collective_engine.hpp"
#include "transfer/engines/message_engine.hpp"
#include "transfer/engines/nccl_rank.hpp"
#include "transfer/engines/path_log.hpp"

namespace gdrkit::transfer::engines {
namespace {

/// Continues the remedy with which the errors of nccl_calls() end.
constexpr const char* nccl_sources =
    " (NVIDIA's package libnccl2 or the Python package nvidia-nccl-cu13), or select the file with --nccl";

const platform::NcclCalls* load_nccl_for(const CollectiveRequest& request) {
  if (request.locals.front().device->is_emulated() && request.library.empty()) {
    cli::cannot_run(
        "gdrkit nccl: NCCL requires GPUs, but the emulated device is selected; use --engine shmem, or unset "
        "GDRKIT_BACKEND");
  }
  const auto calls = platform::nccl_calls(request.library.empty() ? nullptr : request.library.c_str());
  if (!calls) cli::cannot_run(cli::format("gdrkit nccl: %s%s", calls.error().text(), nccl_sources));
  return *calls;
}

std::uint64_t usable(const base::Result<platform::Allocation>& memory, int device, std::size_t size_bytes) {
  if (memory) return memory->address();
  cli::fail(cli::format("gdrkit nccl: cannot allocate %zu bytes on device %d: %s; use a smaller -e", size_bytes, device,
                        memory.error().text()));
}

class NcclCollectives : public CollectiveEngine {
 public:
  explicit NcclCollectives(const CollectiveRequest& request)
      : locals_(request.locals), registration_(request.registration), calls_(load_nccl_for(request)) {
    check_registration();
    const std::string who = cli::format("gdrkit nccl: rank %d", locals_.front().rank);
    ranks_.assign(locals_.size(), NcclRank(*calls_, who, "; NCCL_DEBUG=INFO prints NCCL's log"));
    platform::NcclUniqueId id;
    if (request.processes->is_first()) id = ranks_.front().make_id();
    request.processes->share(&id, sizeof id);
    begin_group();
    for (std::size_t i = 0; i < locals_.size(); ++i) {
      make_current(i);
      ranks_[i].join(id, locals_[i].rank, request.n_ranks);
    }
    end_group();
  }

  [[nodiscard]] std::string version() const override { return "NCCL " + nccl_version_text(*calls_); }
  [[nodiscard]] std::string version_field() const override { return cli::format("nccl-library=%d", calls_->version); }

  [[nodiscard]] std::string refusal(const Collective&, const ElementType& type, const Reduction&) const override {
    const bool is_float8 = type.nccl == platform::NcclType::float8e4m3 || type.nccl == platform::NcclType::float8e5m2;
    if (!is_float8 || calls_->version >= platform::nccl_version_of_float8) return "";
    return cli::format("%s does not have %s; use NCCL 2.24 or newer", version().c_str(), type.name);
  }

  [[nodiscard]] std::uint64_t allocate(int local, std::size_t size_bytes) override {
    platform::Device& device = *locals_[static_cast<std::size_t>(local)].device;
    make_current(static_cast<std::size_t>(local));
    Buffer buffer{local, size_bytes, 0, nullptr, nullptr};
    // Like nccl-tests. The emulated device accepts only its own memory.
    if (calls_->mem_alloc != nullptr && calls_->mem_free != nullptr && !device.is_emulated()) {
      ranks_.front().require(calls_->mem_alloc(&buffer.of_nccl, size_bytes),
                             cli::format("ncclMemAlloc of %zu bytes (-e)", size_bytes).c_str());
      buffer.address = reinterpret_cast<std::uint64_t>(buffer.of_nccl);
    } else {
      auto memory = device.allocate(platform::AllocationKind::cuda_malloc, size_bytes);
      buffer.address = usable(memory, device.identity().ordinal, size_bytes);
      memory_.push_back(std::move(*memory));
    }
    buffers_.push_back(buffer);
    return buffer.address;
  }

  void register_buffers() override {
    if (registration_ == Registration::none) return;
    const bool is_symmetric = registration_ == Registration::symmetric;
    // Window registration is collective, so one group registers the windows of all GPUs of this process.
    if (is_symmetric) begin_group();
    for (Buffer& buffer : buffers_) {
      make_current(static_cast<std::size_t>(buffer.local));
      const NcclRank& rank = ranks_[static_cast<std::size_t>(buffer.local)];
      void* const address = reinterpret_cast<void*>(buffer.address);
      if (is_symmetric) {
        rank.require(calls_->window_register(rank.communicator(), address, buffer.size_bytes, &buffer.handle,
                                             platform::nccl_window_symmetric),
                     "ncclCommWindowRegister");
      } else {
        rank.require(calls_->comm_register(rank.communicator(), address, buffer.size_bytes, &buffer.handle),
                     "ncclCommRegister");
      }
    }
    if (is_symmetric) end_group();
  }

  void begin_group() override { ranks_.front().begin_group(); }
  void end_group() override { ranks_.front().end_group(); }

  /// NCCL selects the communicator's GPU itself.
  void enqueue(int local, const Call& call) override {
    const auto index = static_cast<std::size_t>(local);
    ranks_[index].enqueue(call, reinterpret_cast<void*>(locals_[index].stream.handle));
  }

  void wait() override {
    is_done_.assign(locals_.size(), false);
    for (std::size_t remaining = locals_.size(); remaining != 0;) {
      const std::size_t before = remaining;
      for (std::size_t i = 0; i < locals_.size(); ++i) {
        if (is_done_[i]) continue;
        if (is_finished(locals_[i])) {
          is_done_[i] = true;
          --remaining;
        } else {
          ranks_[i].check();
        }
      }
      if (remaining == before) ::sched_yield();
    }
    check_streams();
  }

  [[nodiscard]] std::string path() const override { return log_.text(); }

  void end() override {
    for (Buffer& buffer : buffers_) deregister(buffer);
    for (NcclRank& rank : ranks_) rank.leave();
    for (const Buffer& buffer : buffers_) {
      if (buffer.of_nccl != nullptr) ranks_.front().require(calls_->mem_free(buffer.of_nccl), "ncclMemFree");
    }
    buffers_.clear();
    memory_.clear();
  }

 private:
  struct Buffer {
    int local;
    std::size_t size_bytes;
    std::uint64_t address;
    void* of_nccl;  ///< memory allocated by NCCL; nullptr: allocated by the device
    void* handle;   ///< handle of the registration
  };

  void check_registration() const {
    const bool lacks_local = calls_->comm_register == nullptr || calls_->mem_alloc == nullptr;
    if (registration_ == Registration::local && lacks_local) {
      cli::cannot_run(cli::format(
          "gdrkit nccl: cannot use -R 1: %s does not have ncclCommRegister or ncclMemAlloc; use NCCL 2.19 or newer",
          version().c_str()));
    }
    if (registration_ == Registration::symmetric && (lacks_local || calls_->window_register == nullptr)) {
      cli::cannot_run(cli::format(
          "gdrkit nccl: cannot use -R 2: %s does not have ncclCommWindowRegister; use NCCL 2.27 or newer, or -R 1",
          version().c_str()));
    }
  }

  void deregister(const Buffer& buffer) const {
    if (buffer.handle == nullptr) return;
    const NcclRank& rank = ranks_[static_cast<std::size_t>(buffer.local)];
    if (registration_ == Registration::symmetric) {
      rank.require(calls_->window_deregister(rank.communicator(), buffer.handle), "ncclCommWindowDeregister");
    } else {
      rank.require(calls_->comm_deregister(rank.communicator(), buffer.handle), "ncclCommDeregister");
    }
  }

  void make_current(std::size_t index) { cli::demand(locals_[index].device->make_current(), "gdrkit nccl: "); }

  [[nodiscard]] static bool is_finished(const LocalRank& local) {
    const auto finished = local.device->is_finished(local.stream);
    if (finished) return *finished;
    cli::fail(cli::format("gdrkit nccl: rank %d: cannot complete an operation in the stream: %s", local.rank,
                          finished.error().text()));
  }

  void check_streams() const {
    for (const NcclRank& rank : ranks_) rank.check();
  }

  PathLog log_;  // before NCCL is loaded
  std::vector<LocalRank> locals_;
  Registration registration_;
  const platform::NcclCalls* calls_;
  std::vector<NcclRank> ranks_;
  std::vector<Buffer> buffers_;
  std::vector<platform::Allocation> memory_;
  std::vector<bool> is_done_;  ///< by rank, in wait()
};

/// Enqueues each collective and waits for it.
class NcclMessages : public MessageEngine {
 public:
  explicit NcclMessages(const MessageRequest& request) : processes_(*request.processes) {
    platform::Device& device = processes_.device();
    const platform::Stream stream = cli::demand(device.create_stream(), "gdrkit osu: ");
    engine_ = std::make_unique<NcclCollectives>(CollectiveRequest{
        &processes_, {{processes_.process(), &device, stream}}, processes_.n_processes(), request.nccl});
    source_ = engine_->allocate(0, request.source_bytes);
    target_ = engine_->allocate(0, request.target_bytes);
    call_.input = source_;
    call_.output = target_;
    call_.type = &element_type_of(platform::NcclType::uint8);
    call_.reduction = &all_reductions().front();  // sum
  }

  [[nodiscard]] std::string version() const override { return engine_->version(); }
  [[nodiscard]] std::uint64_t source() const override { return source_; }
  [[nodiscard]] std::uint64_t target() const override { return target_; }
  [[nodiscard]] std::string path() const override { return engine_->path(); }

  void run_collective(CollectiveKind kind, std::size_t size_bytes) override {
    call_.collective = &all_collectives()[static_cast<std::size_t>(kind)];
    call_.part = size_bytes;
    engine_->enqueue(0, call_);
    engine_->wait();
  }
  void barrier() override { processes_.barrier(); }
  void end() override { engine_->end(); }

 private:
  job::ProcessGroup& processes_;
  std::unique_ptr<NcclCollectives> engine_;
  std::uint64_t source_ = 0;
  std::uint64_t target_ = 0;
  Call call_;
};

}  // namespace

std::unique_ptr<CollectiveEngine> make_nccl_collectives(const CollectiveRequest& request) {
  return std::make_unique<NcclCollectives>(request);
}
std::unique_ptr<MessageEngine> make_nccl_messages(const MessageRequest& request) {
  return std::make_unique<NcclMessages>(request);
}

}  // namespace gdrkit::transfer::engines
