// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit perftest: perftest's tests over libibverbs, between hosts or GPUs.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "gdrkit/gdrkit.h"
#include "transfer/job/pe_session.hpp"
#include "transfer/perftest/connection_manager.hpp"
#include "transfer/perftest/perftest_report.hpp"
#include "transfer/perftest/perftest_wire.hpp"
#include "transfer/perftest/traffic.hpp"

namespace gdrkit::transfer::perftest {
namespace {

class Run {
 public:
  Run(const Options& options, Plan& plan)
      : options_(options),
        plan_(plan),
        endpoint_(load_verbs(), plan),
        memory_(endpoint_, plan),
        output_(options, prints()) {
    endpoint_.make_pairs(plan.uses_gpu()                                           ? 0
                         : options.inline_bytes >= 0 || !plan.test->is_ping_pong() ? std::max(0, options.inline_bytes)
                                                                                   : -1);
    if (prints()) cli::print_note(memory_.choice(), options.is_document_on_stdout());
    if (prints()) run_doctor();
    report::describe_run(&report_.result, "perftest", memory_.is_emulated(), memory_.device());
    // Before the peer connects: otherwise it could end first, with another exit code for the launcher.
    output_.check(report_.result);
    connect_peer();
    describe();
  }

  cli::ExitCode measure() {
    output_.print(block_text(report_.settings));
    for (int pair = 0; pair < options_.pairs; ++pair)
      output_.print(address_line(report_.settings, "local", own_[index(pair)]));
    for (int pair = 0; pair < options_.pairs; ++pair) {
      output_.print(address_line(report_.settings, "remote", remotes_[index(pair)]));
    }
    output_.print(ruler() + head_line(report_.settings));
    Traffic traffic(plan_, &endpoint_, &memory_, &*exchange_, remotes_);
    traffic_ = &traffic;
    exchange_->is_own() ? measure_with_own() : measure_with_other();
    output_.print(ruler());
    return finish();
  }

 private:
  static std::size_t index(int pair) noexcept { return static_cast<std::size_t>(pair); }
  [[nodiscard]] bool prints() const { return !plan_.is_one_command || !plan_.is_server; }

  /// The doctor does not examine a device without a bus, such as soft RDMA.
  void run_doctor() {
    const bool is_of_test = options_.doctor_root != "/";
    std::error_code error;
    const auto link = std::filesystem::read_symlink(
        options_.doctor_root + "/sys/class/infiniband/" + endpoint_.device() + "/device", error);
    if (error && !is_of_test) return;
    report::DoctorRequest request{{}, "verbs", false, options_.doctor_root, endpoint_.device(), ""};
    if (!error) request.adapter_address = link.filename().string();
    if (plan_.uses_gpu() && (is_of_test || !memory_.is_emulated())) {
      request.gpus.emplace_back(memory_.device()->identity().pci_bus_id);
    }
    report_.doctor = report::run_doctor_advice(request);
  }

  std::unique_ptr<Wire> open_wire(std::chrono::seconds limit) {
    if (options_.has_cm()) {
      manager_.emplace(endpoint_, plan_);
      return open_cm_wire(endpoint_, &*manager_, !plan_.is_server, limit);
    }
    return plan_.is_server ? listen_by_tcp(plan_.tcp_port, plan_.listener, limit, options_.route())
                           : connect_by_tcp(plan_.host, plan_.tcp_port, plan_.is_one_command, limit, options_.route());
  }

  /// perftest's ends synchronize before and after rdma_cm connects the queue pairs.
  void connect_by_cm() {
    (void)exchange_->swap(own_.front(), "start of the connections");
    for (int pair = 0; pair < options_.pairs; ++pair) {
      const auto modify = [this, pair](platform::VerbsPairState* state, int mask, const char* step) {
        if ((mask & platform::verbs_set_path_mtu) != 0) endpoint_.set_mtu(state->path_mtu);
        endpoint_.modify(pair, state, mask, step);
      };
      const int reads = plan_.test->is_fetching() ? endpoint_.reads() : 0;
      manager_->connect({endpoint_.number(pair), reads, modify}, std::chrono::seconds(options_.timeout_s),
                        "connection of the queue pairs");
    }
    (void)exchange_->swap(own_.front(), "end of the connections");
  }

  void connect_peer() {
    // While only the other end measures, no message is sent.
    const int sizes = static_cast<int>(plan_.sizes.size());
    const bool is_passive = !plan_.sends() && !plan_.receives() && !plan_.test->is_ping_pong();
    const std::chrono::seconds limit(is_passive ? (options_.timeout_s + options_.duration_s) * sizes
                                                : options_.timeout_s);
    if (plan_.is_server && !plan_.is_one_command) {
      output_.print(
          "\n************************************\n* Waiting for client to connect... *\n"
          "************************************\n");
    }
    exchange_.emplace(open_wire(limit));
    exchange_->begin();
    endpoint_.set_mtu(std::min(endpoint_.mtu(), exchange_->swap_mtu(endpoint_.mtu())));
    fit_datagrams();
    check_terms();
    for (int pair = 0; pair < options_.pairs; ++pair) {
      own_.push_back(endpoint_.address(pair));
      own_.back().rkey = memory_.rkey();
      own_.back().address = memory_.receiving(pair);
    }
    if (options_.uses_rdma_cm) connect_by_cm();
    for (const PairAddress& own : own_) remotes_.push_back(exchange_->swap(own, "exchange of addresses"));
    if (options_.uses_rdma_cm) return;
    for (int pair = 0; pair < options_.pairs; ++pair) endpoint_.connect(pair, remotes_[index(pair)]);
  }

  [[nodiscard]] int mtu_bytes() const { return 128 << endpoint_.mtu(); }

  /// A datagram is one packet.
  void fit_datagrams() {
    if (!plan_.is_ud()) return;
    const auto most = static_cast<std::size_t>(mtu_bytes());
    if (options_.size_bytes > most) {
      cli::reject(cli::format(
          "gdrkit perftest: -s %zu is too large: with -c UD, a message is one packet of at most %zu bytes; reduce -s",
          options_.size_bytes, most));
    }
    while (plan_.sizes.size() > 1 && plan_.sizes.back() > most) plan_.sizes.pop_back();
    plan_.sizes.back() = std::min(plan_.sizes.back(), most);
  }

  void check_terms() {
    if (!exchange_->is_own()) {
      if (options_.has_immediate) {
        cli::cannot_run(
            cli::format("gdrkit perftest: cannot use --write_with_imm: %s runs perftest %s instead of gdrkit; omit "
                        "--write_with_imm",
                        exchange_->peer().c_str(), exchange_->version().c_str()));
      }
      const bool is_known = !options_.runs_all_sizes || (!plan_.test->is_latency() && plan_.test->verb != Verb::send);
      if (is_known) return;
      cli::cannot_run(
          cli::format("gdrkit perftest: cannot run %s -a: %s runs perftest %s instead of gdrkit; use -s instead of -a",
                      plan_.test->name, exchange_->peer().c_str(), exchange_->version().c_str()));
    }
    const std::string theirs = exchange_->swap_text(plan_.terms(), "comparison of the options");
    if (theirs == plan_.terms()) return;
    cli::reject(
        cli::format("gdrkit perftest: client and server run different tests: '%s' in this process, '%s' on %s; use the "
                    "same test and options for both",
                    plan_.terms().c_str(), theirs.c_str(), exchange_->peer().c_str()));
  }

  void describe() {
    report_.place = plan_.uses_gpu() ? "gpu" : "host";
    report_.is_checked = exchange_->is_own();
    Settings& settings = report_.settings;
    settings.test = plan_.test;
    settings.is_server = plan_.is_server;
    settings.is_bidirectional = options_.is_bidirectional;
    settings.is_in_gbits = options_.is_in_gbits;
    settings.is_for_duration = options_.duration_s > 0;
    settings.device = endpoint_.device();
    settings.connection = options_.connection;
    settings.pairs = options_.pairs;
    settings.send_depth = plan_.send_depth;
    settings.receive_depth = options_.receive_depth;
    settings.moderation = plan_.moderation(plan_.sizes.front());
    settings.mtu_bytes = mtu_bytes();
    settings.is_ethernet = endpoint_.is_ethernet();
    settings.gid_index = endpoint_.gid_index();
    settings.reads = endpoint_.reads();
    settings.inline_bytes = endpoint_.inline_bytes();
    settings.has_cm_pairs = options_.uses_rdma_cm;
    settings.has_cm_exchange = options_.has_cm();
    report_.path = cli::format("%s port %d (%s, MTU %d), %s; peer %s (%s)", settings.device.c_str(), options_.ib_port,
                               settings.is_ethernet ? "Ethernet" : "InfiniBand", settings.mtu_bytes,
                               memory_.how().c_str(), exchange_->peer().c_str(),
                               exchange_->is_own() ? "gdrkit" : ("perftest " + exchange_->version()).c_str());
    report_.result.settings = {{"test", plan_.test->name},
                               {"device", settings.device},
                               {"iterations", std::to_string(plan_.iterations)},
                               {"depth", std::to_string(plan_.send_depth)}};
  }

  void synchronize(const char* step) { (void)exchange_->swap_value(std::uint32_t{0}, step); }

  BandwidthRow row_of(std::size_t size_bytes, const Stream& stream) const {
    BandwidthRow row;
    row.size_bytes = size_bytes;
    row.iterations = stream.messages;
    if (stream.seconds > 0) row.messages_per_s = static_cast<double>(stream.messages) / stream.seconds;
    row.average_bytes_per_s = row.messages_per_s * static_cast<double>(size_bytes);
    if (stream.peak_message_seconds > 0) {
      row.peak_bytes_per_s = static_cast<double>(size_bytes) / stream.peak_message_seconds;
    }
    for (const double one : stream.round_message_seconds) row.rounds.push_back(static_cast<double>(size_bytes) / one);
    return row;
  }

  /// One direction: the sender's. Both: the sum. For sends, each end reports its own.
  BandwidthRow combined(const BandwidthRow& own, const SharedResult& shared) const {
    const BandwidthRow theirs = bandwidth_row(shared, options_.is_in_gbits);
    if (options_.is_bidirectional) {
      BandwidthRow sum = own;
      sum.peak_bytes_per_s += theirs.peak_bytes_per_s;
      sum.average_bytes_per_s += theirs.average_bytes_per_s;
      sum.messages_per_s += theirs.messages_per_s;
      for (double& one : sum.rounds) one *= sum.average_bytes_per_s / own.average_bytes_per_s;
      return sum;
    }
    return plan_.is_server && plan_.test->verb != Verb::send ? theirs : own;
  }

  void add(const BandwidthRow& row) {
    report_.bandwidths.push_back(row);
    output_.print(row_line(report_.settings, row));
  }
  void add_latencies(std::size_t size_bytes) {
    const std::vector<double> seconds = traffic_->latencies(size_bytes);
    if (seconds.empty()) return;
    if (options_.has_results_of_all()) output_.print(all_results_text(seconds, options_.prints_unsorted));
    const auto iterations = options_.duration_s > 0 ? seconds.size() : static_cast<std::size_t>(plan_.iterations);
    report_.latencies.push_back(latency_row(size_bytes, iterations, seconds));
    output_.print(row_line(report_.settings, report_.latencies.back()));
  }

  void measure_with_own() {
    for (const std::size_t size_bytes : plan_.sizes) {
      traffic_->prepare(size_bytes);
      synchronize("start of a size");
      if (plan_.test->is_latency()) {
        add_latencies(size_bytes);
        synchronize("end of a size");
      } else {
        const Stream stream = traffic_->stream();
        const BandwidthRow own = row_of(size_bytes, stream);
        add(combined(own, exchange_->swap(shared_result(own, options_.is_in_gbits))));
        add_lost(size_bytes, stream.lost);
      }
      const std::uint64_t wrong = traffic_->count_wrong(size_bytes);
      add_wrong(size_bytes, wrong + exchange_->swap_value(wrong, "check of the data"));
    }
  }

  void add_lost(std::size_t size_bytes, std::uint64_t own) {
    const std::uint64_t lost = own + exchange_->swap_value(own, "count of lost messages");
    report_.lost += lost;
    if (lost > 0) output_.print(cli::format("# lost: %" PRIu64 " datagrams of %zu bytes\n", lost, size_bytes));
  }

  void add_wrong(std::size_t size_bytes, std::uint64_t wrong) {
    if (wrong == 0) return;
    report_.wrong += wrong;
    report_.result.is_ok = false;
    const char* const what = plan_.test->verb == Verb::atomic ? "words" : "bytes";
    std::fflush(stdout);
    if (prints()) {
      std::fprintf(stderr, "gdrkit perftest: %s of %zu bytes: %" PRIu64 " wrong %s\n", plan_.test->name, size_bytes,
                   wrong, what);
    }
  }

  /// perftest's steps: all addresses again, two synchronizations, the sizes, for one-sided bandwidths the results, and
  /// a last synchronization except for write_lat.
  void measure_with_other() {
    const VerbsTest& test = *plan_.test;
    traffic_->prepare(plan_.sizes.front());
    for (const PairAddress& own : own_) (void)exchange_->swap(own, "start");
    for (int i = 0; i < 2; ++i) (void)exchange_->swap(own_.front(), "start");
    const bool shares = !test.is_latency() && test.verb != Verb::send;
    for (const std::size_t size_bytes : plan_.sizes) {
      traffic_->prepare(size_bytes);
      if (test.is_latency()) {
        add_latencies(size_bytes);
        continue;
      }
      const Stream stream = traffic_->stream();
      const BandwidthRow own = row_of(size_bytes, stream);
      report_.lost += stream.lost;
      const bool is_last = size_bytes == plan_.sizes.back();
      if (shares && is_last) {
        add(combined(own, exchange_->swap(shared_result(own, options_.is_in_gbits))));
      } else if (plan_.sends() || plan_.receives()) {
        add(own);
      }
    }
    if (test.verb == Verb::write && test.is_latency()) return;
    (void)exchange_->swap(own_.front(), "end");
  }

  cli::ExitCode finish() {
    output_.print("# Path: " + report_.path + "\n" + report_.doctor.text());
    exchange_->end();
    const cli::ExitCode code = report_.result.is_ok ? cli::ExitCode::ok : cli::ExitCode::failed;
    // The server has no results of tests that only the client times.
    if (!prints() || (report_.bandwidths.empty() && report_.latencies.empty())) return code;
    report_.result.series = {series_of(report_)};
    if (options_.has_out_json) write_out_json(options_.out_json_file, report_);
    write_report_json(options_.json, report_);
    return output_.finish(report_.result);
  }

  const Options& options_;
  Plan& plan_;
  Endpoint endpoint_;
  Memory memory_;
  report::RunOutput output_;
  std::optional<ConnectionManager> manager_;
  std::optional<Exchange> exchange_;
  std::vector<PairAddress> own_;
  std::vector<PairAddress> remotes_;
  Traffic* traffic_ = nullptr;
  Report report_;
};

}  // namespace

cli::ExitCode run_perftest(cli::Front front, int argc, char** argv) {
  Options options;
  if (const auto ended = parse(command_line(&options), front, argc, argv)) return *ended;
  if (options.is_loopback) {
    std::vector<std::string> words = {"perftest"};
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]) != "--loopback") words.emplace_back(argv[i]);
    }
    if (options.words.size() > 1) cli::reject("gdrkit perftest: --loopback starts client and server; omit the host");
    if (options.has_cm()) {
      cli::reject(
          "gdrkit perftest: cannot combine --loopback with -R or -z: rdma_cm requires the IP address of the RDMA "
          "device; start client and server separately");
    }
    job::start_job(2, words);
  }
  Plan plan = plan_of(options);
  return Run(options, plan).measure();
}

}  // namespace gdrkit::transfer::perftest
