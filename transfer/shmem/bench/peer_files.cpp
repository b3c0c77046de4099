// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/peer_files.hpp"

#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace gdrkit::transfer::shmem {
namespace {

/// `package`: its folder in nvidia/; the last of several versions of Python has it.
std::string find_library(const char* home_variable, const std::string& package, const std::string& file) {
  std::vector<std::string> patterns;
  const auto add = [&](const char* variable, const std::string& rest) {
    if (const char* folder = std::getenv(variable)) patterns.push_back(folder + rest);
  };
  const std::string in_packages = "-packages/nvidia/" + package + "/lib/" + file;
  add(home_variable, "/lib*/" + file);
  add("VIRTUAL_ENV", "/lib/python3*/site" + in_packages);
  add("HOME", "/.local/lib/python3*/site" + in_packages);
  for (const char* prefix : {"/usr/lib/python3", "/usr/local/lib/python3"}) {
    patterns.push_back(std::string(prefix) + "*/*" + in_packages);
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
  if (wanted.nvshmem.empty()) wanted.nvshmem = find_library("NVSHMEM_HOME", "nvshmem", "libnvshmem_host.so.3");
  if (wanted.nccl.empty()) wanted.nccl = find_library("NCCL_HOME", "nccl", "libnccl.so.2");
  if (wanted.nvshmem_device.empty()) wanted.nvshmem_device = find_nvshmem_device();
  return wanted;
}

}  // namespace gdrkit::transfer::shmem
