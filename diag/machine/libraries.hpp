// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Libraries: the locations and versions of the shared libraries that GPUDirect depends on. None is loaded.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

struct Library {
  std::string name;     ///< "libibverbs"
  std::string path;     ///< of the file, links resolved: /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.39.0
  std::string version;  ///< the part after ".so." in the file name: "1.14.39.0"; "" if there is none
};

/// Searches the directories of /etc/ld.so.conf and its .conf files, then the usual ones, then those of CUDA. Ignores
/// LD_LIBRARY_PATH and a program's own directories.
class Libraries {
 public:
  explicit Libraries(const MachineView& view);

  /// Files of libnvidia-ml, libcuda, libibverbs, libmlx5, libgdrapi, libnccl, libucp, libnvshmem_host or libfabric, in
  /// the order of the directories. absent: not found in any directory; unreadable: not found, and a directory could not
  /// be read.
  [[nodiscard]] Fact<std::vector<Library>> named(const std::string& name) const;
  /// The searched directories, as written in the configuration.
  [[nodiscard]] const std::vector<std::string>& searched() const noexcept { return searched_; }

 private:
  void add_directory(const MachineView& view, const std::string& directory);

  std::vector<Library> all_;
  std::vector<std::string> searched_;
  std::vector<std::string> directories_;  ///< resolved, each once
  std::string unread_;                    ///< why the first directory or link that exists could not be read
};

}  // namespace gdrkit::diag
