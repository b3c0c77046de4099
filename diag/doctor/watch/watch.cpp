// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/watch/watch.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr double shortest_seconds = 0.01;
constexpr double longest_seconds = 86400;
constexpr double bytes_per_word = 4;  // of port_xmit_data and port_rcv_data

double now_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Blocks SIGINT and SIGTERM; they stay pending until wait_until() takes them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  /// Returns true if a signal arrived before `deadline`.
  [[nodiscard]] bool wait_until(double deadline) const {
    while (true) {
      const double left = std::max(deadline - now_seconds(), 0.0);
      timespec time{};
      time.tv_sec = static_cast<time_t>(left);
      time.tv_nsec = static_cast<long>((left - std::floor(left)) * 1e9);
      if (sigtimedwait(&signals_, nullptr, &time) > 0) return true;
      if (errno == EAGAIN && now_seconds() >= deadline) return false;
    }
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

std::string text_of(const CounterName& name) {
  return cli::printable(name.device + (name.port.empty() ? "" : ":" + name.port) + " " + name.counter);
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return cli::format("%02d:%02d:%02d", local.tm_hour, local.tm_min, local.tm_sec);
}

void print_poll(double seconds, const Growth& growth) {
  const std::string clock = clock_text();
  if (growth.is_empty()) std::printf("%s ok   no counter grew\n", clock.c_str());
  for (const Grown& one : growth.grown) {
    const bool is_data = one.name.counter == "port_xmit_data" || one.name.counter == "port_rcv_data";
    const auto by = static_cast<double>(one.by);
    const std::string rate =
        is_data ? cli::format("%.3f GB/s", by * bytes_per_word / seconds * 1e-9) : cli::format("%.1f/s", by / seconds);
    std::printf("%s %s %s +%llu (%s)\n", clock.c_str(), one.kind == CounterKind::error ? "FAIL" : "info",
                text_of(one.name).c_str(), static_cast<unsigned long long>(one.by), rate.c_str());
  }
  for (const CounterName& name : growth.reset)
    std::printf("%s info %s was reset\n", clock.c_str(), text_of(name).c_str());
  for (const LinkChange& change : growth.links) {
    std::printf("%s %s %s link x%s %s, before x%s %s\n", clock.c_str(), change.is_worse ? "warn" : "info",
                change.address.c_str(), cli::printable(change.to.width).c_str(),
                cli::printable(change.to.speed).c_str(), cli::printable(change.from.width).c_str(),
                cli::printable(change.from.speed).c_str());
  }
  for (const std::string& device : growth.vanished)
    std::printf("%s FAIL %s has disappeared\n", clock.c_str(), cli::printable(device).c_str());
}

void print_end(const WatchSum& sum) {
  std::printf("%s in %.1f s: ", cli::counted(sum.polls, "poll").c_str(), sum.seconds);
  if (sum.code() == cli::ExitCode::ok) std::printf("no error counter grew");
  const char* separator = "";
  for (const auto& [name, by] : sum.errors) {
    std::printf("%s%s +%llu", separator, text_of(name).c_str(), static_cast<unsigned long long>(by));
    separator = ", ";
  }
  for (const std::string& device : sum.vanished) {
    std::printf("%s%s disappeared", separator, cli::printable(device).c_str());
    separator = ", ";
  }
  std::printf("\n");
}

std::set<std::string> addresses_of(const std::vector<PciDevice>& devices) {
  std::set<std::string> addresses;
  for (const PciDevice& device : devices) addresses.insert(device.address);
  return addresses;
}

void sum_up(const Growth& growth, WatchSum* sum) {
  for (const Grown& one : growth.grown) {
    if (one.kind == CounterKind::error) sum->errors[one.name] += one.by;
  }
  sum->vanished.insert(growth.vanished.begin(), growth.vanished.end());
}

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

}  // namespace

std::set<std::string> devices_of(const Counters& counters) {
  std::set<std::string> devices;
  for (const auto& [name, counter] : counters.counters) devices.insert(name.device);
  for (const auto& [address, link] : counters.links) devices.insert(address);
  return devices;
}

double parse_interval(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (!is_number || !(seconds >= shortest_seconds && seconds <= longest_seconds)) {
    cli::reject(cli::format("invalid interval --watch %s: give the seconds between two polls, from 0.01 to 86400",
                            text.c_str()));
  }
  return seconds;
}

cli::ExitCode watch(const MachineView& view, const WatchPlan& plan) {
  if (!view.is_live() && !std::filesystem::is_directory(plan.root)) {
    cli::reject(cli::format("cannot watch a recording (--root %s): counters in an archive do not change; omit --root",
                            plan.root.c_str()));
  }
  const EndSignals signals;
  Counters before;
  {
    const Machine machine(view);
    before = read_counters(machine);
  }
  if (before.counters.empty() && before.links.empty()) {
    cli::cannot_run(
        "cannot watch counters: found no adapter counters, no PCIe error counters and no PCIe links in /sys");
  }
  if (plan.is_json) {
    print_watch_start_json(before);
  } else {
    std::printf("watching %zu counters and %zu links, every %g s; Ctrl-C ends\n", before.counters.size(),
                before.links.size(), plan.seconds);
  }
  std::fflush(stdout);
  WatchSum sum;
  const double start = now_seconds();
  double last = start;
  while (plan.count == 0 || sum.polls < static_cast<unsigned>(plan.count)) {
    if (signals.wait_until(last + plan.seconds)) break;
    const Machine machine(view);
    Counters after = read_counters(machine);
    const double now = now_seconds();
    Growth growth = growth_between(before, after, addresses_of(machine.gpus));
    // A function is polled only together with its adapter. Without the adapter it may still exist.
    std::erase_if(growth.vanished, [&](const std::string& device) {
      return view.presence("/sys/bus/pci/devices/" + device) == Outcome::found;
    });
    ++sum.polls;
    sum_up(growth, &sum);
    if (plan.is_json) {
      print_watch_poll_json(sum.polls, now - last, growth);
    } else {
      print_poll(now - last, growth);
    }
    std::fflush(stdout);
    before = std::move(after);
    last = now;
  }
  sum.seconds = now_seconds() - start;
  if (plan.is_json) {
    print_watch_end_json(sum);
  } else {
    print_end(sum);
  }
  return sum.code();
}

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
