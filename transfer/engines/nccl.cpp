// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The installed NCCL, loaded at run time: its collectives enqueued in streams, or one by one.
#include <sched.h>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/vendor/nccl_library.hpp"
#include "transfer/engines/collective_engine.hpp"
#include "transfer/engines/message_engine.hpp"
#include "transfer/engines/path_log.hpp"

namespace gdrkit::tools::engines {
namespace {

constexpr const char* nccl_remedy =
    "install NVIDIA's package libnccl2 or the Python package nvidia-nccl-cu13, and name the file with --nccl where the "
    "dynamic linker does not find it";

/// Polls of a stream between two questions whether NCCL has failed.
constexpr int polls_per_check = 64;

const NcclCalls* load_nccl_for(const CollectiveRequest& request) {
  if (request.locals.front().device->is_emulated() && request.library.empty()) {
    throw Failure(ExitCode::cannot_run, "gdrkit nccl: NCCL needs GPUs, and this machine has none");
  }
  const auto calls = nccl_calls(request.library.empty() ? nullptr : request.library.c_str());
  if (!calls) throw Failure(ExitCode::cannot_run, format("gdrkit nccl: %s; %s", calls.error().text(), nccl_remedy));
  return *calls;
}

std::uint64_t usable(const base::Result<Allocation>& memory, int device, std::size_t size_bytes) {
  if (memory) return memory->address();
  throw Failure(ExitCode::failed, format("gdrkit nccl: cannot allocate %zu bytes on device %d: %s; make -e smaller",
                                         size_bytes, device, memory.error().text()));
}

class NcclCollectives : public CollectiveEngine {
 public:
  explicit NcclCollectives(const CollectiveRequest& request)
      : locals_(request.locals),
        n_ranks_(request.n_ranks),
        registration_(request.registration),
        calls_(load_nccl_for(request)) {
    check_registration();
    NcclUniqueId id;
    if (request.processes->is_first()) require(calls_->get_unique_id(&id), nullptr, "ncclGetUniqueId");
    request.processes->share(&id, sizeof id);
    communicators_.resize(locals_.size());
    begin_group();
    for (std::size_t i = 0; i < locals_.size(); ++i) {
      make_current(i);
      require(calls_->comm_init_rank(&communicators_[i], n_ranks_, id, locals_[i].rank), nullptr, "ncclCommInitRank");
    }
    end_group();
  }

  [[nodiscard]] std::string version() const override {
    const int version = calls_->version;
    return format("NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
  }
  [[nodiscard]] std::string version_field() const override { return format("nccl-library=%d", calls_->version); }

  [[nodiscard]] std::string refusal(const Collective&, const ElementType& type, const Reduction&) const override {
    const bool is_float8 = type.nccl == NcclType::float8e4m3 || type.nccl == NcclType::float8e5m2;
    if (!is_float8 || calls_->version >= nccl_version_of_float8) return "";
    return format("%s has no %s; NCCL 2.24 brought it", version().c_str(), type.name);
  }

  [[nodiscard]] std::uint64_t allocate(int local, std::size_t size_bytes) override {
    Device& device = *locals_[static_cast<std::size_t>(local)].device;
    make_current(static_cast<std::size_t>(local));
    Buffer buffer{local, size_bytes, 0, nullptr, nullptr};
    // The emulated device knows only its own memory.
    if (registration_ != Registration::none && !device.is_emulated()) {
      require(calls_->mem_alloc(&buffer.of_nccl, size_bytes), nullptr, "ncclMemAlloc");
      buffer.address = reinterpret_cast<std::uint64_t>(buffer.of_nccl);
    } else {
      auto memory = device.allocate(AllocationKind::cuda_malloc, size_bytes);
      buffer.address = usable(memory, device.identity().ordinal, size_bytes);
      memory_.push_back(std::move(*memory));
    }
    buffers_.push_back(buffer);
    return buffer.address;
  }

  void register_buffers() override {
    if (registration_ == Registration::none) return;
    const bool is_symmetric = registration_ == Registration::symmetric;
    // Registration of windows is collective, so one group registers those of all GPUs of this process.
    if (is_symmetric) begin_group();
    for (Buffer& buffer : buffers_) {
      make_current(static_cast<std::size_t>(buffer.local));
      NcclComm* const communicator = communicators_[static_cast<std::size_t>(buffer.local)];
      void* const address = reinterpret_cast<void*>(buffer.address);
      if (is_symmetric) {
        require(
            calls_->window_register(communicator, address, buffer.size_bytes, &buffer.handle, nccl_window_symmetric),
            communicator, "ncclCommWindowRegister");
      } else {
        require(calls_->comm_register(communicator, address, buffer.size_bytes, &buffer.handle), communicator,
                "ncclCommRegister");
      }
    }
    if (is_symmetric) end_group();
  }

  void begin_group() override { require(calls_->group_start(), nullptr, "ncclGroupStart"); }
  void end_group() override { require(calls_->group_end(), communicators_.front(), "ncclGroupEnd"); }

  void enqueue(int local, const Call& call) override {
    const auto index = static_cast<std::size_t>(local);
    if (locals_.size() > 1) make_current(index);
    NcclComm* const communicator = communicators_[index];
    void* const stream = reinterpret_cast<void*>(locals_[index].stream.handle);
    const auto* input = reinterpret_cast<const void*>(call.input);
    auto* output = reinterpret_cast<void*>(call.output);
    const int type = static_cast<int>(call.type->nccl);
    const int reduction = static_cast<int>(call.reduction->nccl);
    const std::size_t part = call.part;
    switch (call.collective->kind) {
      case CollectiveKind::all_reduce:
        return require(calls_->all_reduce(input, output, part, type, reduction, communicator, stream), communicator,
                       "ncclAllReduce");
      case CollectiveKind::all_gather:
        return require(calls_->all_gather(input, output, part, type, communicator, stream), communicator,
                       "ncclAllGather");
      case CollectiveKind::reduce_scatter:
        return require(calls_->reduce_scatter(input, output, part, type, reduction, communicator, stream), communicator,
                       "ncclReduceScatter");
      case CollectiveKind::broadcast:
        return require(calls_->broadcast(input, output, part, type, call.root, communicator, stream), communicator,
                       "ncclBroadcast");
      case CollectiveKind::reduce:
        return require(calls_->reduce(input, output, part, type, reduction, call.root, communicator, stream),
                       communicator, "ncclReduce");
      case CollectiveKind::gather:
        if (!has_gather()) return send_and_receive(index, call);
        return require(calls_->gather(input, output, part, type, call.root, communicator, stream), communicator,
                       "ncclGather");
      case CollectiveKind::scatter:
        if (!has_gather()) return send_and_receive(index, call);
        return require(calls_->scatter(input, output, part, type, call.root, communicator, stream), communicator,
                       "ncclScatter");
      default: return send_and_receive(index, call);
    }
  }

  void wait() override {
    for (std::size_t i = 0; i < locals_.size(); ++i) {
      if (locals_.size() > 1) make_current(i);
      for (int poll = 1; !is_finished(locals_[i]); ++poll) {
        if (poll % polls_per_check == 0) check_streams();
        ::sched_yield();
      }
    }
    check_streams();
  }

  [[nodiscard]] std::string path() const override { return log_.text(); }

  void end() override {
    for (Buffer& buffer : buffers_) deregister(buffer);
    for (NcclComm*& communicator : communicators_) {
      require(calls_->comm_destroy(communicator), communicator, "ncclCommDestroy");
      communicator = nullptr;
    }
    for (const Buffer& buffer : buffers_) {
      if (buffer.of_nccl != nullptr) require(calls_->mem_free(buffer.of_nccl), nullptr, "ncclMemFree");
    }
    buffers_.clear();
    memory_.clear();
  }

 private:
  struct Buffer {
    int local;
    std::size_t size_bytes;
    std::uint64_t address;
    void* of_nccl;  ///< allocated by NCCL; nullptr: by the device
    void* handle;   ///< of the registration
  };

  void check_registration() const {
    const bool lacks_local = calls_->comm_register == nullptr || calls_->mem_alloc == nullptr;
    if (registration_ == Registration::local && lacks_local) {
      throw Failure(ExitCode::cannot_run,
                    format("gdrkit nccl: -R 1: %s has no ncclCommRegister; use NCCL 2.19 or newer", version().c_str()));
    }
    if (registration_ == Registration::symmetric && (lacks_local || calls_->window_register == nullptr)) {
      throw Failure(
          ExitCode::cannot_run,
          format(
              "gdrkit nccl: -R 2: %s has no ncclCommWindowRegister; use NCCL 2.27 or newer, or -R 1, which registers "
              "locally",
              version().c_str()));
    }
  }

  void deregister(const Buffer& buffer) const {
    if (buffer.handle == nullptr) return;
    NcclComm* const communicator = communicators_[static_cast<std::size_t>(buffer.local)];
    if (registration_ == Registration::symmetric) {
      require(calls_->window_deregister(communicator, buffer.handle), communicator, "ncclCommWindowDeregister");
    } else {
      require(calls_->comm_deregister(communicator, buffer.handle), communicator, "ncclCommDeregister");
    }
  }

  [[nodiscard]] bool has_gather() const noexcept { return calls_->gather != nullptr && calls_->scatter != nullptr; }

  void make_current(std::size_t index) {
    const auto made = locals_[index].device->make_current();
    if (!made) throw Failure(ExitCode::failed, std::string("gdrkit nccl: ") + made.error().text());
  }

  [[nodiscard]] static bool is_finished(const LocalRank& local) {
    const auto finished = local.device->is_finished(local.stream);
    if (finished) return *finished;
    throw Failure(ExitCode::failed,
                  format("gdrkit nccl: rank %d: an operation in the stream: %s", local.rank, finished.error().text()));
  }

  /// Throws where an operation in a stream has failed since.
  void check_streams() const {
    for (NcclComm* communicator : communicators_) {
      int error = nccl_success;
      require(calls_->comm_get_async_error(communicator, &error), communicator, "ncclCommGetAsyncError");
      if (error != nccl_in_progress) require(error, communicator, "an operation in a stream");
    }
  }

  void require(int result, NcclComm* communicator, const char* what) const {
    if (result == nccl_success) return;
    const char* const detail = calls_->get_last_error(communicator);
    const bool has_detail = detail != nullptr && *detail != '\0';
    throw Failure(ExitCode::failed,
                  format("gdrkit nccl: rank %d: %s failed with %d (%s)%s%s; NCCL_DEBUG=INFO prints NCCL's log",
                         locals_.front().rank, what, result, calls_->get_error_string(result), has_detail ? ": " : "",
                         has_detail ? detail : ""));
  }

  /// Operations without a function of NCCL, made of point-to-point calls.
  void send_and_receive(std::size_t index, const Call& call) {
    NcclComm* const communicator = communicators_[index];
    void* const stream = reinterpret_cast<void*>(locals_[index].stream.handle);
    const int type = static_cast<int>(call.type->nccl);
    const std::size_t part_bytes = call.part * call.type->size_bytes;
    const auto part_of = [part_bytes](std::uint64_t buffer, int rank) {
      return buffer + part_bytes * static_cast<std::size_t>(rank);
    };
    const auto send = [&](std::uint64_t from, int rank, std::size_t parts = 1) {
      require(calls_->send(reinterpret_cast<const void*>(from), parts * call.part, type, rank, communicator, stream),
              communicator, "ncclSend");
    };
    const auto receive = [&](std::uint64_t to, int rank, std::size_t parts = 1) {
      require(calls_->recv(reinterpret_cast<void*>(to), parts * call.part, type, rank, communicator, stream),
              communicator, "ncclRecv");
    };
    const int own = locals_[index].rank;
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
          // Each of the two has the parts of its half of the cube.
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

  PathLog log_;  // before NCCL is loaded
  std::vector<LocalRank> locals_;
  int n_ranks_;
  Registration registration_;
  const NcclCalls* calls_;
  std::vector<NcclComm*> communicators_;
  std::vector<Buffer> buffers_;
  std::vector<Allocation> memory_;
};

/// A collective is enqueued and waited for.
class NcclMessages : public MessageEngine {
 public:
  explicit NcclMessages(const MessageRequest& request) : processes_(*request.processes) {
    if (request.place != 'D') {
      throw Failure(ExitCode::usage, "gdrkit osu: --engine nccl takes device memory only: D");
    }
    platform::Device& device = processes_.session().device();
    auto stream = device.create_stream();
    if (!stream) throw Failure(ExitCode::failed, std::string("gdrkit osu: ") + stream.error().text());
    engine_ = std::make_unique<NcclCollectives>(CollectiveRequest{
        &processes_, {{processes_.process(), &device, *stream}}, processes_.n_processes(), request.nccl});
    source_ = engine_->allocate(0, request.source_bytes);
    target_ = engine_->allocate(0, request.target_bytes);
    call_.input = source_;
    call_.output = target_;
    for (const ElementType& type : all_element_types()) {
      if (type.nccl == platform::NcclType::uint8) call_.type = &type;
    }
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

}  // namespace gdrkit::tools::engines
