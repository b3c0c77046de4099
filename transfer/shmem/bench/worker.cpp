// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/worker.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "cli/interface/demand.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/harness/host_buffer.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "platform/host/stopwatch.hpp"
#include "transfer/shmem/bench/case.hpp"
#include "transfer/shmem/bench/device_batch.hpp"
#include "transfer/shmem/bench/gdrkit_job.hpp"
#include "transfer/shmem/bench/loops.hpp"
#include "transfer/shmem/bench/peer_jobs.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// A CPU near the GPU for the calling thread alone, another one for each PE of the node; the library's own threads,
/// which exist by now, stay free to run on all of them. Where the system refuses, the thread stays unbound.
void settle(const platform::Device& device, int pe, int n_pes) {
  const platform::Placement placement = cli::placement_for(device);
  std::vector<int> cpus = placement.gpu_node() < 0 ? std::vector<int>() : placement.usable_cpus(placement.gpu_node());
  if (cpus.empty()) cpus = placement.usable_cpus();
  if (cpus.empty()) return;
  const std::size_t index =
      (static_cast<std::size_t>(pe) * 2 + 1) * cpus.size() / (2 * static_cast<std::size_t>(n_pes));
  (void)platform::real_placement_calls().bind_thread({cpus[std::min(index, cpus.size() - 1)]});
}

template <class Job>
class Worker {
 public:
  template <class MakeJob>
  explicit Worker(MakeJob& make_job) : job_(make_job()) {}

  Reply serve(const Request& request) {
    Reply reply;
    switch (request.kind) {
      case RequestKind::make_id: job_.make_id(request, reply.id); break;
      case RequestKind::start: start(request, &reply); break;
      case RequestKind::prepare: prepare(request); break;
      case RequestKind::batch: reply.code = run(request, &reply); break;
      case RequestKind::singles: reply.code = run_singles(request, &reply.single); break;
      case RequestKind::end:
        if (registered_) job_.unregister_buffer(registered_->data());
        registered_.reset();
        host_.reset();
        (void)pinned_.free();
        (void)result_.free();
        job_.end();
        break;
    }
    if (reply.code == -EOPNOTSUPP && reply.text[0] == '\0') {
      const Case& one = all_cases()[request.case_number];
      std::snprintf(reply.text, sizeof reply.text, "this library has no %s API for: %s", one.side, one.title().c_str());
    }
    return reply;
  }

 private:
  void start(const Request& request, Reply* reply) {
    job_.start(request);
    station_.pe = request.pe;
    station_.peer = (request.pe + 1) % request.n_pes;
    auto* const words = static_cast<std::uint64_t*>(job_.allocate(word_area_bytes));
    // Lines apart, as no two of them share an owner.
    station_.word = words;
    constexpr std::size_t quarter_words = word_area_bytes / 4 / sizeof(std::uint64_t);
    station_.signal = words + quarter_words;
    station_.device_signal = words + 2 * quarter_words;
    if (request.pe == 0) reply->code = job_.library().p(station_.word, 1, station_.peer) | job_.library().quiet();
    if (reply->code == -EOPNOTSUPP) reply->code = 0;  // a library of collectives
    reply->device = job_.device().identity().ordinal;
    std::snprintf(reply->text, sizeof reply->text, "%s", job_.version().c_str());
  }

  void prepare(const Request& request) {
    const std::size_t bytes = object_bytes(request.size_bytes);
    station_.object = static_cast<std::uint8_t*>(job_.allocate(bytes));
    station_.symmetric = static_cast<std::uint8_t*>(job_.allocate(bytes));
    job_.prepare_device();
    settle(job_.device(), station_.pe, request.n_pes);
    host_.emplace(bytes);
    station_.mapped = host_->data();
    message_.assign(largest_heap_message_bytes, 0x5c);
    registered_.emplace(bytes);
    station_.registered = registered_->data();
    job_.register_buffer(station_.registered, bytes);
    station_.object_bytes = bytes;
    pinned_ = cli::demand(job_.device().allocate(platform::AllocationKind::host, bytes));
    station_.pinned = reinterpret_cast<std::uint8_t*>(pinned_.address());
    for (std::uint8_t* local : {station_.mapped, station_.registered, station_.pinned}) std::memset(local, 0x5c, bytes);
    result_ = cli::demand(job_.device().allocate(platform::AllocationKind::cuda_malloc, sizeof(platform::ShmemResult)));
    station_.stream = job_.create_stream();
  }

  /// Waits for all PEs that take part.
  int begin(const Request& request) {
    station_.size_bytes = request.size_bytes;
    station_.host = request.size_bytes <= message_.size() ? message_.data() : station_.mapped;
    const bool is_together = all_cases()[request.case_number].who == Who::together;
    return is_together ? job_.sync_all() : 0;
  }

  int run(const Request& request, Reply* reply) {
    if (const auto& device = all_cases()[request.case_number].device) return run_on_device(*device, request, reply);
    int code = begin(request);
    if (code < 0) return code;
    const std::int64_t from = platform::now_ns();
    code = loop_of<typename Job::Library>(request.case_number)(job_.library(), station_, request.count);
    reply->ns = static_cast<double>(platform::now_ns() - from) / static_cast<double>(request.count);
    // What is still on its way must not slow the next batch down.
    return code == 0 ? job_.library().quiet() : code;
  }

  int run_on_device(const DeviceWork& work, const Request& request, Reply* reply) {
    if (!job_.why_no_device().empty()) {
      std::snprintf(reply->text, sizeof reply->text, "%s", job_.why_no_device().c_str());
      return -EOPNOTSUPP;
    }
    platform::Device& device = job_.device();
    cli::demand(device.fill(result_.address(), 0, sizeof(platform::ShmemResult)));
    if (const int code = begin(request); code < 0) return code;
    const bool is_idle = work.operation == platform::ShmemOperation::ping_pong && station_.pe > 1;
    if (is_idle) return 0;
    DeviceBatch batch = device_batch(work, request.count, result_.address(), &station_);
    job_.launch(&batch);
    cli::demand(device.synchronize(platform::Stream()));
    platform::ShmemResult result{};
    cli::demand(device.copy_to_host(&result, result_.address(), sizeof result));
    if (result.wrong != 0) cli::fail("a GPU kernel timed out while waiting for the other PE");
    reply->ns = static_cast<double>(result.elapsed_ns()) / static_cast<double>(request.count);
    return 0;
  }

  int run_singles(const Request& request, measure::Single* single) {
    const Loop<typename Job::Library> loop = loop_of<typename Job::Library>(request.case_number);
    if (loop == nullptr) return -EOPNOTSUPP;
    int code = begin(request);
    std::vector<double> values;
    values.reserve(request.count);
    if (!clock_) clock_.emplace();
    for (std::uint64_t number = 0; number < request.count && code == 0; ++number) {
      const std::uint64_t from = clock_->now();
      code = loop(job_.library(), station_, 1);
      values.push_back(clock_->ns(clock_->now() - from));
    }
    *single = measure::single_of(values);
    return code == 0 ? job_.library().quiet() : code;
  }

  Job job_;
  Station station_;
  std::vector<std::uint8_t> message_;
  std::optional<measure::HostBuffer> host_;
  std::optional<measure::HostBuffer> registered_;
  platform::Allocation pinned_;
  platform::Allocation result_;  // ShmemResult, of GPU kernels
  std::optional<measure::Clock> clock_;
};

/// false: bench is gone.
bool receive(int socket, Request* request) {
  ssize_t received = 0;
  do {
    received = ::recv(socket, request, sizeof *request, 0);
  } while (received < 0 && errno == EINTR);
  return received == static_cast<ssize_t>(sizeof *request);
}

template <class MakeJob>
cli::ExitCode serve_all(int socket, MakeJob make_job) {
  using Job = decltype(make_job());
  std::optional<Worker<Job>> worker;
  Request request;
  while (receive(socket, &request)) {
    Reply reply;
    try {
      if (!worker) worker.emplace(make_job);
      reply = worker->serve(request);
      if (reply.code < 0 && reply.text[0] == '\0') {
        std::snprintf(reply.text, sizeof reply.text, "%s", gdrkit_shmem_last_error());
      }
    } catch (const cli::Failure& failure) {
      reply.code = failure.code() == cli::ExitCode::cannot_run ? -ENODEV : -EIO;
      std::snprintf(reply.text, sizeof reply.text, "%s", failure.what());
    }
    if (::send(socket, &reply, sizeof reply, MSG_NOSIGNAL) < 0) break;
    if (request.kind == RequestKind::end) return cli::ExitCode::ok;
  }
  return cli::ExitCode::failed;
}

}  // namespace

cli::ExitCode run_worker(const std::string& library, const PeerFiles& files, int socket) {
  if (library == "gdrkit") return serve_all(socket, [] { return GdrkitJob(); });
  if (library == "nvshmem") return serve_all(socket, [&] { return NvshmemJob(files); });
  if (library == "nccl") return serve_all(socket, [&] { return NcclJob(files); });
  cli::reject("gdrkit shmem bench: unknown library '" + library + "'");
}

}  // namespace gdrkit::transfer::shmem
