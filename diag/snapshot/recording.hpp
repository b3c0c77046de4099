// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recording: files, folders, links and nodes of a machine, as they go into an archive.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/topology/file_tree.hpp"

namespace gdrkit::diag::snapshot {

struct Item {
  topology::Node node;
  bool is_seen = true;  ///< false: Linux refused to look it up
  bool is_link = false;
  bool is_refused = false;   ///< what is in it could not be read, or was not asked for
  bool is_missed = false;    ///< what is in it was asked for and could not be read
  bool has_content = false;  ///< of a file
  std::string content;       ///< of a file; where a link leads
};

struct Recording {
  std::map<std::string, Item> items;  ///< by path

  /// Paths that should have been read and could not.
  [[nodiscard]] std::vector<std::string> missed() const;
  /// A tar archive, the same bytes for the same items. Device nodes and refusals stand in gdrkit-recording, since whom
  /// an archive is unpacked by may make no device nodes.
  [[nodiscard]] std::string to_archive() const;
};

}  // namespace gdrkit::diag::snapshot
