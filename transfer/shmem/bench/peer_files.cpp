// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/peer_files.hpp"

#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace gdrkit::tools::pgas {
namespace {

std::string find_nvshmem() {
  std::vector<std::string> patterns;
  if (const char* home = std::getenv("NVSHMEM_HOME"))
    patterns.push_back(std::string(home) + "/lib*/libnvshmem_host.so.3");
  if (const char* environment = std::getenv("VIRTUAL_ENV")) {
    patterns.push_back(std::string(environment) +
                       "/lib/python3*/site-packages/nvidia/nvshmem/lib/libnvshmem_host.so.3");
  }
  if (const char* home = std::getenv("HOME")) {
    patterns.push_back(std::string(home) +
                       "/.local/lib/python3*/site-packages/nvidia/nvshmem/lib/libnvshmem_host.so.3");
  }
  for (const char* prefix : {"/usr/lib/python3", "/usr/local/lib/python3"}) {
    patterns.push_back(std::string(prefix) + "*/*-packages/nvidia/nvshmem/lib/libnvshmem_host.so.3");
  }
  for (const std::string& pattern : patterns) {
    glob_t found{};
    const bool is_found = ::glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0;
    const std::string path = is_found ? found.gl_pathv[found.gl_pathc - 1] : "";
    ::globfree(&found);
    if (is_found) return path;
  }
  return "";
}

std::string find_nvshmem_device() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto file = program.parent_path() / "nvshmem_device.fatbin";
  return !error && std::filesystem::exists(file, error) ? file.string() : "";
}

}  // namespace

PeerFiles find_peer_files(PeerFiles wanted) {
  if (wanted.nvshmem.empty()) wanted.nvshmem = find_nvshmem();
  if (wanted.nvshmem_device.empty()) wanted.nvshmem_device = find_nvshmem_device();
  return wanted;
}

}  // namespace gdrkit::tools::pgas
