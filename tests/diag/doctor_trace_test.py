#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The files opened by commands that read a machine, traced by strace: none for writing, on every recording and on this machine."""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

from doctor_runs import Lent
from hostile import HOSTILE
from named import NAMED
from program import BIN, Test, main

OPENING = "open,openat,openat2,creat"
CHANGING = ("unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,truncate,ftruncate,fallocate,chmod,fchmod,fchmodat,chown,"
            "fchown,fchownat,mknod,mknodat,link,linkat,symlink,symlinkat,rmdir,setxattr,fsetxattr,mount,umount2,init_module,"
            "finit_module,delete_module,reboot,sethostname,pwrite64,pwritev")
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE|creat\(")
# The files that NVIDIA's libraries open for writing on a live machine at level probe: the list of diag/doctor/README.md.
PROBED = re.compile(r'"/dev/(nvidiactl|nvidia\d+|nvidia-uvm|nvidia-modeset|nvidia-caps/[^"/]+|infiniband/uverbs\d+)"')
CALL = re.compile(r"^\d+ +(\w+)\(")
# Other commands that read a machine: arguments, and the exit codes that are not errors.
OTHERS = [(("doctor", "fix"), (0,)), (("doctor", "--prom"), (0,)), (("doctor", "--watch", "0.1", "--count", "1"), (0, 1, 77)),
          (("topo", "--as", "all"), (0, 3)), (("topo", "--json"), (0, 3)), (("topo", "--dot"), (0, 3)),
          (("bind", "--gpu", "0", "--dry-run"), (0, 1, 77)), (("env", "nccl"), (0, 3)), (("env", "ucx", "--json"), (0, 3))]
# Limits for the largest machines: number of files, and memory.
MOST_FILES, MOST_KIB = 12000, 64 * 1024


class Trace:
    """One run of the program under strace."""

    def __init__(self, arguments, directory, calls=OPENING + "," + CHANGING + ",execve", options=()):
        path = os.path.join(directory, "trace")
        ended = subprocess.run(["strace", "-f", "--seccomp-bpf", *options, "-o", path, "-e", "trace=" + calls, os.path.join(BIN, "gdrkit"), *arguments],
                               capture_output=True, text=True, timeout=240, check=False, errors="replace",
                               env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # the leak check itself needs ptrace
        self.code, self.err = ended.returncode, ended.stderr
        with open(path, encoding="utf-8", errors="replace") as file:
            self.lines = [line for line in file.read().splitlines() if CALL.match(line)]

    def named(self, names):
        selected = set(names.split(","))
        return [line for line in self.lines if CALL.match(line).group(1) in selected]

    def opened_for_writing(self):
        return [line for line in self.named(OPENING) if WRITES.search(line)]

    def files_read(self):
        return [line for line in self.named(OPENING) if "O_PATH" not in line and "O_DIRECTORY" not in line]


@functools.cache
def why_no_trace():
    """"" if strace works."""
    if shutil.which("strace") is None:
        return "no strace"
    with tempfile.TemporaryDirectory() as directory:
        return "this machine forbids tracing" if "ptrace" in Trace(["--version"], directory).err.lower() else ""


class DoctorTrace(Test):
    def setUp(self):  # not setUpClass, whose skip would count as "Ran 0 tests", a failure
        super().setUp()
        if why := why_no_trace():
            self.skipTest(why)

    def assert_changes_nothing(self, trace, shown, except_for=None):
        self.assertGreater(len(trace.named(OPENING)), 10, shown)
        bad = [line for line in trace.opened_for_writing() if except_for is None or not except_for.search(line)]
        self.assertEqual(bad + trace.named(CHANGING), [], shown)
        # A sanitizer may restart the program; no other program is started.
        self.assertEqual([line for line in trace.named("execve") if "gdrkit" not in line], [], shown)

    def test_the_doctor_opens_nothing_for_writing_on_any_machine(self):
        for name, make in {**NAMED, **HOSTILE}.items():
            with Lent(make()) as root:
                trace = Trace(["doctor", "--root", root], self.directory)
            self.assertIn(trace.code, (0, 1, 3), (name, trace.err))
            self.assert_changes_nothing(trace, name)

    def test_no_other_command_opens_anything_for_writing(self):
        for name in ("dgx-h100-ok", "ws-acs-iommu", "vm-h100-1gpu", "empty", "loops", "junk"):
            with Lent({**NAMED, **HOSTILE}[name]()) as root:
                for arguments, codes in OTHERS:
                    trace = Trace([*arguments, "--root", root], self.directory)
                    self.assertIn(trace.code, codes, (name, arguments, trace.err))
                    self.assert_changes_nothing(trace, (name, arguments))

    def test_nothing_is_opened_for_writing_on_this_machine(self):
        for arguments in [("doctor",), *(arguments for arguments, _ in OTHERS)]:
            self.assert_changes_nothing(Trace(arguments, self.directory), arguments)

    def test_level_probe_opens_only_listed_devices_for_writing(self):
        trace = Trace(["doctor", "--level", "probe"], self.directory)
        self.assertIn(trace.code, (0, 1, 3), trace.err)
        self.assert_changes_nothing(trace, "--level probe", except_for=PROBED)

    def test_probe_of_a_recording_uses_no_library_or_device(self):
        with Lent(NAMED["dgx-h100-ok"]()) as root:
            trace = Trace(["doctor", "--root", root, "--level", "probe"], self.directory)
        self.assert_changes_nothing(trace, "--level probe")
        self.assertEqual([line for line in trace.files_read() if re.search(r'"(/dev/|.*lib(cuda|nvidia-ml)\.so)', line)], [])

    def test_a_snapshot_opens_one_file_for_writing(self):
        place = os.path.join(self.directory, "node.tar")
        with Lent(NAMED["dgx-h100-ok"]()) as root:
            trace = Trace(["snapshot", place, "--root", root], self.directory)
            self.assertEqual(trace.code, 0, trace.err)
            self.assertGreater(os.path.getsize(place), 1000)
            written = [re.search(r'"([^"]*)"', line).group(1) for line in trace.opened_for_writing()]
            self.assertEqual(len(written), 1, written)
            self.assertTrue(written[0].startswith(("node.tar", place)), written)

    def test_a_recording_is_read_only_below_its_root(self):
        """Once the root is open, only open directories and single names are used."""
        with Lent(NAMED["dgx-h100-ok"]()) as root:
            opens = Trace(["doctor", "--root", root], self.directory).named(OPENING)
        first = [number for number, line in enumerate(opens) if f'"{root}"' in line][0]
        names = [re.search(r'\((AT_FDCWD|\d+), "([^"]*)"', line).groups() for line in opens[first + 1:]]
        self.assertGreater(len(names), 1000)
        self.assertEqual([(at, name) for at, name in names if at == "AT_FDCWD" or "/" in name or name == ".."], [])

    def test_trace_detects_a_write(self):
        path = self.file("trace")
        subprocess.run(["strace", "-f", "-o", path, "-e", "trace=" + OPENING, sys.executable, "-c", f"open({self.directory + '/x'!r}, 'w')"],
                       check=True)
        self.assertTrue(any(WRITES.search(line) for line in path.read_text(encoding="utf-8").splitlines()))


class DoctorLimits(Test):
    """The largest machines need little memory and few files; the number of files replaces a time limit."""

    def test_largest_machines_use_little_memory(self):
        for name in ("dgx-h100-ok", "large"):
            kib, code = _peak_kib(NAMED[name]())
            self.assertEqual(code, 0, name)
            if "asan" not in BIN and "tsan" not in BIN:
                self.assertLess(kib, MOST_KIB, name)

    def test_largest_machines_open_a_bounded_number_of_files(self):
        if why := why_no_trace():
            self.skipTest(why)
        for name in ("dgx-h100-ok", "large"):
            with Lent(NAMED[name]()) as root:
                trace = Trace(["doctor", "--root", root], self.directory)
            self.assertGreater(len(trace.files_read()), 300, name)
            self.assertLess(len(trace.files_read()), MOST_FILES, name)


def _peak_kib(tree):
    """In a process that only starts the program, so that no other child counts."""
    script = ("import os, resource, sys\n"
              "child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', 1, 0)])\n"
              "code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, code)\n")
    with Lent(tree) as root:
        ended = subprocess.run([sys.executable, "-c", script, os.path.join(BIN, "gdrkit"), "doctor", "--root", root],
                               capture_output=True, text=True, timeout=240, check=True)
    kib, code = ended.stdout.split()
    return int(kib), int(code)


if __name__ == "__main__":
    main()
