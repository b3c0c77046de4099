// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/gids.hpp"

#include <algorithm>

namespace gdrkit::diag {

topology::Fact<std::vector<Gid>> read_gids(const topology::MachineView& view, const std::string& port_folder) {
  constexpr std::size_t most_digits = 4;
  const auto names = view.names(port_folder + "/gids");
  topology::Fact<std::vector<Gid>> gids{names.outcome, {}, names.reason};
  if (!names.is_found()) return gids;
  bool has_read = false;
  for (const std::string& name : names.value) {
    if (name.size() > most_digits || name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto text = view.line(port_folder + "/gids/" + name);
    if (!text.is_found()) {
      gids.reason = text.reason;
      continue;
    }
    has_read = true;
    if (text.value.find_first_not_of("0:") == std::string::npos) continue;
    const auto type = view.line(port_folder + "/gid_attrs/types/" + name);
    const auto interface = view.line(port_folder + "/gid_attrs/ndevs/" + name);
    gids.value.push_back({static_cast<unsigned>(std::stoul(name)), text.value, type.is_found() ? type.value : "",
                          interface.is_found() ? interface.value : ""});
  }
  if (!has_read && !gids.reason.empty()) gids.outcome = topology::Outcome::unreadable;
  std::ranges::sort(gids.value, [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return gids;
}

}  // namespace gdrkit::diag
