// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/directory_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <limits>

namespace gdrkit::diag::topology {
namespace {

constexpr std::size_t first_read_bytes = 4096;  // as large as almost every file in sysfs

using Descriptor = std::shared_ptr<const int>;

Descriptor own(int fd) {
  return {new int(fd), [](const int* owned) {
            ::close(*owned);
            delete owned;
          }};
}

int descriptor_of(const FileTree::Directory& directory) { return *static_cast<const int*>(directory.get()); }

Node node_of(const struct stat& status) {
  Node node;
  node.kind = S_ISREG(status.st_mode)   ? NodeKind::file
              : S_ISDIR(status.st_mode) ? NodeKind::directory
              : S_ISCHR(status.st_mode) ? NodeKind::character_device
                                        : NodeKind::other;
  node.mode = status.st_mode & 07777;
  node.user = status.st_uid;
  node.group = status.st_gid;
  node.major = major(status.st_rdev);
  node.minor = minor(status.st_rdev);
  return node;
}

/// Reads until `limit` bytes or the end, since files of sysfs and procfs report no size. Returns 0 or errno.
int open_file(int directory, const std::string& name, Descriptor* file) {
  const int fd = ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return errno;
  *file = own(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return errno;
  return S_ISREG(status.st_mode) ? 0 : EINVAL;
}

int read_to(int fd, std::size_t limit, std::vector<std::uint8_t>* content) {
  std::vector<std::uint8_t> bytes(std::min(limit, first_read_bytes));
  std::size_t used = 0;
  while (used < limit) {
    if (used == bytes.size()) bytes.resize(std::min(limit, 4 * used));
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  *content = std::move(bytes);
  return 0;
}

}  // namespace

base::Result<std::shared_ptr<const FileTree>> DirectoryTree::open(const std::string& root) {
  const int fd = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return base::fail(errno, "cannot read the recording %s: %s", root.c_str(), std::strerror(errno));
  return std::shared_ptr<const FileTree>(new DirectoryTree(own(fd)));
}

int DirectoryTree::find_entry(const Directory& directory, const std::string& name, Entry* entry) const {
  struct stat status {};
  if (::fstatat(descriptor_of(directory), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  Entry seen;
  seen.node = node_of(status);
  seen.is_link = S_ISLNK(status.st_mode);
  if (seen.is_link) {
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(descriptor_of(directory), name.c_str(), target, sizeof(target));
    if (length < 0) return errno;
    seen.target.assign(target, static_cast<std::size_t>(length));
  }
  *entry = std::move(seen);
  return 0;
}

int DirectoryTree::enter(const Directory& directory, const std::string& name, Directory* inside) const {
  // Opens the directory itself and never a link that replaced it after it was examined.
  const int fd = ::openat(descriptor_of(directory), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno;
  *inside = own(fd);
  return 0;
}

int DirectoryTree::read(const Directory& directory, const std::string& name, std::size_t limit,
                        std::vector<std::uint8_t>* content) const {
  Descriptor file;
  const int error = open_file(descriptor_of(directory), name, &file);
  return error != 0 ? error : read_to(*file, limit, content);
}

int DirectoryTree::scan(const Directory& directory, const std::string& name, std::uint64_t offset, std::size_t limit,
                        const std::function<bool(std::string_view piece)>& take) const {
  Descriptor file;
  if (const int error = open_file(descriptor_of(directory), name, &file); error != 0) return error;
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return 0;  // past the end of any file
  if (offset > 0 && ::lseek(*file, static_cast<off_t>(offset), SEEK_SET) < 0) return errno;
  std::vector<char> piece(std::min(limit, std::size_t{1} << 16));
  for (std::size_t left = limit; left > 0;) {
    const ssize_t got = ::read(*file, piece.data(), std::min(left, piece.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0 || !take({piece.data(), static_cast<std::size_t>(got)})) break;
    left -= static_cast<std::size_t>(got);
  }
  return 0;
}

int DirectoryTree::list(const Directory& directory, std::size_t limit, std::vector<std::string>* names) const {
  const int fd = ::openat(descriptor_of(directory), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), &::closedir);
  if (stream == nullptr) {
    ::close(fd);
    return ENOMEM;
  }
  std::vector<std::string> all;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (all.size() == limit) return EOVERFLOW;
    all.push_back(name);
    errno = 0;
  }
  if (errno != 0) return errno;
  *names = std::move(all);
  return 0;
}

}  // namespace gdrkit::diag::topology
