// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/archive_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gdrkit::diag::topology {
namespace {

constexpr unsigned implied_directory_mode = 0755;

struct Compression {
  std::string_view start;
  const char* name;
};
constexpr Compression compressions[] = {{"\x1f\x8b", "gzip"},
                                        {"\xfd"
                                         "7zXZ",
                                         "xz"},
                                        {"\x28\xb5\x2f\xfd", "zstd"},
                                        {"BZh", "bzip2"}};

std::vector<std::string_view> components(std::string_view directory, std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::string_view path : {directory, name}) {
    while (!path.empty()) {
      const auto end = std::min(path.find('/'), path.size());
      if (end != 0 && path.substr(0, end) != ".") parts.push_back(path.substr(0, end));
      path = path.substr(std::min(end + 1, path.size()));
    }
  }
  return parts;
}

std::string whole_name(const TarMember& member) {
  return (member.directory.empty() ? "" : std::string(member.directory) + "/") + std::string(member.name);
}

/// Reads a whole file or pipe.
base::Result<std::string> read_archive(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return base::fail(errno, "cannot read the recording %s: %s", path.c_str(), std::strerror(errno));
  const std::unique_ptr<const int, void (*)(const int*)> owned(&fd, [](const int* open) { ::close(*open); });
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode))) {
    return base::fail(EINVAL, "cannot read the recording %s: it is neither a directory nor a tar archive",
                      path.c_str());
  }
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::string bytes;
  if (S_ISREG(status.st_mode)) {
    bytes.reserve(std::min(static_cast<std::size_t>(status.st_size), ArchiveTree::size_limit) + piece);
  }
  while (true) {
    const std::size_t used = bytes.size();
    bytes.resize(used + piece);
    const ssize_t got = ::read(fd, bytes.data() + used, piece);
    bytes.resize(used + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail(errno, "cannot read the recording %s: %s", path.c_str(), std::strerror(errno));
    if (got == 0) return bytes;
    if (bytes.size() > ArchiveTree::size_limit) {
      return base::fail(EFBIG, "cannot read the recording %s: it is larger than %zu MiB", path.c_str(),
                        ArchiveTree::size_limit >> 20);
    }
  }
}

base::Status refuse_compressed(std::string_view bytes, const std::string& path) {
  for (const Compression& compression : compressions) {
    if (bytes.substr(0, compression.start.size()) != compression.start) continue;
    return base::fail(EINVAL,
                      "cannot read the recording %s: it is compressed; decompress it first: %s -dc %s > recording.tar",
                      path.c_str(), compression.name, path.c_str());
  }
  return {};
}

}  // namespace

ArchiveTree::ArchiveTree(std::string bytes) : bytes_(std::move(bytes)) {
  root_.node.kind = NodeKind::directory;
  root_.node.mode = implied_directory_mode;
}

base::Result<std::shared_ptr<const FileTree>> ArchiveTree::open(const std::string& path) {
  auto bytes = read_archive(path);
  if (!bytes.has_value()) return base::pass(bytes);
  return parse(std::move(*bytes), path);
}

base::Result<std::shared_ptr<const FileTree>> ArchiveTree::parse(std::string bytes, const std::string& path) {
  if (const auto status = refuse_compressed(bytes, path); !status.has_value()) return base::pass(status);
  const std::shared_ptr<ArchiveTree> tree(new ArchiveTree(std::move(bytes)));
  TarReader reader(tree->bytes_);
  base::Status status;
  while (status.has_value()) {
    TarMember member;
    const auto more = reader.next(&member);
    if (more.has_value() && !*more) return std::shared_ptr<const FileTree>(tree);
    status = more.has_value() ? tree->add(member) : base::Status(base::pass(more));
  }
  return base::fail(status.error().errno_value, "cannot read the recording %s as a tar archive: the file %s",
                    path.c_str(), status.error().text());
}

base::Result<ArchiveTree::Member*> ArchiveTree::make(const TarMember& member) {
  const auto parts = components(member.directory, member.name);
  if (parts.size() > depth_limit) {
    return base::fail(EINVAL, "contains a member at byte %zu nested deeper than %zu directories", member.offset,
                      depth_limit);
  }
  Member* at = &root_;
  for (const std::string_view part : parts) {
    if (part == ".." || part.find('\0') != std::string_view::npos) {
      return base::fail(EINVAL, "contains '%.200s' at byte %zu, which leads out of the archive",
                        whole_name(member).c_str(), member.offset);
    }
    if (at->node.kind != NodeKind::directory) {
      return base::fail(EINVAL, "contains '%.200s' at byte %zu, whose parent is not a directory",
                        whole_name(member).c_str(), member.offset);
    }
    std::unique_ptr<Member>& inside = at->inside[part];
    if (inside == nullptr) {
      if (++node_count_ > node_limit)
        return base::fail(E2BIG, "contains more than %zu files and directories", node_limit);
      inside = std::make_unique<Member>();
      inside->node.kind = NodeKind::directory;
      inside->node.mode = implied_directory_mode;
    }
    at = inside.get();
  }
  return at;
}

/// A later member replaces an earlier one of the same name, as when tar extracts them.
base::Status ArchiveTree::add(const TarMember& member) {
  const auto made = make(member);
  if (!made.has_value()) return base::pass(made);
  Member* at = *made;
  const bool is_directory = member.kind == TarMember::Kind::node && member.node.kind == NodeKind::directory;
  if (!is_directory && (at == &root_ || !at->inside.empty())) {
    return base::fail(EINVAL, "contains '%.200s' at byte %zu, but a directory of this name already exists",
                      whole_name(member).c_str(), member.offset);
  }
  at->node = member.node;
  at->content = member.content;
  at->is_link = member.kind == TarMember::Kind::link;
  if (member.kind != TarMember::Kind::hard_link) return {};
  const Member* other = find(member.content);
  if (other == nullptr || other == at || other->node.kind == NodeKind::directory) {
    return base::fail(EINVAL, "contains a hard link at byte %zu to '%.200s', which is not an earlier file",
                      member.offset, std::string(member.content).c_str());
  }
  at->node = other->node;
  at->content = other->content;
  at->is_link = other->is_link;
  return {};
}

const ArchiveTree::Member* ArchiveTree::find(std::string_view path) const {
  const Member* at = &root_;
  for (const std::string_view part : components({}, path)) {
    const auto found = at->inside.find(part);
    if (found == at->inside.end()) return nullptr;
    at = found->second.get();
  }
  return at;
}

const ArchiveTree::Member* ArchiveTree::child(const Directory& directory, const std::string& name) {
  const auto& inside = static_cast<const Member*>(directory.get())->inside;
  const auto found = inside.find(name);
  return found == inside.end() ? nullptr : found->second.get();
}

// The tree owns its members; a directory handle does not own anything.
FileTree::Directory ArchiveTree::root() const { return {Directory(), &root_}; }

int ArchiveTree::find_entry(const Directory& directory, const std::string& name, Entry* entry) const {
  const Member* member = child(directory, name);
  if (member == nullptr) return ENOENT;
  entry->node = member->node;
  entry->is_link = member->is_link;
  entry->target = member->is_link ? std::string(member->content) : std::string();
  return 0;
}

int ArchiveTree::enter(const Directory& directory, const std::string& name, Directory* inside) const {
  const Member* member = child(directory, name);
  if (member == nullptr) return ENOENT;
  if (member->node.kind != NodeKind::directory) return ENOTDIR;
  *inside = {Directory(), member};
  return 0;
}

int ArchiveTree::read(const Directory& directory, const std::string& name, std::size_t limit,
                      std::vector<std::uint8_t>* content) const {
  const Member* member = child(directory, name);
  if (member == nullptr) return ENOENT;
  if (member->is_link || member->node.kind != NodeKind::file) return EINVAL;
  const std::string_view bytes = member->content.substr(0, limit);
  content->assign(bytes.begin(), bytes.end());
  return 0;
}

int ArchiveTree::scan(const Directory& directory, const std::string& name, std::uint64_t offset, std::size_t limit,
                      const std::function<bool(std::string_view piece)>& take) const {
  const Member* member = child(directory, name);
  if (member == nullptr) return ENOENT;
  if (member->is_link || member->node.kind != NodeKind::file) return EINVAL;
  std::string_view left = member->content.substr(std::min<std::uint64_t>(offset, member->content.size()), limit);
  for (constexpr std::size_t piece = std::size_t{1} << 16; !left.empty();) {
    if (!take(left.substr(0, piece))) break;
    left.remove_prefix(std::min(piece, left.size()));
  }
  return 0;
}

int ArchiveTree::list(const Directory& directory, std::size_t limit, std::vector<std::string>* names) const {
  const auto& inside = static_cast<const Member*>(directory.get())->inside;
  if (inside.size() > limit) return EOVERFLOW;
  names->clear();
  for (const auto& [name, member] : inside) names->emplace_back(name);
  return 0;
}

}  // namespace gdrkit::diag::topology
