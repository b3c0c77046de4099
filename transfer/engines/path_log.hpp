// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PathLog: the path of the data according to NCCL's log.
#pragma once

#include <map>
#include <string>

namespace gdrkit::transfer::engines {

/// The contents of one process's log lines.
struct NcclPaths {
  std::map<std::string, int> channels;  ///< "P2P/CUMEM": number of channels
  bool has_nvls = false;
  std::string network;  ///< "Socket", "IB"; "" if the log does not contain it
  std::string gdrcopy;  ///< "library 2.6 driver 2.6" if NCCL uses a libgdrapi; otherwise ""

  /// Human-readable: "P2P/CUMEM (24 channels); GDRCopy is off (NCCL_GDRCOPY_ENABLE=1 turns it on)".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] NcclPaths parse_nccl_log(const std::string& log);

/// Collects the log from its construction on. NCCL reads its settings once, so construct it before NCCL's first call.
/// If the user has set NCCL_DEBUG or NCCL_DEBUG_FILE, these are kept and the log is unavailable.
class PathLog {
 public:
  PathLog();
  PathLog(const PathLog&) = delete;
  PathLog& operator=(const PathLog&) = delete;
  ~PathLog();

  /// The contents of the log so far, or why they are unknown.
  [[nodiscard]] std::string text() const;

 private:
  int fd_ = -1;
};

}  // namespace gdrkit::transfer::engines
