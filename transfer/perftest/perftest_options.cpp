// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/perftest_options.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/number.hpp"
#include "cli/interface/suggestion.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "platform/vendor/verbs_objects.hpp"

namespace gdrkit::transfer::perftest {
namespace {

constexpr std::size_t largest_bytes = 8UL << 20;  ///< maximum of -a, as in perftest
constexpr std::size_t most_bytes = 1UL << 30;
constexpr int least_iterations = 5;
constexpr int most_iterations = 100'000'000;
constexpr int default_depth = 128;

[[noreturn]] void refuse(const std::string& text) { cli::reject("gdrkit perftest: " + text); }

void check_range(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    refuse(cli::format("%s %d is out of range: use %d to %d", name, value, least, most));
}

/// "gdrkit_ib_write_bw" and "ib_write_bw" are "write_bw".
std::string short_name(const std::string& word) {
  const std::size_t at = word.find("ib_");
  return at == std::string::npos ? word : word.substr(at + 3);
}

const VerbsTest& find_test(const Options& options) {
  std::vector<std::string> names;
  for (const VerbsTest& test : all_verbs_tests) names.emplace_back(test.name);
  if (options.words.empty() || options.words.size() > 2) {
    refuse((options.words.empty() ? "the test is missing; use one of "
                                  : "too many arguments; use at most one HOST after one of ") +
           cli::joined(names, ", ") + "\nTry: gdrkit perftest --help");
  }
  const std::string name = short_name(options.words.front());
  for (const VerbsTest& test : all_verbs_tests) {
    if (name == test.name) return test;
  }
  refuse("unknown test '" + options.words.front() + "'" + cli::did_you_mean(name, names) +
         "\nTry: gdrkit perftest --help");
}

/// The part of "a,b" for this end.
std::string part_of(const std::string& text, const Plan& plan, const char* name) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return text;
  if (!plan.is_one_command)
    refuse(cli::format(
        "%s %s: two values, but this command does not start both client and server; use --loopback, or one value", name,
        text.c_str()));
  return plan.is_server ? text.substr(0, comma) : text.substr(comma + 1);
}

/// Under `gdrkit run -n 2` rank 0 listens on the socket that the launcher opened.
void follow_launcher(Plan* plan) {
  const char* const ranks = std::getenv("GDRKIT_SHMEM_NPES");
  const char* const rank = std::getenv("GDRKIT_SHMEM_PE");
  if (ranks == nullptr || rank == nullptr || std::string(ranks) == "1") return;
  if (plan->options->has_cm()) {
    refuse(
        "cannot use -R or -z under gdrkit run: rdma_cm requires the IP address of the RDMA device; start client and "
        "server separately");
  }
  if (std::string(ranks) != "2")
    refuse(cli::format("the job has %s ranks, but a test requires 2; use gdrkit run -n 2", ranks));
  if (!plan->host.empty()) refuse("under gdrkit run the ranks connect without a host; omit the host");
  plan->is_one_command = true;
  plan->is_server = std::string(rank) == "0";
  const char* const listener = std::getenv("GDRKIT_SHMEM_LISTEN_FD");
  if (plan->is_server && listener != nullptr) plan->listener = std::atoi(listener);
  plan->host = plan->is_server ? "" : "127.0.0.1";
  const char* const root = std::getenv("GDRKIT_SHMEM_ROOT");
  const std::string address = root == nullptr ? "" : root;
  const std::size_t colon = address.rfind(':');
  if (plan->is_server || colon == std::string::npos) return;
  plan->host = address.substr(0, colon);
  plan->tcp_port = std::atoi(address.substr(colon + 1).c_str());
}

void check_unsupported(const Options& options) {
  if (options.connection == "XRC" || options.connection == "DC") {
    refuse("-c " + options.connection +
           " is not supported; use -c RC, or run perftest's own programs on client and server");
  }
}

void check_numbers(const Options& options) {
  check_range("-i", options.ib_port, 1, 255);
  check_range("-x", options.gid_index, -1, 65535);
  check_range("-p", options.tcp_port, 1, 65535);
  if (options.iterations != 0) check_range("-n", options.iterations, least_iterations, most_iterations);
  check_range("-D", options.duration_s, 0, 1'000'000);
  check_range("-f", options.margin_s, 0, 1'000'000);
  check_range("-q", options.pairs, 1, 1024);
  check_range("-t", options.send_depth, 0, 65536);
  check_range("-r", options.receive_depth, 1, 65536);
  check_range("-Q", options.moderation, 0, 65536);
  check_range("-I", options.inline_bytes, -1, 4096);
  check_range("-o", options.reads, 0, 255);
  check_range("-S", options.service_level, 0, 15);
  if (options.traffic_class != -1) check_range("--tclass", options.traffic_class, 0, 255);
  if (options.type_of_service != -1) check_range("-T", options.type_of_service, 0, 255);
  check_range("-l", options.list_length, 1, 4096);
  check_range("-u", options.qp_timeout, 0, 31);
  check_range("--timeout", options.timeout_s, 1, 1'000'000);
  if (options.mtu_bytes != 0) {
    const bool is_mtu =
        options.mtu_bytes >= 256 && options.mtu_bytes <= 4096 && (options.mtu_bytes & (options.mtu_bytes - 1)) == 0;
    if (!is_mtu) refuse(cli::format("invalid -m %d: an MTU is 256, 512, 1024, 2048 or 4096", options.mtu_bytes));
  }
}

/// Checks fields of the packets: without rdma_cm those of the GRH, with rdma_cm the type of service.
void check_roce(const Options& options) {
  if (options.type_of_service >= 0 && !options.uses_rdma_cm) {
    refuse("-T requires -R; add -R, or use --tclass");
  }
  if (!options.uses_rdma_cm) return;
  if (options.traffic_class >= 0) refuse("cannot combine --tclass with -R: rdma_cm sets the traffic class; use -T");
  if (!options.flow_labels.empty())
    refuse("cannot combine --flow_label with -R: rdma_cm sets the flow label; omit --flow_label");
  if (options.needs_ipv6_gid)
    refuse("cannot combine --ipv6 with -R: rdma_cm takes the GID from HOST; use an IPv6 address as HOST");
}

std::vector<std::uint32_t> flow_labels_in(const std::string& text) {
  constexpr std::uint32_t largest = 0xfffff;
  std::vector<std::uint32_t> labels;
  if (text.empty()) return labels;
  for (const std::string& word : cli::split(text, ',')) {
    std::uint32_t label = 0;
    if (!base::parse_prefixed_number(word, &label) || label > largest) {
      refuse("--flow_label: '" + word + "' is not a number from 0 to 0xfffff");
    }
    labels.push_back(label);
  }
  return labels;
}

void check_together(const Options& options, const VerbsTest& test) {
  if (options.size_bytes > most_bytes) refuse(cli::format("-s %zu is too large; use at most 1G", options.size_bytes));
  if (test.verb == Verb::atomic && (options.runs_all_sizes || (options.size_bytes != 0 && options.size_bytes != 8))) {
    refuse(std::string(test.name) + " supports only messages of 8 bytes; omit -a and -s");
  }
  if (options.duration_s > 0 && (options.runs_all_sizes || options.iterations != 0))
    refuse("cannot combine -D with -a or -n; omit -D");
  if (options.duration_s > 0 && options.duration_s <= 2 * options.margin_s) {
    refuse(cli::format("-D %d leaves no time between two margins of %d s; increase -D or reduce -f", options.duration_s,
                       options.margin_s));
  }
  if (test.is_latency() && options.is_bidirectional) refuse("-b applies only to bandwidth tests; omit -b");
  if (test.is_latency() && options.pairs > 1) refuse("-q applies only to bandwidth tests; omit -q");
  if (options.connection == "UD" && test.verb != Verb::send)
    refuse("-c UD supports only send_bw and send_lat; use -c RC for other tests");
  if (options.connection == "UC" && test.is_fetching())
    refuse(std::string("-c UC does not support ") + test.name + "; use -c RC");
  if (options.is_bidirectional && options.duration_s > 0 && test.verb == Verb::send) {
    refuse("send_bw does not support -b together with -D; omit -b or -D");
  }
  if (options.uses_rdma_cm && options.connection != "RC") {
    refuse("-R supports only -c RC; for other connection types, use -z");
  }
  check_roce(options);
  if (options.has_immediate && test.verb != Verb::write)
    refuse("--write_with_imm applies only to write_bw and write_lat; omit it");
  if (options.has_results_of_all() && !test.is_latency()) refuse("-H and -U apply only to latency tests; omit them");
  if (options.has_results_of_all() && options.duration_s > 0) refuse("cannot combine -D with -H or -U; omit -D");
  if (options.list_length > 1 && test.is_latency()) refuse("-l applies only to bandwidth tests; omit -l");
  if (!options.cuda_device.empty() && !options.cuda_bus_id.empty())
    refuse("cannot combine --use_cuda with --use_cuda_bus_id; omit one");
  if (options.needs_dmabuf && options.cuda_device.empty() && options.cuda_bus_id.empty()) {
    refuse("--use_cuda_dmabuf requires --use_cuda or --use_cuda_bus_id");
  }
}

std::vector<std::size_t> sizes_of(const Options& options, const VerbsTest& test) {
  if (!options.runs_all_sizes) return {options.size_bytes != 0 ? options.size_bytes : test.size_bytes};
  std::vector<std::size_t> sizes;
  for (std::size_t size = 2; size <= largest_bytes; size *= 2) sizes.push_back(size);
  return sizes;
}

/// Fields of the packets, and the addresses of the exchange.
void add_roce_options(cli::CommandLine* line, Options* options) {
  const std::vector<cli::Option> all = {
      {'\0', "tclass", "N", &options->traffic_class, "traffic class in the GRH: DSCP * 4 + ECN (default: 0)", false,
       false},
      {'\0', "flow_label", "N,N,...", &options->flow_labels, "flow labels of the queue pairs, in turn (default: 0)",
       false, false},
      {'T', "tos", "N", &options->type_of_service, "type of service of connections with -R", false, false},
      {'\0', "ipv6", "", &options->needs_ipv6_gid, "choose a GID of an IPv6 address", false},
      {'\0', "ipv6-addr", "", &options->exchanges_by_ipv6, "exchange over IPv6 only", false},
      {'\0', "bind_source_ip", "ADDRESS", &options->source_address,
       "local address of the exchange (default: as routed)", false, false},
  };
  line->options.insert(line->options.end(), all.begin(), all.end());
}

}  // namespace

cli::CommandLine command_line(Options* options) {
  cli::CommandLine line;
  line.name = "perftest";
  line.summary =
      "Runs perftest's tests of RDMA writes, reads, sends and atomics over libibverbs, with their options and columns, "
      "also on GPU memory. Without HOST it is the server, with HOST the client; --loopback starts both ends here.";
  line.example =
      "gdrkit perftest write_bw --loopback -d mlx5_0\n"
      "  gdrkit perftest write_lat --use_cuda=0             # on the server\n"
      "  gdrkit perftest write_lat --use_cuda=0 server-host # on the client";
  line.options = {
      {'d', "ib-dev", "DEVICE", &options->device, "RDMA device (--loopback: SERVER'S,CLIENT'S; default: first)", false,
       false},
      {'i', "ib-port", "N", &options->ib_port, "port of the device", false},
      {'x', "gid-index", "N", &options->gid_index, "GID index (default: first RoCE v2, IPv4 before IPv6)", false,
       false},
      {'p', "port", "N", &options->tcp_port, "TCP port of the server", false},
      {'s', "size", "SIZE", &options->size_bytes, "size of a message (default: the test's)", false, false},
      {'a', "all", "", &options->runs_all_sizes, "sizes from 2 to 8M", false},
      {'n', "iters", "N", &options->iterations, "messages, at least 5 (default: the test's)", false, false},
      {'D', "duration", "S", &options->duration_s, "run for this many seconds instead of -n messages", false, false},
      {'f', "margin", "S", &options->margin_s, "margin of -D: seconds at both ends that do not count", false},
      {'b', "bidirectional", "", &options->is_bidirectional, "both ends send at once", false},
      {'c', "connection", "KIND", cli::Choice{{"RC", "UC", "UD", "XRC", "DC"}, &options->connection, ""},
       "RC, UC or UD (XRC and DC are not supported)", false},
      {'m', "mtu", "N", &options->mtu_bytes, "path MTU (default: the port's)", false, false},
      {'q', "qp", "N", &options->pairs, "queue pairs", false},
      {'t', "tx-depth", "N", &options->send_depth, "sends in flight (default: 128; 1 in latency tests)", false, false},
      {'r', "rx-depth", "N", &options->receive_depth, "receives posted in send tests", false},
      {'Q', "cq-mod", "N", &options->moderation, "one completion per N messages (default: 100, 1 above 8 KiB)", false,
       false},
      {'I', "inline_size", "N", &options->inline_bytes, "maximum bytes sent inline in a request", false, false},
      {'o', "outs", "N", &options->reads, "reads and atomics in flight (default: device's maximum)", false, false},
      {'S', "sl", "N", &options->service_level, "service level", false},
      {'\0', "write_with_imm", "", &options->has_immediate, "write with immediate data, completed by a receive", false},
      {'l', "post_list", "N", &options->list_length, "requests per call in bandwidth tests", false},
      {'H', "report-histogram", "", &options->prints_all, "also print every latency, sorted", false},
      {'U', "report-unsorted", "", &options->prints_unsorted, "also print every latency, in the order of the messages",
       false},
      {'u', "qp-timeout", "N", &options->qp_timeout, "timeout of a retry, 4 us * 2^N", false},
      {'R', "rdma_cm", "", &options->uses_rdma_cm, "connect by rdma_cm; HOST is an RDMA device's address", false,
       false},
      {'z', "com_rdma_cm", "", &options->exchanges_by_cm, "use rdma_cm only for the exchange of both ends", false,
       false},
      {'N', "noPeak", "", &options->skips_peak, "do not measure the peak bandwidth", false},
      {'F', "CPU-freq", "", &options->ignores_cpu_frequency,
       "accepted without effect; gdrkit prints no CPU frequency warning", false},
      {'\0', "report_gbits", "", &options->is_in_gbits, "report Gb/s instead of MiB/s", false},
      {'\0', "use_cuda", "N", &options->cuda_device, "memory of this GPU (--loopback: SERVER'S,CLIENT'S)", false,
       false},
      {'\0', "use_cuda_bus_id", "ADDRESS", &options->cuda_bus_id, "memory of the GPU with this PCI address", false,
       false},
      {'\0', "use_cuda_dmabuf", "", &options->needs_dmabuf, "register by dma-buf only, not by peer memory", false},
      {'\0', "out_json", "", &options->has_out_json, "also write perftest's JSON", false},
      {'\0', "out_json_file", "FILE", &options->out_json_file, "the file of --out_json", false},
      {'\0', "loopback", "", &options->is_loopback, "start both ends on this machine", false},
      {'\0', "timeout", "S", &options->timeout_s, "time limit without progress, in seconds", false},
      {'\0', "doctor-root", "RECORDING", &options->doctor_root, "run gdrkit doctor for the devices in use", false,
       false, false, 1, true},
  };
  add_roce_options(&line, options);
  report::add_document_options(&line, options);
  line.operands = {&options->words, "TEST [HOST]", "the test, and on the client the server's host", {}};
  for (const VerbsTest& test : all_verbs_tests) line.operands.words.emplace_back(test.name);
  line.refused = refused_options();
  return line;
}

bool Plan::is_ud() const noexcept { return connection == platform::verbs_pair_ud; }

int Plan::moderation(std::size_t size_bytes) const noexcept {
  constexpr std::size_t large_bytes = 8192;
  constexpr int of_small = 100;
  const int requested = options->moderation != 0 ? options->moderation : size_bytes > large_bytes ? 1 : of_small;
  return std::min(requested, send_depth);
}

std::string Plan::terms() const {
  return cli::format("%s -c %s -s %zu%s -n %d -D %d -q %d%s%s", test->name, options->connection.c_str(), sizes.front(),
                     sizes.size() > 1 ? " -a" : "", iterations, options->duration_s, options->pairs,
                     options->is_bidirectional ? " -b" : "", options->has_immediate ? " --write_with_imm" : "");
}

Plan plan_of(const Options& options) {
  Plan plan;
  plan.options = &options;
  plan.test = &find_test(options);
  check_unsupported(options);
  check_numbers(options);
  check_together(options, *plan.test);
  plan.tcp_port = options.tcp_port;
  if (options.words.size() == 2) plan.host = options.words.back();
  plan.is_server = plan.host.empty();
  follow_launcher(&plan);
  plan.device = part_of(options.device, plan, "-d");
  plan.flow_labels = flow_labels_in(options.flow_labels);
  plan.cuda_device = part_of(options.cuda_device, plan, "--use_cuda");
  plan.sizes = sizes_of(options, *plan.test);
  plan.iterations = options.iterations != 0 ? options.iterations : plan.test->iterations;
  plan.connection = options.connection == "UD"   ? platform::verbs_pair_ud
                    : options.connection == "UC" ? platform::verbs_pair_uc
                                                 : platform::verbs_pair_rc;
  plan.send_depth = options.send_depth != 0 ? options.send_depth : plan.test->is_latency() ? 1 : default_depth;
  if (options.duration_s == 0) plan.send_depth = std::min(plan.send_depth, plan.iterations);
  return plan;
}

}  // namespace gdrkit::transfer::perftest
