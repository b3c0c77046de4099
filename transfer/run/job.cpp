// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::run {
namespace {

/// Signals that end a job, and signals that PEs may handle.
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int other_signals[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

/// From a PE's failure to the termination of the others. Meanwhile they may detect and report the failure.
constexpr std::chrono::milliseconds report_time{500};

/// The number of bytes that a writable pipe accepts without blocking.
constexpr std::size_t write_piece = 4096;

sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int number : ending_signals) ::sigaddset(&set, number);
  for (const int number : other_signals) ::sigaddset(&set, number);
  return set;
}

std::string numbers_text(const std::vector<int>& pes) {
  std::string text = pes.size() == 1 ? "PE " : "PEs ";
  for (std::size_t i = 0; i < pes.size(); ++i) {
    if (i == 8 && pes.size() > 9) return text + " and " + std::to_string(pes.size() - 8) + " more";
    text += (i == 0 ? "" : i + 1 == pes.size() ? " and " : ", ") + std::to_string(pes[i]);
  }
  return text;
}

void print_error(const std::string& text) { std::fprintf(stderr, "gdrkit run: %s\n", text.c_str()); }

}  // namespace

Job::Job(JobPlan plan, RankEnvironment& environment)
    : plan_(std::move(plan)),
      environment_(environment),
      departures_(std::in_place, environment),
      is_watched_(static_cast<std::size_t>(plan_.n_pes)) {
  std::fflush(nullptr);
  const sigset_t handled = handled_signals();
  ::sigprocmask(SIG_BLOCK, &handled, &old_mask_);
  // The write detects that the reader of our output has ended.
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) cli::fail(cli::format("gdrkit run: cannot receive signals (signalfd): %s", std::strerror(errno)));
  guardian_.emplace(environment_.listener());
  if (!plan_.has_prefixes) return;
  streams_.emplace_back(plan_.n_pes, 1);
  streams_.emplace_back(plan_.n_pes, 2);
}

Job::~Job() {
  clean_up();
  for (const Stream& stream : streams_) {
    for (const int pipe : stream.pipes) {
      if (pipe >= 0) ::close(pipe);
    }
  }
  departures_.reset();  // its processes may hold the guardian's pipe open
  guardian_.reset();
  if (signals_ >= 0) ::close(signals_);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

int Job::run() {
  if (plan_.time_limit.count() > 0) limit_at_ = Clock::now() + plan_.time_limit;
  start_pes();
  while (!running().empty()) wait_and_work();
  clean_up();
  for (Stream& stream : streams_) {
    for (std::size_t pe = 0; pe < stream.pipes.size(); ++pe) read_pipe(&stream, pe, true);
  }
  // Only printed lines are left; a second request to end discards them.
  const auto has_lines = [&] {
    return std::ranges::any_of(streams_, [](const Stream& one) { return !one.lines.ready().empty(); });
  };
  is_ending_ = false;
  while (has_lines() && !is_ending_) wait_and_work();
  return code_.value_or(static_cast<int>(is_output_lost_ ? cli::ExitCode::failed : cli::ExitCode::ok));
}

void Job::start_pes() {
  for (int pe = 0; pe < plan_.n_pes; ++pe) start_pe(pe);
  environment_.close_listener();
}

void Job::start_pe(int pe) {
  RankStart start;
  start.file = plan_.file;
  start.words = plan_.words;
  start.variables = environment_.of(pe);
  start.listener = pe == 0 ? environment_.listener() : -1;
  // A process group in the background that reads from the terminal is stopped.
  start.has_input = pe == 0 && ::isatty(0) == 0;
  start.mask = old_mask_;
  int outer[2] = {-1, -1};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      cli::fail(cli::format("gdrkit run: cannot open a pipe for PE %d: %s; raise the limit of open files (ulimit -n)",
                            pe, std::strerror(errno)));
    }
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    streams_[i].pipes[static_cast<std::size_t>(pe)] = ends[0];
    outer[i] = ends[1];
  }
  start.output = outer[0];
  start.errors = outer[1];
  pes_.emplace_back(start);
  for (const int end : outer) {
    if (end >= 0) ::close(end);
  }
  guardian_->watch(pes_.back().id());
  is_watched_[static_cast<std::size_t>(pe)] = true;
}

std::vector<int> Job::running() const {
  std::vector<int> numbers;
  for (std::size_t pe = 0; pe < pes_.size(); ++pe) {
    if (!pes_[pe].has_ended()) numbers.push_back(static_cast<int>(pe));
  }
  return numbers;
}

int Job::wait_ms() const {
  std::optional<Clock::time_point> next = kill_at_;
  for (const auto& other : {limit_at_, end_at_}) {
    if (other && (!next || *other < *next)) next = other;
  }
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  return static_cast<int>(std::clamp<long long>(left.count(), 0, 60'000));
}

void Job::wait_and_work() {
  struct Place {
    Stream* stream;
    std::size_t pe;
  };
  std::vector<pollfd> entries{{signals_, POLLIN, 0}};
  std::vector<Place> places{{nullptr, 0}};
  for (Stream& stream : streams_) {
    if (!stream.lines.ready().empty()) {
      entries.push_back({stream.target, POLLOUT, 0});
      places.push_back({&stream, stream.pipes.size()});
    }
    for (std::size_t pe = 0; pe < stream.pipes.size() && !stream.lines.is_full(); ++pe) {
      if (stream.pipes[pe] < 0) continue;
      entries.push_back({stream.pipes[pe], POLLIN, 0});
      places.push_back({&stream, pe});
    }
  }
  if (::poll(entries.data(), entries.size(), wait_ms()) > 0) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].revents == 0) continue;
      if (places[i].pe == places[i].stream->pipes.size()) {
        write_lines(places[i].stream);
      } else {
        read_pipe(places[i].stream, places[i].pe, false);
      }
    }
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) take_signal(static_cast<int>(signal.ssi_signo));
  }
  keep_time();
}

void Job::read_pipe(Stream* stream, std::size_t pe, bool is_last) {
  int& pipe = stream->pipes[pe];
  if (pipe < 0) return;
  char bytes[65536];
  ssize_t got = 0;
  do {
    got = ::read(pipe, bytes, sizeof bytes);
    if (got > 0) stream->lines.add(static_cast<int>(pe), {bytes, static_cast<std::size_t>(got)});
  } while (got > 0 && is_last);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR) && !is_last)) return;
  stream->lines.end(static_cast<int>(pe));
  ::close(pipe);
  pipe = -1;
}

void Job::write_lines(Stream* stream) {
  const std::string_view ready = stream->lines.ready();
  const ssize_t put = ::write(stream->target, ready.data(), std::min(ready.size(), write_piece));
  if (put > 0) stream->lines.take(static_cast<std::size_t>(put));
  if (put >= 0 || errno == EINTR || errno == EAGAIN) return;
  // If the reader has ended, PEs that print more get the same error as without the launcher. A full disk does not end
  // PEs that print no more, so the launcher must report the lost output.
  if (errno != EPIPE) {
    print_error(cli::format("cannot write to standard %s: %s; the output of PEs is lost",
                            stream->target == STDOUT_FILENO ? "output" : "error", std::strerror(errno)));
    is_output_lost_ = true;
  }
  stream->lines.take(ready.size());
  for (int& pipe : stream->pipes) {
    if (pipe >= 0) ::close(pipe);
    pipe = -1;
  }
}

void Job::take_signal(int number) {
  if (number == SIGCHLD) return reap();
  if (number == SIGTSTP) {
    // Stopped as one job: when the shell continues it, take_signal(SIGCONT) continues all.
    forward(SIGSTOP);
    ::kill(::getpid(), SIGSTOP);
    return;
  }
  if (std::ranges::find(ending_signals, number) == std::end(ending_signals)) {
    if (number == SIGCONT) return forward(number);
    // Not to a PE's helper processes, most of which an unexpected signal would kill.
    for (const RankProcess& pe : pes_) pe.signal_leader(number);
    return;
  }
  if (is_ending_ && !end_at_) {
    // A second request ends the grace period.
    kill_at_ = Clock::now();
    return;
  }
  if (!code_) code_ = 128 + number;
  end_all(number);
}

void Job::forward(int number) const {
  for (std::size_t pe = 0; pe < pes_.size(); ++pe) {
    if (is_watched_[pe]) pes_[pe].signal(number);
  }
}

void Job::reap() {
  std::vector<int> failed;
  for (std::size_t pe = 0; pe < pes_.size(); ++pe) {
    if (!pes_[pe].reap()) continue;
    if (pes_[pe].exit_code() != 0) {
      failed.push_back(static_cast<int>(pe));
    } else if (pes_[pe].is_empty() && !running().empty() &&
               !is_ending_) {  // a shell may leave the PE running in the background
      departures_->note(static_cast<int>(pe));
    }
    if (pes_[pe].is_empty()) {
      guardian_->forget(pes_[pe].id());
      is_watched_[pe] = false;
    }
  }
  if (failed.empty() || is_ending_) return;
  // Other PEs fail shortly after one was killed; both may be detected at once.
  const auto killed =
      std::ranges::find_if(failed, [&](int pe) { return pes_[static_cast<std::size_t>(pe)].was_killed(); });
  note_failure(killed != failed.end() ? *killed : failed.front());
}

void Job::note_failure(int pe) {
  const RankProcess& failed = pes_[static_cast<std::size_t>(pe)];
  const std::vector<int> left = running();
  print_error(cli::format("PE %d (process %d) %s", pe, static_cast<int>(failed.id()), failed.end_text().c_str()) +
              (left.empty() ? "" : "; ending " + numbers_text(left)));
  code_ = failed.exit_code();
  is_ending_ = true;
  limit_at_.reset();
  end_at_ = Clock::now() + report_time;
}

void Job::end_all(int number) {
  is_ending_ = true;
  limit_at_.reset();
  end_at_.reset();
  kill_at_ = Clock::now() + plan_.grace;
  forward(number);
  forward(SIGCONT);  // a stopped process handles only this signal
}

void Job::keep_time() {
  const auto now = Clock::now();
  if (end_at_ && now >= *end_at_) end_all(SIGTERM);
  if (kill_at_ && now >= *kill_at_) {
    kill_at_.reset();
    if (const auto left = running(); !left.empty()) print_error(numbers_text(left) + " did not end in time; killed");
    forward(SIGKILL);
  }
  if (!limit_at_ || now < *limit_at_) return;
  limit_at_.reset();
  const auto left = running();
  if (left.empty()) return;
  print_error(
      cli::format("the time limit of %g s has expired; ending ", static_cast<double>(plan_.time_limit.count()) / 1000) +
      numbers_text(left));
  code_ = time_limit_code;
  end_all(SIGTERM);
}

/// Kills processes that the PEs started and left running.
void Job::clean_up() {
  forward(SIGKILL);
  for (std::size_t pe = 0; pe < pes_.size(); ++pe) {
    if (is_watched_[pe] && guardian_) guardian_->forget(pes_[pe].id());
    is_watched_[pe] = false;
  }
}

}  // namespace gdrkit::transfer::run
