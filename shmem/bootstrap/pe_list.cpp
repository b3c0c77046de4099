// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstddef>

#include "shmem/bootstrap/pe_list.hpp"

namespace gdrkit::shmem_impl::bootstrap {

std::string pe_list_text(const std::vector<int>& pes) {
  constexpr std::size_t most_ranges = 8;
  std::vector<std::string> ranges;
  std::size_t next = 0;
  while (next < pes.size() && ranges.size() < most_ranges) {
    std::size_t last = next;
    while (last + 1 < pes.size() && pes[last + 1] == pes[last] + 1) ++last;
    if (last == next + 1) last = next;  // "3, 4" is as short as "3-4"
    ranges.push_back(std::to_string(pes[next]) + (last > next ? "-" + std::to_string(pes[last]) : ""));
    next = last + 1;
  }
  if (next < pes.size()) ranges.push_back(std::to_string(pes.size() - next) + " more");
  std::string text = pes.size() == 1 ? "PE " : "PEs ";
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0) text += i + 1 == ranges.size() ? " and " : ", ";
    text += ranges[i];
  }
  return text;
}

}  // namespace gdrkit::shmem_impl::bootstrap
