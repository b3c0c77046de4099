// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineView: read-only access to files, directories, links and nodes of a live or recorded machine below one root.
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

/// One step of resolving a path: a directory, a link, or the end of the path.
struct Step {
  std::string path;  ///< resolved path, without links
  Entry entry;
  bool is_seen = false;     ///< false: Linux refused to look it up, `entry` is empty
  bool is_refused = false;  ///< its content could not be read, now or when the machine was recorded
};

/// Paths are absolute, as on the machine ("/sys/..."). Every component is resolved here, one step of the tree at a
/// time. An absolute link starts again at the root, and ".." at the root stays there, so nothing outside the root is
/// reached. Only regular files are read; a device node or a pipe is never opened. All sizes are bounded.
///
/// The root is "/", a directory with a copy of a machine's files, or a tar archive of such a directory (ArchiveTree);
/// "-" is an archive on standard input. Facts that a copy cannot contain are in its file `gdrkit-recording`
/// (RecordedFacts).
///
/// Not thread-safe: a view and its copies may be used by one thread at a time.
class MachineView {
 public:
  static constexpr std::size_t text_limit = std::size_t{1} << 22;  ///< /proc/cpuinfo of 1024 CPUs is 2 MB
  static constexpr std::size_t scan_limit = std::size_t{1} << 26;  ///< /proc/kallsyms is 10 to 25 MB
  static constexpr std::size_t names_limit = 16384;
  static constexpr unsigned link_limit = 40;
  static constexpr unsigned component_limit = 512;  ///< maximum components of a path, including those of links
  static constexpr std::size_t depth_limit = 96;

  /// Error: the root is neither a directory nor an archive, or is damaged. The list of recorded facts is read unless
  /// the root is "/".
  [[nodiscard]] static base::Result<MachineView> open(const std::string& root);
  /// The same for any tree. is_live: the tree is this machine.
  [[nodiscard]] static base::Result<MachineView> over(std::shared_ptr<const FileTree> tree, bool is_live);

  [[nodiscard]] bool is_live() const noexcept { return is_live_; }
  /// The whole file; malformed if it contains zero bytes or more than text_limit.
  [[nodiscard]] Fact<std::string> text(std::string_view path) const;
  /// The first line without surrounding blanks; malformed if it is empty.
  [[nodiscard]] Fact<std::string> line(std::string_view path) const;
  /// line() as a whole, parsed as a decimal or 0x number.
  [[nodiscard]] Fact<std::int64_t> number(std::string_view path) const;
  /// At most the first `limit` bytes; fewer if the file ends or the system returns no more.
  [[nodiscard]] Fact<std::vector<std::uint8_t>> bytes(std::string_view path, std::size_t limit) const;
  /// At most `size` bytes from `offset` on; size is at most text_limit.
  [[nodiscard]] Fact<std::vector<std::uint8_t>> bytes_at(std::string_view path, std::uint64_t offset,
                                                         std::size_t size) const;
  /// Whether the file contains `words`. It may be as large as scan_limit and is never held in memory as a whole.
  [[nodiscard]] Fact<bool> holds(std::string_view path, std::string_view words) const;
  /// Names in a directory, sorted, without "." and "..".
  [[nodiscard]] Fact<std::vector<std::string>> names(std::string_view path) const;
  /// The path with all links resolved, as the machine would spell it.
  [[nodiscard]] Fact<std::string> resolved(std::string_view path) const;
  /// The node at the path, following links.
  [[nodiscard]] Fact<Node> node(std::string_view path) const;
  /// The same, with all steps of the path as far as it exists.
  [[nodiscard]] Fact<Node> node(std::string_view path, std::vector<Step>* trail) const;
  [[nodiscard]] Outcome presence(std::string_view path) const { return node(path).outcome; }

 private:
  struct Place;
  struct Above;
  [[nodiscard]] Fact<bool> scan(std::string_view path, std::uint64_t offset, std::size_t limit,
                                const std::function<bool(std::string_view piece)>& take) const;
  [[nodiscard]] Fact<Place> walk(std::string_view path) const;
  /// Continues from `place`. `path` is the whole path, for error messages.
  [[nodiscard]] Fact<Place> walk_on(Place place, std::string_view rest, std::string_view path,
                                    std::vector<Step>* trail) const;
  [[nodiscard]] Fact<std::vector<std::uint8_t>> read(std::string_view path, std::size_t limit,
                                                     bool is_whole_required) const;

  bool is_live_ = false;
  std::shared_ptr<const FileTree> tree_;
  RecordedFacts recorded_;
  std::shared_ptr<Above> above_;  ///< shared with copies
};

}  // namespace gdrkit::diag::topology
