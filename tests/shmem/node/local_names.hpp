// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The sockets through which the PEs of a machine find each other.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/process_resources.hpp"

namespace gdrkit::shmem_impl::tests {

/// Abstract names of gdrkit's sockets on this machine, each with a leading @, by the sockets' inodes.
inline std::multimap<std::string, std::string> local_names() {
  std::multimap<std::string, std::string> names;
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string unused, inode, name;
    for (int column = 0; column < 6; ++column) words >> unused;
    words >> inode >> name;
    if (name.starts_with("@gdrkit-shmem-")) names.emplace(inode, name);
  }
  return names;
}

/// Returns the names of this process only, because other tests may run at the same time.
inline std::vector<std::string> own_local_names() {
  std::vector<std::string> own;
  const auto own_inodes = gdrkit::tests::own_socket_inodes();
  for (const auto& [inode, name] : local_names()) {
    if (own_inodes.contains(inode)) own.push_back(name);
  }
  return own;
}

}  // namespace gdrkit::shmem_impl::tests
