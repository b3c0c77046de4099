// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineView: files, folders, links and nodes of a machine, live or recorded, read under one root and never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gdrkit::topology {

/// How a look at a path ended. A check that does not find says which of the others it was; it never guesses.
enum class Outcome {
  found,
  absent,      ///< the path does not exist
  unreadable,  ///< it exists, or may, but the system refused (reason: which call, which errno)
  malformed,   ///< it was read and is not what it should be: empty, binary, too large, a loop of links
};

template <class T>
struct Fact {
  Outcome outcome = Outcome::absent;
  T value{};
  std::string reason;  ///< one sentence with the path unless found

  [[nodiscard]] bool is_found() const noexcept { return outcome == Outcome::found; }
  [[nodiscard]] bool is_absent() const noexcept { return outcome == Outcome::absent; }
  /// Neither there nor known to be absent: what follows from it is unknown.
  [[nodiscard]] bool is_unknown() const noexcept { return !is_found() && !is_absent(); }
};

enum class NodeKind { file, folder, character_device, other };

struct Node {
  NodeKind kind = NodeKind::other;
  unsigned mode = 0;  ///< permission bits
  unsigned user = 0;
  unsigned group = 0;
  unsigned major = 0;  ///< of a device
  unsigned minor = 0;
};

/// Paths are absolute as on the machine ("/sys/..."). Every component is resolved here, relative to open folders: an
/// absolute link starts again at the root, ".." at the root stays there, so nothing outside the root is reached. Only
/// regular files are opened, read-only; a device node or a pipe is looked at and never opened. All sizes are bounded.
///
/// What a copied tree cannot hold stands in the file `gdrkit-recording` at its root, one fact a line:
///   character_device PATH MAJOR MINOR MODE(octal) USER GROUP
///   unreadable PATH
class MachineView {
 public:
  static constexpr std::size_t text_limit = std::size_t{1} << 18;
  static constexpr std::size_t names_limit = 16384;
  static constexpr unsigned link_limit = 40;
  static constexpr unsigned component_limit = 512;  ///< components that one path may pass, those of links included
  static constexpr std::size_t depth_limit = 96;

  /// Error: the root is no folder, or its list of recorded facts is damaged. The list is read for any root but "/".
  [[nodiscard]] static base::Result<MachineView> open(const std::string& root);

  [[nodiscard]] bool is_live() const noexcept { return is_live_; }
  /// All of a file; malformed when it holds zero bytes or more than text_limit.
  [[nodiscard]] Fact<std::string> text(std::string_view path) const;
  /// Its first line without blanks at both ends; malformed when that is empty.
  [[nodiscard]] Fact<std::string> line(std::string_view path) const;
  /// line() as a decimal or 0x number, all of it.
  [[nodiscard]] Fact<std::int64_t> number(std::string_view path) const;
  /// The first bytes, at most `limit`: fewer when the file ends or the system gives no more.
  [[nodiscard]] Fact<std::vector<std::uint8_t>> bytes(std::string_view path, std::size_t limit) const;
  /// Names in a folder, sorted, without "." and "..".
  [[nodiscard]] Fact<std::vector<std::string>> names(std::string_view path) const;
  /// The path with all links resolved, as the machine would spell it.
  [[nodiscard]] Fact<std::string> resolved(std::string_view path) const;
  /// What is there, links followed.
  [[nodiscard]] Fact<Node> node(std::string_view path) const;
  [[nodiscard]] Outcome presence(std::string_view path) const { return node(path).outcome; }

 private:
  struct Place;
  [[nodiscard]] Fact<Place> walk(std::string_view path) const;
  [[nodiscard]] Fact<std::vector<std::uint8_t>> read(std::string_view path, std::size_t limit, bool wants_all) const;
  [[nodiscard]] base::Status read_recorded();

  bool is_live_ = false;
  std::shared_ptr<const int> root_;  ///< a folder's descriptor that the last owner closes
  std::map<std::string, Node, std::less<>> recorded_nodes_;
  std::set<std::string, std::less<>> recorded_unreadable_;
};

}  // namespace gdrkit::topology
