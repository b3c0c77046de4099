// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "topology/machine_view.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <deque>

namespace gdrkit::topology {
namespace {

using Descriptor = std::shared_ptr<const int>;

Descriptor own(int fd) {
  return {new int(fd), [](const int* owned) {
            ::close(*owned);
            delete owned;
          }};
}

template <class T>
Fact<T> refuse(Outcome outcome, std::string_view path, const std::string& what) {
  Fact<T> fact;
  fact.outcome = outcome;
  fact.reason = std::string(path) + ": " + what;
  return fact;
}

template <class T>
Fact<T> refuse_errno(int error, std::string_view path, const char* step) {
  const Outcome outcome = error == ENOENT || error == ENOTDIR       ? Outcome::absent
                          : error == ELOOP || error == ENAMETOOLONG ? Outcome::malformed
                                                                    : Outcome::unreadable;
  return refuse<T>(outcome, path, std::string(step) + ": " + std::strerror(error));
}

template <class T, class From>
Fact<T> pass(const Fact<From>& from) {
  Fact<T> fact;
  fact.outcome = from.outcome;
  fact.reason = from.reason;
  return fact;
}

template <class T>
Fact<T> found(T value) {
  Fact<T> fact;
  fact.outcome = Outcome::found;
  fact.value = std::move(value);
  return fact;
}

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return parts;
}

std::string joined(const std::vector<std::string>& names) {
  std::string path;
  for (const std::string& name : names) path += "/" + name;
  return path.empty() ? "/" : path;
}

Node node_of(const struct stat& status) {
  Node node;
  node.kind = S_ISREG(status.st_mode)   ? NodeKind::file
              : S_ISDIR(status.st_mode) ? NodeKind::folder
              : S_ISCHR(status.st_mode) ? NodeKind::character_device
                                        : NodeKind::other;
  node.mode = status.st_mode & 07777;
  node.user = status.st_uid;
  node.group = status.st_gid;
  node.major = major(status.st_rdev);
  node.minor = minor(status.st_rdev);
  return node;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool parse_unsigned(std::string_view text, int base, unsigned* value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  return error == std::errc() && stop == text.data() + text.size();
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty()) {
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line = line.substr(end);
  }
  return words;
}

bool parse_device(const std::vector<std::string_view>& words, Node* node) {
  node->kind = NodeKind::character_device;
  return words.size() == 7 && parse_unsigned(words[2], 10, &node->major) &&
         parse_unsigned(words[3], 10, &node->minor) && parse_unsigned(words[4], 8, &node->mode) &&
         parse_unsigned(words[5], 10, &node->user) && parse_unsigned(words[6], 10, &node->group);
}

/// Puts the components of a link's target before what is pending; a positive errno when the link cannot be read.
int put_link_target(int folder, const std::string& name, std::deque<std::string>* pending, bool* is_absolute) {
  char target[PATH_MAX];
  const ssize_t length = ::readlinkat(folder, name.c_str(), target, sizeof(target));
  if (length < 0) return errno;
  const std::string_view text(target, static_cast<std::size_t>(length));
  *is_absolute = !text.empty() && text.front() == '/';
  const auto parts = components(text);
  pending->insert(pending->begin(), parts.begin(), parts.end());
  return 0;
}

/// Reads until `limit` bytes, the end or an error (negative errno).
ssize_t read_some(int fd, std::uint8_t* buffer, std::size_t limit) {
  std::size_t used = 0;
  while (used < limit) {
    const ssize_t got = ::read(fd, buffer + used, limit - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(used);
}

}  // namespace

/// Where a walk ended: the folders on the way stay open until it is done with.
struct MachineView::Place {
  std::vector<Descriptor> folders;
  std::vector<std::string> names;
  std::string last;  ///< the name in the last folder of what is not a folder; empty when the place is a folder
  Node node;

  [[nodiscard]] std::string path() const {
    std::vector<std::string> all = names;
    if (!last.empty()) all.push_back(last);
    return joined(all);
  }
};

base::Result<MachineView> MachineView::open(const std::string& root) {
  MachineView view;
  view.is_live_ = root == "/";
  const int fd = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return base::fail(errno, "the root %s cannot be read: %s", root.c_str(), std::strerror(errno));
  view.root_ = own(fd);
  if (!view.is_live_) {
    if (const auto status = view.read_recorded(); !status.has_value()) return base::pass(status);
  }
  return view;
}

base::Status MachineView::read_recorded() {
  const Fact<std::string> list = text("/gdrkit-recording");
  if (list.is_absent()) return {};
  if (!list.is_found()) return base::fail(EINVAL, "%s", list.reason.c_str());
  std::string_view rest = list.value;
  for (unsigned number = 1; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto words = words_of(rest.substr(0, end));
    rest = rest.substr(std::min(end + 1, rest.size()));
    if (words.empty() || words[0].front() == '#') continue;
    Node node;
    if (words[0] == "unreadable" && words.size() == 2) {
      recorded_unreadable_.emplace(words[1]);
    } else if (words[0] == "character_device" && parse_device(words, &node)) {
      recorded_nodes_.emplace(words[1], node);
    } else {
      return base::fail(EINVAL,
                        "line %u of gdrkit-recording is neither 'unreadable PATH' nor 'character_device PATH "
                        "MAJOR MINOR MODE USER GROUP'",
                        number);
    }
  }
  return {};
}

Fact<MachineView::Place> MachineView::walk(std::string_view path) const {
  Place place;
  place.node.kind = NodeKind::folder;
  std::deque<std::string> pending;
  for (std::string& part : components(path)) pending.push_back(std::move(part));
  unsigned links = 0;
  for (unsigned steps = 0; !pending.empty(); ++steps) {
    if (steps > component_limit || place.names.size() > depth_limit) {
      return refuse<Place>(Outcome::malformed, path, "leads through too many folders");
    }
    const std::string name = std::move(pending.front());
    pending.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      if (!place.names.empty()) {
        place.names.pop_back();
        place.folders.pop_back();
      }
      continue;
    }
    const int folder = place.folders.empty() ? *root_ : *place.folders.back();
    std::vector<std::string> whole = place.names;
    whole.push_back(name);
    const std::string here = joined(whole);
    if (recorded_unreadable_.count(here) != 0) {
      return refuse<Place>(Outcome::unreadable, path, "was unreadable when the machine was recorded");
    }
    if (const auto recorded = recorded_nodes_.find(here); recorded != recorded_nodes_.end()) {
      if (!pending.empty()) return refuse_errno<Place>(ENOTDIR, path, "look up");
      place.last = name;
      place.node = recorded->second;
      return found(std::move(place));
    }
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return refuse_errno<Place>(errno, path, "look up");
    }
    if (S_ISLNK(status.st_mode)) {
      if (++links > link_limit) return refuse<Place>(Outcome::malformed, path, "leads through too many links");
      bool is_absolute = false;
      if (const int error = put_link_target(folder, name, &pending, &is_absolute); error != 0) {
        return refuse_errno<Place>(error, path, "read a link");
      }
      if (is_absolute) place.names.clear(), place.folders.clear();
      continue;
    }
    if (!S_ISDIR(status.st_mode)) {
      if (!pending.empty()) return refuse_errno<Place>(ENOTDIR, path, "look up");
      place.last = name;
      place.node = node_of(status);
      return found(std::move(place));
    }
    // Not by name again: what is opened must be the folder itself, never a link that took its place.
    const int fd = ::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return refuse_errno<Place>(errno, path, "open");
    place.folders.push_back(own(fd));
    place.names.push_back(name);
    place.node = node_of(status);
  }
  return found(std::move(place));
}

Fact<std::vector<std::uint8_t>> MachineView::read(std::string_view path, std::size_t limit, bool wants_all) const {
  using Bytes = std::vector<std::uint8_t>;
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<Bytes>(place);
  if (place.value.node.kind != NodeKind::file) return refuse<Bytes>(Outcome::malformed, path, "is not a regular file");
  const int folder = place.value.folders.empty() ? *root_ : *place.value.folders.back();
  const int fd = ::openat(folder, place.value.last.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return refuse_errno<Bytes>(errno, path, "open");
  const Descriptor owned = own(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return refuse_errno<Bytes>(errno, path, "look at");
  if (!S_ISREG(status.st_mode)) return refuse<Bytes>(Outcome::malformed, path, "is not a regular file");
  Bytes content(limit + 1);
  const ssize_t length = read_some(fd, content.data(), wants_all ? limit + 1 : limit);
  if (length < 0) return refuse_errno<Bytes>(static_cast<int>(-length), path, "read");
  if (static_cast<std::size_t>(length) > limit) {
    return refuse<Bytes>(Outcome::malformed, path, "is larger than " + std::to_string(limit) + " bytes");
  }
  content.resize(static_cast<std::size_t>(length));
  return found(std::move(content));
}

Fact<std::string> MachineView::text(std::string_view path) const {
  const auto content = read(path, text_limit, true);
  if (!content.is_found()) return pass<std::string>(content);
  if (std::find(content.value.begin(), content.value.end(), 0) != content.value.end()) {
    return refuse<std::string>(Outcome::malformed, path, "holds zero bytes, so it is no text");
  }
  return found(std::string(content.value.begin(), content.value.end()));
}

Fact<std::string> MachineView::line(std::string_view path) const {
  Fact<std::string> whole = text(path);
  if (!whole.is_found()) return whole;
  const std::string_view all = whole.value;
  const std::string_view first = trimmed(all.substr(0, all.find('\n')));
  if (first.empty()) return refuse<std::string>(Outcome::malformed, path, "is empty");
  return found(std::string(first));
}

Fact<std::int64_t> MachineView::number(std::string_view path) const {
  const Fact<std::string> words = line(path);
  if (!words.is_found()) return pass<std::int64_t>(words);
  const bool is_hex = words.value.rfind("0x", 0) == 0;
  const char* begin = words.value.data() + (is_hex ? 2 : 0);
  const char* end = words.value.data() + words.value.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (error != std::errc() || stop != end) return refuse<std::int64_t>(Outcome::malformed, path, "is no number");
  return found(value);
}

Fact<std::vector<std::uint8_t>> MachineView::bytes(std::string_view path, std::size_t limit) const {
  return read(path, std::min(limit, text_limit), false);
}

Fact<std::vector<std::string>> MachineView::names(std::string_view path) const {
  using Names = std::vector<std::string>;
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<Names>(place);
  if (!place.value.last.empty()) return refuse<Names>(Outcome::malformed, path, "is no folder");
  const int folder = place.value.folders.empty() ? *root_ : *place.value.folders.back();
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return refuse_errno<Names>(errno, path, "open");
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), &::closedir);
  if (stream == nullptr) {
    ::close(fd);
    return refuse_errno<Names>(ENOMEM, path, "list");
  }
  Names all;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (all.size() == names_limit) return refuse<Names>(Outcome::malformed, path, "holds too many names");
    all.push_back(name);
    errno = 0;
  }
  if (errno != 0) return refuse_errno<Names>(errno, path, "list");
  const std::string here = place.value.path() == "/" ? "/" : place.value.path() + "/";
  const auto add_recorded = [&](const std::string& recorded) {
    if (recorded.substr(0, recorded.rfind('/') + 1) == here) all.push_back(recorded.substr(here.size()));
  };
  for (const auto& [recorded, node] : recorded_nodes_) add_recorded(recorded);
  for (const std::string& recorded : recorded_unreadable_) add_recorded(recorded);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return found(std::move(all));
}

Fact<std::string> MachineView::resolved(std::string_view path) const {
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<std::string>(place);
  return found(place.value.path());
}

Fact<Node> MachineView::node(std::string_view path) const {
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<Node>(place);
  return found(place.value.node);
}

}  // namespace gdrkit::topology
