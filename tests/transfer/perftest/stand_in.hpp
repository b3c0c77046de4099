// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Faults, the log and the count of objects, for the libraries that replace libibverbs and librdmacm. stand_in_verbs.cpp
// and stand_in_rdma_cm.cpp describe the variables.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

namespace stand_in {

inline void append_line(const std::string& path, const std::string& line) {
  std::FILE* const file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

inline void write_log(const std::string& line) {
  if (const char* const path = std::getenv("GDRKIT_STAND_IN_LOG")) append_line(path, line);
}

/// The number of objects that are not released. The library writes the number to a file when it is unloaded.
inline int objects = 0;
inline const struct LeakReport {
  ~LeakReport() {
    const char* const room = std::getenv("GDRKIT_STAND_IN_ROOM");
    if (objects != 0 && room != nullptr)
      append_line(std::string(room) + ".leaks", std::to_string(objects) + " objects");
  }
} leak_report;

/// The fault "KIND CALL NUMBER".
class Fault {
 public:
  Fault() {
    const char* const text = std::getenv("GDRKIT_STAND_IN_FAULT");
    if (text != nullptr) std::istringstream(text) >> kind_ >> call_ >> number_;
  }
  /// Returns whether a fault of this kind applies to this call.
  bool is_now(std::string_view kind, std::string_view call) { return kind_ == kind && call_ == call && --number_ == 0; }
  /// Returns whether this call fails, with errno set. Kills or stops the process if that is the fault.
  bool fails(std::string_view call, int error) {
    if (is_now("kill", call)) ::raise(SIGKILL);
    if (is_now("stop", call)) ::raise(SIGSTOP);
    if (!is_now("fail", call)) return false;
    errno = error;
    return true;
  }

 private:
  std::string kind_;
  std::string call_;
  int number_ = 0;
};
inline Fault fault;

}  // namespace stand_in
