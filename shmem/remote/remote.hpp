// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Remote: the PEs of other machines, through UCX: their memory, meetings with them, and whether they live.
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
#include "platform/device/device_scope.hpp"
#include "shmem/bootstrap/exchange.hpp"
#include "shmem/node/node.hpp"
#include "shmem/remote/home.hpp"
#include "shmem/remote/message_bytes.hpp"
#include "shmem/remote/message_keys.hpp"
#include "shmem/remote/peer.hpp"
#include "shmem/remote/said_messages.hpp"
#include "shmem/remote/ucx_worker.hpp"

namespace gdrkit::shmem_impl::remote {

struct RemoteOptions {
  platform::Device* device = nullptr;  ///< current while UCX runs, which may copy by it
  node::Node* node = nullptr;
  const std::atomic<std::int64_t>* limit_ms = nullptr;  ///< of each call; 0: none
  const platform::UcxCalls* calls = nullptr;            ///< nullptr: the machine's UCX
  bool is_direct = false;                               ///< enables put_direct and get_direct
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds silence{7000};  ///< after which a neighbour is dead
};

/// PEs that meet by messages, and how often they have: each counts its meetings at that place from its own beginning.
struct Meeting {
  std::uint64_t place = 0;
  const std::vector<int>& members;
  std::size_t own = 0;
  const std::vector<std::uint64_t>& first_counts;
  std::uint64_t number = 0;  ///< from 1
};

/// What the members of a meeting exchange. At its end each has what all had at its beginning.
class MeetingData {
 public:
  virtual ~MeetingData() = default;
  /// Of the own member and the `count` - 1 before it, where the first one follows the last.
  [[nodiscard]] virtual std::vector<char> pack(std::size_t count) const = 0;
  /// Of the member that is `distance` before, and of those before that one.
  virtual base::Status unpack(std::size_t distance, const std::vector<char>& bytes) = 0;
};

/// Thread-safe but for start, open and close. One UCX worker under one lock; whoever waits moves its traffic, and a
/// thread that sleeps on the worker's events does so for all others. A connection to a PE is made when the first
/// message goes there.
///
/// Messages of one PE to another are handled in the order of the calls, whatever UCX does to them on their way. All
/// that a PE does to another one's memory by messages is done there by a thread of that PE, one at a time.
class Remote final : private UcxReceiver {
 public:
  /// What start() needs to have happened before CUDA is initialised; a missing UCX is start()'s to report.
  static void prepare() noexcept { platform::prepare_ucx_before_cuda(); }
  /// Collective over the job; on failure all PEs fail with the same cause.
  [[nodiscard]] static base::Result<std::unique_ptr<Remote>> start(bootstrap::Exchange& exchange,
                                                                   const RemoteOptions& options) noexcept;
  ~Remote() { close(); }
  /// From now on others may use this PE's memory. `home` must outlive close().
  void open(Home& home) noexcept;
  /// Ends the connections: gracefully after leave(). No call after it.
  void close() noexcept;

  // By messages. Offsets are the heap's. `source` may be changed when put returns, `target` of an asynchronous get
  // holds the data after flush, and is not written any more after a flush that failed.
  base::Status put(int pe, std::uint64_t offset, const void* source, std::size_t size_bytes) noexcept;
  /// At most piece_bytes.
  base::Status put_kept(int pe, std::uint64_t offset, std::vector<char> data) noexcept;
  base::Status get(int pe, std::uint64_t offset, void* target, std::size_t size_bytes, bool is_device,
                   bool is_async) noexcept;
  /// With `is_async`, *old is there after flush.
  base::Status update(int pe, std::uint64_t offset, std::size_t word_bytes, unsigned operation, std::uint64_t operand,
                      std::uint64_t compare, std::uint64_t* old, bool is_async) noexcept;

  // By UCX itself, at addresses of the other PE's memory. EOPNOTSUPP: use messages.
  base::Status put_direct(int pe, std::uint64_t offset, const void* source, std::size_t size_bytes, bool is_device,
                          bool is_async) noexcept;
  base::Status get_direct(int pe, std::uint64_t offset, void* target, std::size_t size_bytes, bool is_device,
                          bool is_async) noexcept;
  /// Why not; decided by what this process's UCX can, and by what that PE answered before.
  [[nodiscard]] base::Status serves_direct(int pe) noexcept;

  /// Of a registered buffer that begins there, on this PE and on others, and that nobody uses any more: UCX's
  /// registration and keys.
  void forget(std::uint64_t offset) noexcept;

  /// What was given for that PE before is done before what is given after.
  base::Status order(int pe) noexcept;
  [[nodiscard]] bool is_pending(int pe) noexcept;
  base::Status flush(int pe) noexcept;
  base::Status flush_all() noexcept;

  /// Folds `other` into `state`; the order of folding is not the same on all PEs.
  using Fold = void (*)(void* state, const void* other);
  /// Collective over the machines' first PEs, by one thread of each: `state` is folded over all of them.
  base::Status meet(void* state, std::size_t size_bytes, Fold fold, const char* what) noexcept;

  /// Any PEs: each sends and receives 3 log4(members) messages at most.
  base::Status meet(const Meeting& meeting, MeetingData& data, const char* what) noexcept;

  /// -1: all live, as far as this PE knows.
  [[nodiscard]] int first_dead() const noexcept { return first_dead_.load(std::memory_order_acquire); }
  /// Moves what is there to be moved, without waiting.
  void poll() noexcept;
  /// The end of another PE is no failure from now on.
  void leave() noexcept { is_leaving_.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_leader() const noexcept { return leader_of_[static_cast<std::size_t>(pe_)] == pe_; }
  /// What it holds: endpoints, and bytes that grow with the number of PEs.
  struct Connections {
    int endpoints = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Connections connections() noexcept;

  /// Longest piece that one message carries.
  static constexpr std::size_t piece_bytes = longest_piece_bytes;

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::size_t small_bytes = 192;

  /// A message or a direct transfer that UCX has not finished with.
  struct Outgoing {
    alignas(8) std::uint8_t block[longest_header_bytes + small_bytes];
    std::vector<char> data;
    Remote* remote = nullptr;
    platform::UcxStatus status = platform::ucx_in_progress;
    bool is_waited_for = false;
  };
  /// What an answer is wanted for.
  struct Request {
    int pe = -1;
    RemoteMessageKind answer = RemoteMessageKind::data;
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
  struct Answer {
    int pe = -1;
    RemoteMessage question;
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
  /// Sends; `data` must stay until the answer's status changes where it is longer than small_bytes. nullptr: done.
  base::Result<Outgoing*> send(int pe, const RemoteMessage& message, const void* data, std::size_t size_bytes);
  /// The same with bytes that it keeps for as long as needed.
  base::Status send_kept(int pe, const RemoteMessage& message, std::vector<char> data);
  base::Status send_small(int pe, const RemoteMessage& message, const void* data = nullptr, std::size_t size_bytes = 0);
  /// Of what UCX has not finished with.
  void keep(Outgoing& sent, std::vector<char> data) noexcept;
  /// `kept`, where there is one, holds the data and is taken where UCX has not finished with them.
  base::Status put_piece(int pe, std::uint64_t offset, const char* data, std::size_t size_bytes,
                         std::vector<char>* kept);
  base::Status wait_sent(Lock& lock, Outgoing* outgoing, int pe, const char* what) noexcept;
  static void on_sent(void* request, platform::UcxStatus status, void* outgoing) noexcept;
  /// Takes what a call of UCX answered for `outgoing`. nullptr: done.
  base::Result<Outgoing*> given(Outgoing* outgoing, void* answer, const char* what, int pe) noexcept;

  /// Until `is_there(argument)`. `pe` -1: any PE's death ends it, too.
  base::Status wait(Lock& lock, const char* what, int pe, bool (*is_there)(const void*), const void* argument) noexcept;
  template <class Condition>
  base::Status wait(Lock& lock, const char* what, int pe, Condition is_there) noexcept {
    return wait(
        lock, what, pe, [](const void* argument) { return (*static_cast<const Condition*>(argument))(); }, &is_there);
  }
  /// What UCX answered for a transfer to or from that PE, as an error.
  [[nodiscard]] tl::unexpected<base::Error> transfer_failure(const char* what, int pe,
                                                             platform::UcxStatus status) const noexcept;
  base::Status check_lives(const char* what, int pe) noexcept;
  base::Status check_delivered(Peer& to, const char* what, int pe) noexcept;
  [[nodiscard]] static bool has_pending(const Peer& to) noexcept;
  base::Status ask_flush(Peer& to, int pe) noexcept;
  base::Status flush_direct(Lock& lock, Peer& to, int pe) noexcept;
  base::Status flush_locked(Lock& lock, Peer& to, int pe) noexcept;
  base::Result<RemoteChunk*> chunk_at(Lock& lock, Peer& to, int pe, std::uint64_t offset) noexcept;
  base::Status transfer_direct(int pe, std::uint64_t offset, char* local, std::size_t size_bytes, bool is_put,
                               bool is_device, bool is_async) noexcept;

  /// Sends these bytes for meeting `number` at that place.
  base::Status say(int pe, std::uint64_t place, std::uint64_t number, const std::vector<char>& data,
                   const char* what) noexcept;
  /// Waits for what that PE sends for that meeting. Earlier ones are forgotten.
  base::Result<std::vector<char>> hear(int pe, std::uint64_t place, std::uint64_t number, const char* what) noexcept;

  void receive(const void* header, std::size_t header_bytes, const void* data,
               std::size_t size_bytes) noexcept override;
  void receive_rendezvous(const void* header, std::size_t header_bytes) noexcept override;
  [[nodiscard]] bool is_genuine(const DecodedMessage& decoded);
  [[nodiscard]] Request* request_of(const RemoteMessage& answer) noexcept;
  void handle_in_order(Peer& from, const RemoteMessage& message, const char* data, std::size_t size_bytes);
  void handle_at_once(const RemoteMessage& message, const char* data, std::size_t size_bytes);
  static void note_undelivered(Peer& from, const base::Status& done);
  base::Status deliver_put(const RemoteMessage& message, const char* data, std::size_t size_bytes) noexcept;
  base::Status deliver_update(const RemoteMessage& message, std::uint64_t* old) noexcept;
  void answer_questions() noexcept;
  void answer(const Answer& wanted);
  void answer_get(const Answer& wanted);
  void answer_key(const Answer& wanted);
  void take_data(const RemoteMessage& message, const char* data, std::size_t size_bytes);
  void end_async(Peer& from, std::uint64_t id);
  /// Answers that come later write nothing: after a failed flush the caller may free the targets.
  void give_up_gets(int pe) noexcept;
  base::Result<platform::UcxMemory*> registered(const HomeChunk& chunk);
  void take_key(const RemoteMessage& message, const char* data, std::size_t size_bytes);

  /// One turn of UCX, and answers to what came. Answers how much UCX had to do.
  unsigned move() noexcept;
  /// Turns until UCX has nothing to do, and what the clock asks for.
  unsigned progress() noexcept;
  /// For as long as traffic comes in quick succession, and no caller waits for the lock.
  unsigned progress_eagerly() noexcept;
  void look_after_others(Clock::time_point now) noexcept;
  void send_heartbeat() noexcept;
  void declare_dead(int pe, const char* why) noexcept;
  void tell_death(int dead) noexcept;
  static void on_error(void* argument, platform::UcxEndpoint* endpoint, platform::UcxStatus status) noexcept;
  /// Moves traffic for that long.
  void linger(std::chrono::milliseconds time) noexcept;
  void close_endpoints(std::chrono::milliseconds at_most) noexcept;
  void run() noexcept;

  /// For a call from outside: the lock, and the device current where UCX may copy by it.
  struct Entered {
    explicit Entered(Remote& remote) noexcept;
    std::optional<platform::DeviceScope> scope;
    Lock lock;
  };
  void lock_soon(Lock& lock) noexcept;
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept;
  std::uint64_t new_request(std::unique_ptr<Request> request);
  base::Status wait_answer(Lock& lock, std::uint64_t id, const char* what, int pe) noexcept;
  void mark_dirty(Peer& to, int pe);

  const RemoteOptions options_;
  const int pe_;
  const int n_pes_;
  MessageKeys keys_;
  const platform::UcxCalls* calls_ = nullptr;
  std::unique_ptr<UcxWorker> worker_;
  std::vector<char> addresses_;  // of all workers, each in address_stride_ bytes
  std::size_t address_stride_ = 0;
  std::vector<int> leader_of_;                 // by PE: the first PE of its machine
  std::vector<int> leaders_;                   // ascending
  std::vector<std::uint64_t> machine_counts_;  // zeros: machines count from the start of the job
  std::uint64_t machine_meetings_ = 0;

  std::mutex mutex_;
  std::atomic<int> users_waiting_{0};      // for the lock
  std::atomic<int> users_progressing_{0};  // they move the traffic themselves
  std::atomic<bool> has_user_waited_{false};
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<int> dirty_;  // peers to which something was sent since the last flush_all
  std::vector<std::unique_ptr<Outgoing>> all_outgoing_;
  std::vector<Outgoing*> free_outgoing_;
  std::size_t kept_bytes_ = 0;  // in Outgoing::data
  std::unordered_map<std::uint64_t, std::unique_ptr<Request>> requests_;
  std::uint64_t last_request_ = 0;
  std::deque<Answer> questions_;  // to be answered once UCX has returned
  SaidMessages said_;
  std::vector<platform::UcxMemory*> registered_;
  std::vector<HomeChunk> registered_chunks_;
  Home* home_ = nullptr;

  std::atomic<int> first_dead_{-1};
  std::string why_dead_;
  bool is_death_told_ = false;
  std::atomic<bool> is_leaving_{false};
  int watched_ = -1;        // the PE whose heartbeats come here
  int watcher_ = -1;        // the PE that wants this one's
  bool has_moved_ = false;  // since the last look at the clock
  bool has_heard_ = false;  // from watched_
  Clock::time_point last_heard_{};
  Clock::time_point next_look_{};
  Clock::time_point next_heartbeat_{};
  Clock::time_point last_traffic_{};

  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace gdrkit::shmem_impl::remote
