// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "diag/bind/binding.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::bind {

void write_bind_json(const cli::DocumentOption& option, const Binding& binding) {
  const RankPlace& place = binding.place;
  const auto& gpu = binding.layout.tree.gpus[place.gpu];
  cli::Json json = {{"schema", "gdrkit.bind/1"},
                    {"version", gdrkit_version()},
                    {"root", binding.root},
                    {"gpu", gpu.name},
                    {"pci_address", gpu.function.name},
                    {"chosen_by", binding.chosen_by},
                    {"cpus", platform::to_list_text(place.cpus)},
                    {"reserved", platform::to_list_text(place.reserved)}};
  json["memory_node"] = place.node < 0 ? cli::Json(nullptr) : cli::Json(place.node);
  json["adapter"] = place.adapter ? cli::Json(binding.layout.adapters[*place.adapter].device()) : cli::Json(nullptr);
  json["nearness"] = topology::name_of(place.nearness);
  json["why_no_adapter"] = place.adapter ? "" : binding.layout.matching.gpus[place.gpu].why;
  json["set"] = cli::Json::object();
  if (!binding.ucx_device.empty()) json["set"]["UCX_NET_DEVICES"] = binding.ucx_device;
  json["notes"] = place.notes;
  json["program"] = binding.program;
  cli::write_json(option, json);
}

}  // namespace gdrkit::diag::bind
