#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every option of perftest (its manual page of 2026 and the help of 4.5) is in the help or rejected with a reason;
and the effect of the options for RoCE, over stand-in RDMA devices."""
import os
import socket
import unittest

from perftest_test import PerftestTest
from program import main, run

# Short and long names of the original; "" where it has only one.
ORIGINAL = """
h:help a:all A:atomic_type b:bidirectional c:connection :log_dci_streams :log_active_dci_streams :aes_xts :encrypt_on_tx
:sig_before :sig_offload :aes_block_size :data_enc_keys_number :kek_path :credentials_path :data_enc_key_app_path
C:report-cycles d:ib-dev D:duration e:events X:vector f:margin F:CPU-freq g:mcg H:report-histogram i:ib-port I:inline_size
l:post_list :recv_post_list L:hop_limit m:mtu M:MGID n:iters N:noPeak o:outs O:dualport p:port q:qp Q:cq-mod :cqe_poll
r:rx-depth R:rdma_cm s:size S:sl t:tx-depth T:tos u:qp-timeout U:report-unsorted V: :version W:report-counters w:limit_bw
y:limit_msgrate x:gid-index z:com_rdma_cm :out_json :out_json_file :cpu_util :dlid :dont_xchg_versions :force-link
:inline_recv :use-srq :ipv6 :ipv6-addr :bind_source_ip :source_ip :latency_gap :mmap :mmap-offset :mr_per_qp :odp :output
:payload_file_path :use_old_post_send :perform_warm_up :pkey_index :report-both :report_gbits :report-per-port :reversed
:run_infinitely :retry_count :tclass :use-null-mr :use_cuda :use_cuda_bus_id :cuda_mem_type :use_cuda_dmabuf
:use_data_direct :use_hl :use_neuron :use_neuron_dmabuf :use_rocm :use_rocm_dmabuf :use_mlu :use_mlu_dmabuf :use_musa
:use_musa_dmabuf :use_ib_dm_dmabuf :use_opencl :opencl_platform_id :gpu_touch :use_hugepages :tph_mem :cpu_id :ph
:wait_destroy :disable_pcie_relaxed :burst_size :typical_pkt_size :rate_limit :rate_units :rate_limit_type :use_ooo
:write_with_imm B:source_mac E:dest_mac G:use_rss J:dest_ip j: K:dest_port k:source_port Y:ethertype Z:server :vlan_en
:vlan_pcp P:client v:mac_fwd :flows :flows_burst :promiscuous :reply_every :sniffer :flow_label :tcp :raw_ipv6 :raw_mcast
""".split()


class PerftestOptions(PerftestTest):
    def test_each_original_option_is_documented_or_rejected(self):
        self.assert_documented_or_rejected(["perftest", "write_bw"], ORIGINAL)

    def test_values_without_effect_are_accepted(self):
        self.loopback_ok("write_bw", "-n", "20", "-A", "FETCH_AND_ADD", "--cuda_mem_type=0", "--pkey_index", "0")
        for value in ("1", "4"):
            ended = self.loopback("write_bw", f"--cuda_mem_type={value}")
            self.assert_failed(ended, 2, "--cuda_mem_type is not supported: adapters cannot register managed memory")

    def test_rejects_invalid_arguments(self):
        self.assert_rejected(["perftest", "write_bw"], environment=self.environment(), cases=(
            (("--tclass", "256"), "--tclass 256 is out of range: use 0 to 255"), (("-T", "8"), "-T requires -R; add -R, or use --tclass"),
            (("-R", "--tclass", "8"), "with -R: rdma_cm sets the traffic class"),
            (("--flow_label", "0x100000"), "'0x100000' is not a number from 0 to 0xfffff"), (("--flow_label", "1,,2"), "'' is not a number"),
            (("-R", "--ipv6"), "with -R: rdma_cm takes the GID from HOST"), (("-R", "--flow_label", "1"), "rdma_cm sets the flow label"),
            (("-H",), "-H and -U apply only to latency tests"), (("-l", "0"), "-l 0 is out of range: use 1")))
        self.assert_rejected(["perftest"], environment=self.environment(), cases=(
            (("write_lat", "-l", "2"), "-l applies only to bandwidth tests"),
            (("write_lat", "-H", "-D", "9"), "cannot combine -D with -H or -U; omit -D"),
            (("send_bw", "--write_with_imm"), "--write_with_imm applies only to write_bw and write_lat")))


class LoggedTest(PerftestTest):
    def environment(self, fault="", **more):
        return super().environment(fault, GDRKIT_STAND_IN_LOG=self.path("log"), **more)

    def logged(self, *arguments, **more):
        ended = self.loopback_ok(*arguments, **more)
        lines = self.read("log").splitlines()
        os.remove(self.path("log"))
        return sorted(lines), ended


class PerftestRoce(LoggedTest):
    def test_each_path_has_traffic_class_and_flow_label(self):
        lines, _ = self.logged("write_bw", "-n", "20", "--tclass", "106", "--flow_label", "7,0xfffff", "-q", "3")
        self.assertEqual(lines, sorted(2 * ["path 106 7 1", "path 106 1048575 1", "path 106 7 1"]))
        lines, _ = self.logged("send_lat", "-n", "20", "-c", "UD", "--tclass", "1")
        self.assertEqual(lines, 2 * ["path 1 0 1"])
        lines, _ = self.logged("write_lat", "-n", "20")
        self.assertEqual(lines, 2 * ["path 0 0 1"])

    def test_traffic_class_and_flow_label_require_a_gid(self):
        for option in ("--tclass", "--flow_label"):
            ended = self.loopback("write_bw", option, "1", GDRKIT_STAND_IN_INFINIBAND="1")
            self.assert_failed(ended, 2, "on soft0: these fields of the GRH require a GID; select a GID with -x")
        lines, _ = self.logged("write_bw", "-n", "20", "--tclass", "9", "-x", "0", GDRKIT_STAND_IN_INFINIBAND="1")
        self.assertEqual(lines, 2 * ["path 9 0 0"])

    def test_ipv6_selects_an_ipv6_gid(self):
        lines, ended = self.logged("write_bw", "-n", "20", "--ipv6")
        self.assertEqual(lines, 2 * ["path 0 0 0"])
        self.assertIn(" GID index       : 0", ended.lines)
        ended = self.loopback("write_bw", "--ipv6", "-x", "1")
        self.assert_failed(ended, 77, "cannot use --ipv6: GID 1 of soft0, port 1, does not belong to an IPv6 address; choose another GID with -x")

    def test_sets_the_type_of_service_with_rdma_cm(self):
        server, client = self.pair("write_bw", "-n", "20", "-R", "-T", "104")
        self.assertEqual((server.code, client.code, client.err), (0, 0, ""))
        self.assertEqual({line for line in self.read("log").splitlines() if line.startswith("tos")}, {"tos 104"})
        server, client = self.pair("write_bw", "-n", "20", "-R", "-T", "104", client_fault="fail rdma_set_option 1", connects=False)
        self.assert_failed(client, 1, pattern=r"\(rdma_set_option\)( to 127.0.0.1)?: Input/output error; omit -T")

    def test_exchange_supports_a_source_address_and_ipv6(self):
        for option in ((), ("-z",)):
            self.pair_ok("write_bw", "-n", "20", "--bind_source_ip", "127.0.0.1", *option)
        ended = run("gdrkit", "perftest", "write_bw", "--bind_source_ip", "192.0.2.1", "127.0.0.1", environment=self.environment())
        self.assert_failed(ended, 1, pattern="cannot connect to 127.0.0.1, TCP port 18515: Cannot assign requested address")
        ended = run("gdrkit", "perftest", "write_bw", "--bind_source_ip", "192.0.2.1", environment=self.environment())
        self.assert_failed(ended, 1, pattern="cannot listen on TCP port 18515 of 192.0.2.1: Cannot assign requested address")
        ended = run("gdrkit", "perftest", "write_bw", "--ipv6-addr", "127.0.0.1", environment=self.environment())
        self.assert_failed(ended, 1, "cannot find host 127.0.0.1 as an IPv6 address")

    @unittest.skipUnless(socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"), "no IPv6 here")
    def test_exchange_supports_ipv6_only(self):
        server, client = self.pair_ok("write_bw", "-n", "20", "--ipv6-addr", host="::1")
        self.assertIn("peer ::1 (gdrkit)", server.out)


class PerftestWriteWithImmediate(PerftestTest):
    def test_every_test_has_correct_data_and_consumes_receives(self):
        for arguments in (("write_bw", "-q", "2"), ("write_bw", "-b"), ("write_bw", "-c", "UC"), ("write_lat",), ("write_lat", "--use_cuda=0")):
            ended = self.loopback_ok(*arguments, "-n", "40", "--write_with_imm")
            self.assertNotIn("polled by the CPU", ended.out)
        self.loopback_ok("write_bw", "-n", "2000", "-r", "3", "-s", "8", "--write_with_imm")

    def test_reports_a_failed_receive_post(self):
        _, client = self.pair("write_lat", "-n", "20", "--write_with_imm", client_fault="fail post_recv 1")
        self.assert_failed(client, 1, "cannot post a receive request (ibv_post_recv) on queue pair 0 of soft0")

    def test_reports_different_options_of_client_and_server(self):
        server, client = self.pair("write_bw", "-n", "20", "--write_with_imm", client_has=("write_bw", "-n", "20"))
        self.assertEqual((server.code, client.code), (2, 2))
        self.assertRegex(server.err, r"client and server run different tests: 'write_bw .* --write_with_imm' in this process, 'write_bw .*' on 127\.0\.0\.1; use the same test")


class PerftestLists(LoggedTest):
    def test_requests_are_posted_together(self):
        lines, ended = self.logged("write_bw", "-n", "50", "-l", "8", "-s", "64")
        self.assertEqual([line for line in lines if line.startswith("list")][-1], "list 8")
        total = sum(int(line.split()[1]) for line in lines if line.startswith("list"))
        self.assertIn(total, (49, 50))  # one may be left for a list of one
        self.assertIn(" 64         50 ", ended.out)

    def test_every_bandwidth_test_has_correct_data(self):
        for test in ("write_bw", "read_bw", "send_bw", "atomic_bw"):
            for more in (("-l", "3"), ("-l", "64", "-q", "2"), ("-l", "4", "-b", "-t", "6")):
                self.loopback_ok(test, "-n", "30", *more)
        self.loopback_ok("send_bw", "-n", "30", "-l", "4", "-c", "UD")


class PerftestAllResults(PerftestTest):
    def results(self, *arguments):
        ended = self.loopback_ok("write_lat", "-n", "30", *arguments)
        begin = ended.lines.index("#, usec")
        rows = [line.split(", ") for line in ended.lines[begin + 1:ended.lines.index("", begin)]]
        self.assertEqual([row[0] for row in rows], [str(i + 1) for i in range(len(rows))])
        summary = next(line.split() for line in ended.lines if line.startswith(" 2 "))
        return [float(row[1]) for row in rows], summary

    def assert_same_time(self, row, summary):
        """A row has six significant digits. The summary has two decimals."""
        self.assertAlmostEqual(row, float(summary), delta=max(0.01, row * 1e-5))

    def test_prints_all_results_before_the_summary(self):
        values, summary = self.results("-H")
        self.assertIn(len(values), (29, 30))
        self.assertEqual(values, sorted(values))
        self.assert_same_time(values[0], summary[2])
        self.assert_same_time(values[-1], summary[3])
        values, summary = self.results("-U")
        self.assert_same_time(min(values), summary[2])
        self.assertNotEqual(values, sorted(values))


if __name__ == "__main__":
    main()
