// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineView: files, folders, links and nodes of a machine, live or recorded, read under one root and never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "diag/topology/fact.hpp"
#include "diag/topology/file_tree.hpp"
#include "diag/topology/recorded_facts.hpp"

namespace gdrkit::diag::topology {

/// One step of resolving a path: a folder, a link, or what the path ends at.
struct Step {
  std::string path;  ///< where it is: no link is on the way
  Entry entry;
  bool is_seen = false;     ///< false: Linux refused to look it up, `entry` is empty
  bool is_refused = false;  ///< its content could not be read, or not when the machine was recorded
};

/// Paths are absolute as on the machine ("/sys/..."). Every component is resolved here, one step of the tree at a time:
/// an absolute link starts again at the root, ".." at the root stays there, so nothing outside the root is reached.
/// Only regular files are read; a device node or a pipe is never opened. All sizes are bounded.
///
/// The root is "/", a folder with a copy of a machine's files, or a tar archive of such a folder (ArchiveTree); "-" is
/// an archive on standard input. What a copy cannot hold is in its file `gdrkit-recording` (RecordedFacts).
///
/// A view and its copies serve one thread at a time.
class MachineView {
 public:
  static constexpr std::size_t text_limit = std::size_t{1} << 22;  ///< /proc/cpuinfo of 1024 CPUs is 2 MB
  static constexpr std::size_t scan_limit = std::size_t{1} << 26;  ///< /proc/kallsyms is 10 to 25 MB
  static constexpr std::size_t names_limit = 16384;
  static constexpr unsigned link_limit = 40;
  static constexpr unsigned component_limit = 512;  ///< components that one path may pass, those of links included
  static constexpr std::size_t depth_limit = 96;

  /// Error: the root is neither folder nor archive, or is damaged. The list of recorded facts is read for any but "/".
  [[nodiscard]] static base::Result<MachineView> open(const std::string& root);
  /// The same for any tree. is_live: it is this machine as it is now.
  [[nodiscard]] static base::Result<MachineView> over(std::shared_ptr<const FileTree> tree, bool is_live);

  [[nodiscard]] bool is_live() const noexcept { return is_live_; }
  /// All of a file; malformed when it holds zero bytes or more than text_limit.
  [[nodiscard]] Fact<std::string> text(std::string_view path) const;
  /// Its first line without blanks at both ends; malformed when that is empty.
  [[nodiscard]] Fact<std::string> line(std::string_view path) const;
  /// line() as a decimal or 0x number, all of it.
  [[nodiscard]] Fact<std::int64_t> number(std::string_view path) const;
  /// The first bytes, at most `limit`: fewer when the file ends or the system gives no more.
  [[nodiscard]] Fact<std::vector<std::uint8_t>> bytes(std::string_view path, std::size_t limit) const;
  /// `size` bytes from `offset` on, or what is there of them; size is at most text_limit.
  [[nodiscard]] Fact<std::vector<std::uint8_t>> bytes_at(std::string_view path, std::uint64_t offset,
                                                         std::size_t size) const;
  /// Whether `words` stand anywhere in the file, which may be as large as scan_limit and is never held as a whole.
  [[nodiscard]] Fact<bool> holds(std::string_view path, std::string_view words) const;
  /// Names in a folder, sorted, without "." and "..".
  [[nodiscard]] Fact<std::vector<std::string>> names(std::string_view path) const;
  /// The path with all links resolved, as the machine would spell it.
  [[nodiscard]] Fact<std::string> resolved(std::string_view path) const;
  /// What is there, links followed.
  [[nodiscard]] Fact<Node> node(std::string_view path) const;
  /// The same with all that the way to it passes, as far as it leads.
  [[nodiscard]] Fact<Node> node(std::string_view path, std::vector<Step>* trail) const;
  [[nodiscard]] Outcome presence(std::string_view path) const { return node(path).outcome; }

 private:
  struct Place;
  struct Above;
  [[nodiscard]] Fact<bool> scan(std::string_view path, std::uint64_t offset, std::size_t limit,
                                const std::function<bool(std::string_view piece)>& take) const;
  [[nodiscard]] Fact<Place> walk(std::string_view path) const;
  /// From `place` on. `path` is the whole, for sentences.
  [[nodiscard]] Fact<Place> walk_on(Place place, std::string_view rest, std::string_view path,
                                    std::vector<Step>* trail) const;
  [[nodiscard]] Fact<std::vector<std::uint8_t>> read(std::string_view path, std::size_t limit, bool wants_all) const;

  bool is_live_ = false;
  std::shared_ptr<const FileTree> tree_;
  RecordedFacts recorded_;
  std::shared_ptr<Above> above_;  ///< shared with copies
};

}  // namespace gdrkit::diag::topology
