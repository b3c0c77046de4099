// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessResources: counts of operating-system resources of this process, to compare before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace gdrkit::tests {

struct ProcessResources {
  std::size_t descriptors = 0;
  /// Mappings of device nodes and of emulated memory. Exact: only the code under test makes them.
  std::size_t device_mappings = 0;
  /// All mappings. Memory allocators and thread stacks add to it, so compare it over many rounds, with a tolerance.
  std::size_t mappings = 0;
};

inline bool is_device_mapping(const std::string& maps_line) {
  for (const char* name : {"/dev/nvidia", "/dev/gdrdrv", "/dmabuf:", "/memfd:gdrkit-emulated:"}) {
    if (maps_line.find(name) != std::string::npos) return true;
  }
  return false;
}

inline std::size_t count_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries))) - 1;  // without the iterator's own
}

[[nodiscard]] inline ProcessResources count_process_resources() {
  ProcessResources resources;
  resources.descriptors = count_descriptors();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++resources.mappings;
    resources.device_mappings += is_device_mapping(line);
  }
  return resources;
}

/// Returns the inodes of this process's sockets, in the format of the tables in /proc/net.
[[nodiscard]] inline std::set<std::string> own_socket_inodes() {
  std::set<std::string> inodes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();  // "socket:[12345]"
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

struct AddressRange {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
};

/// Returns the address ranges of this process's mappings of device nodes and emulated memory.
[[nodiscard]] inline std::vector<AddressRange> device_mapping_ranges() {
  std::vector<AddressRange> ranges;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!is_device_mapping(line)) continue;
    const std::size_t dash = line.find('-');
    ranges.push_back({std::stoul(line, nullptr, 16), std::stoul(line.substr(dash + 1), nullptr, 16)});
  }
  return ranges;
}

/// Compares the exact counts; ignores `mappings`, see above.
inline bool operator==(const ProcessResources& left, const ProcessResources& right) {
  return left.descriptors == right.descriptors && left.device_mappings == right.device_mappings;
}

inline std::ostream& operator<<(std::ostream& stream, const ProcessResources& resources) {
  return stream << resources.descriptors << " descriptors, " << resources.device_mappings << " device mappings, "
                << resources.mappings << " mappings";
}

}  // namespace gdrkit::tests
