// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recording: files, directories, links and nodes of a machine, to be written to an archive.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/machine/machine.hpp"
#include "diag/snapshot/salted_hash.hpp"

namespace gdrkit::diag::snapshot {

struct Item {
  topology::Node node;
  bool is_seen = true;  ///< false: Linux refused to look it up
  bool is_link = false;
  bool is_refused = false;   ///< the content was not recorded: reading failed or was not required
  bool is_missed = false;    ///< reading the content was required and failed
  bool has_content = false;  ///< of a file
  std::string content;       ///< of a file; the target of a link
};

struct Recording {
  std::map<std::string, Item> items;  ///< by path

  /// Paths that should have been read but could not be.
  [[nodiscard]] std::vector<std::string> missed() const;
  /// Returns a tar archive; equal items give equal bytes. Device nodes and refusals are listed in gdrkit-recording,
  /// because ordinary users cannot create device nodes when they unpack the archive.
  [[nodiscard]] std::string to_archive() const;
};

/// Records the paths of recorded_paths() from a machine or from a recording of one. Throws Failure if the recording
/// exceeds the limits for reading archives.
[[nodiscard]] Recording record(const MachineView& view);
/// Adds the results of level probe on a live machine in the format of a recording.
void add_probe(const Probe& probe, Recording* recording);
/// Removes the owner's identity and keeps everything that the checks judge. `view` is the recorded machine; its
/// variables identify the user.
void redact(const MachineView& view, const SaltedHash::Salt& salt, Recording* recording);

}  // namespace gdrkit::diag::snapshot
