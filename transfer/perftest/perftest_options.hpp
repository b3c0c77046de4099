// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Options: those of perftest's tests, and our additions; Plan: the validated options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/interface/command_line.hpp"
#include "transfer/perftest/verbs_test.hpp"
#include "transfer/report/document_options.hpp"

namespace gdrkit::transfer::perftest {

/// The addresses of the exchange of both ends.
struct ExchangeRoute {
  std::string source;  ///< local address; "": the system's choice
  bool is_ipv6_only = false;
};

struct Options : report::DocumentOptions {
  std::vector<std::string> words;  ///< TEST [HOST]
  std::string device;              ///< if one command starts both ends: also "server's,client's"
  int ib_port = 1;
  int gid_index = -1;  ///< -1: on Ethernet the first, on InfiniBand none
  int tcp_port = 18515;
  std::size_t size_bytes = 0;  ///< 0: the test's
  bool runs_all_sizes = false;
  int iterations = 0;  ///< 0: the test's
  int duration_s = 0;  ///< 0: use iterations
  int margin_s = 2;
  bool is_bidirectional = false;
  std::string connection = "RC";
  int mtu_bytes = 0;  ///< 0: the port's
  int pairs = 1;
  int send_depth = 0;  ///< 0: 128, and 1 for latencies
  int receive_depth = 512;
  int moderation = 0;     ///< 0: 100, and 1 above 8 KiB
  int inline_bytes = -1;  ///< -1: for latencies the adapter's maximum up to 220, otherwise 0
  int reads = 0;          ///< outstanding; 0: the adapter's maximum
  int service_level = 0;
  int traffic_class = -1;    ///< of the GRH; -1: not given
  int type_of_service = -1;  ///< of connections by rdma_cm; -1: not given
  std::string flow_labels;   ///< "L,L,..."
  bool needs_ipv6_gid = false;
  bool exchanges_by_ipv6 = false;
  std::string source_address;  ///< local address of the exchange; "": the system's choice
  bool has_immediate = false;
  int list_length = 1;  ///< requests in one call
  bool prints_all = false;
  bool prints_unsorted = false;
  int qp_timeout = 14;
  bool skips_peak = false;
  bool is_in_gbits = false;
  bool ignores_cpu_frequency = false;
  std::string cuda_device;  ///< also "server's,client's"; "": host memory
  std::string cuda_bus_id;
  bool needs_dmabuf = false;
  bool has_out_json = false;
  std::string out_json_file = "perftest_out.json";
  bool uses_rdma_cm = false;     ///< of the queue pairs and of the exchange
  bool exchanges_by_cm = false;  ///< only of the exchange
  int timeout_s = 300;
  bool is_loopback = false;
  std::string doctor_root = "/";

  [[nodiscard]] ExchangeRoute route() const { return {source_address, exchanges_by_ipv6}; }
  [[nodiscard]] bool has_cm() const noexcept { return uses_rdma_cm || exchanges_by_cm; }
  [[nodiscard]] bool has_results_of_all() const noexcept { return prints_all || prints_unsorted; }
};

struct Plan {
  const VerbsTest* test = nullptr;
  bool is_server = true;
  bool is_one_command = false;  ///< one command started both ends; the client prints
  std::string host;             ///< of the server; "": this is the server
  int tcp_port = 0;
  int listener = -1;  ///< already listening
  std::string device;
  std::string cuda_device;
  std::vector<std::size_t> sizes;
  int iterations = 0;
  int send_depth = 1;
  int connection = 0;  ///< verbs_pair_*
  std::vector<std::uint32_t> flow_labels;
  const Options* options = nullptr;

  [[nodiscard]] bool is_ud() const noexcept;
  [[nodiscard]] bool sends() const noexcept { return !is_server || options->is_bidirectional; }
  /// Whether each message consumes a posted receive at its target.
  [[nodiscard]] bool takes_receives() const noexcept { return test->verb == Verb::send || options->has_immediate; }
  /// Whether the target polls the last byte of a message, because it gets no completion.
  [[nodiscard]] bool polls_memory() const noexcept {
    return test->verb == Verb::write && test->is_latency() && !takes_receives();
  }
  [[nodiscard]] bool receives() const noexcept {
    return takes_receives() && (is_server || options->is_bidirectional || test->is_latency());
  }
  [[nodiscard]] std::uint32_t flow_label(int pair) const noexcept {
    return flow_labels.empty() ? 0 : flow_labels[static_cast<std::size_t>(pair) % flow_labels.size()];
  }
  /// The number of messages per completion.
  [[nodiscard]] int moderation(std::size_t size_bytes) const noexcept;
  [[nodiscard]] bool uses_gpu() const noexcept { return !cuda_device.empty() || !options->cuda_bus_id.empty(); }
  /// Human-readable: the parameters that must be equal on both ends.
  [[nodiscard]] std::string terms() const;
};

[[nodiscard]] cli::CommandLine command_line(Options* options);
/// perftest's options that `gdrkit perftest` rejects.
[[nodiscard]] std::vector<cli::RefusedOption> refused_options();
/// Under `gdrkit run -n 2` the rank decides which end this is. Throws Failure(usage).
[[nodiscard]] Plan plan_of(const Options& options);

}  // namespace gdrkit::transfer::perftest
