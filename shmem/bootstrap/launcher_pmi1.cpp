// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PMI-1, the lines of text that MPICH's hydra and its relatives speak over the socket whose number is in PMI_FD.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/launcher_store.hpp"
#include "shmem/bootstrap/socket_io.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

class PmiConnection {
 public:
  explicit PmiConnection(int socket) : socket_(socket) {}

  /// Sends "cmd=..." and returns the value of `key` in the reply (no value if `key` is empty). The reply must have the
  /// command `reply_command`.
  base::Result<std::string> request(const std::string& command, const std::string& reply_command,
                                    const std::string& key, const Deadline& deadline) {
    const std::string line = "cmd=" + command + "\n";
    std::size_t done = 0;
    IoEnd end = write_some(socket_, line.data(), line.size(), &done);
    while (end == EAGAIN && (end = wait_for(socket_, POLLOUT, deadline)) == 0) {
      end = write_some(socket_, line.data(), line.size(), &done);
    }
    std::string reply;
    for (char character = 0; end == 0 && character != '\n';) {
      end = read_all(socket_, &character, 1, deadline);
      if (character != '\n') reply += character;
      if (reply.size() > longest_line) end = EPROTO;
    }
    if (end == ETIMEDOUT) {
      return base::fail(end, "not all PEs used PMI within %s", deadline.limit_text().c_str());
    }
    if (end != 0)
      return base::fail(end, "its PMI connection failed during '%s': %s", command.c_str(), std::strerror(end));
    const std::string code = value_of(reply, "rc");
    if (value_of(reply, "cmd") != reply_command || (!code.empty() && code != "0")) {
      return base::fail(EPROTO, "its PMI sent an invalid reply '%s' to '%s'", reply.c_str(), command.c_str());
    }
    return value_of(reply, key);
  }

 private:
  static constexpr std::size_t longest_line = 8192;

  /// Of "a=1 b=2".
  static std::string value_of(const std::string& line, const std::string& name) {
    for (std::size_t begin = 0; begin < line.size();) {
      const std::size_t end = std::min(line.find(' ', begin), line.size());
      const std::string word = line.substr(begin, end - begin);
      if (word.rfind(name + "=", 0) == 0) return word.substr(name.size() + 1);
      begin = end + 1;
    }
    return "";
  }

  int socket_;
};

int pmi_socket = -1;
pid_t pmi_process = -1;
struct stat pmi_file {};

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// hydra treats a process as failed if it began PMI and ends without finalizing it. This is a destructor function,
/// which runs after all handlers of atexit(): MPICH 4.2 finalizes in such a handler, and SIGPIPE would end the process
/// if ours had finalized before. If MPICH has finalized, the descriptor is closed or belongs to another file, and this
/// function does nothing.
[[gnu::destructor]] void finalize_pmi() {
  struct stat now {};
  if (pmi_process != ::getpid() || ::fstat(pmi_socket, &now) != 0 || !is_same_file(now, pmi_file)) return;
  const auto last =
      PmiConnection(pmi_socket).request("finalize", "finalize_ack", "", Deadline(std::chrono::seconds(1)));
  static_cast<void>(last);
}

base::Status begin_pmi(PmiConnection* connection, int socket, const Deadline& deadline) {
  if (pmi_process == ::getpid()) return {};
  const auto begun = connection->request("init pmi_version=1 pmi_subversion=1", "response_to_init", "", deadline);
  if (!begun) return base::pass(begun);
  if (::fstat(socket, &pmi_file) != 0) {
    return base::fail(errno, "its PMI connection failed during 'init': %s", std::strerror(errno));
  }
  pmi_socket = socket;
  pmi_process = ::getpid();
  return {};
}

}  // namespace

base::Result<std::string> share_by_pmi1(int pe, const std::string& key, const std::string& value,
                                        std::chrono::milliseconds limit) {
  const char* const text = std::getenv("PMI_FD");
  const int socket = text == nullptr ? -1 : std::atoi(text);
  const Deadline deadline(limit);
  PmiConnection connection(socket);
  if (auto begun = begin_pmi(&connection, socket, deadline); !begun) return base::pass(begun);
  const auto store = connection.request("get_my_kvsname", "my_kvsname", "kvsname", deadline);
  if (!store) return store;
  const std::string place = "kvsname=" + *store + " key=" + key;
  if (pe == 0) {
    const auto put = connection.request("put " + place + " value=" + value, "put_result", "", deadline);
    if (!put) return put;
  }
  const auto synchronized = connection.request("barrier_in", "barrier_out", "", deadline);
  if (!synchronized) return synchronized;
  if (pe == 0) return value;
  return connection.request("get " + place, "get_result", "value", deadline);
}

}  // namespace gdrkit::shmem_impl::bootstrap
