// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::Outcome;

constexpr std::size_t longest_record = 8192;  // CONSOLE_EXT_LOG_MAX of Linux: no record is longer
constexpr std::size_t longest_text = 1024;
constexpr char lost_line[] = "# the oldest are lost";

/// Parses the number before `stop` and removes both from the text.
template <class Number>
bool take_number(std::string_view* text, char stop, Number* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  const auto length = static_cast<std::size_t>(end - text->data());
  if (error != std::errc() || length == text->size() || *end != stop) return false;
  text->remove_prefix(length + 1);
  return true;
}

}  // namespace

bool is_of_use(std::string_view message) {
  constexpr std::string_view words[] = {"NVRM",           "nvidia",      "gdrdrv",     "gdrkit",
                                        "peer",           "mlx",         "infiniband", "ib_",
                                        "rdma",           "efa",         "DMAR",       "AMD-Vi",
                                        "IO_PAGE_FAULT",  "smmu",        "iommu",      "IOMMU",
                                        "pcie",           "AER",         "BAR ",       "disagrees about version",
                                        "Unknown symbol", "was rejected"};
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return message.find(word) != std::string_view::npos; });
}

bool parse_kmsg_record(std::string_view record, std::uint64_t* number, KernelMessage* message) {
  const auto semicolon = record.find(';');
  if (semicolon == std::string_view::npos) return false;
  std::string_view text = record.substr(semicolon + 1);
  text = text.substr(0, text.find('\n'));  // following lines are "KEY=value" of the device
  std::string head = std::string(record.substr(0, semicolon)) + ",";
  std::string_view rest = head;
  unsigned priority = 0;
  if (!take_number(&rest, ',', &priority) || !take_number(&rest, ',', number) ||
      !take_number(&rest, ',', &message->microseconds) || message->microseconds < 0) {
    return false;
  }
  message->text = topology::plain(text, longest_text);
  return true;
}

Fact<KernelLog> read_kmsg(const std::function<ssize_t(char* buffer, std::size_t size)>& read) {
  Fact<KernelLog> log;
  log.outcome = Outcome::found;
  std::size_t bytes = 0;
  bool is_first = true;
  std::vector<char> record(longest_record);
  // Overwritten records end a read with EPIPE. The bound also ends the loop if the log is written faster than read.
  for (std::size_t reads = 0; reads < most_kernel_records; ++reads) {
    const ssize_t length = read(record.data(), record.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EPIPE) {
      log.value.is_whole = false;
      continue;
    }
    if (length == 0 || (length < 0 && errno == EAGAIN)) return log;
    if (length < 0) return {Outcome::unreadable, {}, std::string("/dev/kmsg: read: ") + std::strerror(errno)};
    std::uint64_t number = 0;
    KernelMessage message;
    if (!parse_kmsg_record({record.data(), static_cast<std::size_t>(length)}, &number, &message)) {
      return {Outcome::malformed, {}, "/dev/kmsg: cannot parse a record"};
    }
    if (is_first && number > 0) log.value.is_whole = false;
    is_first = false;
    if (!is_of_use(message.text)) continue;
    bytes += message.text.size();
    if (bytes > most_kernel_log_bytes || log.value.messages.size() == most_kernel_messages) break;
    log.value.messages.push_back(std::move(message));
  }
  return {Outcome::malformed, {}, "/dev/kmsg: contains more than the limit for reading it"};
}

Fact<KernelLog> read_live_kernel_log() {
  const int fd = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    return {error == ENOENT ? Outcome::absent : Outcome::unreadable,
            {},
            std::string("/dev/kmsg: open: ") + std::strerror(error) +
                (error == EPERM || error == EACCES ? " (kernel.dmesg_restrict requires root)" : "")};
  }
  auto log = read_kmsg([fd](char* buffer, std::size_t size) { return ::read(fd, buffer, size); });
  ::close(fd);
  return log;
}

std::string to_text(const KernelLog& log) {
  std::string text = log.is_whole ? "" : std::string(lost_line) + "\n";
  for (const KernelMessage& message : log.messages) {
    char seconds[48];
    std::snprintf(seconds, sizeof(seconds), "%" PRId64 ".%06" PRId64 " ", message.microseconds / 1'000'000,
                  message.microseconds % 1'000'000);
    text += seconds + message.text + "\n";
  }
  return text;
}

Fact<KernelLog> parse_kernel_log(std::string_view text) {
  Fact<KernelLog> log;
  log.outcome = Outcome::found;
  for (unsigned line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (rest == lost_line) log.value.is_whole = false;
    if (rest.empty() || rest.front() == '#') continue;
    std::int64_t seconds = 0;
    KernelMessage message;
    std::string_view fraction = rest.substr(0, rest.find(' '));
    const auto point = fraction.find('.');
    fraction.remove_prefix(std::min(point + 1, fraction.size()));
    const std::string micro = std::string(fraction) + ".";
    std::string_view digits = micro;
    const bool is_good = take_number(&rest, '.', &seconds) && seconds >= 0 && seconds < INT64_MAX / 2'000'000 &&
                         fraction.size() == 6 && take_number(&digits, '.', &message.microseconds) &&
                         message.microseconds >= 0 && rest.size() > fraction.size();
    if (!is_good || log.value.messages.size() == most_kernel_messages) {
      return {Outcome::malformed,
              {},
              std::string(kernel_log_recording) + ": line " + std::to_string(line) +
                  (is_good ? " exceeds the number of lines allowed" : " is not 'SECONDS.MICROSECONDS MESSAGE'")};
    }
    message.microseconds += seconds * 1'000'000;
    message.text = topology::plain(rest.substr(fraction.size() + 1), longest_text);
    log.value.messages.push_back(std::move(message));
  }
  return log;
}

Fact<KernelLog> read_kernel_log(const topology::MachineView& view) {
  const auto text = view.text(kernel_log_recording);
  if (text.is_absent()) {
    return {Outcome::unreadable, {}, std::string("the recording has no ") + kernel_log_recording};
  }
  if (!text.is_found()) return topology::pass<KernelLog>(text);
  return parse_kernel_log(text.value);
}

}  // namespace gdrkit::diag
