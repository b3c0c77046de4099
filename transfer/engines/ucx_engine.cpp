// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The installed UCX, with tag matching and its one-sided operations, which MPIs use internally.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "platform/vendor/ucx_library.hpp"
#include "transfer/engines/path_log.hpp"
#include "transfer/engines/rank_buffers.hpp"

namespace gdrkit::transfer::engines {
namespace {

constexpr std::uint64_t data_tag = 1;
constexpr std::uint64_t barrier_tag = 2;
constexpr std::size_t rank_shift = 32;
/// About ten microseconds, in which most messages arrive.
constexpr int polls_before_yield = 1000;

void require_ucx(const platform::UcxCalls& calls, platform::UcxStatus status, const char* what) {
  if (status == platform::ucx_ok) return;
  cli::fail(cli::format("gdrkit osu: %s failed with %d (%s); UCX_LOG_LEVEL=info prints UCX's log", what, status,
                        calls.status_string(status)));
}

const platform::UcxCalls& load_ucx() {
  const auto calls = platform::ucx_calls();
  if (calls) return **calls;
  cli::cannot_run(
      cli::format("gdrkit osu: %s; or use --engine shmem, which does not require UCX", calls.error().text()));
}

class UcxEngine : public MessageEngine {
 public:
  explicit UcxEngine(const MessageRequest& request)
      : processes_(*request.processes), calls_(load_ucx()), n_ranks_(processes_.n_processes()) {
    open_context(request);
    buffers_.emplace(request);
    connect();
    check_hooks(request.place);
    if (request.is_one_sided) share_target(request.target_bytes);
  }
  ~UcxEngine() override {
    if (context_ != nullptr && is_ended_) calls_.cleanup(context_);
  }

  [[nodiscard]] std::string version() const override { return platform::ucx_version(calls_); }
  [[nodiscard]] std::uint64_t source() const override { return buffers_->source(); }
  [[nodiscard]] std::uint64_t target() const override { return buffers_->target(); }
  [[nodiscard]] std::string path() const override {
    const int peer = (processes_.process() + n_ranks_ / 2) % n_ranks_;
    return describe_ucx_path(calls_, context_, endpoints_[index(peer)], supports_gpu_) + why_slow_;
  }

  void send(int peer, std::size_t size_bytes) override { finish(start_send(peer, size_bytes, data_tag)); }
  void receive(int peer, std::size_t size_bytes) override { finish(start_receive(peer, size_bytes, data_tag)); }
  void send_window(int peer, std::size_t size_bytes, const Window& window) override {
    send_all(peer, size_bytes, window);
    finish_pending();
  }
  void receive_window(int peer, std::size_t size_bytes, const Window& window) override {
    receive_all(peer, size_bytes, window);
    finish_pending();
  }
  void exchange_window(int peer, std::size_t size_bytes, const Window& window) override {
    receive_all(peer, size_bytes, window);
    send_all(peer, size_bytes, window);
    finish_pending();
  }

  void put(int peer, std::size_t size_bytes) override {
    const Remote& remote = remotes_[index(peer)];
    start(calls_.put_nbx(endpoints_[index(peer)], pointer(source()), size_bytes, remote.address, remote.key,
                         &no_options_));
  }
  void get(int peer, std::size_t size_bytes) override {
    const Remote& remote = remotes_[index(peer)];
    start(calls_.get_nbx(endpoints_[index(peer)], pointer(source()), size_bytes, remote.address, remote.key,
                         &no_options_));
  }
  void flush(int peer) override {
    start(calls_.ep_flush_nbx(endpoints_[index(peer)], &no_options_));
    finish_pending();
  }

  /// Uses messages, so that this rank makes progress for puts of other ranks.
  void barrier() override {
    if (!processes_.is_first()) {
      finish(start_send(0, 0, barrier_tag));
      return finish(start_receive(0, 0, barrier_tag));
    }
    for (int rank = 1; rank < n_ranks_; ++rank) finish(start_receive(rank, 0, barrier_tag));
    for (int rank = 1; rank < n_ranks_; ++rank) finish(start_send(rank, 0, barrier_tag));
  }

  void end() override {
    barrier();
    for (const Remote& remote : remotes_) {
      if (remote.key != nullptr) calls_.rkey_destroy(remote.key);
    }
    if (memory_ != nullptr) require_ucx(calls_, calls_.mem_unmap(context_, memory_), "ucp_mem_unmap");
    platform::UcxRequestParams flush_first;
    for (platform::UcxEndpoint* endpoint : endpoints_) {
      if (endpoint != nullptr) finish(calls_.ep_close_nbx(endpoint, &flush_first));
    }
    wait_for_all_to_close();
    calls_.worker_destroy(worker_);
    is_ended_ = true;
  }

 private:
  struct Remote {
    std::uint64_t address = 0;
    platform::UcxKey* key = nullptr;
  };

  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] bool is_own(std::size_t rank) const { return rank == index(processes_.process()); }
  static void* pointer(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

  void open_context(const MessageRequest& request) {
    platform::UcxConfig* config = nullptr;
    require_ucx(calls_, calls_.config_read(nullptr, nullptr, &config), "ucp_config_read");
    platform::UcxParams params;
    params.field_mask = platform::ucx_params_features | platform::ucx_params_endpoint_count;
    params.features = platform::ucx_feature_tags | (request.is_one_sided ? platform::ucx_feature_rma : 0);
    params.endpoint_count = index(n_ranks_);
    const platform::UcxStatus made =
        calls_.init_version(platform::ucx_api_major, platform::ucx_api_minor, &params, config, &context_);
    calls_.config_release(config);
    require_ucx(calls_, made, "ucp_init");
    platform::UcxContextAttributes attributes;
    attributes.field_mask = platform::ucx_context_memory_types;
    require_ucx(calls_, calls_.context_query(context_, &attributes), "ucp_context_query");
    supports_gpu_ = (attributes.memory_types >> platform::ucx_memory_cuda & 1) != 0;
    const bool needs_it = request.place != 'H' && !processes_.choice().is_emulated;
    const std::vector<double> all = processes_.gather(needs_it && !supports_gpu_ ? 1 : 0);
    if (std::ranges::any_of(all, [](double lacks) { return lacks != 0; })) {  // all ranks end with one code
      cli::cannot_run(
          cli::format("gdrkit osu: %s accepts only host memory: it has no CUDA support; use --engine shmem, or set "
                      "GDRKIT_UCX_LIBRARY to a UCX with CUDA support (for example the Python package libucx-cu13)",
                      version().c_str()));
    }
    platform::UcxWorkerParams worker;
    require_ucx(calls_, calls_.worker_create(context_, &worker, &worker_), "ucp_worker_create");
  }

  void connect() {
    platform::UcxAddress* address = nullptr;
    std::size_t size_bytes = 0;
    require_ucx(calls_, calls_.worker_get_address(worker_, &address, &size_bytes), "ucp_worker_get_address");
    const std::string own(reinterpret_cast<const char*>(address), size_bytes);
    calls_.worker_release_address(worker_, address);
    const std::vector<std::string> all = processes_.gather_bytes(own, "exchange of UCX's worker addresses");
    endpoints_.resize(all.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (is_own(rank)) continue;
      platform::UcxEndpointParams params;
      params.field_mask = platform::ucx_endpoint_address;
      params.address = reinterpret_cast<const platform::UcxAddress*>(all[rank].data());
      require_ucx(calls_, calls_.ep_create(worker_, &params, &endpoints_[rank]), "ucp_ep_create");
    }
  }

  /// Results differ between ranks, because each rank has its own addresses.
  void check_hooks(Place place) {
    const bool is_needed = place != 'H' && supports_gpu_;
    const bool is_hooked = !is_needed || platform::ucx_hook_cuda(calls_) == platform::ucx_ok;
    why_slow_ = describe_ranks_without_hooks(processes_.gather(is_hooked ? 1.0 : 0.0));
  }

  void share_target(std::size_t size_bytes) {
    platform::UcxMemoryParams params;
    params.field_mask = platform::ucx_memory_address | platform::ucx_memory_length;
    params.address = pointer(target());
    params.size_bytes = size_bytes;
    require_ucx(calls_, calls_.mem_map(context_, &params, &memory_), "ucp_mem_map");
    void* packed = nullptr;
    std::size_t packed_bytes = 0;
    require_ucx(calls_, calls_.rkey_pack(context_, memory_, &packed, &packed_bytes), "ucp_rkey_pack");
    const std::uint64_t address = target();
    std::string own(reinterpret_cast<const char*>(&address), sizeof address);
    own.append(static_cast<const char*>(packed), packed_bytes);
    calls_.rkey_buffer_release(packed);
    const std::vector<std::string> all = processes_.gather_bytes(own, "exchange of UCX's remote keys");
    remotes_.resize(all.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (is_own(rank)) continue;
      Remote& remote = remotes_[rank];
      std::memcpy(&remote.address, all[rank].data(), sizeof remote.address);
      const void* const key = all[rank].data() + sizeof remote.address;
      require_ucx(calls_, calls_.ep_rkey_unpack(endpoints_[rank], key, &remote.key), "ucp_ep_rkey_unpack");
    }
  }

  void send_all(int peer, std::size_t size_bytes, const Window& window) {
    for (std::size_t i = 0; i < index(window.count); ++i) {
      start(start_send(peer, size_bytes, data_tag, i * window.stride_bytes));
    }
  }
  void receive_all(int peer, std::size_t size_bytes, const Window& window) {
    for (std::size_t i = 0; i < index(window.count); ++i) {
      start(start_receive(peer, size_bytes, data_tag, i * window.stride_bytes));
    }
  }

  [[nodiscard]] void* start_send(int peer, std::size_t size_bytes, std::uint64_t tag, std::size_t offset = 0) {
    const std::uint64_t from = static_cast<std::uint64_t>(processes_.process()) << rank_shift;
    return calls_.tag_send_nbx(endpoints_[index(peer)], pointer(source() + offset), size_bytes, from | tag,
                               &no_options_);
  }
  [[nodiscard]] void* start_receive(int peer, std::size_t size_bytes, std::uint64_t tag, std::size_t offset = 0) {
    const std::uint64_t from = static_cast<std::uint64_t>(peer) << rank_shift;
    return calls_.tag_recv_nbx(worker_, pointer(target() + offset), size_bytes, from | tag, ~std::uint64_t{0},
                               &no_options_);
  }

  void finish(void* handle) {
    if (!platform::ucx_is_request(handle)) return require_ucx(calls_, platform::ucx_status_of(handle), "a transfer");
    platform::UcxStatus status = platform::ucx_in_progress;
    for (int idle = 0; (status = calls_.request_check_status(handle)) == platform::ucx_in_progress;) {
      if (calls_.worker_progress(worker_) != 0) {
        idle = 0;
      } else if (++idle > polls_before_yield) {
        ::sched_yield();  // there may be fewer CPUs than ranks
      }
    }
    calls_.request_free(handle);
    require_ucx(calls_, status, "a transfer");
  }
  /// A rank may close its worker only after all others have closed theirs: until then they may need its responses.
  void wait_for_all_to_close() {
    auto all = std::async(std::launch::async, [this] { processes_.barrier(); });
    while (all.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      if (calls_.worker_progress(worker_) == 0) ::sched_yield();
    }
    all.get();
  }
  /// Small transfers are complete at once.
  void start(void* handle) {
    if (handle != nullptr) pending_.push_back(handle);
  }
  void finish_pending() {
    for (void* handle : pending_) finish(handle);
    pending_.clear();
  }

  const platform::UcxRequestParams no_options_{};
  job::ProcessGroup& processes_;
  const platform::UcxCalls& calls_;
  int n_ranks_;
  bool supports_gpu_ = false;
  bool is_ended_ = false;
  std::string why_slow_;  // for path()
  platform::UcxContext* context_ = nullptr;
  platform::UcxWorkerHandle* worker_ = nullptr;
  platform::UcxMemory* memory_ = nullptr;
  std::vector<platform::UcxEndpoint*> endpoints_;
  std::vector<Remote> remotes_;
  std::vector<void*> pending_;
  std::optional<RankBuffers> buffers_;
};

}  // namespace

std::unique_ptr<MessageEngine> make_ucx_messages(const MessageRequest& request) {
  return std::make_unique<UcxEngine>(request);
}

}  // namespace gdrkit::transfer::engines
