#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit perftest between two processes over stand-in RDMA devices (stand_in_verbs.cpp): lines, data, documents, and
each call of libibverbs failed once at each end."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "diag"))
import doctor_runs  # pylint: disable=wrong-import-position
from free_ports import free_ports  # pylint: disable=wrong-import-position
from program import BIN, Test, run, variables_with, wait_for

STAND_IN = os.path.join(BIN, "..", "tests", "bin", "stand_in_verbs")
TESTS = ("write_bw", "write_lat", "read_bw", "read_lat", "send_bw", "send_lat", "atomic_bw", "atomic_lat")
NUMBER = r" *[0-9]+\.[0-9]+ *"
CALLS = ("get_device_list", "open_device", "query_device", "query_port", "query_gid", "alloc_pd", "reg_mr",
         "create_cq", "create_qp", "modify_qp", "post_send", "post_recv", "poll")


class PerftestTest(Test):
    def tearDown(self):
        self.assertEqual(self.leaks(), "")

    def leaks(self):
        return self.read("room.leaks") if os.path.exists(self.path("room.leaks")) else ""

    def environment(self, fault="", **more):
        return {"LD_LIBRARY_PATH": STAND_IN, "GDRKIT_BACKEND": "emulated", "GDRKIT_STAND_IN_ROOM": self.path("room"),
                **({"GDRKIT_STAND_IN_FAULT": fault} if fault else {}), **more}

    def loopback(self, *arguments, fault="", **more):
        return run("gdrkit", "perftest", *arguments, "--loopback", "--timeout", "60", environment=self.environment(fault, **more))

    def loopback_ok(self, *arguments, fault="", **more):
        return self.run_ok("gdrkit", "perftest", *arguments, "--loopback", "--timeout", "60", environment=self.environment(fault, **more))

    def start(self, *arguments, fault=""):
        return subprocess.Popen([os.path.join(BIN, "gdrkit"), "perftest", *arguments], env=variables_with(self.environment(fault)),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def start_server(self, *arguments, fault=""):
        """The server, which listens unless it has ended, and its port."""
        port = str(free_ports())
        server = self.start(*arguments, "-p", port, fault=fault)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and server.poll() is None and not self.listens(port):
            time.sleep(0.01)
        return server, port

    def pair(self, *arguments, server_fault="", client_fault="", timeout="20", connects=True, host="127.0.0.1", client_has=None):
        """Starts server and client as a user does, and returns how they ended. connects=False kills the server, which otherwise waits for another client."""
        server, port = self.start_server(*arguments, "--timeout", timeout, fault=server_fault)
        client = self.start(*(client_has or arguments), "-p", port, "--timeout", timeout, host, fault=client_fault)
        ended_client = wait_for(client)
        if not connects:
            server.kill()
        return wait_for(server), ended_client

    def pair_ok(self, *arguments, **options):
        server, client = self.pair(*arguments, **options)
        self.assertEqual((server.code, server.err, client.code, client.err), (0, "", 0, ""), arguments)
        return server, client

    @staticmethod
    def listens(port):
        port_field = f":{int(port):04X} "
        lines = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(table):
                with open(table, encoding="utf-8") as file:
                    lines += file.readlines()[1:]
        return any(port_field in line.split(maxsplit=2)[1] + " " and line.split()[3] == "0A" for line in lines)


class Lines(PerftestTest):
    def test_prints_the_lines_of_a_bandwidth_test(self):
        ended = self.loopback_ok("write_bw", "-n", "50", "-s", "4096", "-d", "soft0,soft1")
        self.assert_lines(ended.lines, [
            "-{87}", " {20}RDMA_Write BW Test", r" Dual-port       : OFF\t\tDevice         : soft1",
            r" Number of qps   : 1\t\tTransport type : IB", r" Connection type : RC\t\tUsing SRQ      : OFF", " PCIe relax order: ON",
            r" ibv_wr\* API     : OFF", " TX depth        : 50", " CQ Moderation   : 50", r" Mtu             : 4096\[B\]",
            " Link type       : Ethernet", " GID index       : 1", r" Max inline data : 0\[B\]", r" rdma_cm QPs\t : OFF",
            " Data ex. method : Ethernet", "-{87}", r" local address: LID 0000 QPN 0x\w{4} PSN 0x\w{6} RKey 0x\w{6} VAddr 0x\w{14}",
            " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:01", r" remote address: .*", " GID: .*", "-{87}",
            r" #bytes     #iterations    BW peak\[MiB/sec\]    BW average\[MiB/sec\]   MsgRate\[Mpps\]",
            r" 4096       50        " + NUMBER + NUMBER + r"\t\t" + NUMBER, "-{87}",
            r"# Path: soft1 port 1 \(Ethernet, MTU 4096\), host memory; peer 127.0.0.1 \(gdrkit\)"])

    def test_prints_the_lines_of_a_latency_test(self):
        ended = self.loopback_ok("write_lat", "-n", "50")
        self.assertIn(" Max inline data : 220[B]", ended.lines)
        self.assertRegex(ended.lines[-3], r"^ 2       50   " + (NUMBER + r"\t?") * 4 + r"\t" + NUMBER + r"\t\t" + NUMBER + r"\t\t" + NUMBER + "$")
        self.assertTrue(ended.lines[-4].startswith(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"))

    def test_starts_server_and_client_like_users(self):
        server, client = self.pair_ok("send_bw", "-n", "50", "-s", "512")
        self.assertIn("* Waiting for client to connect... *", server.out)
        self.assertIn(" RX depth        : 512", server.out)
        for end in (server, client):
            self.assertRegex(end.out, r"\n 512        50      ")

    def test_supports_both_directions_and_gigabits(self):
        ended = self.loopback_ok("write_bw", "-b", "-n", "50", "--report_gbits", "-q", "2")
        self.assertIn("                    RDMA_Write Bidirectional BW Test", ended.lines)
        self.assertRegex(ended.lines[-3], r"^ 65536      100           [0-9.]+ +[0-9.]+ +[0-9.]+ *$")

    def test_infiniband_has_a_lid_and_no_gid(self):
        ended = self.loopback_ok("read_lat", "-n", "10", GDRKIT_STAND_IN_INFINIBAND="1")
        self.assertRegex(ended.out, r"local address: LID 0x07 QPN .* OUT 0x10 RKey")
        self.assertNotIn("GID", ended.out)

    def test_runs_under_names_with_a_prefix(self):
        for test in TESTS:
            self.assertEqual(os.readlink(os.path.join(BIN, f"gdrkit_ib_{test}")), "gdrkit")
        ended = run("gdrkit_ib_read_lat", "--loopback", "-n", "10", environment=self.environment())
        self.assertEqual((ended.code, ended.err), (0, ""))


class Data(PerftestTest):
    def test_every_test_has_correct_data(self):
        for test in TESTS:
            for more in ((), ("-q", "3"), ("-b",)) if test.endswith("bw") else ((),):
                self.loopback_ok(test, "-n", "30", *more)

    def test_runs_all_sizes(self):
        for test in ("write_bw", "send_lat"):
            ended = self.loopback_ok(test, "-a", "-n", "5")
            sizes = [int(line.split()[0]) for line in ended.lines if line[1:2].isdigit()]
            self.assertEqual(sizes, [2 << i for i in range(23)], test)

    def test_supports_unreliable_connections(self):
        for test, kind in (("send_lat", "UD"), ("send_bw", "UD"), ("write_bw", "UC"), ("send_bw", "UC")):
            ended = self.loopback_ok(test, "-c", kind, "-n", "30")
            self.assertIn(f" Connection type : {kind}", ended.out)
        self.assertRegex(self.loopback("send_bw", "-c", "UD", "-n", "30").out, r"\n 4096       30 ")

    def test_runs_for_a_duration(self):
        for test in ("write_bw", "send_bw", "write_lat", "send_lat"):
            ended = self.loopback_ok(test, "-D", "1", "-f", "0", "-s", "64")
            row = [line.split() for line in ended.lines if line.startswith(" 64 ")]
            self.assertGreater(int(row[0][1]), 5, test)

    def test_wrong_bytes_are_counted_and_fail_the_run(self):
        # The 51st request is that of the check.
        for test in ("write_bw", "send_bw"):
            for end in self.pair(test, "-n", "50", "-s", "256", client_fault="corrupt send 51"):
                self.assert_failed(end, 1, f"{test} of 256 bytes: 1 wrong bytes")

    def test_uses_gpu_memory(self):
        for test in TESTS:
            ended = self.loopback_ok(test, "-n", "20", "--use_cuda=0")
            self.assertIn("registered by peer memory (no dma-buf: the emulated device does not export dma-bufs)", ended.out)
            self.assertEqual("polled by the CPU through emulated" in ended.out, test == "write_lat")

    def test_selects_gpus_by_address_for_each_end(self):
        ended = self.loopback_ok("write_lat", "-n", "10", "--use_cuda=1,0", GDRKIT_EMULATED_DEVICES="2")
        address = next(line for line in ended.lines if line.startswith("# Path")).split("memory of GPU ")[1].split(",")[0]
        self.loopback_ok("write_bw", "-n", "10", "--use_cuda_bus_id", address)
        ended = self.loopback("write_bw", "-n", "10", "--use_cuda_bus_id", "0000:ab:cd.0")
        self.assert_failed(ended, 77, "found no GPU at 0000:ab:cd.0")

    def test_reports_an_unavailable_required_dmabuf(self):
        ended = self.loopback("write_bw", "-n", "10", "--use_cuda=0", "--use_cuda_dmabuf")
        self.assert_failed(ended, 1, "cannot register GPU memory by dma-buf: the emulated device does not export dma-bufs; omit --use_cuda_dmabuf")


class Documents(PerftestTest):
    def test_document_matches_the_result_schema(self):
        ended = self.loopback_ok("write_lat", "-n", "20", "-s", "8", "--json")
        document = json.loads(ended.out)
        self.assertEqual((document["tool"], document["ok"], document["checked"], document["wrong"], document["lost"]),
                         ("perftest", True, True, 0, 0))
        (series,) = document["series"]
        self.assertEqual((series["id"], series["unit"], series["better"]), ("perftest/write_lat/host/RC", "us", "lower"))
        self.assertEqual(series["points"][0]["x"], 8)
        ended = self.loopback("read_bw", "-n", "20", "--json")
        (series,) = json.loads(ended.out)["series"]
        self.assertEqual((series["id"], series["unit"]), ("perftest/read_bw/host/RC", "GB/s"))

    def test_compares_with_an_earlier_run(self):
        arguments = ("write_lat", "-n", "400", "-s", "8")
        ended = self.loopback_ok(*arguments, "--csv")
        self.assertIn("perftest/write_lat/host/RC", ended.lines[1])
        document = json.loads(self.loopback(*arguments, "--json").out)
        self.assertEqual(len(document["series"][0]["points"][0]["rounds"]), 8)
        self.assert_compares(document, lambda old: self.loopback(*arguments, "--compare", old))
        ended = self.loopback("read_bw", "-n", "200", "--json")
        self.assertEqual(len(json.loads(ended.out)["series"][0]["points"][0]["rounds"]), 8)

    def test_rejects_results_of_other_tools_before_connecting(self):
        arguments = ("write_lat", "-n", "20", "-s", "8")
        document = json.loads(self.loopback(*arguments, "--json").out)
        document["tool"] = "osu"
        ended = self.loopback(*arguments, "--compare", self.write("old.json", json.dumps(document)))
        self.assert_failed(ended, 2, "is a result of 'gdrkit osu'; 'gdrkit perftest' compares with its own results only")
        self.assertNotIn("has ended the connection", ended.err)

    def test_writes_the_json_format_of_perftest(self):
        self.loopback_ok("write_bw", "-n", "20", "-s", "64", "--out_json", "--out_json_file", self.path("out.json"))
        document = json.loads(self.read("out.json"))
        self.assertEqual((document["test_info"]["test"], document["test_info"]["Device"]), ("RDMA_Write_BW_Test", "soft0"))
        self.assertEqual(sorted(document["results"]), ["BW_average", "BW_peak", "MsgRate", "MsgSize", "n_iterations"])
        self.assertEqual((document["results"]["MsgSize"], document["results"]["n_iterations"]), (64, 20))


class Doctor(PerftestTest):
    """The doctor's findings on the adapter in use are part of the result; here on recorded machines."""

    def run_with_slow_adapter(self, *arguments):
        tree = doctor_runs.m.server()
        tree["/sys/class/infiniband/mlx5_0/ports/1/rate"] = "200 Gb/sec (4X HDR)\n"
        with doctor_runs.Lent(tree) as directory:
            return self.loopback_ok(*arguments, "-n", "10", "--doctor-root", directory, GDRKIT_STAND_IN_MLX5="1")

    def lines_of(self, *arguments):
        return [line for line in self.run_with_slow_adapter(*arguments).lines if line.startswith("# Doctor: ")]

    def test_reports_a_setting_that_slows_the_adapter(self):
        lines = self.lines_of("write_bw", "-d", "mlx5_0")
        self.assertTrue(any(line.startswith("# Doctor: nic.rate warns: mlx5_0:1: ") for line in lines), lines)
        self.assertRegex(lines[-1], r"^# Doctor: run gdrkit doctor explain [a-z_.]+ for the remedy$")
        self.assertFalse(any("nic.rate" in line for line in self.lines_of("write_bw", "-d", "mlx5_1")))

    def test_document_contains_the_doctor_only_on_request(self):
        doctor = json.loads(self.run_with_slow_adapter("read_lat", "--json").out)["doctor"]
        self.assertTrue(doctor["is_known"])
        self.assertIn(("nic.rate", "mlx5_0:1"), [(one["check"], one["subject"]) for one in doctor["findings"]])
        ended = self.loopback("read_lat", "-n", "10", "--json")
        self.assertIsNone(json.loads(ended.out)["doctor"])

    def test_continues_if_the_doctor_does_not_respond(self):
        ended = self.loopback("write_lat", "-n", "10", "--doctor-root", "/nonexistent")
        self.assertEqual((ended.code, ended.lines[-1]), (0, "# Doctor: unknown: gdrkit doctor returned no result"), ended.err)


class Failures(PerftestTest):
    def test_each_failed_call_ends_both_processes_without_leaks(self):
        for call in CALLS:
            # GIDs are queried first, and a failure there only means that an entry is empty.
            for number in (1, 3) if call in ("modify_qp", "post_send", "poll") else (3,) if call == "query_gid" else (1,):
                connects = call in ("post_send", "poll") or (call, number) == ("modify_qp", 3)
                server, client = self.pair("send_lat", "-n", "20", "-I", "0", client_fault=f"fail {call} {number}", connects=connects)
                self.assert_failed(client, 1, pattern="^gdrkit perftest: .*" + {"query_gid": "GID 1 of soft0", "poll": "ibv_poll_cq"}.get(call, "ibv_" + call))
                self.assertEqual(self.leaks(), "", f"{call} {number}")
                if connects:
                    self.assert_failed(server, 1, "client 127.0.0.1 has ended the connection during '")

    def test_reports_a_failed_call_of_the_server(self):
        for call in CALLS[:4]+CALLS[5:9]:
            server = self.start("send_lat", "-I", "0", "-p", str(free_ports()), fault=f"fail {call} 1")
            self.assert_failed(wait_for(server), 1, "gdrkit perftest: ")
        server, client = self.pair("send_lat", "-n", "20", server_fault="fail post_send 3")
        self.assert_failed(server, 1, "(ibv_post_send) on queue pair 0 of soft0")
        self.assert_failed(client, 1, "server 127.0.0.1 has ended the connection during 'send_lat of 2 bytes")

    def test_reports_failed_calls_of_single_tests(self):
        for arguments, call, text in ((("send_bw", "-c", "UD"), "create_ah", "(ibv_create_ah) on soft0"),
                                      (("write_bw",), "reg_mr_iova2", "cannot register 136 KiB of host memory (ibv_reg_mr) on soft0")):
            _, client = self.pair(*arguments, client_fault=f"fail {call} 1", connects=call == "create_ah")
            self.assert_failed(client, 1, text)

    def test_a_failed_request_is_described(self):
        _, client = self.pair("write_bw", "-n", "20", "-s", "64", client_fault="status send 20")
        self.assert_failed(client, 1, pattern=r"write_bw of 64 bytes failed on queue pair [0-9]+ of soft0 to 127\.0\.0\.1: remote access error \(status 10")

    def test_killed_peer_ends_and_is_reported_by_the_other(self):
        for test in ("write_bw", "write_lat", "read_lat", "send_bw"):
            for call, number in (("modify_qp", 2), ("post_send", 10), ("poll", 10)):
                server, client = self.pair(test, "-n", "5000", "-s", "64", client_fault=f"kill {call} {number}")
                self.assertEqual(client.code, -9, f"{test} {call}")
                self.assert_failed(server, 1, pattern=r"^gdrkit perftest: client 127\.0\.0\.1 has ended the connection during '")
        server, client = self.pair("write_lat", "-n", "5000", server_fault="kill post_send 10")
        self.assertEqual(server.code, -9)
        self.assert_failed(client, 1, pattern=r"^gdrkit perftest: server 127\.0\.0\.1 has ended the connection during 'write_lat of 2 bytes")

    def test_other_connections_do_not_block_the_client(self):
        server, port = self.start_server("write_bw", "-n", "20", "--timeout", "20")
        with contextlib.ExitStack() as connections:
            for words in (b"", b"6", b"GET / HTTP/1.1\r\n\r\n", *[b""] * 20):
                connections.enter_context(socket.create_connection(("127.0.0.1", int(port)))).sendall(words)
            client = self.start("write_bw", "-n", "20", "-p", port, "--timeout", "20", "127.0.0.1")
            for process in (client, server):
                ended = wait_for(process)
                self.assertEqual(ended.code, 0, ended.err)

    def test_times_out_if_the_peer_is_silent(self):
        for test in ("write_lat", "send_bw"):
            server, port = self.start_server(test, "--timeout", "1", "-n", "5000")
            client = self.start(test, "-p", port, "-n", "5000", "127.0.0.1", fault="stop post_send 10")
            ended = wait_for(server)
            client.kill()
            client.communicate()
            self.assert_failed(ended, 1, pattern=r"received nothing from 127\.0\.0\.1 for 1 s|client 127\.0\.0\.1 sent nothing for 1 s")

    def test_client_times_out_if_a_one_sided_server_is_silent(self):
        server, port = self.start_server("write_bw", "-D", "3", "-f", "0", fault="stop modify_qp 3")
        began = time.monotonic()
        client = self.start("write_bw", "-p", port, "-D", "3", "-f", "0", "--timeout", "1", "127.0.0.1")
        ended = wait_for(client)
        server.kill()
        server.communicate()
        self.assert_failed(ended, 1, "server 127.0.0.1 sent nothing for 1 s during 'start of a size")
        self.assertLess(time.monotonic() - began, 20)  # its own limit is 1 s, but the machine may be busy

    def test_reports_different_options_of_client_and_server(self):
        server, port = self.start_server("write_bw", "-s", "64")
        client = self.start("write_bw", "-p", port, "-s", "128", "127.0.0.1")
        for process in (client, server):
            self.assert_failed(wait_for(process), 2, pattern=r"client and server run different tests: 'write_bw -c RC -s (64|128) .*' in this process, "
                                                             r"'write_bw -c RC -s (128|64) .*' on 127\.0\.0\.1")

    def test_reports_a_missing_library(self):
        self.write("libibverbs.so.1", "")
        ended = run("gdrkit", "perftest", "write_bw", environment={"LD_LIBRARY_PATH": self.directory})
        self.assert_failed(ended, 77, pattern="cannot load libibverbs .*; install .*libibverbs1.* and ibverbs-providers")

    def test_reports_a_missing_device(self):
        for more, text in (({"GDRKIT_STAND_IN_EMPTY": "1"}, "this machine has no RDMA device"),
                           ({"GDRKIT_STAND_IN_ABSENT": "1"}, "the Linux kernel provides no RDMA interface; load the module ib_uverbs"),
                           ({"GDRKIT_STAND_IN_DOWN": "1"}, "port 1 of soft0 is not active")):
            self.assert_rejected(["perftest", "write_bw"], (((), text),), environment=self.environment(**more), code=77)
        self.assert_rejected(["perftest", "write_bw"], environment=self.environment(), code=77, cases=(
            (("-d", "mlx5_7"), "unknown RDMA device mlx5_7; use one of soft0, soft1"),
            (("-i", "2"), "port 2 of soft0 is out of range: the number of ports is 1")))

    def test_rejects_invalid_arguments(self):
        self.assert_rejected(["perftest"], environment=self.environment(), cases=(
            ((), "the test is missing; use one of write_bw, "), (("write_bww",), "unknown test 'write_bww'; did you mean 'write_bw'?"),
            (("write_bw", "-n", "4"), "-n 4 is out of range: use 5"), (("write_bw", "-m", "1000"), "an MTU is 256"),
            (("write_lat", "-R", "-c", "UC"), "-R supports only -c RC"), (("write_bw", "-c", "XRC"), "-c XRC is not supported; use -c RC"),
            (("write_bw", "-c", "UD"), "-c UD supports only send_bw"),
            (("atomic_bw", "-s", "16"), "atomic_bw supports only messages of 8 bytes"),
            (("read_bw", "-c", "UC"), "-c UC does not support read_bw"), (("write_lat", "-b"), "-b applies only to bandwidth tests"),
            (("write_lat", "-q", "2"), "-q applies only to bandwidth tests"), (("write_bw", "-D", "3"), "-D 3 leaves no time"),
            (("write_bw", "-D", "9", "-a"), "cannot combine -D with -a or -n; omit -D"), (("write_bw", "-d", "a,b"), "-d a,b: two values"),
            (("write_bw", "--use_cuda_dmabuf"), "requires --use_cuda"),
            (("write_bw", "-e"), "-e, --events is not supported: completions are polled"),
            (("write_bw", "--loopback", "host"), "--loopback starts client and server; omit the host"),
            (("write_bw", "--loopback", "-z"), "cannot combine --loopback with -R or -z"),
            (("write_bw", "-p", "0"), "-p 0 is out of range: use 1"), (("write_bw", "--timeout", "0"), "--timeout 0 is out of range: use 1")))


class RdmaCm(PerftestTest):
    CALLS = ("rdma_create_event_channel", "rdma_create_id", "rdma_resolve_addr", "rdma_resolve_route", "rdma_init_qp_attr",
             "rdma_connect", "rdma_get_cm_event", "rdma_establish")

    def test_supports_rdma_cm_for_exchange_and_queue_pairs(self):
        for option, pairs in (("-z", "OFF"), ("-R", "ON")):
            for arguments in (("write_bw", "-q", "3"), ("write_lat",), ("read_bw", "-q", "2"), ("send_bw", "-b"), ("atomic_lat",)):
                server, client = self.pair_ok(*arguments, "-n", "30", option)
                for out in (server.out, client.out):
                    self.assertIn(f"\n rdma_cm QPs\t : {pairs}\n Data ex. method : rdma_cm\n", out)
                self.assertIn("peer 127.0.0.1 (gdrkit)", client.out)
        server, client = self.pair("send_lat", "-n", "30", "-z", "-c", "UD")
        self.assertEqual((server.code, client.code, client.err), (0, 0, ""))

    def test_accepts_a_request_before_the_previous_disconnect(self):
        self.pair_ok("write_bw", "-q", "3", "-n", "30", "-R", server_fault="requests first")

    def test_each_failed_call_ends_both_processes_without_leaks(self):
        for call in self.CALLS:
            number = 3 if call == "rdma_get_cm_event" else 1
            server, client = self.pair("write_bw", "-n", "20", "-R", client_fault=f"fail {call} {number}", connects=False)
            self.assert_failed(client, 77 if call == "rdma_create_event_channel" else 1,
                               pattern=rf"^gdrkit perftest: cannot (connect by|use) rdma_cm \({call}\)( to 127.0.0.1)?: Input/output error")
            self.assertEqual(self.leaks(), "", call)
        for call in ("rdma_create_id", "rdma_listen"):
            server = self.start("write_bw", "-z", "-p", str(free_ports()), fault=f"fail {call} 1")
            self.assert_failed(wait_for(server), 1, f"({call}): Input/output error")
        server, client = self.pair("write_bw", "-n", "20", "-R", server_fault="fail rdma_accept 1")
        self.assert_failed(server, 1, "(rdma_accept): Input/output error")
        self.assert_failed(client, 1, "server 127.0.0.1 has ended the connection during 'connection")

    def test_killed_peer_ends_and_is_reported_by_the_other(self):
        for option, call, number in (("-z", "poll", 40), ("-R", "rdma_init_qp_attr", 5), ("-R", "post_send", 20)):
            server, client = self.pair("send_lat", "-n", "5000", option, client_fault=f"kill {call} {number}")
            self.assertEqual(client.code, -9, f"{option} {call}")
            self.assert_failed(server, 1, pattern=r"^gdrkit perftest: client 127\.0\.0\.1 (has ended the connection|cannot be reached .*) during '")

    def test_times_out_if_the_peer_is_silent(self):
        server, port = self.start_server("write_lat", "-z", "--timeout", "1", "-n", "5000")
        client = self.start("write_lat", "-z", "-p", port, "-n", "5000", "127.0.0.1", fault="stop modify_qp 5")
        ended = wait_for(server)
        client.kill()
        client.communicate()
        self.assert_failed(ended, 1, "client 127.0.0.1 sent nothing for 1 s during '")

    def test_reports_that_no_server_is_listening(self):
        ended = run("gdrkit", "perftest", "write_bw", "-z", "-p", str(free_ports()), "--timeout", "1", "127.0.0.1", environment=self.environment())
        self.assert_failed(ended, 1, pattern="cannot connect by rdma_cm to 127.0.0.1, port [0-9]+: no server is listening; start the server first")

    def test_rejects_a_device_that_does_not_match_the_address(self):
        server, client = self.pair("write_bw", "-R", "-d", "soft1", connects=False)
        self.assert_failed(client, 2, "rdma_cm selected RDMA device soft0, but the test uses soft1; use -d soft0")

    def test_reports_a_missing_library(self):
        self.write("librdmacm.so.1", "")
        environment = self.environment(LD_LIBRARY_PATH=self.directory + ":" + STAND_IN)
        ended = run("gdrkit", "perftest", "write_bw", "-R", environment=environment)
        self.assert_failed(ended, 77, pattern="cannot load librdmacm .*; install .*librdmacm1.*, or omit -R and -z")


if __name__ == "__main__":
    unittest.main()
