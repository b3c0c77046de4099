// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "diag/env/formats.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::env {

void write_env_json(const cli::DocumentOption& option, const Document& document) {
  const Proposal& proposal = document.proposal;
  cli::Json json = {{"schema", "gdrkit.env/1"},
                    {"version", gdrkit_version()},
                    {"root", document.root},
                    {"library", proposal.library_names()},
                    {"matching_hash", cli::format("%016llx", static_cast<unsigned long long>(proposal.matching))}};
  json["libraries"] = cli::json_list(proposal.libraries, [](CommLibrary library) { return name_of(library); });
  json["set"] = cli::json_list(proposal.job, [](const ProposedSetting& setting) -> cli::Json {
    return {{"name", setting.name},
            {"value", setting.value},
            {"reason", cli::printable(setting.reason)},
            {"because", setting.because},
            {"is_set", setting.is_set}};
  });
  json["rank_reason"] = proposal.rank_reason;
  json["ranks"] = cli::Json::array();
  for (std::size_t rank = 0; rank < proposal.ranks.size(); ++rank) {
    const ProposedRank& one = proposal.ranks[rank];
    cli::Json place = {{"local_rank", rank},
                       {"gpu", one.gpu},
                       {"pci_address", one.address},
                       {"cpus", platform::to_list_text(one.place.cpus)},
                       {"nearness", topology::name_of(one.place.nearness)},
                       {"notes", one.place.notes},
                       {"set", cli::Json::object()}};
    place["memory_node"] = one.place.node < 0 ? cli::Json(nullptr) : cli::Json(one.place.node);
    place["adapter"] = one.adapter.empty() ? cli::Json(nullptr) : cli::Json(one.adapter);
    for (const auto& [name, value] : one.settings) place["set"][name] = value;
    json["ranks"].push_back(std::move(place));
  }
  json["notes"] = proposal.notes;
  json["present"] = cli::json_list(document.judged, [](const Judged& judged) -> cli::Json {
    return {{"check", judged.check},
            {"state", doctor::name_of(judged.finding.state)},
            {"subject", judged.finding.subject},
            {"text", judged.finding.text}};
  });
  cli::write_json(option, json);
}

}  // namespace gdrkit::diag::env
