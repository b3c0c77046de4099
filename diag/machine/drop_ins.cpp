// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/drop_ins.hpp"

#include <map>

namespace gdrkit::diag {

topology::Fact<std::vector<std::string>> drop_ins(const topology::MachineView& view,
                                                  const std::vector<std::string>& folders) {
  topology::Fact<std::vector<std::string>> files{topology::Outcome::found, {}, ""};
  std::map<std::string, std::string> by_name;
  for (const std::string& folder : folders) {
    const auto names = view.names(folder);
    if (names.is_unknown()) files = {names.outcome, {}, names.reason};
    for (const std::string& name : names.value) {
      if (name.ends_with(".conf") && name != ".conf") by_name.emplace(name, folder + "/" + name);
    }
  }
  for (const auto& [name, path] : by_name) files.value.push_back(path);
  return files;
}

}  // namespace gdrkit::diag
