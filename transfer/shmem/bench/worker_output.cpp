// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/worker_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace gdrkit::tools::pgas {

std::string AlikeLines::take(const char* bytes, std::size_t size_bytes) {
  std::string printed;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    line_ += bytes[i];
    if (bytes[i] == '\n') take_line(&printed);
  }
  return printed;
}

std::string AlikeLines::end() {
  std::string printed;
  if (!line_.empty()) {
    line_ += '\n';
    take_line(&printed);
  }
  tell_left_out(&printed);
  return printed;
}

void AlikeLines::take_line(std::string* printed) {
  std::string words;
  for (const char one : line_) {
    if (one < '0' || one > '9') words += one;
  }
  if (words != last_) {
    tell_left_out(printed);
    last_ = words;
  }
  if (++repeated_ <= shown) *printed += line_;
  line_.clear();
}

void AlikeLines::tell_left_out(std::string* printed) {
  if (repeated_ > shown) *printed += "(and " + std::to_string(repeated_ - shown) + " lines like it)\n";
  repeated_ = 0;
}

WorkerOutput::WorkerOutput() : writer_(STDERR_FILENO) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  if (::pipe2(stop_, O_CLOEXEC) != 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return;
  }
  reader_ = ends[0];
  writer_ = ends[1];
  thread_ = std::thread([this] { pass_on(); });
}

WorkerOutput::~WorkerOutput() {
  close_writer();
  if (!thread_.joinable()) return;
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
  ::close(reader_);
}

void WorkerOutput::close_writer() noexcept {
  if (writer_ != STDERR_FILENO) ::close(writer_);
  writer_ = STDERR_FILENO;
}

void WorkerOutput::pass_on() {
  AlikeLines lines;
  const auto print = [](const std::string& text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); };
  for (;;) {
    pollfd waited[] = {{reader_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    if (::poll(waited, 2, -1) < 0 && errno == EINTR) continue;
    if (waited[0].revents == 0) break;
    char bytes[4096];
    const ssize_t got = ::read(reader_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    print(lines.take(bytes, static_cast<std::size_t>(got)));
  }
  print(lines.end());
}

}  // namespace gdrkit::tools::pgas
