// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/verdicts_json.hpp"

#include <algorithm>

namespace gdrkit::diag::doctor {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

void add_access(const Access& access, const std::vector<std::string>& blocked_by, cli::Json* json) {
  (*json)["use"] = name_of(access.use);
  (*json)["via"] = access.via;
  (*json)["reason"] = access.reason;
  (*json)["blocked_by"] = blocked_by;
}

}  // namespace

cli::Json verdicts_json(const Verdicts& verdicts) {
  cli::Json json = cli::Json::object();
  for (const LibraryVerdict& library : verdicts.libraries) {
    cli::Json pairs = cli::Json::array();
    for (const PairVerdict& pair : library.pairs) {
      const GpuVerdict& gpu = verdicts.gpus[pair.gpu];
      cli::Json one = {{"gpu", pair.gpu},
                       {"gpu_address", gpu.address},
                       {"hca", pair.adapter},
                       {"path", pair.path},
                       {"is_best", pair.is_best}};
      add_access(pair.access, pair.blocked_by, &one);
      one["believes"] = pair.access.believes;
      one["slowed_by"] = pair.slowed_by;
      pairs.push_back(std::move(one));
    }
    json[lower(library.name)] = {{"gdr", std::move(pairs)}};
  }
  json["gdrkit"] = {{"map", cli::Json::array()}};
  for (std::size_t i = 0; i < verdicts.gpus.size(); ++i) {
    cli::Json one = {{"gpu", i}, {"gpu_address", verdicts.gpus[i].address}};
    add_access(verdicts.gpus[i].mapping, verdicts.gpus[i].blocked_by, &one);
    json["gdrkit"]["map"].push_back(std::move(one));
  }
  json["peers"] = cli::Json::array();
  for (const PeerVerdict& peer : verdicts.peers) {
    cli::Json one = {{"gpu", peer.gpu},   {"gpu_address", verdicts.gpus[peer.gpu].address},
                     {"peer", peer.peer}, {"peer_address", verdicts.gpus[peer.peer].address},
                     {"path", peer.path}, {"route", peer.route},
                     {"acs", peer.acs},   {"iommu", peer.iommu}};
    one["most_gb_per_s"] = peer.gbyte_per_s > 0 ? cli::Json(peer.gbyte_per_s) : cli::Json(nullptr);
    add_access(peer.access, peer.blocked_by, &one);
    one["slowed_by"] = peer.slowed_by;
    json["peers"].push_back(std::move(one));
  }
  if (!verdicts.nothing.empty()) json["nothing"] = verdicts.nothing;
  return json;
}

}  // namespace gdrkit::diag::doctor
