#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Measures puts to a PE that only UCX reaches, on one machine, and compares them with UCX's own put of host memory.

Alternates several times between three measurements, for each UCX library and transport:
  ucp_put_nbx + ucp_ep_flush_nbx from host to host memory (gdrkit osu, as ucx_perftest measures it)
  gdrkit's put of host memory + quiet into GPU memory, with delivery through BAR1
  the same with delivery by the driver's copies (GDRKIT_SHMEM_REMOTE=copied)
Exit code 1: a run failed."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

TRANSPORTS = {"shared memory": "posix,cuda_copy,self", "TCP": "tcp,cuda_copy,self"}
LIMIT_S = 240
QUIET = {"UCX_WARN_UNUSED_ENV_VARS": "n", "UCX_LOG_LEVEL": "fatal"}


def document_of(words, variables):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ended = subprocess.run(words + [f"--json={file.name}"], env={**os.environ, **QUIET, **variables},
                               capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if ended.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} exited with {ended.returncode}: {(ended.stderr or ended.stdout).strip()}")
        return json.load(open(file.name, encoding="utf-8"))


def times_of_ucx(options, variables):
    words = [options.gdrkit, "osu", "put_latency", "-m", f"8:{options.most}", "-z", "50", "H", "H"]
    document = document_of(words, variables)
    return {row["size_bytes"]: row["p50"] for row in document["percentiles"]}, document["settings"]["library"]


def times_of_shmem(options, variables, way):
    words = [options.gdrkit, "shmem", "bench", "-t", "put_host_quiet", "-b", "8", "-e", str(options.most), "--rounds", "7",
             "--starts", "1", "-q"]
    document = document_of(words, {**variables, "GDRKIT_SHMEM_DISABLE_P2P": "1", "GDRKIT_SHMEM_REMOTE": way})
    points = [point for series in document["series"] if series["operation"] == "put" for point in series["points"]]
    return {int(point["x"]): point["value"] for point in points}


def median_of(runs):
    return {size: statistics.median(run[size] for run in runs) for size in runs[0]}


def measure(options, library, name, transports):
    variables = {"UCX_TLS": transports, **({"GDRKIT_UCX_LIBRARY": library} if library else {})}
    runs = {"ucx": [], "staged": [], "copied": []}
    version = ""
    for _ in range(options.runs):
        times, version = times_of_ucx(options, variables)
        runs["ucx"].append(times)
        for way in ("staged", "copied"):
            runs[way].append(times_of_shmem(options, variables, way))
    medians = {way: median_of(times) for way, times in runs.items()}
    rows = []
    print(f"\n{version}{f' ({library})' if library else ''}, {name}: UCX_TLS={transports}")
    print(f"{'size(B)':>8} {'UCX put+flush (us)':>19} {'put+quiet (us)':>15} {'ratio':>6} {'by copies (us)':>15} {'ratio':>6}")
    for size in sorted(set(medians["ucx"]) & set(medians["staged"]) & set(medians["copied"])):
        ucx, staged, copied = (medians[way][size] for way in ("ucx", "staged", "copied"))
        rows.append({"size_bytes": size, "ucx_us": ucx, "staged_us": staged, "copied_us": copied})
        print(f"{size:>8} {ucx:>19.2f} {staged:>15.2f} {staged / ucx:>6.2f} {copied:>15.2f} {copied / staged:>6.2f}",
              flush=True)
    if not rows:
        raise RuntimeError(f"{version}, {name}: no size was measured by all three")
    return {"ucx": version, "library": library or "libucp.so.0", "transports": transports, "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gdrkit", help="path of the program gdrkit")
    parser.add_argument("--ucx", action="append", metavar="FILE", default=[],
                        help="also measure this libucp.so.0 (GDRKIT_UCX_LIBRARY)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, alternating (default: 5)")
    parser.add_argument("--most", type=int, default=1024, help="largest size in bytes (default: 1024)")
    parser.add_argument("--json", metavar="FILE", help="also write the medians to FILE")
    options = parser.parse_args()
    measured, has_failed = [], False
    for library in [""] + options.ucx:
        for name, transports in TRANSPORTS.items():
            try:
                measured.append(measure(options, library, name, transports))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"remote_put: {name}: {error}", file=sys.stderr)
                has_failed = True
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"measured": measured, "ok": not has_failed}, file, indent=1)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
