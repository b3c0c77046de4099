// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/path_log.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/memory_file.hpp"

namespace gdrkit::transfer::engines {
namespace {

/// The part of `line` after `marker`; "" if it does not contain `marker`.
std::string rest_of(const std::string& line, const std::string& marker) {
  const std::size_t at = line.find(marker);
  return at == std::string::npos ? "" : line.substr(at + marker.size());
}

}  // namespace

NcclPaths parse_nccl_log(const std::string& log) {
  NcclPaths paths;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Channel") != std::string::npos) {
      std::string way = rest_of(line, " via ");
      way = way.substr(0, way.find(" comm "));
      while (!way.empty() && (way.back() == ' ' || way.back() == '\r')) way.pop_back();
      if (!way.empty()) ++paths.channels[way];
    }
    if (line.find("Connected NVLS tree") != std::string::npos) paths.has_nvls = true;
    if (const std::string name = rest_of(line, "Using network "); !name.empty()) paths.network = name;
    if (const std::string versions = rest_of(line, "GDRCOPY enabled "); !versions.empty()) paths.gdrcopy = versions;
  }
  return paths;
}

std::string NcclPaths::text() const {
  std::string text;
  for (const auto& [way, count] : channels) {
    text += (text.empty() ? "" : ", ") + way + " (" + std::to_string(count) + (count == 1 ? " channel)" : " channels)");
  }
  if (has_nvls) text += text.empty() ? "NVLS" : ", NVLS";
  if (text.empty()) text = "no channel in NCCL's log";
  if (!network.empty()) text += "; network " + network;
  text += gdrcopy.empty() ? "; GDRCopy is off (NCCL_GDRCOPY_ENABLE=1 turns it on)" : "; GDRCopy is on, " + gdrcopy;
  return text;
}

PathLog::PathLog() {
  if (std::getenv("NCCL_DEBUG") != nullptr || std::getenv("NCCL_DEBUG_FILE") != nullptr) return;
  // A file without a name in any folder: it disappears with the process, however that ends.
  fd_ = base::open_memory_file("nccl_log");
  if (fd_ < 0) return;
  (void)::setenv("NCCL_DEBUG", "INFO", 1);
  (void)::setenv("NCCL_DEBUG_FILE", ("/proc/self/fd/" + std::to_string(fd_)).c_str(), 1);
}

PathLog::~PathLog() {
  if (fd_ >= 0) ::close(fd_);
}

std::string PathLog::text() const {
  if (fd_ < 0) return "unknown, because NCCL_DEBUG or NCCL_DEBUG_FILE is set";
  std::string log;
  char bytes[4096];
  for (;;) {
    const ssize_t size = ::pread(fd_, bytes, sizeof bytes, static_cast<off_t>(log.size()));
    if (size <= 0) break;
    log.append(bytes, static_cast<std::size_t>(size));
  }
  return parse_nccl_log(log).text();
}

}  // namespace gdrkit::transfer::engines
