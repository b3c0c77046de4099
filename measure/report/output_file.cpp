// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::report {
namespace {

[[noreturn]] void fail(const std::string& path, int number) {
  throw Failure(ExitCode::failed, "cannot write " + path + ": " + std::generic_category().message(number));
}

/// Closes in its destructor. close() reports the error of closing, which may be that of an earlier write.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) (void)::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  /// 0 or an errno.
  [[nodiscard]] int write(const std::string& content) const {
    for (std::size_t done = 0; done < content.size();) {
      const ssize_t count = ::write(fd_, content.data() + done, content.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return count < 0 ? errno : EIO;
      done += static_cast<std::size_t>(count);
    }
    return 0;
  }
  [[nodiscard]] int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// 0 or an errno.
int write_into(const std::string& path, const std::string& content, int flags) {
  Descriptor file(path, flags);
  if (!file.is_open()) return errno;
  const int written = file.write(content);
  const int closed = file.close();
  return written != 0 ? written : closed;
}

/// What a link leads to: that is replaced, and the link stays.
std::string resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error || target.empty() ? path : target.string();
}

}  // namespace

void write_whole(const std::string& path, const std::string& content) {
  if (is_special(path)) {
    if (const int error = write_into(path, content, O_WRONLY)) fail(path, error);
    return;
  }
  const std::string target = resolved(path);
  const std::string next = target + "." + std::to_string(::getpid()) + ".new";
  int error = write_into(next, content, O_WRONLY | O_CREAT | O_EXCL);
  if (error == 0 && ::rename(next.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  // One that was there before is not ours to remove.
  if (error != EEXIST) (void)::unlink(next.c_str());
  fail(path, error);
}

}  // namespace gdrkit::tools::report
