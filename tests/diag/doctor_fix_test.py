#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit doctor fix: the script is valid shell, contains the remedies, and executes no content of a machine's files."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from doctor_runs import m, run_on
from doctor_test import BASES, CASES, INFORMS
from named import NAMED
from program import Test, run

import nvml  # tests/fixtures/machines, added to the path by doctor_runs

SHELLS = sorted({os.path.realpath(shutil.which(shell)) for shell in ("sh", "dash", "bash") if shutil.which(shell)})
HEREDOC = re.compile(r"(?ms)<<'END_OF_FILE'$.*?^END_OF_FILE$")
STUBS = ("modprobe", "systemctl", "setpci", "mknod", "rm", "sysctl", "ip", "cpupower", "gdrkit", "nvidia-smi", "update-initramfs")
WRITES_TO_SYSFS = re.compile(r">\s*'?/sys/")
PLACEHOLDER = re.compile(r"\b(ADDRESS|ADAPTER|PORT|INTERFACE)\b")
ARGUMENTS = {"gpu.count": ("--expect-gpus", "2")}  # without which the check does not apply


def script_of(tree, *arguments):
    ended = run_on(tree, "doctor", "fix", *arguments)
    if ended.code != 0:
        raise AssertionError(f"exit code {ended.code}: {ended.err}")
    return ended.out


def code_of(script):
    """The commands that a shell would run, without comments and the contents of files."""
    return [line for line in HEREDOC.sub("<<", script).splitlines() if line and not line.startswith("#")]


def with_interface(tree, name, adapter="mlx5_0"):
    """The adapter's port becomes Ethernet and goes down; the first adapter's interface is called `name`."""
    port = f"/sys/class/infiniband/{adapter}/ports/1/"
    return m.changed(tree, {port + "state": "1: DOWN\n", port + "link_layer": "Ethernet\n", f"{m.NIC}/net/{name}/type": "1\n"})


class Ran:
    """Runs the script in a shell that finds only fake commands, which record their arguments; /etc is a test directory."""

    def __init__(self, script, user="0", host="h1"):
        with tempfile.TemporaryDirectory() as place:
            tools, etc, here, log = (pathlib.Path(place, part) for part in ("tools", "etc", "here", "log"))
            for directory in (tools, etc, here):
                directory.mkdir()
            for name, body in {**{stub: f'printf "%s" {stub} >> {log}; for a in "$@"; do printf " [%s]" "$a" >> {log}; done; '
                                        f'echo >> {log}' for stub in STUBS},
                               "id": f"echo {user}", "uname": f"echo '{host}'", "awk": "echo 508"}.items():
                (tools / name).write_text(f"#!/bin/sh\n{body}\n", encoding="ascii")
                (tools / name).chmod(0o755)
            for name in ("cat", "mkdir"):
                (tools / name).symlink_to(shutil.which(name))
            process = subprocess.run([shutil.which("sh")], input=script.replace("/etc/", f"{etc}/"), cwd=here,
                                     env={"PATH": tools}, capture_output=True, text=True, timeout=60, check=False)
            self.code, self.out, self.err = process.returncode, process.stdout, process.stderr
            self.left_behind = os.listdir(here)
            self.calls = log.read_text(encoding="ascii").splitlines() if log.exists() else []
            self.files = {f"/etc/{file.relative_to(etc)}": file.read_text(encoding="ascii") for file in etc.rglob("*") if file.is_file()}


def assert_shell(test, script):
    for shell in SHELLS:
        ended = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60, check=False)
        test.assertEqual((ended.returncode, ended.stderr), (0, ""), f"{shell} -n\n{script}")


class DoctorFix(Test):
    def test_healthy_machine_gets_an_empty_script(self):
        script = script_of(m.server())
        self.assertEqual(code_of(script), ["set -eu", "echo 'gdrkit doctor: nothing to fix'"])
        ran = Ran(script)
        self.assertEqual((ran.code, ran.out, ran.calls, ran.files), (0, "gdrkit doctor: nothing to fix\n", [], {}))

    def test_every_fault_has_a_valid_script_that_lists_it(self):
        for check, cases in CASES.items():
            for changes, state, _, *more in cases:
                base, *arguments = more or ["server"]
                with self.subTest(f"{check}: {list(changes)}"):
                    script = script_of(m.changed(BASES[base], changes), check, *arguments)
                    assert_shell(self, script)
                    if state in ("warn", "fail"):
                        self.assertRegex(script, f"(?m)^# (FAIL|warn) {re.escape(check)} ")
                        self.assertRegex(script, r"(?m)^#   (why|conditions): .")
                        self.assertRegex(script, rf"gdrkit doctor (--level (probe|cuda) )?--only {re.escape(check)}\b")
                    else:
                        self.assertIn("nothing to fix", script)

    def test_every_machine_has_a_valid_shell_script(self):
        for name, machine in NAMED.items():
            with self.subTest(name):
                assert_shell(self, script_of(machine()))

    def test_applies_remedies_to_faulty_objects_only(self):
        script = script_of(m.changed(m.server(), {
            **{port + "/config": m.config(acs=0x1d) for port in (m.GPU_PORT, m.NIC_PORT)}, m.NIC + "/config": m.config(0x2050),
            "/proc/self/limits": m.limits(lock="65536"), "/proc/sys/kernel/numa_balancing": "1\n",
            "/dev/gdrdrv": m.Device((507, 0, 0o666, 0, 0)), "/proc/sys/kernel/hostname": "h1\n"}))
        assert_shell(self, script)
        ran = Ran(script)
        self.assertEqual((ran.code, ran.err, ran.left_behind), (0, "", []))
        self.assertEqual([call for call in ran.calls if not call.startswith(("systemctl", "gdrkit"))],
                         ["rm [-f] [/dev/gdrdrv]", "mknod [-m] [666] [/dev/gdrdrv] [c] [508] [0]",
                          "setpci [-s] [0000:04:00.0] [CAP_EXP+8.w=5000:7000]", "setpci [-s] [0000:02:00.0] [ECAP_ACS+6.w=0000]",
                          "setpci [-s] [0000:02:01.0] [ECAP_ACS+6.w=0000]", "sysctl [-w] [kernel.numa_balancing=0]"])
        self.assertIn("systemctl [enable] [gdrkit-acs.service]", ran.calls)
        self.assertEqual(ran.files["/etc/sysctl.d/90-gdrkit-numa-balancing.conf"], "kernel.numa_balancing = 0\n")
        self.assertIn("* - memlock unlimited\n", ran.files["/etc/security/limits.d/90-gdrkit-memlock.conf"])
        self.assertEqual(re.findall(r"setpci -s (\S+)", ran.files["/etc/systemd/system/gdrkit-acs.service"]),
                         ["0000:02:00.0", "0000:02:01.0"])
        self.assertEqual(ran.calls[-1].split()[:3], ["gdrkit", "[doctor]", "[--only]"])
        self.assertTrue(all(path.split("/")[-1].find("gdrkit-") >= 0 for path in ran.files), ran.files.keys())

    def test_writes_a_shared_file_once(self):
        script = script_of(m.changed(m.server(), {"/sys/module/nv_peer_mem/version": "1.3\n", "/etc/modules-load.d": None}))
        self.assertEqual(script.count("cat > /etc/modules-load.d/gdrkit-peermem.conf"), 1)
        self.assertIn("# /etc/modules-load.d/gdrkit-peermem.conf is written above", script)

    def test_commands_require_root_and_the_right_host(self):
        script = script_of(m.changed(m.server(), {"/proc/sys/kernel/numa_balancing": "1\n", "/proc/sys/kernel/hostname": "h1\n"}))
        for ran, complaint in ((Ran(script, user="1000"), "as root"), (Ran(script, host="h2"), "for the host h1")):
            self.assertEqual((ran.code, ran.calls, ran.files), (1, [], {}))
            self.assertIn(complaint, ran.err)
        self.assertEqual(Ran(script).code, 0)

    def test_faults_without_a_command_are_comments(self):
        script = script_of(m.changed(m.server(), {m.GPU + "/current_link_width": "8\n", m.GPU + "/iommu_group/type": "DMA-FQ\n"}))
        self.assertEqual(len(code_of(script)), 2, script)
        self.assertIn("# ==== By hand", script)
        self.assertRegex(script, r"(?m)^#   to do, by the administrator: reseat the card")
        self.assertIn("# add to the Linux command line: iommu=pt", script)
        ran = Ran(script)
        self.assertEqual((ran.code, ran.calls, ran.files), (0, [], {}))
        self.assertIn("no remedy can be automated", ran.out)

    def test_finds_the_interface_or_writes_a_comment(self):
        named = script_of(with_interface(m.server(), "ens5f1np1"), "nic.state")
        self.assertIn("ip [link] [set] [ens5f1np1] [up]", Ran(named).calls)
        unnamed = script_of(m.changed(m.server(), {"/sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN\n"}), "nic.state")
        self.assertNotIn("ip link", "\n".join(code_of(unnamed)))
        self.assertIn("#   ip link set INTERFACE up", unnamed)
        # IP over InfiniBand is not Ethernet, and dev_port selects one of two interfaces.
        infiniband = m.changed(with_interface(m.server(), "ib1"), {m.NIC + "/net/ib1/type": "32\n"})
        self.assertNotIn("ip link", "\n".join(code_of(script_of(infiniband, "nic.state"))))
        two = m.changed(with_interface(with_interface(m.server(), "ens1"), "ens0"), {m.NIC + "/net/ens0/dev_port": "0\n",
                                                                                    m.NIC + "/net/ens1/dev_port": "1\n"})
        self.assertEqual([call for call in Ran(script_of(two, "nic.state")).calls if call.startswith("ip")], ["ip [link] [set] [ens0] [up]"])

    def test_selects_checks_by_name(self):
        tree = m.changed(m.server(), {"/proc/sys/kernel/numa_balancing": "1\n", m.GPU_PORT + "/config": m.config(acs=0x1d)})
        script = script_of(tree, "acs.redirect")
        self.assertIn("ECAP_ACS+6.w=0000", script)
        self.assertNotIn("numa_balancing", script)
        self.assertIn("nothing to fix", script_of(tree, "bar1.size"))
        self.assertIn("# unknown: acs.redirect", script_of(m.as_user(), "acs.redirect"))

    def test_exit_codes_distinguish_usage_and_recording_errors(self):
        self.assert_wrong_usage(["doctor"], (("fix", "nothing"), ("fix", "--json"), ("repair",)))
        self.assertEqual(run("gdrkit", "doctor", "fix", "--root", "/nothing/there").code, 4)

    def test_shellcheck_passes(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("no shellcheck")
        changes = {}
        for check in ("gdr.node", "peer.any", "acs.redirect", "pcie.mrrs", "lim.memlock", "cpu.balancing", "iommu.mode", "rdma.modules"):
            changes.update([one for one, state, *_ in CASES[check] if state in ("warn", "fail")][0])
        script = script_of(m.changed(with_interface(m.server(), "ens5f1np1"), changes))
        ended = subprocess.run(["shellcheck", "-s", "sh", "-"], input=script, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((ended.returncode, ended.stdout), (0, ""), script)


def nvml_of(**facts):
    """NVML's facts of the healthy server, with these facts of its GPU replaced."""
    return {nvml.PATH: nvml.of(m.server(), first=facts)}


def faulty(check):
    """Machines on which this check reports a fault. The interfaces of Ethernet ports are known."""
    for changes, state, _, *base in CASES[check]:
        if state not in ("warn", "fail"):
            continue
        tree = m.changed(BASES[base[0] if base else "server"], changes)
        ethernet = [path.rsplit("/", 1)[0] for path in tree if re.search(r"/net/\w+/mtu$", path) and "pci" in path]
        yield m.changed(tree, {directory + "/type": "1\n" for directory in ethernet})


class DoctorFixGrace(Test):
    def test_pass_through_is_not_advised_if_it_breaks_cuda(self):
        fault = m.kernel_log("arm-smmu-v3 arm-smmu-v3.16.auto: event 0x10 received: 0010:03:00.0 fault")
        for name in ("gb300-smmu", "gb300-smmu-translated"):
            tree = m.changed(NAMED[name](), {"/gdrkit/kernel_log": fault, "/proc/cmdline": "ro intel_iommu=on\n"})
            for arguments in ((), ("--verbose",), ("fix",)):
                ended = run_on(tree, "doctor", *arguments)
                self.assertNotRegex(ended.out, "iommu=pt |passthrough=1", name)
            self.assertEqual("iommu.passthrough=0" in ended.out, name == "gb300-smmu")


class DoctorFixSteps(Test):
    """Every check: the script applies its remedy, or prints the advice if it has no steps."""

    @classmethod
    def setUpClass(cls):
        cls.manual = {check for check in CASES if json.loads(run("gdrkit", "doctor", "explain", check, "--json").out)["remedy"]["is_manual"]}

    def test_checks_that_only_inform_get_into_no_script(self):
        self.assertEqual(INFORMS - self.manual, set())

    def test_applied_remedies_run_in_a_shell(self):
        for check in sorted(set(CASES) - self.manual):
            is_live = False
            for tree in faulty(check):
                with self.subTest(check):
                    if check == "nic.state":
                        tree = with_interface(tree, "ens5f1np1")
                    script = script_of(tree, check)
                    assert_shell(self, script)
                    self.assertNotIn("# ==== By hand", script)
                    self.assertNotRegex("\n".join(code_of(script) + HEREDOC.findall(script)), PLACEHOLDER)
                    self.assertRegex(script, rf"(?m)^# {re.escape(check)}: .")
                    is_live = is_live or "\nstep " + check in script or "add to the Linux command line" in script
                    if not WRITES_TO_SYSFS.search("\n".join(code_of(script))):  # the real one if root runs the tests
                        ran = Ran(script)
                        self.assertEqual((ran.code, ran.err, ran.left_behind), (0, "", []), script)
            self.assertTrue(is_live, f"{check}: no case of it is fixed by a command")

    def test_manual_remedies_state_who_is_responsible(self):
        for check in sorted(self.manual - INFORMS):
            for tree in faulty(check):
                with self.subTest(check):
                    script = script_of(tree, check, *ARGUMENTS.get(check, ()))
                    self.assertIn("# ==== By hand", script)
                    self.assertEqual(len(code_of(script)), 2, script)
                    self.assertRegex(script, r"(?m)^#   to do, by the (administrator|owner of the job): \S+ \S+")

    def test_manual_remedy_mentions_only_its_device(self):
        ecc = script_of(m.changed(m.server(), nvml_of(ecc_uncorrected=1)), "gpu.ecc")
        self.assertRegex(ecc, r"--gpu-reset\s+(#\s+)?-i\s+(#\s+)?" + m.GPU.rsplit("/", 1)[1])
        for tree in faulty("acs.vm_ats"):
            script = script_of(tree, "acs.vm_ats")
            functions = set(re.findall(r"mlxconfig -d (\S+)", script))
            self.assertEqual(functions & set(re.findall(r"config_acs=1xxxxxx@(\S+)", script)), set(), script)

    def test_administrator_must_edit_files_of_root(self):
        script = script_of(next(faulty("env.sources")), "env.sources")
        self.assertIn("by the administrator: remove line 1 of /etc/nccl.conf", script)

    def test_persistent_remedies_run_once_for_all_objects(self):
        tree = m.changed(m.server(), nvml_of(persistence=False, compute_mode=1, mig=True))
        ran = Ran(script_of(tree, "gpu.persistence", "gpu.compute_mode", "gpu.mig"))
        gpu = m.GPU.rsplit("/", 1)[1]
        for option in ("[-pm] [1]", "[-c] [DEFAULT]", "[-mig] [0]"):
            self.assertEqual(ran.calls.count(f"nvidia-smi [-i] [{gpu}] {option}"), 1, ran.calls)
        self.assertEqual(ran.calls.count("systemctl [enable] [--now] [nvidia-persistenced]"), 1)
        self.assertIn("nvidia-smi -pm 1", ran.files["/etc/systemd/system/gdrkit-persistence.service"])

    def test_job_services_get_the_limit(self):
        ran = Ran(script_of(m.changed(m.server(), {"/proc/self/limits": m.limits(lock="65536")}), "lim.memlock"))
        self.assertEqual({path: text for path, text in ran.files.items() if ".service.d/" in path},
                         {f"/etc/systemd/system/{unit}.service.d/90-gdrkit-memlock.conf": "[Service]\nLimitMEMLOCK=infinity\n"
                          for unit in ("slurmd", "docker", "containerd", "crio")})
        self.assertEqual(ran.calls[-2:], ["systemctl [daemon-reload]", "gdrkit [doctor] [--only] [lim.memlock]"])

    def test_driver_options_update_the_initramfs(self):
        tree = m.changed(m.server(), {"/proc/self/environ": "NVSHMEM_IB_ENABLE_IBGDA=1\0NVSHMEM_IBGDA_NIC_HANDLER=gpu\0"})
        ran = Ran(script_of(tree, "env.ibgda"))
        self.assertEqual(ran.files["/etc/modprobe.d/gdrkit-ibgda.conf"], 'options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"\n')
        self.assertIn("update-initramfs [-u] [-k] [all]", ran.calls)

    def test_enables_both_halves_of_ecn_if_one_is_on(self):
        (tree,) = faulty("roce.qos")
        with tempfile.TemporaryDirectory() as place:
            files = {(half, priority): pathlib.Path(place, f"eth0/ecn/roce_{half}/enable/{priority}")
                     for half in ("np", "rp") for priority in range(8)}
            for at, file in files.items():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("1\n" if at == ("np", 3) else "0\n", encoding="ascii")
            loop = re.search(r"(?ms)^for priority.*?^done$", script_of(tree, "roce.qos")).group(0)
            subprocess.run(["sh", "-eu", "-c", loop.replace("/sys/class/net", place)], timeout=60, check=True)
            enabled = {at for at, file in files.items() if file.read_text(encoding="ascii").strip() == "1"}
        self.assertEqual(enabled, {("np", 3), ("rp", 3)})


class DoctorFixHostile(Test):
    EVIL = ["$(touch HOSTILE)", "`touch HOSTILE`", "a;touch HOSTILE", "a'$(touch HOSTILE)'b", "a\ntouch HOSTILE\n", "-rf HOSTILE", "a\\",
            "a\"touch HOSTILE\"", "HOSTILE & touch HOSTILE", "$HOSTILE", "END_OF_FILE\ntouch HOSTILE", "a\rtouch HOSTILE", "HOSTILE\u2028x",
            "> HOSTILE", "{HOSTILE,b}", "~HOSTILE", "*HOSTILE", "HOSTILE #", "!HOSTILE", "0000:02:00.0;touch HOSTILE", "H" * 200]

    def hostile(self, chance):
        """A machine with faults and hostile names and contents wherever possible."""
        evil = lambda: chance.choice(self.EVIL)
        tree = m.changed(m.server(), {
            "/sys/class/infiniband/mlx5_1": None, "/proc/sys/kernel/hostname": evil() + "\n", m.GPU_PORT + "/config": m.config(acs=0x1d),
            "/proc/sys/kernel/numa_balancing": "1\n", m.GPU + "/iommu_group/type": "DMA" + evil() + "\n",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": evil() + "\n", "/sys/module/gdrdrv/version": evil(),
            "/sys/kernel/security/lockdown": "[integrity]" + evil() + "\n", "/proc/cmdline": "pcie_acs_override=" + evil() + "\n",
            "/proc/driver/nvidia/params": "GrdmaPciTopoCheckOverride: " + evil() + "\n", "/etc/modules-load.d": None})
        name = evil()
        directory = "/sys/class/infiniband/" + name
        tree.update({directory + "/device": m.Link(os.path.relpath(m.NIC2, directory)), directory + "/board_id": evil(),
                     directory + "/ports/" + evil() + "/state": evil(), directory + "/ports/1/phys_state": evil(),
                     m.NIC2 + "/config": m.config(0x2050), f"/sys/bus/pci/devices/{evil()}/vendor": "0x10de\n"})
        return with_interface(tree, evil(), name)

    def test_names_and_contents_never_become_code(self):
        chance = random.Random(4)
        for _ in range(40):
            script = script_of(self.hostile(chance))
            assert_shell(self, script)
            for line in code_of(script):
                self.assertNotIn("HOSTILE", re.sub(r"'[^']*'", "", line), script)
            self.assertNotIn("HOSTILE", "".join(HEREDOC.findall(script)), script)
            self.assertRegex(script, r"\A[\n -~]*\Z")
            ran = Ran(script, host=(re.findall(r"!= '([^']*)'", script) or ["h1"])[0])
            self.assertEqual((ran.left_behind, ran.err), ([], ""), script)
            self.assertNotIn("HOSTILE", "\n".join(ran.calls))

    def test_the_check_detects_an_injection(self):
        """Proves that the test above detects injections: the same script with an unquoted name creates a file."""
        ran = Ran("set -eu\nstep() { :; }\nstep $(cat > HOSTILE </dev/null)\n")
        self.assertEqual(ran.left_behind, ["HOSTILE"])


if __name__ == "__main__":
    unittest.main()
