// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PathLog: what NCCL's own log says about the way that the data took.
#pragma once

#include <map>
#include <string>

namespace gdrkit::transfer::engines {

/// What the log lines of one process say.
struct NcclPaths {
  std::map<std::string, int> channels;  ///< "P2P/CUMEM": how many channels
  bool has_nvls = false;
  std::string network;  ///< "Socket", "IB"; "": the log does not name it
  std::string gdrcopy;  ///< "library 2.6 driver 2.6" where NCCL uses a libgdrapi; else ""

  /// For people: "P2P/CUMEM (24 channels); GDRCopy is off (NCCL_GDRCOPY_ENABLE=1 turns it on)".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] NcclPaths parse_nccl_log(const std::string& log);

/// Collects the log from its construction on. NCCL reads its settings once, so it must be there before NCCL's first
/// call. Where the user has set NCCL_DEBUG or NCCL_DEBUG_FILE, these stay, and there is nothing to read.
class PathLog {
 public:
  PathLog();
  PathLog(const PathLog&) = delete;
  PathLog& operator=(const PathLog&) = delete;
  ~PathLog();

  /// What the log says by now; why it cannot be known instead.
  [[nodiscard]] std::string text() const;

 private:
  int fd_ = -1;
};

}  // namespace gdrkit::transfer::engines
