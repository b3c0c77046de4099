// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using namespace platform;

constexpr int most_inline_bytes = 220;  // perftest's limit for latencies
constexpr std::uint32_t psn_mask = 0xffffff;
/// Any value works if both ends use it; this is perftest's.
constexpr std::uint32_t datagram_key = 0x11111111;
constexpr std::uint8_t retries = 7;     // the maximum; as a number of RNR retries: infinite
constexpr std::uint8_t rnr_timer = 12;  // 0.64 ms
constexpr std::uint8_t hop_limit = 64;

int mtu_number(int bytes) {
  int number = 1;
  while (number < 5 && (128 << number) < bytes) ++number;
  return number;
}

bool is_zero(const platform::VerbsGid& gid) {
  return std::ranges::all_of(gid.bytes, [](std::uint8_t byte) { return byte == 0; });
}
/// ::ffff:a.b.c.d
bool is_ipv4(const platform::VerbsGid& gid) {
  return std::all_of(gid.bytes, gid.bytes + 10, [](std::uint8_t byte) { return byte == 0; }) && gid.bytes[10] == 0xff &&
         gid.bytes[11] == 0xff;
}
/// Routers forward RoCE v2 but not version 1. Returns version 2 if Linux does not report the type.
bool is_roce_v1(const std::string& device, int port, int index) {
  std::ifstream file("/sys/class/infiniband/" + device + "/ports/" + std::to_string(port) + "/gid_attrs/types/" +
                     std::to_string(index));
  std::string type;
  return std::getline(file, type) && type.find("v1") != std::string::npos;
}

}  // namespace

Verbs load_verbs() {
  const auto control = verbs_calls();
  const auto data = verbs_data_calls();
  if (control && data) return {*control, *data};
  cli::cannot_run(  // Continues the remedy with which the errors of verbs_calls() end.
      cli::format("gdrkit perftest: %s and ibverbs-providers (Debian's packages of rdma-core)",
                  (control ? data.error() : control.error()).text()));
}

void fail_call(const std::string& what, int error, const std::string& remedy) {
  cli::fail("gdrkit perftest: " + what + ": " + (error == 0 ? "failed without an error code" : std::strerror(error)) +
            (remedy.empty() ? "" : "; " + remedy));
}

Endpoint::Endpoint(const Verbs& verbs, const Plan& plan) : verbs_(verbs), plan_(plan) {
  open_device();
  query();
  errno = 0;
  domain_ = {verbs_.control->alloc_pd(context_.get()), {verbs_.control->dealloc_pd}};
  if (domain_ == nullptr) fail_call("cannot allocate a protection domain (ibv_alloc_pd) on " + device_, errno);
  const int receives = plan.takes_receives() ? plan.options->receive_depth : 0;
  const int entries = std::min((plan.send_depth + receives) * plan.options->pairs, limits_.max_completions);
  errno = 0;
  queue_ = {verbs_.data->create_cq(context_.get(), entries, nullptr, nullptr, 0), {verbs_.data->destroy_cq}};
  if (queue_ == nullptr)
    fail_call(
        cli::format("cannot create a completion queue of %d entries on %s (ibv_create_cq)", entries, device_.c_str()),
        errno);
}

void Endpoint::open_device() {
  int count = 0;
  errno = 0;
  VerbsDeviceHandle** const list = verbs_.control->get_device_list(&count);
  if (list == nullptr && errno == ENOSYS) {
    cli::cannot_run(
        "gdrkit perftest: the Linux kernel provides no RDMA interface; load the module ib_uverbs, or run gdrkit doctor "
        "--only rdma");
  }
  if (list == nullptr) fail_call("cannot list the RDMA devices (ibv_get_device_list)", errno);
  const std::unique_ptr<VerbsDeviceHandle*, void (*)(VerbsDeviceHandle**)> held(list, verbs_.control->free_device_list);
  std::vector<std::string> names;
  VerbsDeviceHandle* found = nullptr;
  for (int i = 0; i < count && list[i] != nullptr; ++i) {
    names.push_back(cli::printable(verbs_.control->get_device_name(list[i])));
    if (found == nullptr && (plan_.device.empty() || plan_.device == names.back())) {
      found = list[i];
      device_ = names.back();
    }
  }
  if (names.empty()) {
    cli::cannot_run(
        "gdrkit perftest: this machine has no RDMA device; run gdrkit doctor --only rdma to find missing components");
  }
  if (found == nullptr) {
    cli::cannot_run("gdrkit perftest: unknown RDMA device " + cli::printable(plan_.device) + "; use one of " +
                    cli::joined(names, ", "));
  }
  errno = 0;
  context_ = {verbs_.control->open_device(found), {verbs_.control->close_device}};
  if (context_ == nullptr)
    fail_call("cannot open RDMA device " + device_ + " (ibv_open_device)", errno,
              "check the permissions of /dev/infiniband/uverbs*");
}

void Endpoint::query() {
  const Options& options = *plan_.options;
  if (const int error = verbs_.data->query_device(context_.get(), &limits_); error != 0) {
    fail_call("cannot read the attributes of " + device_ + " (ibv_query_device)", error);
  }
  const auto number = static_cast<std::uint8_t>(options.ib_port);
  if (options.ib_port > limits_.port_count) {
    cli::cannot_run(cli::format(
        "gdrkit perftest: port %d of %s is out of range: the number of ports is %d; choose another port with -i",
        options.ib_port, device_.c_str(), limits_.port_count));
  }
  if (const int error = verbs_.data->query_port(context_.get(), number, &port_); error != 0) {
    fail_call(cli::format("cannot read the state of %s, port %d (ibv_query_port)", device_.c_str(), number), error);
  }
  if (port_.state != verbs_port_active) {
    cli::cannot_run(
        cli::format("gdrkit perftest: port %d of %s is not active; check the cable and the switch (on InfiniBand also "
                    "the subnet manager)",
                    number, device_.c_str()));
  }
  gid_index_ = options.gid_index >= 0 ? options.gid_index : is_ethernet() ? best_gid() : -1;
  if (gid_index_ >= 0) {
    errno = 0;
    if (verbs_.data->query_gid(context_.get(), number, gid_index_, &gid_) != 0) {
      fail_call(cli::format("cannot read GID %d of %s", gid_index_, device_.c_str()), errno,
                "choose another GID with -x");
    }
  }
  check_global_route();
  mtu_ = options.mtu_bytes != 0 ? std::min(mtu_number(options.mtu_bytes), port_.active_mtu) : port_.active_mtu;
  const int most = std::min({limits_.max_reads_in, limits_.max_reads_out, 255});
  reads_ = options.reads != 0 ? options.reads : most;
  if (plan_.test->is_fetching() && reads_ > most) {
    cli::reject(cli::format("gdrkit perftest: -o %d is out of range: %s supports at most %d reads in flight", reads_,
                            device_.c_str(), most));
  }
  if (plan_.test->verb == Verb::atomic && limits_.atomics == 0) {
    cli::cannot_run("gdrkit perftest: " + device_ +
                    " does not support atomics; use another device with -d, or another test");
  }
  if (plan_.send_depth > limits_.max_work_requests) {
    cli::reject(cli::format("gdrkit perftest: -t %d is out of range: %s supports at most %d sends in flight",
                            plan_.send_depth, device_.c_str(), limits_.max_work_requests));
  }
}

/// --tclass and --flow_label are fields of the GRH, so packets must have one.
void Endpoint::check_global_route() const {
  const Options& options = *plan_.options;
  if (options.needs_ipv6_gid && (gid_index_ < 0 || is_ipv4(gid_) || is_zero(gid_))) {
    cli::cannot_run(options.gid_index >= 0
                        ? cli::format("gdrkit perftest: cannot use --ipv6: GID %d of %s, port %d, does not belong to "
                                      "an IPv6 address; choose another GID with -x",
                                      options.gid_index, device_.c_str(), options.ib_port)
                        : cli::format("gdrkit perftest: cannot use --ipv6: no GID of %s, port %d, belongs to an IPv6 "
                                      "address; add an IPv6 address to the network interface of the RDMA device",
                                      device_.c_str(), options.ib_port));
  }
  if (gid_index_ < 0 && (options.traffic_class >= 0 || !options.flow_labels.empty())) {
    cli::reject(
        cli::format("gdrkit perftest: cannot use --tclass or --flow_label on %s: these fields of the GRH require a "
                    "GID; select a GID with -x",
                    device_.c_str()));
  }
}

int Endpoint::best_gid() const {
  const int of_ipv4 = plan_.options->needs_ipv6_gid ? -4 : 1;
  int best = 0;
  int best_rank = std::numeric_limits<int>::min();
  for (int index = 0; index < port_.gid_table_length; ++index) {
    platform::VerbsGid gid;
    if (verbs_.data->query_gid(context_.get(), static_cast<std::uint8_t>(plan_.options->ib_port), index, &gid) != 0)
      continue;
    if (is_zero(gid)) continue;
    const int rank = (is_roce_v1(device_, plan_.options->ib_port, index) ? 0 : 2) + (is_ipv4(gid) ? of_ipv4 : 0);
    if (rank > best_rank) {
      best = index;
      best_rank = rank;
    }
  }
  return best;
}

bool Endpoint::make_pair(int inline_bytes) {
  VerbsPairRequest request;
  request.send_queue = request.receive_queue = queue_.get();
  request.kind = plan_.connection;
  request.limits.max_sends = static_cast<std::uint32_t>(plan_.send_depth);
  request.limits.max_receives = plan_.takes_receives() ? static_cast<std::uint32_t>(plan_.options->receive_depth) : 1;
  request.limits.max_send_elements = request.limits.max_receive_elements = 1;
  request.limits.max_inline_bytes = static_cast<std::uint32_t>(inline_bytes);
  errno = 0;
  Held<platform::VerbsQueuePair> pair(verbs_.data->create_qp(domain_.get(), &request), {verbs_.data->destroy_qp});
  if (pair == nullptr) return false;
  pairs_.push_back(std::move(pair));
  inline_bytes_ = inline_bytes;
  return true;
}

void Endpoint::make_pairs(int inline_bytes) {
  std::random_device random;
  int requested = inline_bytes >= 0 ? inline_bytes : most_inline_bytes;
  for (int pair = 0; pair < plan_.options->pairs; ++pair) {
    if (!make_pair(requested)) {
      // Only a default may be reduced, not an explicit option.
      if (inline_bytes < 0 && pair == 0) requested = 0;
      if (inline_bytes >= 0 || pair > 0 || !make_pair(requested)) {
        fail_call(cli::format("cannot create queue pair %d on %s with %d sends and %d inline bytes (ibv_create_qp)",
                              pair, device_.c_str(), plan_.send_depth, requested),
                  errno, "use a smaller -q, -t, -r or -I");
      }
    }
    psns_.push_back(random() & psn_mask);
    if (plan_.options->uses_rdma_cm) continue;
    platform::VerbsPairState state;
    state.state = verbs_state_init;
    state.port = static_cast<std::uint8_t>(plan_.options->ib_port);
    int mask = verbs_set_state | verbs_set_pkey_index | verbs_set_port;
    if (plan_.is_ud()) {
      state.qkey = datagram_key;
      mask |= verbs_set_qkey;
    } else {
      state.access = platform::verbs_access_local_write | verbs_access_remote_write;
      if (plan_.connection == platform::verbs_pair_rc)
        state.access |= verbs_access_remote_read | verbs_access_remote_atomic;
      mask |= verbs_set_access;
    }
    modify(pair, &state, mask, "INIT");
  }
}

void Endpoint::modify(int pair, platform::VerbsPairState* state, int mask, const char* step) const {
  modify(pairs_[static_cast<std::size_t>(pair)].get(), state, mask, cli::format("queue pair %d", pair), step);
}

void Endpoint::modify(platform::VerbsQueuePair* pair, platform::VerbsPairState* state, int mask,
                      const std::string& name, const char* step) const {
  if (const int error = verbs_.data->modify_qp(pair, state, mask); error != 0) {
    fail_call(cli::format("cannot change %s on %s to state %s (ibv_modify_qp)", name.c_str(), device_.c_str(), step),
              error, "check the GID (-x) and the network between client and server");
  }
}

PairAddress Endpoint::address(int pair) const {
  PairAddress address;
  address.lid = port_.lid;
  address.reads = plan_.test->is_fetching() ? static_cast<std::uint32_t>(reads_) : 1;
  address.number = number(pair);
  address.psn = psns_[static_cast<std::size_t>(pair)];
  address.has_gid = gid_index_ >= 0;
  address.gid = gid_;
  return address;
}

void Endpoint::connect(int pair, const PairAddress& remote) {
  VerbsPath path;
  path.lid = remote.lid;
  path.service_level = static_cast<std::uint8_t>(plan_.options->service_level);
  path.port = static_cast<std::uint8_t>(plan_.options->ib_port);
  if (gid_index_ >= 0) {
    path.is_global = 1;
    path.remote = remote.gid;
    path.gid_index = static_cast<std::uint8_t>(gid_index_);
    path.hop_limit = hop_limit;
    path.traffic_class = static_cast<std::uint8_t>(std::max(0, plan_.options->traffic_class));
    path.flow_label = plan_.flow_label(pair);
  }
  platform::VerbsPairState state;
  state.state = verbs_state_ready_to_receive;
  int mask = verbs_set_state;
  const bool is_reliable = plan_.connection == platform::verbs_pair_rc;
  if (!plan_.is_ud()) {
    state.path = path;
    state.path_mtu = mtu_;
    state.remote_pair = remote.number;
    state.receive_psn = remote.psn;
    mask |= verbs_set_path | platform::verbs_set_path_mtu | verbs_set_remote_pair | verbs_set_receive_psn;
    if (is_reliable) {
      state.max_reads_in = static_cast<std::uint8_t>(std::max<int>(1, plan_.test->is_fetching() ? reads_ : 1));
      state.min_rnr_timer = rnr_timer;
      mask |= verbs_set_max_reads_in | verbs_set_min_rnr_timer;
    }
  }
  modify(pair, &state, mask, "RTR");
  state.state = verbs_state_ready_to_send;
  state.send_psn = psns_[static_cast<std::size_t>(pair)];
  mask = verbs_set_state | verbs_set_send_psn;
  if (is_reliable) {
    state.timeout = static_cast<std::uint8_t>(plan_.options->qp_timeout);
    state.retries = state.rnr_retries = retries;
    // At most what the target accepts.
    state.max_reads_out = static_cast<std::uint8_t>(
        std::max<std::uint32_t>(1, std::min<std::uint32_t>(address(pair).reads, remote.reads)));
    mask |= verbs_set_timeout | verbs_set_retries | verbs_set_rnr_retries | verbs_set_max_reads_out;
  }
  modify(pair, &state, mask, "RTS");
  if (!plan_.is_ud()) return;
  errno = 0;
  paths_.emplace_back(verbs_.data->create_ah(domain_.get(), &path),
                      Release<platform::VerbsAddressHandle>{verbs_.data->destroy_ah});
  if (paths_.back() == nullptr) fail_call("cannot create an address handle (ibv_create_ah) on " + device_, errno);
}

void Endpoint::post(int pair, platform::VerbsSend* send) {
  for (platform::VerbsSend* one = send; plan_.is_ud() && one != nullptr; one = one->next)
    one->to.pair.qkey = datagram_key;
  platform::VerbsSend* bad = nullptr;
  const int error = context_->post_send(pairs_[static_cast<std::size_t>(pair)].get(), send, &bad);
  if (error != 0)
    fail_call(cli::format("cannot post a send request (ibv_post_send) on queue pair %d of %s", pair, device_.c_str()),
              error);
}

void Endpoint::post(int pair, platform::VerbsReceive* receive) {
  platform::VerbsReceive* bad = nullptr;
  const int error = context_->post_receive(pairs_[static_cast<std::size_t>(pair)].get(), receive, &bad);
  if (error != 0)
    fail_call(
        cli::format("cannot post a receive request (ibv_post_recv) on queue pair %d of %s", pair, device_.c_str()),
        error);
}

int Endpoint::poll(platform::VerbsCompletion* completions, int most) {
  const int count = context_->poll(queue_.get(), most, completions);
  if (count < 0) fail_call("cannot poll the completion queue (ibv_poll_cq) on " + device_, errno);
  return count;
}

}  // namespace gdrkit::transfer::perftest
