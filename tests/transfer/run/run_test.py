#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit run: environment and output of the PEs, and the end of a job."""
import contextlib
import errno
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from program import BIN, HAS_GPU, Test

GDRKIT = os.path.join(BIN, "gdrkit")
PI = os.path.join(BIN, "..", "examples", "shmem_pi")
OWN = ("GDRKIT_", "OMPI_", "PMI", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_")
SOON = 60  # seconds: enough for any event on any machine


def variables(**more):
    return {**{name: value for name, value in os.environ.items() if not name.startswith(OWN)}, **more}


def launch(*arguments, **options):
    return subprocess.Popen([GDRKIT, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=variables(), **{"stdin": subprocess.DEVNULL, **options})


def run(*arguments, environment=None, **options):
    return subprocess.run([GDRKIT, "run", *arguments], capture_output=True, text=True, timeout=SOON,
                          env=environment or variables(), check=False, **{"stdin": subprocess.DEVNULL, **options})


def shell(text):
    return "--", "sh", "-c", text


def by_pe(ended):
    """PE -> its lines, of --prefix."""
    lines = {}
    for line in ended.stdout.splitlines():
        pe, text = re.fullmatch(r"\[ *(\d+)\] (.*)", line).groups()
        lines.setdefault(int(pe), []).append(text)
    return lines


def in_network(setup, *arguments):
    """Runs gdrkit run in its own network namespace, after the shell commands in setup. Skips if the system allows no namespace."""
    enter = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    why = subprocess.run([*enter, "sh", "-c", setup], capture_output=True, text=True, timeout=SOON, check=False)
    if why.returncode != 0:
        raise unittest.SkipTest(f"no network namespace: {why.stderr.strip()}")
    return subprocess.run([*enter, "sh", "-c", f'{setup}; exec "$0" run "$@"', GDRKIT, *arguments], capture_output=True, text=True, timeout=SOON,
                          env=variables(), check=False, stdin=subprocess.DEVNULL)


class Tracer:
    """A pipe that all processes of the launcher inherit: once it is closed, none of them is running."""

    def __enter__(self):
        self.reader, self.writer = os.pipe()
        os.set_inheritable(self.writer, True)
        return self

    def __exit__(self, *_):
        os.close(self.reader)
        self.close_writer()

    def close_writer(self):
        if self.writer >= 0:
            os.close(self.writer)
        self.writer = -1

    def everything_ended(self):
        self.close_writer()
        ready, _, _ = select.select([self.reader], [], [], SOON)
        return bool(ready) and os.read(self.reader, 1) == b""


class RunEnvironment(Test):
    def test_every_pe_receives_its_number(self):
        ended = run("-n", "3", "--prefix", *shell("echo $GDRKIT_SHMEM_PE $GDRKIT_SHMEM_NPES $GDRKIT_SHMEM_LOCAL_INDEX"))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(by_pe(ended), {0: ["0 3 0"], 1: ["1 3 1"], 2: ["2 3 2"]})

    def test_pe_0_listens_on_the_root_address_of_all(self):
        ended = run("-n", "3", "--prefix", "--", sys.executable, "-c", (
            "import os, socket\n"
            "fd = os.environ.get('GDRKIT_SHMEM_LISTEN_FD')\n"
            "if fd:\n"
            "    s = socket.socket(fileno=int(fd))\n"
            "    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)\n"
            "    print('%s:%d' % s.getsockname())\n"
            "else:\n"
            "    print(os.environ['GDRKIT_SHMEM_ROOT'])\n"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        lines = by_pe(ended)
        self.assertRegex(lines[0][0], r"^127\.0\.0\.1:\d+$")
        self.assertEqual([lines[1], lines[2]], [lines[0], lines[0]])

    def test_token_is_unique_per_job(self):
        tokens = []
        for _ in range(2):
            lines = by_pe(run("-n", "2", "--prefix", *shell("echo $GDRKIT_SHMEM_TOKEN")))
            self.assertEqual(lines[0], lines[1])
            self.assertRegex(lines[0][0], "^[0-9a-f]{32}$")
            tokens.append(lines[0])
        self.assertNotEqual(*tokens)

    def test_variables_of_an_outer_launcher_do_not_apply(self):
        outer = variables(GDRKIT_SHMEM_PE="7", GDRKIT_SHMEM_LISTEN_FD="99", GDRKIT_SHMEM_ROOT="elsewhere:1", OTHER="kept")
        ended = run("-n", "1", *shell("echo $GDRKIT_SHMEM_PE,$GDRKIT_SHMEM_LISTEN_FD,$GDRKIT_SHMEM_ROOT,$OTHER"), environment=outer)
        self.assertEqual(ended.stdout, "0,,,kept\n")

    def test_emulated_sets_the_backend_and_a_device_for_each_pe(self):
        for n_pes, devices in (("2", "2"), ("17", "16")):
            ended = run("-n", n_pes, "--emulated", *shell("echo $GDRKIT_BACKEND $GDRKIT_EMULATED_DEVICES"))
            self.assertEqual(set(ended.stdout.splitlines()), {f"emulated {devices}"})

    def test_only_pe_0_receives_input(self):
        with tempfile.TemporaryFile("w+") as file:
            file.write("text\n")
            file.seek(0)
            ended = run("-n", "2", "--prefix", "--", "cat", stdin=file)
        self.assertEqual((ended.returncode, by_pe(ended)), (0, {0: ["text"]}))

    def test_passes_options_after_the_dashes_to_the_program(self):
        self.assertEqual(run("-n", "1", "--", "echo", "-n", "--prefix", "--", "x").stdout, "--prefix -- x")


class RunOutput(Test):
    def test_keeps_lines_whole_and_streams_separate(self):
        text = ("for i in 1 2 3 4 5 6 7 8 9; do printf 'a%s' $GDRKIT_SHMEM_PE; printf 'b%s\\n' $i; done; "
                "printf 'no end'; echo problem >&2")
        ended = run("-n", "4", "--prefix", *shell(text))
        self.assertEqual(by_pe(ended), {pe: [f"a{pe}b{i}" for i in range(1, 10)] + ["no end"] for pe in range(4)})
        self.assertEqual(sorted(ended.stderr.splitlines()), [f"[{pe}] problem" for pe in range(4)])

    def test_large_output_is_complete(self):
        ended = run("-n", "2", "--prefix", "--", "seq", "200000")
        self.assertEqual(by_pe(ended), {pe: [str(i) for i in range(1, 200001)] for pe in range(2)})

    def test_job_ends_if_the_output_reader_ends(self):
        ended = subprocess.run(["bash", "-c", f"'{GDRKIT}' run -n 1 --prefix -- yes | head -1; exit ${{PIPESTATUS[0]}}"],
                               capture_output=True, text=True, timeout=SOON, check=False, env=variables())
        self.assertEqual((ended.stdout, ended.returncode), ("[0] y\n", 128 + signal.SIGPIPE))

    def test_lost_output_is_reported_and_fails(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            ended = subprocess.run([GDRKIT, "run", "-n", "1", "--prefix", "--", "echo", "x"], stdout=full, stderr=subprocess.PIPE,
                                   text=True, timeout=SOON, check=False, env=variables())
        self.assertEqual((ended.returncode, ended.stderr),
                         (1, "gdrkit run: cannot write to standard output: No space left on device; the output of PEs is lost\n"))

    def test_a_closed_standard_descriptor_is_not_reused(self):
        for number, closed in enumerate(("<&-", ">&-", "2>&-")):
            text = f"test \"$(readlink /proc/$$/fd/{number})\" = /dev/null"
            ended = subprocess.run(["bash", "-c", f"exec '{GDRKIT}' run -n 2 -- sh -c '{text}' {closed}"], timeout=SOON, check=False,
                                   env=variables())
            self.assertEqual(ended.returncode, 0, closed)

    def test_without_prefix_pes_print_directly(self):
        self.assertEqual(run("-n", "2", "--", "echo", "x").stdout, "x\nx\n")


class RunEnds(Test):
    def run_until_everything_ends(self, *arguments):
        """Runs a job, and checks that all its processes have ended afterwards."""
        with Tracer() as tracer:
            ended = run(*arguments, pass_fds=[tracer.writer])
            self.assertTrue(tracer.everything_ended())
        return ended

    def test_first_failure_ends_all_pes_and_sets_the_exit_code(self):
        for how, code, words in (("exit 7", 7, "exited with code 7"),
                                 ("kill -SEGV $$", 128 + signal.SIGSEGV, "was killed by signal 11 (Segmentation fault)")):
            text = f"test $GDRKIT_SHMEM_PE = 2 && {{ {how}; }}; sleep 300 & sleep 300"
            ended = self.run_until_everything_ends("-n", "4", *shell(text))
            self.assertEqual(ended.returncode, code)
            self.assertRegex(ended.stderr, rf"^gdrkit run: PE 2 \(process \d+\) {re.escape(words)}; ending PEs 0, 1 and 3\n$")

    def test_the_others_may_report_the_failure(self):
        text = "test $GDRKIT_SHMEM_PE = 1 && exit 3; trap 'echo ended too early' TERM; sleep 0.1; echo lost PE 1 >&2; exit 4"
        ended = run("-n", "3", "--prefix", *shell(text))
        self.assertEqual(ended.returncode, 3)
        self.assertEqual(ended.stdout, "")
        self.assertEqual([ended.stderr.count(f"[{pe}] lost PE 1") for pe in (0, 2)], [1, 1])

    def test_succeeds_if_all_pes_succeed(self):
        ended = self.run_until_everything_ends("-n", "3", *shell("sleep 300 > /dev/null 2>&1 & sleep 0.0$GDRKIT_SHMEM_PE"))
        self.assertEqual(ended.returncode, 0)

    def test_kills_a_pe_after_the_grace_time(self):
        text = "test $GDRKIT_SHMEM_PE = 1 && { sleep 0.2; exit 3; }; trap '' TERM; while :; do sleep 0.1; done"
        ended = self.run_until_everything_ends("-n", "2", "--grace", "0.3", *shell(text))
        self.assertEqual(ended.returncode, 3)
        self.assertIn("PE 0 did not end in time; killed", ended.stderr)

    def test_enforces_the_time_limit(self):
        started = time.monotonic()
        ended = run("-n", "2", "--time-limit", "0.3", "--", "sleep", "300")
        self.assertEqual(ended.returncode, 124)
        self.assertEqual(ended.stderr, "gdrkit run: the time limit of 0.3 s has expired; ending PEs 0 and 1\n")
        self.assertGreaterEqual(time.monotonic() - started, 0.3)

    def test_killed_launcher_leaves_no_processes(self):
        with Tracer() as tracer:
            # Each PE starts a process that no signal but KILL ends, and that is not a child of the launcher.
            launcher = launch("-n", "2", "--prefix", *shell("(trap '' TERM HUP INT; sleep 300) & echo started; sleep 300"),
                              pass_fds=[tracer.writer])
            self.assertIn("started", launcher.stdout.readline() + launcher.stdout.readline())
            launcher.kill()
            launcher.communicate(timeout=SOON)
            self.assertTrue(tracer.everything_ended())

    def test_other_pes_report_an_exit_before_joining_at_once(self):
        for n_pes, gone, words in ((2, 1, "PE 1 exited before it joined the job"), (4, 3, "PE 3 exited before it joined the job"),
                                   (2, 0, "PE 0 exited before all PEs had joined the job"), (5, 0, "PE 0 exited before all PEs had joined the job")):
            began = time.monotonic()
            ended = run("-n", str(n_pes), "--emulated", *shell(f'[ $GDRKIT_SHMEM_PE != {gone} ] || exit 0; exec {PI}'))
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(words, ended.stderr + ended.stdout, (n_pes, gone))
            self.assertLess(time.monotonic() - began, SOON / 2)  # 300 s without

    def test_full_queue_of_the_port_does_not_delay_the_launcher(self):
        # PE 0 closes its socket, like after the start of a job. Another program then listens there and accepts nothing.
        text = """
import os, time
if os.environ["GDRKIT_SHMEM_PE"] == "0":
    os.close(int(os.environ["GDRKIT_SHMEM_LISTEN_FD"]))
    print(os.environ["GDRKIT_SHMEM_ROOT"], flush=True)
time.sleep(1)
"""
        with contextlib.ExitStack() as sockets:
            while True:
                launcher = launch("-n", "12", "--", sys.executable, "-c", text)
                host, port = launcher.stdout.readline().strip().rsplit(":", 1)
                began = time.monotonic()
                try:
                    listener = sockets.enter_context(socket.create_server((host, int(port)), backlog=0))
                    break
                except OSError as error:  # another test's socket may get the port first
                    self.assertEqual(error.errno, errno.EADDRINUSE)
                    launcher.communicate(timeout=SOON)
            for _ in range(4):
                waiting = sockets.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(listener.getsockname())
            output, errors = launcher.communicate(timeout=SOON)
        self.assertEqual((launcher.returncode, output, errors), (0, "", ""))
        self.assertLess(time.monotonic() - began, 6)  # more than 11 s if each of 11 exits waits for 1 s

    def test_reports_the_descriptor_limit_for_many_pes(self):
        ended = run("-n", "40", "--emulated", *shell(f"ulimit -n 32; exec {PI}"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("raise ulimit -n", ended.stderr + ended.stdout)

    def test_pes_without_a_job_may_exit(self):
        ended = run("-n", "4", "--emulated", *shell(f'[ $GDRKIT_SHMEM_PE -lt 2 ] || exit 0; sleep 0.3; GDRKIT_SHMEM_NPES=2 exec {PI}'))
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)

    def test_shell_may_exit_before_its_pe(self):
        ended = run("-n", "2", "--emulated", *shell(f'[ $GDRKIT_SHMEM_PE = 0 ] && exec {PI}; (sleep 0.3; exec {PI}) & exit 0'))
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)

    def test_succeeds_if_a_pe_exits_without_joining(self):
        for gone in (0, 1):
            ended = self.run_until_everything_ends("-n", "2", *shell(f'[ $GDRKIT_SHMEM_PE = {gone} ] || sleep 0.5'))
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))

    def test_a_missing_program_is_reported_once(self):
        ended = run("-n", "3", "--", "no-such-program")
        self.assertEqual((ended.returncode, ended.stderr), (127, "gdrkit run: cannot start no-such-program: No such file or directory\n"))
        path = self.write("not_executable", "", 0o400)
        ended = run("-n", "3", "--", path)
        self.assertEqual((ended.returncode, ended.stderr), (126, f"gdrkit run: cannot start {path}: Permission denied\n"))

    def test_a_directory_is_rejected_as_a_program(self):
        os.mkdir(self.path("echo"))
        ended = run("-n", "1", "--", "echo", "x", environment=variables(PATH=f"{self.directory}:{os.environ['PATH']}"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "x\n"))
        ended = run("-n", "3", "--", self.directory)
        self.assertEqual((ended.returncode, ended.stderr), (126, f"gdrkit run: cannot start {self.directory}: Permission denied\n"))

    def test_an_invalid_executable_is_reported(self):
        path = self.write("invalid", "\0", 0o700)
        ended = run("-n", "1", "--no-bind", "--", path)
        self.assertEqual(ended.returncode, 126)
        self.assertIn(f"cannot start {path}: Exec format error", ended.stderr)


class RunSignals(Test):
    def started(self, *arguments):
        """A launcher whose two PEs have their traps."""
        launcher = launch("-n", "2", "--prefix", *arguments)
        lines = [launcher.stdout.readline() for _ in range(2)]
        self.assertEqual(sorted(lines), ["[0] ready\n", "[1] ready\n"])
        return launcher

    def test_forwards_signals_to_the_pes(self):
        for number, name, code in ((signal.SIGUSR1, "USR1", 0), (signal.SIGTERM, "TERM", 128 + signal.SIGTERM),
                                   (signal.SIGINT, "INT", 128 + signal.SIGINT)):
            launcher = self.started("--", sys.executable, "-u", "-c", (
                "import signal, sys\n"
                f"signal.signal(signal.SIG{name}, lambda *_: sys.exit(print('caught')))\n"
                "print('ready')\n"
                "while True: signal.pause()\n"))
            launcher.send_signal(number)
            out, err = launcher.communicate(timeout=SOON)
            self.assertEqual((sorted(out.splitlines()), err, launcher.returncode), (["[0] caught", "[1] caught"], "", code))

    def test_second_signal_kills_the_pes(self):
        launcher = self.started("--grace", "1000", *shell("trap '' INT TERM; echo ready; while :; do sleep 0.02; done"))
        launcher.send_signal(signal.SIGINT)
        time.sleep(0.1)  # two equal signals at once are one
        launcher.send_signal(signal.SIGTERM)
        _, err = launcher.communicate(timeout=SOON)
        self.assertEqual(launcher.returncode, 128 + signal.SIGINT)
        self.assertIn("PEs 0 and 1 did not end in time; killed", err)

    def test_stops_and_continues_with_the_pes(self):
        launcher = self.started(*shell("echo ready; i=0; while test $i -lt 20; do sleep 0.02; i=$((i + 1)); done; echo done"))
        launcher.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(launcher.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        launcher.send_signal(signal.SIGCONT)
        out, _ = launcher.communicate(timeout=SOON)
        self.assertEqual((sorted(out.splitlines()), launcher.returncode), (["[0] done", "[1] done"], 0))


@unittest.skipUnless(HAS_GPU, "requires a GPU")
class RunOnGpus(Test):
    def test_binds_pes_like_gdrkit_bind(self):
        planned = subprocess.run([GDRKIT, "bind", "--gpu", "0", "--dry-run"], capture_output=True, text=True, timeout=SOON,
                                 env=variables(), check=False)
        if planned.returncode != 0:
            self.skipTest(planned.stderr)
        cpus = re.search(r"(?m)^cpus +(\S+)$", planned.stdout).group(1)
        command = ("--", "grep", "Cpus_allowed_list", "/proc/self/status")
        self.assertEqual(run("-n", "1", *command).stdout.split()[1], cpus)
        allowed = subprocess.run(command[1:], capture_output=True, text=True, check=True).stdout.split()[1]
        self.assertEqual(run("-n", "1", "--no-bind", *command).stdout.split()[1], allowed)


class RunUsage(Test):
    def test_wrong_usage_is_reported(self):
        self.assert_rejected(["run"], (
            ((), "the program is missing"), (("-n", "2"), "the program is missing"), (("--", "true"), "the number of PEs is missing"),
            (("-n", "0", "--", "true"), "the number of PEs is missing"), (("-n", "2", "true"), "'true' before --"),
            (("-n", "2", "--time-limit", "soon", "--", "true"), "invalid --time-limit 'soon': use 0 to 1000000000 seconds"),
            (("-n", "2", "--grace", "-1", "--", "true"), "--grace"), (("-n", "x", "--", "true"), "'x'")))


class RunOnOtherNetworks(Test):
    def test_a_loopback_that_is_down_is_reported_at_once(self):
        ended = in_network("true", "-n", "2", "--emulated", "--", PI)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("Network is unreachable", ended.stderr + ended.stdout)

    def test_a_loopback_with_ipv6_only_works(self):
        ended = in_network("ip link set lo up && ip addr del 127.0.0.1/8 dev lo && ip addr show dev lo | grep -q ::1",
                           "-n", "2", "--emulated", "--", PI)
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)


if __name__ == "__main__":
    unittest.main()
