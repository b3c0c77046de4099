// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::cli {
namespace {

constexpr mode_t new_file_mode = 0666;  // less the user's mask

std::string cannot(const std::string& path, int error) { return "cannot write " + path + ": " + std::strerror(error); }

/// Above a limit on the size of files (ulimit -f) Linux kills the process, unless the signal is ignored. Then write()
/// fails, and the temporary file can be removed.
class SizeLimitIgnored {
 public:
  SizeLimitIgnored() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {}
  ~SizeLimitIgnored() { std::signal(SIGXFSZ, handler_); }
  SizeLimitIgnored(const SizeLimitIgnored&) = delete;
  SizeLimitIgnored& operator=(const SizeLimitIgnored&) = delete;

 private:
  void (*handler_)(int);
};

/// 0 or errno.
int write_all(int file, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t wrote = ::write(file, content.data() + done, content.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    done += static_cast<std::size_t>(wrote);
  }
  return 0;
}

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// The file that is written: symbolic links are kept and followed.
std::string target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

void write_directly(const std::string& path, const std::string& content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(cannot(path, errno));
  int error = write_all(file, content);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) fail(cannot(path, error));
}

/// The old file's mode, or the default mode of a new one.
mode_t mode_for(const std::string& target) {
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return new_file_mode & ~mask;
}

}  // namespace

void check_can_write(const std::string& path) {
  const std::string target = target_of(path);
  struct stat status {};
  const bool is_there = ::stat(target.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) reject(cannot(path, EISDIR));
  const std::string& checked = is_there && !S_ISREG(status.st_mode) ? target : directory_of(target);
  if (::access(checked.c_str(), W_OK) != 0) reject(cannot(path, errno));
}

bool are_one_file(const std::string& path, const std::string& other) {
  namespace fs = std::filesystem;
  if (is_special(path) || is_special(other)) return false;
  std::error_code error;
  if (fs::equivalent(path, other, error)) return true;
  const auto whole = [&](const std::string& name) { return fs::weakly_canonical(fs::absolute(name, error), error); };
  const fs::path one = whole(path);
  const fs::path two = whole(other);
  return !one.empty() && one == two;
}

void write_whole_file(const std::string& path, const std::string& content) {
  const std::string target = target_of(path);
  if (is_special(target)) {
    write_directly(target, content);
    return;
  }
  const SizeLimitIgnored ignored;
  std::string neighbour = target + ".XXXXXX";
  const int file = ::mkostemp(neighbour.data(), O_CLOEXEC);
  if (file < 0) fail(cannot(path, errno));
  int error = write_all(file, content);
  if (error == 0 && ::fchmod(file, mode_for(target)) != 0) error = errno;
  // Ensures that the data is on disk before the rename: a full disk may only fail here.
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(neighbour.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(neighbour.c_str());
  fail(cannot(path, error) + "; the old content is unchanged");
}

}  // namespace gdrkit::cli
