// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "tools/common/json_document.hpp"

#include <cstdio>

#include "gdrkit/gdrkit.h"

namespace gdrkit::tools {

Json json_head(const char* tool, const Machine& machine, const std::string& backend, bool is_emulated) {
  Json document;
  document["schema_version"] = json_schema_version;
  document["tool"] = tool;
  document["version"] = gdrkit_version();
  document["emulated"] = is_emulated;
  document["backend"] = backend;
  document["machine"] = {{"cpu_model", machine.cpu_model},
                         {"cpu_count", machine.cpu_count},
                         {"os_release", machine.os_release},
                         {"gpu_name", machine.gpu_name},
                         {"gpu_pci_address", machine.gpu_pci_address},
                         {"driver_version", machine.driver_version}};
  return document;
}

void print_json(const Json& document) {
  // Replacing bytes that are no UTF-8 (a device's name) keeps the document parseable.
  std::printf("%s\n", document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace gdrkit::tools
