// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/process_maps.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace gdrkit::driver {
namespace {

/// Consumes a number at the front of `text` and the character that must follow it.
bool take_number(std::string_view* text, int base, char follower, std::uint64_t* value) noexcept {
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, *value, base);
  if (error != std::errc() || stop == end || *stop != follower) return false;
  text->remove_prefix(static_cast<std::size_t>(stop - text->data()) + 1);
  return true;
}

}  // namespace

// "7f00-7f01 rw-s 00010000 00:01 1027                 /memfd:name (deleted)"; fields of fs/proc/task_mmu.c, proc(5).
bool parse_process_mapping(std::string_view line, ProcessMapping* mapping) noexcept {
  ProcessMapping found;
  if (!take_number(&line, 16, '-', &found.start) || !take_number(&line, 16, ' ', &found.end)) return false;
  if (line.size() < 5 || line[4] != ' ') return false;
  found.is_readable = line[0] == 'r';
  found.is_shared = line[3] == 's';
  line.remove_prefix(5);
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (!take_number(&line, 16, ' ', &found.offset) || !take_number(&line, 16, ':', &major) ||
      !take_number(&line, 16, ' ', &minor)) {
    return false;
  }
  // A mapping without a name may end right after its inode.
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, found.inode);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
  const std::size_t name = line.find_first_not_of(' ');
  if (name != std::string_view::npos) found.name = line.substr(name);
  constexpr std::string_view deleted = " (deleted)";
  if (found.name.ends_with(deleted)) found.name.remove_suffix(deleted.size());
  *mapping = found;
  return true;
}

ProcessMaps::~ProcessMaps() {
  if (fd_ >= 0) ::close(fd_);
}

base::Status ProcessMaps::open(const char* path) noexcept {
  do {
    fd_ = ::open(path, O_RDONLY | O_CLOEXEC);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) return base::fail(errno, "cannot read %s: %s", path, std::strerror(errno));
  return {};
}

base::Result<bool> ProcessMaps::next_line() noexcept {
  line_used_ = 0;
  bool is_any = false;
  for (;;) {
    if (chunk_next_ == chunk_used_) {
      const ssize_t got = ::read(fd_, chunk_.data(), chunk_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return base::fail(errno, "cannot read the mappings of this process: %s", std::strerror(errno));
      if (got == 0) return is_any;
      chunk_used_ = static_cast<std::size_t>(got);
      chunk_next_ = 0;
    }
    const char character = chunk_[chunk_next_++];
    if (character == '\n') return true;
    is_any = true;
    if (line_used_ < line_.size()) line_[line_used_++] = character;
  }
}

base::Result<bool> ProcessMaps::next(ProcessMapping* mapping) noexcept {
  for (;;) {
    auto more = next_line();
    if (!more || !*more) return more;
    if (parse_process_mapping({line_.data(), line_used_}, mapping)) return true;
  }
}

}  // namespace gdrkit::driver
