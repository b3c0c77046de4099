// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"

#include <array>
#include <cstdio>
#include <ctime>

#include "gdrkit/gdrkit.h"

namespace gdrkit::cli {

namespace {

/// Today, UTC.
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return {text.data(), length};
}

}  // namespace

DocumentHead head_of(const char* tool, const platform::Machine& machine, const std::string& backend, bool is_emulated,
                     const std::optional<platform::Place>& place) {
  return {schema_version, tool, gdrkit_version(), today(), is_emulated, backend, machine, place};
}

Json head_json(const DocumentHead& head) {
  Json json{{"schema_version", head.version_of_schema},
            {"tool", head.tool},
            {"version", head.version},
            {"date", head.date},
            {"emulated", head.is_emulated},
            {"backend", head.backend},
            {"machine",
             {{"cpu_model", head.machine.cpu_model},
              {"cpu_count", head.machine.cpu_count},
              {"os_release", head.machine.os_release},
              {"gpu_name", head.machine.gpu_name},
              {"gpu_pci_address", head.machine.gpu_pci_address},
              {"driver_version", head.machine.driver_version}}}};
  if (head.place) {
    json["place"] = {{"cpu", head.place->cpu},
                     {"cpu_node", head.place->cpu_node},
                     {"memory_node", head.place->memory_node},
                     {"gpu_node", head.place->gpu_node},
                     {"advice", head.place->advice}};
  }
  return json;
}

Json json_head(const char* tool, const platform::Machine& machine, const std::string& backend, bool is_emulated,
               const std::optional<platform::Place>& place) {
  return head_json(head_of(tool, machine, backend, is_emulated, place));
}

std::string text_of(const Json& document) {
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_json(const Json& document) { std::fputs(text_of(document).c_str(), stdout); }

void write_json(const DocumentOption& option, const Json& document) { write_document(option, text_of(document)); }

}  // namespace gdrkit::cli
