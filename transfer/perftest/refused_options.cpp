// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// perftest's options that `gdrkit perftest` rejects. tests/transfer/perftest/perftest_options_test.py lists all
// options.
#include <iterator>

#include "transfer/perftest/perftest_options.hpp"

namespace gdrkit::transfer::perftest {
namespace {

constexpr const char* of_other_hardware = "buffers are in host or NVIDIA GPU memory; omit it, or use --use_cuda";
constexpr const char* of_events = "completions are polled; omit it";
constexpr const char* of_multicast = "datagrams go to one queue pair; omit it";
constexpr const char* of_dual_port = "a test has one port; run one test for each port";

constexpr cli::RefusedOption refused[] = {
    {'A', "atomic_type", "atomics are fetch-and-add; omit it", "FETCH_AND_ADD"},
    {'C', "report-cycles", "times are in microseconds; omit it"},
    {'e', "events", of_events},
    {'X', "vector", of_events},
    {'g', "mcg", of_multicast},
    {'M', "MGID", of_multicast},
    {'L', "hop_limit", "the hop limit is 64; omit it", "64"},
    {'O', "dualport", of_dual_port},
    {'\0', "report-per-port", of_dual_port},
    {'V', "", "it would print perftest's version; use --version for gdrkit's"},
    {'W', "report-counters", "counters are not read; use rdma statistic before and after the run"},
    {'w', "limit_bw", "results are not compared with a limit; compare two runs with --compare"},
    {'y', "limit_msgrate", "results are not compared with a limit; compare two runs with --compare"},
    {'\0', "recv_post_list", "receives are posted one by one; omit it", "1"},
    {'\0', "cqe_poll", "up to 16 completions are polled at once; omit it", "16"},
    {'\0', "cpu_util", "CPU time is not measured; use perf stat"},
    {'\0', "dlid", "the LID comes from the peer; omit it"},
    {'\0', "dont_xchg_versions", "client and server always exchange their versions; omit it"},
    {'\0', "force-link", "the port determines the link layer; select the port with -i"},
    {'\0', "inline_recv", "receives are not inline; omit it", "0"},
    {'\0', "use-srq", "each queue pair has its own receive queue; omit it"},
    {'\0', "source_ip", "newer perftest calls it --bind_source_ip; use that name"},
    {'\0', "latency_gap", "the next message follows the reply immediately; omit it", "0"},
    {'\0', "mmap", of_other_hardware},
    {'\0', "mmap-offset", of_other_hardware},
    {'\0', "mr_per_qp", "one memory region serves all queue pairs; omit it"},
    {'\0', "odp", "memory is pinned when it is registered; omit it"},
    {'\0', "use-null-mr", "the data are checked, but a null memory region contains none; omit it"},
    {'\0', "output", "the table has all columns; use --csv or --json"},
    {'\0', "payload_file_path", "the data are gdrkit's pattern, which is compared; omit it"},
    {'\0', "use_old_post_send", "requests are always posted by ibv_post_send; omit it"},
    {'\0', "perform_warm_up", "no message precedes the measurement; increase -n, or use -D with -f"},
    {'\0', "pkey_index", "the first partition key of the port is used; omit it", "0"},
    {'\0', "report-both", "with -b the table has the sum of both directions; omit it"},
    {'\0', "reversed", "the client always sends; start the client on the other machine"},
    {'\0', "run_infinitely", "a run must end; use -D"},
    {'\0', "retry_count", "the retry count is always 7, the maximum; omit it", "7"},
    {'\0', "cuda_mem_type",
     "adapters cannot register managed memory (1) or memory of malloc (4); use 0, or omit --use_cuda", "0"},
    {'\0', "gpu_touch", "the GPU does not touch the buffers during the run; omit it"},
    {'\0', "use_data_direct", "the adapter chooses the path to registered GPU memory; omit it"},
    {'\0', "use_hugepages", "buffers are in ordinary pages; omit it"},
    {'\0', "wait_destroy", "resources are freed at once; omit it", "0"},
    {'\0', "disable_pcie_relaxed", "bandwidth tests use relaxed ordering if the library supports it; omit it"},
    {'\0', "use_ooo", "the adapter determines the order of the data; omit it"},
};

/// Options that share a reason, each as "long-name" or "s,long-name".
struct Group {
  const char* reason;
  std::vector<const char*> names;
};

}  // namespace

std::vector<cli::RefusedOption> refused_options() {
  std::vector<cli::RefusedOption> all(std::begin(refused), std::end(refused));
  const Group groups[] = {
      {"the send rate is not limited; set a limit in the adapter",
       {"burst_size", "typical_pkt_size", "rate_limit", "rate_units", "rate_limit_type"}},
      {"DC is not supported; use -c RC", {"log_dci_streams", "log_active_dci_streams"}},
      {"encryption by the adapter is not measured; omit it",
       {"aes_xts", "encrypt_on_tx", "sig_before", "sig_offload", "aes_block_size", "data_enc_keys_number", "kek_path",
        "credentials_path", "data_enc_key_app_path"}},
      {of_other_hardware,
       {"use_hl", "use_neuron", "use_neuron_dmabuf", "use_rocm", "use_rocm_dmabuf", "use_mlu", "use_mlu_dmabuf",
        "use_musa", "use_musa_dmabuf", "use_ib_dm_dmabuf", "use_opencl", "opencl_platform_id"}},
      {"PCIe processing hints are not used; omit it", {"tph_mem", "cpu_id", "ph"}},
      {"raw Ethernet frames are not measured; use perftest's raw_ethernet programs",
       {"B,source_mac", "E,dest_mac",  "G,use_rss",   "J,dest_ip", "j,",      "K,dest_port", "k,source_port",
        "Y,ethertype",  "Z,server",    "P,client",    "v,mac_fwd", "vlan_en", "vlan_pcp",    "flows",
        "flows_burst",  "promiscuous", "reply_every", "sniffer",   "tcp",     "raw_ipv6",    "raw_mcast"}},
  };
  for (const Group& group : groups) {
    for (const char* name : group.names) {
      const bool has_short_name = name[1] == ',';
      all.push_back({has_short_name ? name[0] : '\0', has_short_name ? name + 2 : name, group.reason});
    }
  }
  return all;
}

}  // namespace gdrkit::transfer::perftest
