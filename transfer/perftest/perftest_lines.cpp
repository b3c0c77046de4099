// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/perftest_lines.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <numeric>

#include "cli/interface/exit_code.hpp"
#include "measure/harness/samples.hpp"

namespace gdrkit::transfer::perftest {
namespace {

constexpr double mebibyte = 1 << 20;
constexpr double bytes_of_gigabit = 1e9 / 8;
constexpr int ruler_width = 87;

std::string pair_line(const char* name, const std::string& value) {
  return cli::format(" %-16s: ", name) + value + "\n";
}

std::vector<double> medians_of_parts(const std::vector<double>& samples) {
  const std::size_t count = std::min(most_rounds, samples.size());
  std::vector<double> medians;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(samples.size() * i / count);
    const auto end = static_cast<std::ptrdiff_t>(samples.size() * (i + 1) / count);
    medians.push_back(measure::percentile({samples.begin() + begin, samples.begin() + end}, 50));
  }
  return medians;
}

}  // namespace

LatencyRow latency_row(std::size_t size_bytes, std::uint64_t iterations, std::vector<double> seconds) {
  for (double& one : seconds) one *= 1e6;
  LatencyRow row;
  row.rounds = medians_of_parts(seconds);
  std::ranges::sort(seconds);
  row.size_bytes = size_bytes;
  row.iterations = iterations;
  row.minimum = seconds.front();
  row.maximum = seconds.back();
  row.typical = measure::percentile(seconds, 50);
  row.p99 = measure::percentile(seconds, 99);
  row.p999 = measure::percentile(seconds, 99.9);
  const auto count = static_cast<double>(seconds.size());
  row.average = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count;
  double squares = 0;
  for (const double one : seconds) squares += (one - row.average) * (one - row.average);
  row.deviation = std::sqrt(squares / count);
  return row;
}

SharedResult shared_result(const BandwidthRow& row, bool is_in_gbits) {
  const double unit = is_in_gbits ? bytes_of_gigabit : mebibyte;
  return {row.size_bytes, row.iterations, row.peak_bytes_per_s / unit, row.average_bytes_per_s / unit,
          row.messages_per_s / 1e6};
}

BandwidthRow bandwidth_row(const SharedResult& result, bool is_in_gbits) {
  const double unit = is_in_gbits ? bytes_of_gigabit : mebibyte;
  return {static_cast<std::size_t>(result.size_bytes),
          result.iterations,
          result.peak * unit,
          result.average * unit,
          result.rate * 1e6,
          {}};
}

std::string title_of(const Settings& settings) {
  std::string title = settings.test->title;
  if (settings.is_bidirectional) title.insert(title.find("BW"), "Bidirectional ");
  return title;
}

std::string ruler() { return std::string(ruler_width, '-') + "\n"; }

std::string block_text(const Settings& settings) {
  const VerbsTest& test = *settings.test;
  std::string text = ruler() + std::string(20, ' ') + title_of(settings) + "\n";
  text += " Dual-port       : OFF\t\tDevice         : " + settings.device + "\n";
  text += cli::format(" Number of qps   : %d\t\tTransport type : IB\n", settings.pairs);
  text += " Connection type : " + settings.connection + "\t\tUsing SRQ      : OFF\n";
  text += pair_line("PCIe relax order", test.is_ping_pong() ? "OFF" : "ON");
  text += pair_line("ibv_wr* API", "OFF");
  if (!settings.is_server || settings.is_bidirectional) {
    text += pair_line("TX depth", std::to_string(settings.send_depth));
  }
  if (test.verb == Verb::send && (settings.is_server || settings.is_bidirectional)) {
    text += pair_line("RX depth", std::to_string(settings.receive_depth));
  }
  if (!test.is_latency()) text += pair_line("CQ Moderation", std::to_string(settings.moderation));
  text += pair_line("Mtu", std::to_string(settings.mtu_bytes) + "[B]");
  text += pair_line("Link type", settings.is_ethernet ? "Ethernet" : "IB");
  if (settings.gid_index >= 0) text += pair_line("GID index", std::to_string(settings.gid_index));
  text += test.is_fetching() ? pair_line("Outstand reads", std::to_string(settings.reads))
                             : pair_line("Max inline data", std::to_string(settings.inline_bytes) + "[B]");
  text += std::string(" rdma_cm QPs\t : ") + (settings.has_cm_pairs ? "ON" : "OFF") + "\n";
  text += pair_line("Data ex. method", settings.has_cm_exchange ? "rdma_cm" : "Ethernet");
  return text + ruler();
}

std::string address_line(const Settings& settings, const char* side, const PairAddress& address) {
  std::string text =
      cli::format(" %s address: LID %#04x QPN %#06x PSN %#08x", side, address.lid, address.number, address.psn);
  if (settings.test->is_fetching()) text += cli::format(" OUT %#04x", address.reads);
  if (settings.test->verb != Verb::send) {
    text += cli::format(" RKey %#08x VAddr %#016" PRIx64, address.rkey, address.address);
  }
  text += "\n";
  if (!address.has_gid) return text;
  text += " GID: ";
  for (int i = 0; i < 16; ++i) text += cli::format(i == 0 ? "%02d" : ":%02d", address.gid.bytes[i]);
  return text + "\n";
}

std::string head_line(const Settings& settings) {
  if (!settings.test->is_latency()) {
    const char* const unit = settings.is_in_gbits ? "Gb/sec" : "MiB/sec";
    return cli::format(" #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]\n", unit, unit);
  }
  if (settings.is_for_duration) return " #bytes        #iterations       t_avg[usec]    tps average\n";
  return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% "
         "percentile[usec]   99.9% percentile[usec] \n";
}

std::string all_results_text(std::vector<double> seconds, bool is_unsorted) {
  if (!is_unsorted) std::ranges::sort(seconds);
  std::string text = "#, usec\n";
  for (std::size_t i = 0; i < seconds.size(); ++i) text += cli::format("%zu, %g\n", i + 1, seconds[i] * 1e6);
  return text + "\n";
}

std::string row_line(const Settings& settings, const BandwidthRow& row) {
  const SharedResult result = shared_result(row, settings.is_in_gbits);
  const char* const pattern = settings.is_in_gbits
                                  ? " %-7zu    %-10" PRIu64 "    %-7.6f            %-7.6f            %-7.6f\n"
                                  : " %-7zu    %-10" PRIu64 "       %-7.2f            %-7.2f\t\t   %-7.6f\n";
  return cli::format(pattern, row.size_bytes, row.iterations, result.peak, result.average, result.rate);
}

std::string row_line(const Settings& settings, const LatencyRow& row) {
  if (settings.is_for_duration) {
    return cli::format(" %-7zu       %-10" PRIu64 "     %-7.2f        %-7.2f\n", row.size_bytes, row.iterations,
                       row.average, 1e6 / (row.average * (settings.test->is_ping_pong() ? 2 : 1)));
  }
  return cli::format(" %-7zu %-10" PRIu64
                     "   %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n",
                     row.size_bytes, row.iterations, row.minimum, row.maximum, row.typical, row.average, row.deviation,
                     row.p99, row.p999);
}

}  // namespace gdrkit::transfer::perftest
