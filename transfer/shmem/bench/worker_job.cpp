// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/worker_job.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/memory_file.hpp"
#include "cli/interface/exit_code.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr int receive_limit_s = 40;
constexpr int channel = 3;  // of the worker

Request case_request(RequestKind kind, std::size_t case_number, std::size_t size_bytes, std::size_t count) {
  Request request;
  request.kind = kind;
  request.case_number = static_cast<std::uint32_t>(case_number);
  request.size_bytes = size_bytes;
  request.count = count;
  return request;
}

/// Of much, what it begins and ends with, in whole lines: an assertion that fails in a GPU kernel prints one for each
/// thread.
void show_output(int file, const std::string& name) {
  constexpr std::size_t shown_bytes = 4096;  // of each end
  struct stat about {};
  if (::fstat(file, &about) != 0 || about.st_size == 0) return;
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) return;
  std::string_view rest(static_cast<const char*>(start), size);
  const auto print = [](std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); };
  if (size > 2 * shown_bytes) {
    const std::size_t head = rest.substr(0, shown_bytes).rfind('\n') + 1;  // 0: no line ends there
    print(rest.substr(0, head));
    rest.remove_prefix(head);
    std::size_t tail = rest.size() - shown_bytes;
    // May cut a long line in the middle, because the last line is the most informative.
    if (const std::size_t line = rest.find('\n', tail); line < rest.size() - 1) tail = line + 1;
    const auto lines = std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(tail), '\n');
    std::fprintf(stderr, "(%s printed %td more lines here)\n", name.c_str(), lines);
    rest.remove_prefix(tail);
  }
  print(rest);
  if (rest.back() != '\n') print("\n");
  (void)::munmap(start, size);
}

}  // namespace

WorkerJob::WorkerJob(std::string library, PeerFiles files, int n_pes, std::size_t largest_bytes)
    : library_(std::move(library)), files_(std::move(files)), n_pes_(n_pes), largest_bytes_(largest_bytes) {}

WorkerJob::~WorkerJob() { kill_all(); }

std::string WorkerJob::name_of(int pe) const { return library_ + " PE " + std::to_string(pe); }

void WorkerJob::fail(const std::string& text) const { throw WorkerFailure(library_, text); }

void WorkerJob::launch(int pe) {
  int sockets[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    fail(cli::format("cannot create sockets for %s: %s", name_of(pe).c_str(), std::strerror(errno)));
  }
  const timeval limit{receive_limit_s, 0};
  (void)::setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string channel_word = std::to_string(channel);
  std::vector<std::string> words = {"gdrkit", "shmem", "bench", "--worker", library_, "--channel", channel_word};
  const auto add_file = [&](const char* option, const std::string& file) {
    if (!file.empty()) words.insert(words.end(), {option, file});
  };
  add_file("--nvshmem", files_.nvshmem);
  add_file("--nvshmem-device", files_.nvshmem_device);
  add_file("--nccl", files_.nccl);
  const std::vector<char*> pointers = cli::pointers_to(words);
  const int output = base::open_memory_file("gdrkit-worker-output");
  const int printed = output >= 0 ? output : STDERR_FILENO;  // where there may be no such file
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id == 0) {
    // Only what is safe between fork and exec. The socket loses its close-on-exec flag by dup2, unless it is there
    // already.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    // Standard output is bench's alone. First, as the channel may be the number of another descriptor here.
    ::dup2(printed, STDOUT_FILENO);
    ::dup2(printed, STDERR_FILENO);
    if (sockets[1] == channel) {
      ::fcntl(channel, F_SETFD, 0);
    } else {
      ::dup2(sockets[1], channel);
    }
    ::execv("/proc/self/exe", pointers.data());
    ::_exit(127);
  }
  const int error = errno;
  ::close(sockets[1]);
  if (id < 0) {
    ::close(sockets[0]);
    if (output >= 0) ::close(output);
    fail("cannot start " + name_of(pe) + ": " + cli::fork_error_text(error));
  }
  processes_.push_back({id, sockets[0], output});
}

void WorkerJob::kill_all() noexcept {
  for (const Process& process : processes_) ::kill(process.id, SIGKILL);
  reap();
}

void WorkerJob::reap() noexcept {
  for (std::size_t pe = 0; pe < processes_.size(); ++pe) {
    const Process& process = processes_[pe];
    ::close(process.socket);
    ::waitpid(process.id, nullptr, 0);
    if (process.output < 0) continue;
    show_output(process.output, name_of(static_cast<int>(pe)));
    ::close(process.output);
  }
  processes_.clear();
}

void WorkerJob::send(int pe, const Request& request) {
  const int socket = processes_[static_cast<std::size_t>(pe)].socket;
  if (::send(socket, &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request)) {
    fail(name_of(pe) + " has ended; see its own error message");
  }
}

Reply WorkerJob::receive(int pe) {
  Reply reply;
  ssize_t received = 0;
  do {
    received = ::recv(processes_[static_cast<std::size_t>(pe)].socket, &reply, sizeof reply, 0);
  } while (received < 0 && errno == EINTR);
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    fail(cli::format("%s did not reply within %d s", name_of(pe).c_str(), receive_limit_s));
  }
  if (received != static_cast<ssize_t>(sizeof reply)) fail(name_of(pe) + " has ended; see its own error message");
  reply.text[sizeof reply.text - 1] = '\0';
  if (reply.code < 0 && reply.code != -EOPNOTSUPP) fail(name_of(pe) + ": " + reply.text);
  return reply;
}

double WorkerJob::start() {
  kill_all();
  devices_.clear();
  const std::int64_t begin = platform::now_ns();
  for (int pe = 0; pe < n_pes_; ++pe) launch(pe);
  Request request;
  request.kind = RequestKind::make_id;
  request.size_bytes = largest_bytes_;
  request.scratch_bytes = scratch_bytes_;
  request.n_pes = n_pes_;
  send(0, request);
  const Reply made = receive(0);
  request.kind = RequestKind::start;
  std::memcpy(request.id, made.id, id_bytes);
  for (request.pe = 0; request.pe < n_pes_; ++request.pe) send(request.pe, request);
  for (int pe = 0; pe < n_pes_; ++pe) {
    const Reply started = receive(pe);
    devices_.push_back(started.device);
    version_ = started.text;
  }
  const double ns = static_cast<double>(platform::now_ns() - begin);
  request.kind = RequestKind::prepare;
  for (int pe = 0; pe < n_pes_; ++pe) send(pe, request);
  for (int pe = 0; pe < n_pes_; ++pe) (void)receive(pe);
  return ns;
}

void WorkerJob::end() {
  if (processes_.empty()) return;
  for (int pe = 0; pe < n_pes_; ++pe) send(pe, Request());
  for (int pe = 0; pe < n_pes_; ++pe) (void)receive(pe);
  reap();
}

void WorkerJob::set_scratch(std::size_t size_bytes) {
  if (size_bytes == scratch_bytes_) return;
  scratch_bytes_ = size_bytes;
  end();
  (void)start();
}

Reply WorkerJob::request_result(const Request& request) {
  const bool is_together = all_cases()[request.case_number].who == Who::together;
  const int n_requests = is_together ? n_pes_ : 1;
  for (int pe = 0; pe < n_requests; ++pe) send(pe, request);
  Reply first;
  for (int pe = 0; pe < n_requests; ++pe) {
    const Reply reply = receive(pe);
    if (pe == 0) first = reply;
  }
  return first;
}

std::string WorkerJob::why_not(std::size_t case_number, std::size_t size_bytes) {
  const Reply reply = request_result(case_request(RequestKind::batch, case_number, size_bytes, 1));
  return reply.code == -EOPNOTSUPP ? reply.text : "";
}

double WorkerJob::run_batch(std::size_t case_number, std::size_t size_bytes, std::size_t count) {
  return request_result(case_request(RequestKind::batch, case_number, size_bytes, count)).ns;
}

measure::Single WorkerJob::run_singles(std::size_t case_number, std::size_t size_bytes, std::size_t count) {
  return request_result(case_request(RequestKind::singles, case_number, size_bytes, count)).single;
}

}  // namespace gdrkit::transfer::shmem
