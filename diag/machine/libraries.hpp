// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Libraries: which of the shared libraries that GPUDirect hangs on lie where, in which version. None is loaded.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

struct Library {
  std::string name;     ///< "libibverbs"
  std::string path;     ///< of the file, links resolved: /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.39.0
  std::string version;  ///< what stands behind ".so." in the name of the file: "1.14.39.0"; "" when nothing does
};

/// Looks into the folders of /etc/ld.so.conf and its .conf files, then the usual ones, then those of CUDA. What
/// LD_LIBRARY_PATH or a program's own folders add is not seen.
class Libraries {
 public:
  explicit Libraries(const MachineView& view);

  /// Files of libnvidia-ml, libcuda, libibverbs, libmlx5, libgdrapi, libnccl, libucp, libnvshmem_host or libfabric, in
  /// the order of the folders. absent: none in any folder; unreadable: none, and a folder could not be looked into.
  [[nodiscard]] Fact<std::vector<Library>> named(const std::string& name) const;
  /// Where it looked, as the configuration spells it.
  [[nodiscard]] const std::vector<std::string>& asked() const noexcept { return asked_; }

 private:
  void add_folder(const MachineView& view, const std::string& folder);

  std::vector<Library> all_;
  std::vector<std::string> asked_;
  std::vector<std::string> folders_;  ///< resolved, each once
  std::string unread_;                ///< why the first folder or link that exists could not be read
};

}  // namespace gdrkit::diag
