// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/machine_view.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "base/number.hpp"
#include "diag/topology/archive_tree.hpp"
#include "diag/topology/directory_tree.hpp"
#include "diag/topology/text_parts.hpp"

namespace gdrkit::diag::topology {
namespace {

template <class T>
Fact<T> refuse(Outcome outcome, std::string_view path, const std::string& what) {
  return {outcome, {}, std::string(path) + ": " + what};
}

template <class T>
Fact<T> refuse_errno(int error, std::string_view path, const char* step) {
  const Outcome outcome = error == ENOENT || error == ENOTDIR       ? Outcome::absent
                          : error == ELOOP || error == ENAMETOOLONG ? Outcome::malformed
                                                                    : Outcome::unreadable;
  return refuse<T>(outcome, path, std::string(step) + ": " + std::strerror(error));
}

template <class T>
Fact<T> refuse_recorded(std::string_view path) {
  return refuse<T>(Outcome::unreadable, path, "was unreadable when the machine was recorded");
}

std::vector<std::string> components(std::string_view path) {
  auto parts = split(path, '/');
  std::erase(parts, "");
  return parts;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode);
}

}  // namespace

/// The end of a walk. Keeps the directories of the path open.
struct MachineView::Place {
  std::vector<FileTree::Directory> directories;
  std::vector<std::string> names;
  std::string last;  ///< the last name, if it is not a directory; empty if the place is a directory
  Node node;
  bool is_refused = false;  ///< it exists, and reading it was refused when the machine was recorded

  [[nodiscard]] FileTree::Directory directory(const FileTree& tree) const {
    return directories.empty() ? tree.root() : directories.back();
  }
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const std::string& name : names) path.append("/").append(name);
    if (!last.empty()) path.append("/").append(last);
    return path.empty() ? "/" : path;
  }
};

/// Caches the directory of the last file: many files of one directory are read in a row, and the path to a PCI device
/// has a dozen directories.
struct MachineView::Above {
  std::string path;
  Place place;
};

base::Result<MachineView> MachineView::open(const std::string& root) {
  if (root == "-" && ::isatty(STDIN_FILENO) != 0)
    return base::fail(EINVAL,
                      "cannot read a recording from a terminal (--root -); send a tar archive to standard input");
  const std::string place = root == "-" ? "/dev/stdin" : root;
  auto tree = is_directory(place) ? DirectoryTree::open(place) : ArchiveTree::open(place);
  if (!tree.has_value()) return base::pass(tree);
  return over(std::move(*tree), root == "/");
}

base::Result<MachineView> MachineView::over(std::shared_ptr<const FileTree> tree, bool is_live) {
  MachineView view;
  view.is_live_ = is_live;
  view.tree_ = std::move(tree);
  view.above_ = std::make_shared<Above>();
  if (is_live) return view;
  const auto list = view.read(std::string("/") + RecordedFacts::file_name, RecordedFacts::size_limit, true);
  if (list.is_absent()) return view;
  if (!list.is_found()) return base::fail(EINVAL, "%s", list.reason.c_str());
  auto facts = RecordedFacts::parse({reinterpret_cast<const char*>(list.value.data()), list.value.size()});
  if (!facts.has_value()) return base::pass(facts);
  view.recorded_ = std::move(*facts);
  return view;
}

Fact<MachineView::Place> MachineView::walk(std::string_view path) const {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return walk_on({}, path, path, nullptr);
  const std::string_view above = path.substr(0, slash);
  const std::string_view last = path.substr(slash + 1);
  if (last.empty() || last == "." || last == "..") return walk_on({}, path, path, nullptr);
  if (above_->path != above) {
    Fact<Place> directory = walk_on({}, above, path, nullptr);
    const bool is_directory = directory.is_found() && directory.value.last.empty();
    if (!is_directory || directory.value.is_refused) return walk_on({}, path, path, nullptr);
    *above_ = {std::string(above), std::move(directory.value)};
    return walk_on(above_->place, last, path, nullptr);
  }
  Fact<Place> place = walk_on(above_->place, last, path, nullptr);
  if (place.is_found()) return place;
  // On a live machine the directory may have been removed or created again.
  above_->path.clear();
  return walk_on({}, path, path, nullptr);
}

Fact<MachineView::Place> MachineView::walk_on(Place place, std::string_view rest, std::string_view path,
                                              std::vector<Step>* trail) const {
  place.node.kind = NodeKind::directory;
  std::deque<std::string> pending;
  for (std::string& part : components(rest)) pending.push_back(std::move(part));
  unsigned links = 0;
  for (unsigned steps = 0; !pending.empty(); ++steps) {
    if (steps > component_limit || place.names.size() > depth_limit) {
      return refuse<Place>(Outcome::malformed, path, "passes through too many directories");
    }
    if (place.is_refused) return refuse_recorded<Place>(path);
    const std::string name = std::move(pending.front());
    pending.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      if (!place.names.empty()) place.names.pop_back(), place.directories.pop_back();
      continue;
    }
    const FileTree::Directory directory = place.directory(*tree_);
    const std::string above = place.path();
    const std::string here = (above == "/" ? above : above + "/") + name;
    const auto pass_by = [&](const Entry& entry, bool is_seen) {
      if (trail != nullptr) trail->push_back({here, entry, is_seen, place.is_refused});
    };
    if (const Node* device = recorded_.device(here)) {
      if (!pending.empty()) return refuse_errno<Place>(ENOTDIR, path, "look up");
      place.last = name;
      place.node = *device;
      pass_by({*device, false, ""}, true);
      return found(std::move(place));
    }
    Entry entry;
    const int error = tree_->find_entry(directory, name, &entry);
    place.is_refused = recorded_.is_unreadable(here) || error == EACCES || error == EPERM;
    if (error == 0 || place.is_refused) pass_by(entry, error == 0);
    if (recorded_.is_unreadable(here) && (error != 0 || entry.is_link)) return refuse_recorded<Place>(path);
    if (error != 0) return refuse_errno<Place>(error, path, "look up");
    if (entry.is_link) {
      if (++links > link_limit) return refuse<Place>(Outcome::malformed, path, "passes through too many links");
      const auto parts = components(entry.target);
      pending.insert(pending.begin(), parts.begin(), parts.end());
      if (!entry.target.empty() && entry.target.front() == '/') place.names.clear(), place.directories.clear();
      continue;
    }
    place.node = entry.node;
    if (entry.node.kind != NodeKind::directory) {
      if (!pending.empty()) return refuse_errno<Place>(ENOTDIR, path, "look up");
      place.last = name;
      return found(std::move(place));
    }
    FileTree::Directory inside;
    if (const int refused = tree_->enter(directory, name, &inside); refused != 0) {
      return refuse_errno<Place>(refused, path, "open");
    }
    place.directories.push_back(std::move(inside));
    place.names.push_back(name);
  }
  return found(std::move(place));
}

Fact<std::vector<std::uint8_t>> MachineView::read(std::string_view path, std::size_t limit,
                                                  bool is_whole_required) const {
  using Bytes = std::vector<std::uint8_t>;
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<Bytes>(place);
  if (place.value.node.kind != NodeKind::file) return refuse<Bytes>(Outcome::malformed, path, "is not a regular file");
  if (place.value.is_refused) return refuse_recorded<Bytes>(path);
  Bytes content;
  const int error =
      tree_->read(place.value.directory(*tree_), place.value.last, is_whole_required ? limit + 1 : limit, &content);
  if (error != 0) return refuse_errno<Bytes>(error, path, "read");
  if (content.size() > limit) {
    return refuse<Bytes>(Outcome::malformed, path, "is larger than " + std::to_string(limit) + " bytes");
  }
  return found(std::move(content));
}

Fact<std::string> MachineView::text(std::string_view path) const {
  const auto content = read(path, text_limit, true);
  if (!content.is_found()) return pass<std::string>(content);
  if (std::ranges::find(content.value, 0) != content.value.end()) {
    return refuse<std::string>(Outcome::malformed, path, "contains NUL bytes: it is not text");
  }
  return found(std::string(content.value.begin(), content.value.end()));
}

Fact<std::string> MachineView::line(std::string_view path) const {
  Fact<std::string> whole = text(path);
  if (!whole.is_found()) return whole;
  const std::string first = trimmed(whole.value.substr(0, whole.value.find('\n')));
  if (first.empty()) return refuse<std::string>(Outcome::malformed, path, "is empty");
  return found(first);
}

Fact<std::int64_t> MachineView::number(std::string_view path) const {
  const Fact<std::string> words = line(path);
  if (!words.is_found()) return pass<std::int64_t>(words);
  std::int64_t value = 0;
  if (base::parse_prefixed_number(words.value, &value)) return found(value);
  return refuse<std::int64_t>(Outcome::malformed, path, "is not a number");
}

Fact<std::vector<std::uint8_t>> MachineView::bytes(std::string_view path, std::size_t limit) const {
  return read(path, std::min(limit, text_limit), false);
}

/// found if the file was read to its end or to `limit`, or if `take` returned false.
Fact<bool> MachineView::scan(std::string_view path, std::uint64_t offset, std::size_t limit,
                             const std::function<bool(std::string_view piece)>& take) const {
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<bool>(place);
  if (place.value.node.kind != NodeKind::file) return refuse<bool>(Outcome::malformed, path, "is not a regular file");
  if (place.value.is_refused) return refuse_recorded<bool>(path);
  const int error = tree_->scan(place.value.directory(*tree_), place.value.last, offset, limit, take);
  return error != 0 ? refuse_errno<bool>(error, path, "read") : found(true);
}

Fact<std::vector<std::uint8_t>> MachineView::bytes_at(std::string_view path, std::uint64_t offset,
                                                      std::size_t size) const {
  std::vector<std::uint8_t> content;
  const auto ended = scan(path, offset, std::min(size, text_limit), [&](std::string_view piece) {
    content.insert(content.end(), piece.begin(), piece.end());
    return true;
  });
  return ended.is_found() ? found(std::move(content)) : pass<std::vector<std::uint8_t>>(ended);
}

Fact<bool> MachineView::holds(std::string_view path, std::string_view words) const {
  std::string window;  // the end of the previous pieces, and this piece
  std::size_t total = 0;
  bool is_there = false;
  const auto ended = scan(path, 0, scan_limit + 1, [&](std::string_view piece) {
    total += piece.size();
    window.append(piece);
    is_there = window.find(words) != std::string::npos;
    window.erase(0, window.size() - std::min(window.size(), words.empty() ? 0 : words.size() - 1));
    return !is_there;
  });
  if (!ended.is_found()) return ended;
  if (!is_there && total > scan_limit) {
    return refuse<bool>(Outcome::malformed, path, "is larger than " + std::to_string(scan_limit) + " bytes");
  }
  return found(is_there);
}

Fact<std::vector<std::string>> MachineView::names(std::string_view path) const {
  using Names = std::vector<std::string>;
  const Fact<Place> place = walk(path);
  if (!place.is_found()) return pass<Names>(place);
  if (!place.value.last.empty()) return refuse<Names>(Outcome::malformed, path, "is not a directory");
  if (place.value.is_refused) return refuse_recorded<Names>(path);
  Names all;
  if (const int error = tree_->list(place.value.directory(*tree_), names_limit, &all); error != 0) {
    if (error == EOVERFLOW) return refuse<Names>(Outcome::malformed, path, "contains too many names");
    return refuse_errno<Names>(error, path, "list");
  }
  const auto& more = recorded_.names_in(place.value.path());
  all.insert(all.end(), more.begin(), more.end());
  std::ranges::sort(all);
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

Fact<Node> MachineView::node(std::string_view path, std::vector<Step>* trail) const {
  const Fact<Place> place = walk_on({}, path, path, trail);
  if (!place.is_found()) return pass<Node>(place);
  return found(place.value.node);
}

}  // namespace gdrkit::diag::topology
