#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Builds the programs of this directory, which use NVSHMEM's names, on gdrkit and (--nvshmem) on NVSHMEM, and runs them with PEs.

--build and --run may be used on different machines: the directory contains the programs and the libraries. Prints a table of
results and times in seconds. The output of a program follows its row. Exits with 1 if a program does not build or fails on gdrkit, and
with 77 if nvcc or a GPU is missing. NVSHMEM's results do not change the exit code.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 60
LIBRARIES = {"gdrkit": ("libgdrkit.so.0", "libgdrkit_shmem.so.0"), "NVSHMEM": ("libnvshmem_host.so.3", "nvshmem_bootstrap_uid.so.3")}


def build(nvcc, arch, directory, name, home, programs):
    """Builds the programs with the options of a Makefile for NVSHMEM. Returns whether all of them compile."""
    os.makedirs(directory, exist_ok=True)
    for file in LIBRARIES[name]:
        shutil.copy(os.path.join(home, "lib", file), directory)
    # NVSHMEM's wheel lacks the name without version.
    has_name = os.path.exists(os.path.join(home, "lib", "libnvshmem_host.so"))
    link = ["-lnvshmem_host"] if has_name else ["-Xlinker", "-l:libnvshmem_host.so.3"]
    is_built = True
    for program in programs:
        command = [nvcc, "-std=c++17", f"-arch={arch}", "-rdc=true", os.path.join(HERE, program + ".cu"), f"-I{home}/include",
                   f"-L{home}/lib", *link, "-lnvshmem_device", "-Xlinker", "-s", "-o", os.path.join(directory, program)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if ended.returncode != 0:
            print(f"{program} does not compile on {name}:\n{ended.stdout}", flush=True)
            is_built = False
    return is_built


def run(directory, program, pes):
    """Runs a job. Returns ok, failed or timed out; the seconds; and the lines that the PEs print."""
    with tempfile.TemporaryDirectory() as scratch:
        # No other node takes part, so NVSHMEM needs no remote transport.
        environment = {"NVSHMEM_REMOTE_TRANSPORT": "none", **os.environ, "LD_LIBRARY_PATH": directory, "GDRKIT_TEST_PES": str(pes),
                       "GDRKIT_TEST_ID": os.path.join(scratch, "id")}
        begin = time.monotonic()
        jobs = []
        for pe in range(pes):
            with open(os.path.join(scratch, str(pe)), "wb") as output:
                jobs.append(subprocess.Popen([os.path.join(directory, program)], env={**environment, "GDRKIT_TEST_PE": str(pe)},
                                             stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT))
        # A PE that failed does not take part in the barriers of the others.
        while any(job.poll() is None for job in jobs) and not any(job.poll() for job in jobs) and time.monotonic() < begin + TIMEOUT_S:
            time.sleep(0.01)
        elapsed = time.monotonic() - begin
        result = "ok" if all(job.poll() == 0 for job in jobs) else "failed" if any(job.poll() for job in jobs) else "timed out"
        for job in jobs:
            job.kill()
            job.wait()
        lines = []
        for pe in range(pes):
            with open(os.path.join(scratch, str(pe)), encoding="utf-8", errors="replace") as output:
                lines += [f"PE {pe}: {line}" for line in output.read().splitlines()]
    return result, elapsed, lines


def run_all(directory, programs, pes):
    """Prints the table. Returns whether all programs pass on gdrkit."""
    names = [name for name in LIBRARIES if os.path.isdir(os.path.join(directory, name))]
    failed = {name: [] for name in names}
    print("program".ljust(19) + "".join(f"{name:<11}{'s':>6}   " for name in names).rstrip(), flush=True)
    for program in programs:
        row, printed = program.ljust(19), []
        for name in names:
            result, elapsed, lines = run(os.path.join(directory, name), program, pes)
            row += f"{result:<11}{elapsed:6.2f}   "
            printed += [f"  {name}, {line}" for line in lines]
            if result != "ok":
                failed[name].append(program)
        print("\n".join([row.rstrip(), *printed]), flush=True)
    for name in names:
        print(f"{name}: {len(programs) - len(failed[name])} of {len(programs)} programs pass", *failed[name] and ["- not", *failed[name]])
    return not failed["gdrkit"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIR", help="build into this directory")
    parser.add_argument("--run", metavar="DIR", help="run the programs that --build wrote to this directory")
    parser.add_argument("--gdrkit", metavar="HOME", help="<prefix>/lib/gdrkit/nvshmem of an installation, for --build")
    parser.add_argument("--nvshmem", metavar="HOME", help="NVSHMEM installation, to build on it as well")
    parser.add_argument("--nvcc", metavar="PROGRAM", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc",
                        help="CUDA compiler (nvcc of PATH)")
    parser.add_argument("--arch", default="sm_90", help="GPU architecture (sm_90)")
    parser.add_argument("-n", type=int, default=2, metavar="PES", help="number of PEs, at least 2 (2)")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="names without .cu (all)")
    arguments = parser.parse_args()
    if not (arguments.build or arguments.run) or arguments.n < 2:
        parser.error("--build or --run is required" if arguments.n >= 2 else "-n requires at least 2")
    # The machine that runs the programs needs no sources.
    files = glob.glob(os.path.join(HERE, "*.cu") if arguments.build else os.path.join(arguments.run, "gdrkit", "*"))
    everything = sorted(os.path.basename(path).split(".")[0] for path in files if ".so" not in path)
    programs = arguments.programs or everything
    unknown = sorted(set(programs) - set(everything))
    if unknown or not everything:
        parser.error(f"unknown program {unknown[0]}" if unknown else f"{arguments.run} has no programs: use --build first")
    if arguments.build:
        if not arguments.gdrkit:
            parser.error("--build requires --gdrkit")
        if not os.access(arguments.nvcc, os.X_OK):
            print("cannot compile the programs: nvcc not found; use --nvcc")
            return 77
        homes = {"gdrkit": arguments.gdrkit, **({"NVSHMEM": arguments.nvshmem} if arguments.nvshmem else {})}
        built = [build(arguments.nvcc, arguments.arch, os.path.join(arguments.build, name), name, home, programs) for name, home in homes.items()]
        if not all(built):
            return 1
    if arguments.run:
        if not os.path.exists("/dev/nvidiactl"):
            print("cannot run the programs: no GPU (/dev/nvidiactl does not exist)")
            return 77
        return 0 if run_all(os.path.abspath(arguments.run), programs, arguments.n) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
