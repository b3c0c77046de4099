// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/job/process_group.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "shmem/bootstrap/exchange.hpp"
#include "shmem/node/node_join.hpp"

namespace gdrkit::transfer::job {
namespace {

namespace bootstrap = shmem_impl::bootstrap;
namespace node = shmem_impl::node;

/// The memory that the processes of a machine share; zeroed.
struct Area {
  std::atomic<std::uint64_t> arrived;  ///< at all barriers so far
};

constexpr int polls_per_check = 4096;

std::string text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::Result<std::unique_ptr<bootstrap::Exchange>> join_job(std::chrono::seconds limit) {
  auto environment = bootstrap::read_launch_environment();
  if (!environment) return base::pass(environment);
  return bootstrap::exchange_by_environment(*environment, limit);
}

base::Result<std::unique_ptr<node::Node>> join_machine(bootstrap::Exchange& exchange, std::chrono::seconds limit) {
  const std::string directory = text_of("GDRKIT_SHMEM_SOCKET_DIR");
  auto rendezvous = bootstrap::Rendezvous::open(directory);
  if (!rendezvous) return base::pass(rendezvous);
  auto machine = node::read_machine_name({text_of("GDRKIT_SHMEM_HOSTID"), !directory.empty()});
  if (!machine) return base::pass(machine);
  return node::join_node(*machine, exchange, sizeof(Area), limit, 0, *rendezvous);
}

}  // namespace

struct ProcessGroup::Connections {
  std::unique_ptr<bootstrap::Exchange> exchange;
  std::unique_ptr<node::Node> machine;
  std::uint64_t barriers = 0;
};

ProcessGroup::ProcessGroup(std::string program, std::chrono::seconds limit)
    : program_(std::move(program)),
      limit_(limit),
      choice_(choose_device_after_ucx()),
      connections_(std::make_unique<Connections>()) {
  auto exchange = join_job(limit);
  if (!exchange) check(base::pass(exchange), nullptr);
  connections_->exchange = std::move(*exchange);
  auto machine = join_machine(*connections_->exchange, limit);
  if (!machine) check(base::pass(machine), nullptr);
  connections_->machine = std::move(*machine);
  const auto count = choice_.is_emulated ? platform::emulated_device_count() : platform::cuda_device_count();
  if (!count) check(base::pass(count), "cannot count GPUs");
  device_ = cli::open_device(choice_, local_index() % std::max(*count, 1));
}

ProcessGroup::~ProcessGroup() = default;

int ProcessGroup::process() const noexcept { return connections_->exchange->pe(); }
int ProcessGroup::n_processes() const noexcept { return connections_->exchange->n_pes(); }
int ProcessGroup::local_index() const noexcept { return connections_->machine->index_of(process()); }
int ProcessGroup::n_local_processes() const noexcept { return static_cast<int>(connections_->machine->pes().size()); }

void ProcessGroup::check(const base::Status& status, const char* step) const {
  if (status) return;
  const std::string prefix = step == nullptr ? program_ : program_ + ": " + step;
  cli::fail(prefix + ": " + status.error().text());
}

void ProcessGroup::all_gather(const void* mine, std::size_t size_bytes, void* all, const char* step) {
  check(connections_->exchange->allgather(mine, size_bytes, all, step), nullptr);  // the error names the step
}

void ProcessGroup::barrier() {
  if (!is_on_one_machine()) {
    (void)gather(0.0);
    return;
  }
  node::Node& machine = *connections_->machine;
  auto& arrived = static_cast<Area*>(machine.area())->arrived;
  const std::uint64_t target = ++connections_->barriers * static_cast<std::uint64_t>(n_processes());
  // Pairs with the loads of the other processes: what precedes this barrier is visible to them after it.
  arrived.fetch_add(1, std::memory_order_acq_rel);
  const auto deadline = std::chrono::steady_clock::now() + limit_;
  for (int poll = 1; arrived.load(std::memory_order_acquire) < target; ++poll) {
    ::sched_yield();
    if (poll % polls_per_check != 0) continue;
    const auto& pes = machine.pes();
    const auto dead = std::ranges::find_if(pes, [&](int pe) { return !machine.is_alive(pe); });
    if (dead != pes.end() && arrived.load(std::memory_order_acquire) < target) {
      check(base::fail(ECONNRESET, "process %d has ended; see the error message of that process", *dead), "barrier");
    }
    if (std::chrono::steady_clock::now() > deadline) {
      check(base::fail(ETIMEDOUT, "not all processes arrived within %lld s; see the output of all processes",
                       static_cast<long long>(limit_.count())),
            "barrier");
    }
  }
}

std::vector<double> ProcessGroup::gather(double value) {
  std::vector<double> values(static_cast<std::size_t>(n_processes()));
  all_gather(&value, sizeof value, values.data(), "gathering numbers");
  return values;
}

std::vector<std::string> ProcessGroup::gather(const std::string& text) {
  return gather_bytes(text.substr(0, most_text_bytes), "gathering texts");
}

std::vector<std::string> ProcessGroup::gather_bytes(const std::string& bytes, const char* what) {
  const std::vector<double> sizes = gather(static_cast<double>(bytes.size()));
  const auto most = static_cast<std::size_t>(*std::ranges::max_element(sizes));
  std::string mine = bytes;
  mine.resize(most);
  std::string all(most * sizes.size(), '\0');
  if (most != 0) all_gather(mine.data(), most, all.data(), what);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(all.substr(i * most, static_cast<std::size_t>(sizes[i])));
  }
  return parts;
}

void ProcessGroup::share(void* bytes, std::size_t size_bytes) {
  std::vector<char> all(size_bytes * static_cast<std::size_t>(n_processes()));
  all_gather(bytes, size_bytes, all.data(), "sharing bytes of process 0");
  std::memcpy(bytes, all.data(), size_bytes);
}

void ProcessGroup::check_in_first(const std::function<void()>& check) {
  auto code = cli::ExitCode::ok;
  std::string why = program_ + ": process 0 has failed; see the error message of process 0";
  if (is_first()) {
    try {
      check();
    } catch (const cli::Failure& failure) {
      code = failure.code();
      why = failure.what();
    }
  }
  share(&code, sizeof code);
  if (code != cli::ExitCode::ok) throw cli::Failure(code, why);
}

SessionRequest ProcessGroup::shmem_request() {
  SessionRequest request;
  request.membership = JobMembership{{}, process(), n_processes()};
  if (is_first()) require(gdrkit_shmem_get_unique_id(&request.membership->id), "get_unique_id");
  share(&request.membership->id, sizeof request.membership->id);
  request.timeout_ms = static_cast<std::uint32_t>(std::chrono::milliseconds(limit_).count());
  return request;
}

void ProcessGroup::end() {
  barrier();
  connections_->machine->leave();
  device_.reset();
}

}  // namespace gdrkit::transfer::job
