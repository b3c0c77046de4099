// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/doctor_advice.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::transfer::report {
namespace {

/// The doctor reads files only, but may be delayed while the machine starts ranks.
constexpr std::chrono::seconds doctor_limit{20};
constexpr std::size_t most_lines = 6;

/// Reads until the end or the limit.
std::string read_until(int fd, std::chrono::steady_clock::time_point end) {
  std::string text;
  for (char bytes[4096];;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd one{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&one, 1, static_cast<int>(left.count())) <= 0) return text;
    const ssize_t size = ::read(fd, bytes, sizeof bytes);
    if (size <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(size));
  }
}

/// Uses posix_spawn, because the process may have threads of CUDA.
pid_t start_doctor(const std::string& root, int standard_output) {
  std::string words[] = {"gdrkit", "doctor", "--json", "--root", root};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return -1;
  pid_t child = -1;
  const bool is_ready = ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                        ::posix_spawn_file_actions_adddup2(&actions, standard_output, STDOUT_FILENO) == 0 &&
                        ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
  if (!is_ready || ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers, environ) != 0) child = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  return child;
}

/// "" if the doctor fails or exceeds the limit.
std::string doctor_document(const std::string& root) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = start_doctor(root, ends[1]);
  ::close(ends[1]);
  std::string text;
  if (child > 0) {
    text = read_until(ends[0], std::chrono::steady_clock::now() + doctor_limit);
    // The doctor has closed its output or exceeded the limit.
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  return text;
}

}  // namespace

std::string DoctorAdvice::text() const {
  if (!is_requested) return "";
  if (!unknown.empty()) return "# Doctor: unknown: " + unknown + "\n";
  std::vector<std::string> lines;
  for (const DoctorFinding& finding : findings) {
    lines.push_back(finding.check + (finding.state == "fail" ? " fails: " : " warns: ") +
                    (finding.subject.empty() ? "" : finding.subject + ": ") + finding.text);
  }
  for (const AdapterVerdict& verdict : adapters) {
    const std::string checks = verdict.checks.empty() ? "" : " (" + cli::joined(verdict.checks, ", ") + ")";
    lines.push_back(verdict.gpu + " and " + verdict.adapter + ": direct access: " + verdict.use +
                    (verdict.via.empty() ? "" : " by " + verdict.via) + ", " + verdict.reason + checks);
  }
  if (findings.empty()) lines.insert(lines.begin(), "no warning or failure for " + cli::joined(subjects, ", "));
  const std::size_t more = lines.size() > most_lines ? lines.size() - most_lines : 0;
  lines.resize(lines.size() - more);
  if (more != 0) lines.push_back(std::to_string(more) + " more");
  std::string all;
  for (const std::string& line : lines) all += "# Doctor: " + line + "\n";
  if (!findings.empty()) all += "# Doctor: run gdrkit doctor explain " + findings.front().check + " for the remedy\n";
  return all;
}

DoctorAdvice run_doctor_advice(job::ProcessGroup& processes, const std::vector<std::string>& own_gpus,
                               const std::string& library, const std::string& root) {
  const std::string machine = machine_name() + ":";
  const std::vector<std::string> all = processes.gather(machine + " " + cli::joined(own_gpus, ", "));
  if (!processes.is_first()) return {};
  DoctorRequest request{{}, library, false, root, "", ""};
  for (const std::string& one : all) {
    if (one.rfind(machine, 0) != 0) {
      request.is_between_machines = true;
      continue;
    }
    std::string rest = one.substr(machine.size());
    for (std::size_t begin = 1; begin < rest.size();) {
      const std::size_t end = std::min(rest.find(", ", begin), rest.size());
      const std::string gpu = rest.substr(begin, end - begin);
      if (std::ranges::find(request.gpus, gpu) == request.gpus.end()) {
        request.gpus.push_back(gpu);
      }
      begin = end + 2;
    }
  }
  return run_doctor_advice(request);
}

std::string machine_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? cli::printable(name) : "?";
}

DoctorAdvice run_doctor_advice(const DoctorRequest& request) {
  return advice_in(doctor_document(request.root), request);
}

}  // namespace gdrkit::transfer::report
