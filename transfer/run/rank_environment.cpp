// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/rank_environment.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::run {
namespace {

constexpr int most_emulated_devices = 16;  // the limit of lib/driver

std::string random_word() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    cli::fail(cli::format("gdrkit run: cannot read random bytes: %s", std::strerror(errno)));
  }
  std::string word;
  for (const unsigned char byte : bytes) word += cli::format("%02x", byte);
  return word;
}

}  // namespace

RankEnvironment::RankEnvironment(int n_pes, bool is_emulated)
    : n_pes_(n_pes), is_emulated_(is_emulated), token_(random_word()) {
  if (n_pes < 2) return;
  if (listen_on_loopback(AF_INET) || listen_on_loopback(AF_INET6)) return;
  note_ = cli::format("cannot listen on the loopback interface for PE 0: %s", std::strerror(errno));
}

bool RankEnvironment::listen_on_loopback(int family) {
  sockaddr_in6 address{};  // large enough for both
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (family == AF_INET) {
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&address);
    v4->sin_family = AF_INET;
    v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof *v4;
  } else {
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
  }
  listener_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, SOMAXCONN) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    const int error = errno;
    close_listener();
    errno = error;
    return false;
  }
  const unsigned port = ntohs(address.sin6_port);  // IPv4 stores the port at the same offset
  root_ = cli::format(family == AF_INET ? "127.0.0.1:%u" : "[::1]:%u", port);
  return true;
}

void RankEnvironment::close_listener() noexcept {
  if (listener_ >= 0) ::close(listener_);
  listener_ = -1;
}

std::vector<std::string> RankEnvironment::of(int pe) const {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  // Variables that an outer launcher set for this process do not apply to the PE.
  const auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(variables, [&](const std::string& one) { return one.starts_with(name + "="); });
    if (!value.empty()) variables.push_back(name + "=" + value);
  };
  set("GDRKIT_SHMEM_PE", std::to_string(pe));
  set("GDRKIT_SHMEM_NPES", std::to_string(n_pes_));
  set("GDRKIT_SHMEM_LOCAL_INDEX", std::to_string(pe));
  set("GDRKIT_SHMEM_ROOT", root_);
  set("GDRKIT_SHMEM_TOKEN", token_);
  set("GDRKIT_SHMEM_LISTEN_FD", pe == 0 && listener_ >= 0 ? std::to_string(listener_) : "");
  if (is_emulated_) {
    set("GDRKIT_BACKEND", "emulated");
    set("GDRKIT_EMULATED_DEVICES", std::to_string(std::min(n_pes_, most_emulated_devices)));
  }
  return variables;
}

}  // namespace gdrkit::transfer::run
