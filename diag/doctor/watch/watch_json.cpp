// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/interface/json_document.hpp"
#include "diag/doctor/watch/watch.hpp"

namespace gdrkit::diag::doctor {
namespace {

cli::Json name_json(const CounterName& name) {
  cli::Json json = {{"device", name.device}};
  if (!name.port.empty()) json["port"] = name.port;
  json["counter"] = name.counter;
  return json;
}

std::string link_text(const PcieLink& link) { return "x" + link.width + " " + link.speed; }

/// One document per line. Bytes that are not UTF-8 are replaced.
void print_line(const cli::Json& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, cli::Json::error_handler_t::replace).c_str());
}

}  // namespace

void print_watch_start_json(const Counters& counters) {
  print_line({{"event", "start"}, {"counters", counters.counters.size()}, {"devices", devices_of(counters)}});
}

void print_watch_poll_json(unsigned poll, double seconds, const Growth& growth) {
  cli::Json json = {{"event", "look"}, {"look", poll}, {"seconds", seconds}};
  json["grown"] = cli::json_list(growth.grown, [&](const Grown& one) {
    cli::Json grown = name_json(one.name);
    grown["kind"] = name_of(one.kind);
    grown["by"] = one.by;
    grown["per_second"] = static_cast<double>(one.by) / seconds;
    return grown;
  });
  json["reset"] = cli::json_list(growth.reset, name_json);
  json["vanished"] = growth.vanished;
  json["links"] = cli::json_list(growth.links, [](const LinkChange& change) -> cli::Json {
    return {{"address", change.address},
            {"from", link_text(change.from)},
            {"to", link_text(change.to)},
            {"is_worse", change.is_worse}};
  });
  print_line(json);
}

void print_watch_end_json(const WatchSum& sum) {
  cli::Json json = {{"event", "end"}, {"looks", sum.polls}, {"seconds", sum.seconds}, {"errors", cli::Json::array()}};
  for (const auto& [name, by] : sum.errors) {
    cli::Json error = name_json(name);
    error["by"] = by;
    json["errors"].push_back(std::move(error));
  }
  json["vanished"] = sum.vanished;
  json["exit_code"] = static_cast<int>(sum.code());
  print_line(json);
}

}  // namespace gdrkit::diag::doctor
