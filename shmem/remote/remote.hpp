// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Remote: the PEs of other nodes, through UCX: access to their memory, collective exchanges with them, and detection of
// their end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/bootstrap/exchange.hpp"
#include "shmem/node/node.hpp"
#include "shmem/remote/allgather_messages.hpp"
#include "shmem/remote/message.hpp"
#include "shmem/remote/message_keys.hpp"
#include "shmem/remote/own_heap.hpp"
#include "shmem/remote/peer.hpp"
#include "shmem/remote/ucx_worker.hpp"

namespace gdrkit::shmem_impl::remote {

struct RemoteOptions {
  platform::Device* device = nullptr;  ///< current while UCX runs, because UCX may copy with it
  node::Node* node = nullptr;
  const std::atomic<std::int64_t>* limit_ms = nullptr;  ///< of each call; 0: none
  const platform::UcxCalls* calls = nullptr;            ///< nullptr: the installed UCX
  bool is_direct = false;                               ///< enables put_direct and get_direct
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds silence{7000};  ///< after this time without a message a neighbour counts as dead
};

/// An allgather by messages. Each PE counts its allgathers for each place.
struct Allgather {
  std::uint64_t place = 0;
  const std::vector<int>& members;
  std::size_t own = 0;
  const std::vector<std::uint64_t>& first_counts;
  std::uint64_t number = 0;  ///< from 1
};

/// The data of an allgather. After it, each member has the data of all members.
class AllgatherData {
 public:
  virtual ~AllgatherData() = default;
  /// Returns the data of this PE and of the `count` - 1 members before it, cyclically.
  [[nodiscard]] virtual std::vector<char> pack(std::size_t count) const = 0;
  /// Takes the data of the member that is `distance` positions before, and of members before that one.
  virtual base::Status unpack(std::size_t distance, const std::vector<char>& bytes) = 0;
};

/// Thread-safe except for start, open and close. One UCX worker under one lock: waiting callers make progress, and
/// otherwise a thread that sleeps on the worker's events. The first message to a PE creates the connection. Messages
/// from one PE to another are handled in the order of the calls, although UCX may reorder them. A thread of the target
/// PE performs the accesses to its memory, one at a time.
class Remote final : private UcxReceiver {
 public:
  /// Must be called before CUDA is initialized. If UCX is missing, start() reports it.
  static void prepare() noexcept { platform::prepare_ucx_before_cuda(); }
  /// Collective over the job; on failure all PEs fail with the same cause.
  [[nodiscard]] static base::Result<std::unique_ptr<Remote>> start(bootstrap::Exchange& exchange,
                                                                   const RemoteOptions& options) noexcept;
  ~Remote() { close(); }
  /// Allows other PEs to access this PE's memory. `own_heap` must outlive close().
  void open(OwnHeap& own_heap) noexcept;
  /// Ends the connections, gracefully after leave(). Later calls are not allowed.
  void close() noexcept;

  // By messages. Offsets are in the heap. The source of a put may be reused after the call. The target of an
  // asynchronous get holds the data after flush, and is not written after a failed flush.
  base::Status put(int pe, std::uint64_t offset, const void* source, std::size_t size_bytes) noexcept;
  /// Puts at most piece_bytes. Keeps `data` until UCX has sent it.
  base::Status put_kept(int pe, std::uint64_t offset, std::vector<char> data) noexcept;
  base::Status get(int pe, std::uint64_t offset, void* target, std::size_t size_bytes, bool is_device,
                   bool is_async) noexcept;
  /// With `is_async`, *old is valid after flush.
  base::Status update(int pe, std::uint64_t offset, std::size_t word_bytes, unsigned operation, std::uint64_t operand,
                      std::uint64_t compare, std::uint64_t* old, bool is_async) noexcept;

  // By UCX, directly at addresses of the other PE's memory. EOPNOTSUPP: use messages.
  base::Status put_direct(int pe, std::uint64_t offset, const void* source, std::size_t size_bytes, bool is_device,
                          bool is_async) noexcept;
  base::Status get_direct(int pe, std::uint64_t offset, void* target, std::size_t size_bytes, bool is_device,
                          bool is_async) noexcept;
  /// Returns why direct transfers are not possible. Depends on this process's UCX and on that PE's earlier replies.
  [[nodiscard]] base::Status serves_direct(int pe) noexcept;

  /// Releases UCX's registration and keys of the registered buffer that starts at `offset` and is no longer used, on
  /// this PE and on others.
  void forget(std::uint64_t offset) noexcept;

  /// Orders earlier operations on that PE before later ones.
  base::Status order(int pe) noexcept;
  [[nodiscard]] bool is_pending(int pe) noexcept;
  base::Status flush(int pe) noexcept;
  base::Status flush_all() noexcept;

  /// Folds `other` into `state`; the order of folding is not the same on all PEs.
  using Fold = void (*)(void* state, const void* other);
  /// Collective over the first PEs of the nodes, one thread each. Folds the `state` of all of them.
  base::Status allreduce(void* state, std::size_t size_bytes, Fold fold, const char* what) noexcept;

  /// Allgather among any PEs. Each sends and receives at most 3 log4(members) messages.
  base::Status allgather(const Allgather& call, AllgatherData& data, const char* what) noexcept;

  /// Returns the first PE that is known to be dead; -1: none.
  [[nodiscard]] int first_dead() const noexcept { return first_dead_.load(std::memory_order_acquire); }
  /// Makes progress without waiting.
  void poll() noexcept;
  /// Call it before this PE finalizes: the end of another PE is then not a failure.
  void leave() noexcept { is_leaving_.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_leader() const noexcept { return leader_of_[static_cast<std::size_t>(pe_)] == pe_; }

  /// Size of the largest piece of data in one message.
  static constexpr std::size_t piece_bytes = longest_piece_bytes;

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::size_t small_bytes = 192;

  /// A message or a direct transfer that UCX has not completed.
  struct Outgoing {
    alignas(8) std::uint8_t block[longest_header_bytes + small_bytes];
    std::vector<char> data;
    Remote* remote = nullptr;
    platform::UcxStatus status = platform::ucx_in_progress;
    bool is_waited_for = false;
  };
  /// A request that waits for a reply.
  struct Request {
    int pe = -1;
    RemoteMessageKind reply_kind = RemoteMessageKind::data;
    char* target = nullptr;
    std::size_t size_bytes = 0;
    std::size_t missing_bytes = 0;
    std::vector<bool> pieces;  // which pieces have arrived
    std::uint64_t offset = 0;  // of the chunk whose key was requested
    bool is_device = false;
    bool is_async = false;
    bool is_done = false;
    std::string text;  // of the error
    int errno_value = 0;
    std::uint64_t value = 0;
  };
  /// A message of another PE that needs a reply.
  struct PendingReply {
    int pe = -1;
    RemoteMessage message;
  };

  Remote(const RemoteOptions& options, int pe, int n_pes) noexcept
      : options_(options), pe_(pe), n_pes_(n_pes), peers_(static_cast<std::size_t>(n_pes)) {}
  base::Status exchange_addresses(bootstrap::Exchange& exchange, const base::Status& opened);

  // All below: under the lock.
  [[nodiscard]] base::Result<Peer*> connected(int pe) noexcept;
  [[nodiscard]] Peer& peer(int pe);
  [[nodiscard]] RemoteMessage message_of(RemoteMessageKind kind) const noexcept;
  /// The next in order.
  [[nodiscard]] RemoteMessage next_message(Peer& to, RemoteMessageKind kind) const noexcept;
  [[nodiscard]] Outgoing* new_outgoing();
  void recycle(Outgoing* outgoing) noexcept;
  /// Sends a message. Data longer than small_bytes must not change until the status of the result changes. nullptr:
  /// complete.
  base::Result<Outgoing*> send(int pe, const RemoteMessage& message, const void* data, std::size_t size_bytes);
  /// Sends a message and keeps its data as long as needed.
  base::Status send_kept(int pe, const RemoteMessage& message, std::vector<char> data);
  base::Status send_small(int pe, const RemoteMessage& message, const void* data = nullptr, std::size_t size_bytes = 0);
  /// Keeps the data of a message that UCX has not completed.
  void keep(Outgoing& sent, std::vector<char> data) noexcept;
  /// `kept` (may be nullptr) holds the data; it is moved from if UCX has not completed the message.
  base::Status put_piece(int pe, std::uint64_t offset, const char* data, std::size_t size_bytes,
                         std::vector<char>* kept);
  base::Status wait_sent(Lock& lock, Outgoing* outgoing, int pe, const char* what) noexcept;
  static void on_sent(void* request, platform::UcxStatus status, void* outgoing) noexcept;
  /// Evaluates the result of a UCX call for `outgoing`. nullptr: complete.
  base::Result<Outgoing*> check_started(Outgoing* outgoing, void* ucx_result, const char* what, int pe) noexcept;

  /// Waits until `is_there(argument)`. With `pe` -1, the death of any PE also ends the wait.
  base::Status wait(Lock& lock, const char* what, int pe, bool (*is_there)(const void*), const void* argument) noexcept;
  template <class Condition>
  base::Status wait(Lock& lock, const char* what, int pe, Condition is_there) noexcept {
    return wait(
        lock, what, pe, [](const void* argument) { return (*static_cast<const Condition*>(argument))(); }, &is_there);
  }
  /// Returns UCX's status of a transfer to or from that PE as an error.
  [[nodiscard]] tl::unexpected<base::Error> transfer_failure(const char* what, int pe,
                                                             platform::UcxStatus status) const noexcept;
  base::Status check_lives(const char* what, int pe) noexcept;
  base::Status check_delivered(Peer& to, const char* what, int pe) noexcept;
  [[nodiscard]] static bool has_pending(const Peer& to) noexcept;
  base::Status request_flush(Peer& to, int pe) noexcept;
  base::Status flush_direct(Lock& lock, Peer& to, int pe) noexcept;
  base::Status flush_locked(Lock& lock, Peer& to, int pe) noexcept;
  base::Result<RemoteChunk*> chunk_at(Lock& lock, Peer& to, int pe, std::uint64_t offset) noexcept;
  base::Status transfer_direct(int pe, std::uint64_t offset, char* local, std::size_t size_bytes, bool is_put,
                               bool is_device, bool is_async) noexcept;

  /// Sends data of allgather `number` at that place.
  base::Status send_allgather_data(int pe, std::uint64_t place, std::uint64_t number, const std::vector<char>& data,
                                   const char* what) noexcept;
  /// Waits for that PE's data of the allgather, and drops data of earlier allgathers.
  base::Result<std::vector<char>> receive_allgather_data(int pe, std::uint64_t place, std::uint64_t number,
                                                         const char* what) noexcept;

  void receive(const void* header, std::size_t header_bytes, const void* data,
               std::size_t size_bytes) noexcept override;
  void receive_rendezvous(const void* header, std::size_t header_bytes) noexcept override;
  [[nodiscard]] bool is_genuine(const DecodedMessage& decoded);
  [[nodiscard]] Request* request_of(const RemoteMessage& reply) noexcept;
  void handle_in_order(Peer& from, const RemoteMessage& message, const char* data, std::size_t size_bytes);
  void handle_at_once(const RemoteMessage& message, const char* data, std::size_t size_bytes);
  static void note_undelivered(Peer& from, const base::Status& done);
  base::Status deliver_put(const RemoteMessage& message, const char* data, std::size_t size_bytes) noexcept;
  base::Status deliver_update(const RemoteMessage& message, std::uint64_t* old) noexcept;
  void send_replies() noexcept;
  void reply(const PendingReply& pending);
  void reply_to_get(const PendingReply& pending);
  void reply_with_key(const PendingReply& pending);
  void take_data(const RemoteMessage& message, const char* data, std::size_t size_bytes);
  void end_async(Peer& from, std::uint64_t id);
  /// Later replies write nothing: after a failed flush the caller may free the targets.
  void abandon_gets(int pe) noexcept;
  base::Result<platform::UcxMemory*> registered(const OwnChunk& chunk);
  void take_key(const RemoteMessage& message, const char* data, std::size_t size_bytes);

  /// Calls UCX's progress function once and sends pending replies. Returns the number of events.
  unsigned progress_once() noexcept;
  /// Makes progress until UCX is idle, and performs periodic work.
  unsigned progress() noexcept;
  /// Makes progress while traffic arrives in quick succession and no caller waits for the lock.
  unsigned progress_eagerly() noexcept;
  void check_peers(Clock::time_point now) noexcept;
  void send_heartbeat() noexcept;
  /// `what`: the predicate of an error message about the PE, such as "has ended". `pe`: -1: this PE.
  void declare_dead(int pe, const char* what, const char* ucx_status = nullptr) noexcept;
  [[nodiscard]] const char* why_dead() const noexcept { return why_dead_.empty() ? "has ended" : why_dead_.c_str(); }
  void report_death(int dead) noexcept;
  static void on_error(void* argument, platform::UcxEndpoint* endpoint, platform::UcxStatus status) noexcept;
  /// Makes progress for that time.
  void linger(std::chrono::milliseconds time) noexcept;
  void close_endpoints(std::chrono::milliseconds at_most) noexcept;
  void run() noexcept;

  /// State of a public call: the lock, and the current device if UCX may use CUDA.
  struct Entered {
    explicit Entered(Remote& remote) noexcept;
    std::optional<platform::DeviceScope> scope;
    Lock lock;
  };
  void lock_soon(Lock& lock) noexcept;
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept;
  std::uint64_t new_request(std::unique_ptr<Request> request);
  base::Status wait_for_reply(Lock& lock, std::uint64_t id, const char* what, int pe) noexcept;
  void mark_dirty(Peer& to, int pe);

  const RemoteOptions options_;
  const int pe_;
  const int n_pes_;
  MessageKeys keys_;
  const platform::UcxCalls* calls_ = nullptr;
  std::unique_ptr<UcxWorker> worker_;
  std::vector<char> addresses_;  // of all workers, each in address_stride_ bytes
  std::size_t address_stride_ = 0;
  std::vector<int> leader_of_;              // by PE: the first PE of its node
  std::vector<int> leaders_;                // ascending
  std::vector<std::uint64_t> node_counts_;  // zeros: nodes count from the start of the job
  std::uint64_t node_allreduces_ = 0;

  std::mutex mutex_;
  std::atomic<int> users_waiting_{0};      // for the lock
  std::atomic<int> users_progressing_{0};  // threads that make progress
  std::atomic<bool> has_user_waited_{false};
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<int> dirty_;  // peers to which something was sent since the last flush_all
  std::vector<std::unique_ptr<Outgoing>> all_outgoing_;
  std::vector<Outgoing*> free_outgoing_;
  std::size_t kept_bytes_ = 0;  // in Outgoing::data
  std::unordered_map<std::uint64_t, std::unique_ptr<Request>> requests_;
  std::uint64_t last_request_ = 0;
  std::deque<PendingReply> pending_replies_;  // sent after UCX has returned
  AllgatherMessages allgather_messages_;
  std::vector<platform::UcxMemory*> registered_;
  std::vector<OwnChunk> registered_chunks_;
  OwnHeap* own_heap_ = nullptr;

  std::atomic<int> first_dead_{-1};
  std::string why_dead_;
  bool is_death_reported_ = false;
  std::atomic<bool> is_leaving_{false};
  int watched_ = -1;            // the PE that sends heartbeats to this PE
  int watcher_ = -1;            // the PE to which this PE sends heartbeats
  bool has_moved_ = false;      // since the clock was last read
  bool has_heartbeat_ = false;  // from watched_
  Clock::time_point last_heartbeat_{};
  Clock::time_point next_check_{};
  Clock::time_point next_heartbeat_{};
  Clock::time_point last_traffic_{};

  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace gdrkit::shmem_impl::remote
