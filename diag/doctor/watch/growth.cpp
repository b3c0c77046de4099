// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/watch/growth.hpp"

#include <cstdlib>

namespace gdrkit::diag::doctor {
namespace {

std::set<std::string> devices_of(const Counters& counters) {
  std::set<std::string> devices;
  for (const auto& [name, counter] : counters.counters) devices.insert(name.device);
  for (const auto& [address, link] : counters.links) devices.insert(address);
  return devices;
}

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

}  // namespace

Growth growth_between(const Counters& before, const Counters& after, const std::set<std::string>& gpus) {
  Growth growth;
  for (const auto& [name, counter] : after.counters) {
    const auto old = before.counters.find(name);
    if (old == before.counters.end() || old->second.value == counter.value) continue;
    if (counter.value < old->second.value) {
      growth.reset.push_back(name);
    } else {
      growth.grown.push_back({name, counter.kind, counter.value - old->second.value});
    }
  }
  for (const auto& [address, link] : after.links) {
    const auto old = before.links.find(address);
    if (old == before.links.end() || old->second == link) continue;
    const bool is_narrower = number_in(link.width) < number_in(old->second.width);
    const bool is_slower = number_in(link.speed) < number_in(old->second.speed);
    growth.links.push_back({address, old->second, link, is_narrower || (is_slower && gpus.count(address) == 0)});
  }
  const auto still = devices_of(after);
  for (const std::string& device : devices_of(before)) {
    if (still.count(device) == 0) growth.vanished.insert(device);
  }
  return growth;
}

}  // namespace gdrkit::diag::doctor
