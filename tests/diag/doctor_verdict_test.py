#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The doctor's verdicts: the behaviour of NCCL, UCX, NVSHMEM and gdrkit on machines with known results."""
import json
import unittest

from doctor_runs import examine, m, run_on
from named import NAMED
from program import Test

import nvml  # tests/fixtures/machines, which doctor_runs makes known
import servers
import verbs

LIBRARIES = ("nccl", "ucx", "nvshmem")


def verdicts_of(tree, *arguments):
    return json.loads(run_on(tree, "doctor", "--json", *arguments).out).get("verdicts")


def best(verdicts, library):
    return [pair for pair in verdicts[library]["gdr"] if pair["is_best"]]


def uses(verdicts):
    """For each library the results of its GPUs' best pairs, including gdrkit's."""
    results = {library: [pair["use"] for pair in best(verdicts, library)] for library in LIBRARIES if library in verdicts}
    return {**results, "gdrkit": [gpu["use"] for gpu in verdicts["gdrkit"]["map"]]}


def best_pair_of(changes, library):
    pair = best(verdicts_of(m.changed(m.server(), changes)), library)[0]
    return pair["use"], pair["via"], pair["blocked_by"], pair["reason"]


PROPRIETARY = {"/proc/driver/nvidia/version": m.PROPRIETARY.format("535.183.01")}
NO_PEERMEM = {"/sys/module/nvidia_peermem": None, "/etc/modules-load.d": None}


class DoctorVerdict(Test):
    def test_the_healthy_server_has_direct_access_everywhere(self):
        verdicts = verdicts_of(m.server())
        self.assertEqual(uses(verdicts), {"nccl": ["yes"], "ucx": ["yes"], "nvshmem": ["yes"], "gdrkit": ["yes"]})
        self.assertEqual({pair["hca"] for pair in verdicts["nccl"]["gdr"]}, {"mlx5_0", "mlx5_1"})
        self.assertEqual([pair["is_best"] for pair in verdicts["nccl"]["gdr"]], [True, False])
        self.assertEqual(verdicts["gdrkit"]["map"][0]["via"], "gdrdrv")
        self.assertEqual((best(verdicts, "nccl")[0]["path"], best(verdicts, "ucx")[0]["path"]), ("PIX", "near"))

    def test_reports_the_check_without_module_and_dmabuf(self):
        for library in LIBRARIES:
            use, via, blocked_by, reason = best_pair_of({**NO_PEERMEM, **PROPRIETARY}, library)
            self.assertEqual((use, via), ("no", ""), library)
            self.assertIn("peer.any", blocked_by)
            self.assertIn("not the open flavour", reason)

    def test_verdicts_differ_by_library_search_path(self):
        for module, expected in (("nv_mem_nc", ["yes", "no", "no"]), ("nvidia-peermem", ["no", "no", "yes"])):
            changes = {**NO_PEERMEM, **PROPRIETARY, f"/sys/kernel/mm/memory_peers/{module}/version": "1.0\n"}
            self.assertEqual([best_pair_of(changes, library)[0] for library in LIBRARIES], expected)

    def test_detection_may_differ_from_reality(self):
        pair = best(verdicts_of(m.changed(m.server(), {"/sys/module/nv_peer_mem/version": "1.3\n", **PROPRIETARY})), "nccl")[0]
        self.assertEqual((pair["use"], "peer.conflict" in pair["blocked_by"]), ("no", True))
        self.assertIn("peer memory yes (/sys/module/nvidia_peermem/version)", pair["believes"])

    def test_reports_a_missing_fact_with_an_unknown_verdict(self):
        for changes, fact in (({**NO_PEERMEM, "/gdrkit": None}, "DMA_BUF_SUPPORTED"),
                              ({"/proc/self/environ": m.UNREADABLE}, "/proc/self/environ")):
            use, _, _, reason = best_pair_of(changes, "nccl")
            self.assertEqual(use, "unknown")
            self.assertIn(fact, reason)

    def test_a_gpu_without_dmabuf_does_not_affect_others(self):
        tree = m.changed(servers.two_switches(), NO_PEERMEM)
        mixed = m.changed(tree, {nvml.PATH: nvml.of(tree, first={"cuda_dmabuf": False})})
        none = m.changed(tree, {nvml.PATH: nvml.of(tree, every={"cuda_dmabuf": False})})
        for library in LIBRARIES:
            pairs = best(verdicts_of(mixed), library)
            self.assertEqual([(pair["use"], pair["via"]) for pair in pairs], [("no", ""), ("yes", "dma-buf")], pairs)
            self.assertEqual({pair["use"] for pair in best(verdicts_of(none), library)}, {"no"})
        for machine, state, words in ((mixed, "warn", "but not for 0000:"), (none, "fail", "does not export dma-bufs"), (tree, "ok", "dma-buf is possible")):
            findings = examine(machine)[1]["peer.any"]
            self.assertEqual({found for found, _, _ in findings}, {state}, findings)
            self.assertIn(words, findings[0][2])

    def test_libibverbs_result_overrides_the_adapters_driver(self):
        cannot = {**NO_PEERMEM, verbs.PATH: verbs.document(mlx5_0=False, mlx5_1=False)}
        for library in LIBRARIES:
            use, _, _, reason = best_pair_of(cannot, library)
            self.assertEqual((use, "mlx5_0 cannot register one" in reason), ("no", True), reason)
        one = best(verdicts_of(m.changed(m.server(), {**NO_PEERMEM, verbs.PATH: verbs.document(mlx5_0=False, mlx5_1=True)})), "nccl")[0]
        self.assertEqual((one["hca"], one["use"], one["via"]), ("mlx5_1", "yes", "dma-buf"))
        for devices, part in (({"mlx5_0": verbs.REFUSED, "mlx5_1": verbs.REFUSED}, "Permission denied"), ({}, "does not show")):
            use, _, _, reason = best_pair_of({**NO_PEERMEM, verbs.PATH: verbs.document(**devices)}, "ucx")
            self.assertEqual((use, part in reason), ("unknown", True), reason)
        old = {**NO_PEERMEM, verbs.PATH: verbs.document(mlx5_0=verbs.TOO_OLD, mlx5_1=verbs.TOO_OLD)}
        self.assertEqual(best_pair_of(old, "nccl")[0], "no")
        self.assertEqual(best_pair_of({verbs.PATH: verbs.document(mlx5_0=False, mlx5_1=False)}, "nccl")[:2], ("yes", "peer memory"))

    def test_a_gpu_of_a_guest_is_unusable_on_the_host(self):
        drivers = "/sys/bus/pci/drivers/vfio-pci"
        verdicts = verdicts_of(m.changed(m.server(), {m.GPU + "/driver": m.link(m.GPU + "/driver", drivers), drivers + "/uevent": ""}))
        self.assertEqual(uses(verdicts), {"nccl": ["no"], "ucx": ["no"], "nvshmem": ["no"], "gdrkit": ["no"]})
        self.assertIn("vfio-pci", verdicts["gdrkit"]["map"][0]["reason"])

    def test_library_settings_affect_the_verdict(self):
        for variables, library, use, part in (("NCCL_IB_DISABLE=1", "nccl", "no", "NCCL_IB_DISABLE=1"), ("NCCL_NET_GDR_LEVEL=LOC", "nccl", "no", "longer than"),
                                              ("NCCL_NET_GDR_LEVEL=5", "nccl", "yes", "SYS"), ("NCCL_IB_HCA==mlx5_7", "nccl", "no", "leaves out"),
                                              ("NCCL_IB_DISABLE=1", "ucx", "yes", ""), ("UCX_IB_GPU_DIRECT_RDMA=n", "ucx", "no", "UCX_IB_GPU_DIRECT_RDMA=n")):
            with self.subTest(variables):
                found = best_pair_of({"/proc/self/environ": variables + "\0"}, library)
                self.assertEqual(found[0], use, found)
                self.assertIn(part, found[3])
        chosen = best(verdicts_of(m.changed(m.server(), {"/proc/self/environ": "NCCL_IB_HCA==mlx5_1\0"})), "nccl")[0]
        self.assertEqual((chosen["hca"], chosen["use"]), ("mlx5_1", "yes"))

    def test_settings_of_one_library_do_not_affect_another(self):
        verdicts = verdicts_of(m.changed(m.server(), {"/proc/self/environ": "NCCL_IB_DISABLE=1\0UCX_TLS=tcp\0UCX_IB_GPU_DIRECT_RDMA=n\0"}))
        self.assertEqual(best(verdicts, "nccl")[0]["blocked_by"], ["env.ib_disable"])
        self.assertEqual(best(verdicts, "ucx")[0]["blocked_by"], ["env.ucx"])
        for prefix, use in (("ibp", "no"), ("mlx5", "yes"), ("^mlx4", "yes")):
            found = best_pair_of({"/proc/self/environ": f"NVSHMEM_HCA_PREFIX={prefix}\0"}, "nvshmem")
            self.assertEqual((found[0], "NVSHMEM_HCA_PREFIX" in found[3]), (use, use == "no"), found)

    def test_nvml_facts_affect_the_verdict(self):
        for name, expected, words in (("fm-down", "no", "nvl.fabric"), ("cc-on", "unknown", "confidential")):
            verdicts = verdicts_of(NAMED[name]())
            self.assertEqual({use for results in uses(verdicts).values() for use in results}, {expected}, name)
            self.assertIn(words, verdicts["gdrkit"]["map"][0]["reason"])
        divided = verdicts_of(NAMED["mig-on"]())
        self.assertEqual(uses(divided)["gdrkit"], ["unknown"] + ["yes"] * 7)
        self.assertEqual(uses(divided)["nccl"], ["yes"] * 8)
        zeroed = best(verdicts_of(NAMED["gb300-zeroed"]()), "nccl")[0]
        self.assertEqual(zeroed["slowed_by"], ["acs.datadirect"])

    def test_failures_rule_out_only_the_pairs_that_they_concern(self):
        ports = "/sys/class/infiniband/mlx5_0/ports/1/"
        verdicts = verdicts_of(m.changed(m.server(), {ports + "state": "1: DOWN\n", ports + "phys_state": "3: Disabled\n"}))
        pairs = {pair["hca"]: pair for pair in verdicts["nccl"]["gdr"]}
        self.assertEqual({name: (pair["use"], pair["is_best"]) for name, pair in pairs.items()},
                         {"mlx5_0": ("no", False), "mlx5_1": ("yes", True)})
        memlock = verdicts_of(m.changed(m.server(), {"/proc/self/limits": m.limits(lock="65536")}))
        self.assertEqual({use for library in LIBRARIES for use in [best(memlock, library)[0]["use"]]}, {"no"})
        self.assertEqual(best(memlock, "ucx")[0]["blocked_by"], ["lim.memlock"])
        self.assertEqual(memlock["gdrkit"]["map"][0]["use"], "yes")

    def test_positive_verdict_lists_slowing_findings(self):
        verdicts = verdicts_of(m.changed(m.server(), {m.NIC_PORT + "/config": m.config(acs=0x1d)}))
        self.assertEqual({pair["hca"]: (pair["use"], pair["slowed_by"]) for pair in verdicts["nccl"]["gdr"]},
                         {"mlx5_0": ("yes", ["acs.redirect"]), "mlx5_1": ("yes", [])})

    def test_gdrkit_maps_by_gdrdrv_or_by_the_stock_driver(self):
        def mapping(changes):
            one = verdicts_of(m.changed(m.server(), changes))["gdrkit"]["map"][0]
            return one["use"], one["via"]
        without = {"/sys/module/gdrdrv": None, "/dev/gdrdrv": None, "/proc/devices": "Character devices:\n195 nvidia\n"}
        self.assertEqual(mapping(without), ("yes", "rm"))
        self.assertEqual(mapping({**without, "/proc/driver/nvidia/version": m.PROPRIETARY.format("470.57.02")}), ("no", ""))
        self.assertEqual(mapping({"/dev/nvidiactl": None}), ("no", ""))
        self.assertEqual(mapping({"/dev/nvidia0": None}), ("no", ""))
        self.assertEqual(mapping({"/dev": None}), ("unknown", ""))  # a copy of files only
        self.assertEqual(mapping({**without, "/proc/driver/nvidia/version": m.UNREADABLE}), ("unknown", ""))

    def test_machines_of_the_plan_have_expected_verdicts(self):
        direct = {"nccl", "ucx", "nvshmem", "gdrkit"}
        for name, yes in (("dgx-h100-ok", direct), ("hgx-a100-cascade", direct), ("legacy-conflict", {"gdrkit"}), ("altra-pcie", {"gdrkit"}),
                          ("proprietary-nopeer", {"gdrkit"}), ("epyc-nps4", {"nvshmem", "gdrkit"}), ("vm-h100-1gpu", {"gdrkit"})):
            with self.subTest(name):
                self.assertEqual({library for library, results in uses(verdicts_of(NAMED[name]())).items() if set(results) == {"yes"}}, yes)
        altra = best(verdicts_of(NAMED["altra-pcie"]()), "nccl")[0]
        self.assertEqual(altra["blocked_by"], ["gpu.chipset_p2p"])

    def test_every_machine_has_consistent_verdicts(self):
        for name, machine in NAMED.items():
            with self.subTest(name):
                verdicts = verdicts_of(machine())
                gpus = len(verdicts["gdrkit"]["map"])
                for library in LIBRARIES if "nothing" not in verdicts else ():
                    pairs = verdicts[library]["gdr"]
                    self.assertEqual([pair["gpu"] for pair in pairs if pair["is_best"]], list(range(gpus)))
                    for pair in pairs:
                        self.assertTrue(pair["reason"] and pair["believes"], pair)
                        self.assertEqual(pair["use"] == "yes", pair["via"] != "", pair)
                        self.assertFalse(pair["use"] == "yes" and pair["blocked_by"], pair)

    def test_two_gpus_without_an_adapter_have_a_verdict(self):
        def peers(tree):
            return verdicts_of(tree)["peers"][0]
        clean = peers(servers.one_switch(acs=0x0001))
        self.assertEqual((clean["use"], clean["via"], clean["path"], clean["route"]), ("yes", "PCIe", "PIX", "PCIe bridge"))
        self.assertEqual((clean["acs"], clean["iommu"], clean["slowed_by"], round(clean["most_gb_per_s"], 1)), ("off", "identity", [], 31.5))
        redirected = peers(servers.one_switch())
        self.assertEqual((redirected["use"], redirected["acs"], redirected["slowed_by"]), ("yes", "redirects", ["acs.redirect"]))
        self.assertEqual(redirected["route"], "PCIe bridge, redirected to the processor")
        risky = peers(servers.two_roots())
        self.assertEqual((risky["use"], risky["path"], risky["route"], risky["acs"], risky["iommu"]),
                         ("unknown", "NODE", "processor", "redirects", "DMA-FQ"))
        self.assertEqual(risky["slowed_by"], ["acs.redirect", "iommu.mode"])
        self.assertIn("may hang", risky["reason"])
        passed = peers(servers.two_roots(kind="identity"))
        self.assertEqual((passed["use"], passed["iommu"], passed["slowed_by"]), ("yes", "identity", []))
        alone = peers(m.changed(servers.one_switch(acs=0x0001), {m.ROOT + "/0000:01:00.0/0000:02:00.0/0000:03:00.0/iommu_group": None}))
        self.assertEqual((alone["use"], alone["iommu"]), ("yes", "identity"))

    def test_gpus_on_nvlink_do_not_use_the_ports(self):
        verdicts = verdicts_of(NAMED["dgx-h100-acs"]())
        self.assertEqual(len(verdicts["peers"]), 8 * 7 // 2)
        self.assertEqual({(peer["use"], peer["via"], peer["path"], peer["acs"], tuple(peer["slowed_by"])) for peer in verdicts["peers"]},
                         {("yes", "NVLink", "NV18", "not on the way", ())})
        self.assertEqual({round(peer["most_gb_per_s"], 1) for peer in verdicts["peers"]}, {478.1})

    def test_peer_access_reported_by_the_driver_decides(self):
        tree = servers.one_switch(acs=0x0001)
        for changes, use, part in ((nvml.of(tree, every=nvml.without_nvlink(), pair={"p2p_read": 1}), "no", "chipset does not support"),
                                   (nvml.of(tree, every=nvml.without_nvlink(), pair={"p2p_write": 5}), "no", "not supported"),
                                   (nvml.of(tree, every=nvml.without_nvlink(), first={"mig": True}), "no", "MIG mode"),
                                   (nvml.of(tree, every=nvml.without_nvlink(), pair={"p2p_read": nvml.failed()}), "unknown", "GPU_IS_LOST"),
                                   (nvml.unavailable(), "unknown", "NO_PERMISSION"), (None, "unknown", "cannot determine whether the driver")):
            peer = verdicts_of(m.changed(tree, {nvml.PATH: changes}))["peers"][0]
            self.assertEqual((peer["use"], part in peer["reason"], peer["via"]), (use, True, ""), peer)
        self.assertIn("unless NVLink connects them", peer["route"])
        self.assertEqual({peer["blocked_by"][0] for peer in verdicts_of(NAMED["fm-down"]())["peers"]}, {"nvl.fabric"})

    def test_a_grace_that_cannot_start_cuda_has_no_direct_access(self):
        verdicts = verdicts_of(NAMED["gb300-smmu"]())
        self.assertEqual(uses(verdicts), {"nccl": ["no"], "ucx": ["no"], "nvshmem": ["no"], "gdrkit": ["no"]})
        self.assertEqual(verdicts["gdrkit"]["map"][0]["blocked_by"], ["iommu.smmu"])

    def test_ports_outside_the_path_do_not_slow_an_adapter(self):
        self.assertEqual({tuple(pair["slowed_by"]) for pair in verdicts_of(NAMED["one-switch-far-nic"]())["nvshmem"]["gdr"]}, {()})

    def test_text_lists_gpu_pairs_and_merges_equal_ones(self):
        for name, line in (("dgx-h100-ok", r"peers direct access on 28 of 28 GPU pairs, by NVLink GPU0 \S+ with GPU1 \(NV18\) and 27 more: "
                            r"NVLink, at most 478\.1 GB/s gdrkit"),
                           ("one-switch-acs", r"peers direct access on 1 of 1 GPU pair, by PCIe GPU0 \S+ with GPU1 \(PIX\): PCIe bridge, redirected to "
                            r"the processor, at most 31\.5 GB/s; ACS redirects, IOMMU identity; slowed by acs\.redirect")):
            self.assertRegex(" ".join(run_on(NAMED[name](), "doctor", "--short").out.split()), line)

    def test_text_has_a_line_per_library_and_merges_gpus(self):
        lines = run_on(NAMED["legacy-conflict"](), "doctor", "--short").lines
        self.assertIn("NCCL     direct access on 0 of 8 GPUs", lines)
        self.assertRegex(" ".join(" ".join(lines).split()), r" GPU0 \S+ with mlx5_0 \(PIX\) and 7 more: no: neither peer memory \(peer\.conflict "
                         r"fails[^;]*; blocked by [^;]*peer\.conflict")

    def test_verdict_requires_all_checks(self):
        for arguments in (("--only", "peer"), ("--skip", "vm.detect")):
            self.assertIsNone(verdicts_of(m.server(), *arguments))
        self.assertEqual(verdicts_of({"/etc/hostname": "x\n"})["gdrkit"]["map"], [])


if __name__ == "__main__":
    unittest.main()
