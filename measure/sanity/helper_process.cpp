// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/sanity/helper_process.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli/interface/exit_code.hpp"
#include "measure/sanity/verdict.hpp"

namespace gdrkit::measure::sanity {
namespace {

[[noreturn]] void run_child(const std::function<void(Channel*)>& body, Channel* channel) {
  try {
    body(channel);
  } catch (const cli::Failure& failure) {
    if (failure.code() == cli::ExitCode::cannot_run) waive(failure.what());
    fail(failure.what());
  } catch (const std::exception& error) {
    fail(std::string("the helper process of this test failed: ") + error.what());
  }
  std::fflush(nullptr);
  ::_exit(exit_passed);
}

}  // namespace

void Channel::synchronize() {
  send('m');
  (void)receive<char>();
}

void Channel::send_bytes(const void* bytes, std::size_t size_bytes) {
  const ssize_t sent = ::send(descriptor_, bytes, size_bytes, MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(size_bytes)) end_as_the_other_did();
}

void Channel::receive_bytes(void* bytes, std::size_t size_bytes) {
  const ssize_t got = ::recv(descriptor_, bytes, size_bytes, MSG_WAITALL);
  if (got != static_cast<ssize_t>(size_bytes)) end_as_the_other_did();
}

void Channel::end_as_the_other_did() const {
  int status = 0;
  const bool has_status = helper_ > 0 && ::waitpid(helper_, &status, 0) == helper_;
  if (has_status && WIFEXITED(status) && WEXITSTATUS(status) == exit_waived) ::_exit(exit_waived);
  fail(cli::format("the other process of this test has ended (wait status %d)", status));
}

HelperProcess::HelperProcess(const std::function<void(Channel*)>& body) {
  std::array<int, 2> ends{};
  SANITY_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "%s", std::strerror(errno));
  std::fflush(nullptr);
  child_ = ::fork();
  SANITY_CHECK(child_ >= 0, "fork: %s", std::strerror(errno));
  if (child_ == 0) {
    ::close(ends[0]);
    Channel channel(ends[1], -1);
    run_child(body, &channel);
  }
  ::close(ends[1]);
  channel_ = Channel(ends[0], child_);
}

void HelperProcess::wait() {
  int status = 0;
  SANITY_CHECK(::waitpid(child_, &status, 0) == child_, "waitpid: %s", std::strerror(errno));
  child_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_waived) ::_exit(exit_waived);  // its reason was already reported
  SANITY_CHECK(!WIFSIGNALED(status), "the helper process was ended by signal %d", WTERMSIG(status));
  SANITY_CHECK(WEXITSTATUS(status) == exit_passed, "the helper process ended with %d", WEXITSTATUS(status));
}

void HelperProcess::kill() {
  ::kill(child_, SIGKILL);
  int status = 0;
  SANITY_CHECK(::waitpid(child_, &status, 0) == child_, "waitpid: %s", std::strerror(errno));
  SANITY_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
               "the helper process had already exited, with status %d", status);
  child_ = -1;
}

}  // namespace gdrkit::measure::sanity
