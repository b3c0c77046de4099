// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/peer_files.hpp"

#include <glob.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// `package` is its directory in nvidia/. Of several versions of Python, the last one is used.
std::string find_library(const char* home_variable, const std::string& package, const std::string& file) {
  std::vector<std::string> patterns;
  const auto add = [&](const char* variable, const std::string& rest) {
    if (const char* directory = std::getenv(variable)) patterns.push_back(directory + rest);
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

PeerFiles find_peer_files(PeerFiles files) {
  if (files.nvshmem.empty()) files.nvshmem = find_library("NVSHMEM_HOME", "nvshmem", "libnvshmem_host.so.3");
  if (files.nccl.empty()) files.nccl = find_library("NCCL_HOME", "nccl", "libnccl.so.2");
  if (files.nvshmem_device.empty()) files.nvshmem_device = find_nvshmem_device();
  return files;
}

std::unique_ptr<platform::Device> open_peer_gpu(int pe, const char* library) {
  const char* const backend = std::getenv("GDRKIT_BACKEND");
  const bool is_emulated = backend != nullptr && std::strcmp(backend, "emulated") == 0;
  const auto count = is_emulated ? platform::emulated_device_count() : platform::cuda_device_count();
  if (!count) cli::cannot_run(count.error().text());
  if (*count == 0) cli::cannot_run(std::string(library) + " requires a GPU, but CUDA reports none");
  auto device = is_emulated ? platform::open_emulated_device(pe % *count) : platform::open_cuda_device(pe % *count);
  if (!device) cli::cannot_run(device.error().text());
  return std::move(*device);
}

}  // namespace gdrkit::transfer::shmem
