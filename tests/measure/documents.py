#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Results as the tools write them (docs/result-schema.md), made from a model with a fixed seed: pages are tested on them.
As a program it writes one: documents.py NAME >FILE."""
import json
import random
import statistics
import sys

SIZES = [1 << power for power in range(0, 29)]
# Time in ns: a latency, and 1 / bandwidth; numbers of one H200's order, none of them measured.
COPIES = {
    "to_device": {"mapping": ("through the mapping", 138, 1 / 24.5), "raw": ("raw loop", 137, 1 / 24.6),
                  "memcpy_pageable": ("cudaMemcpy, pageable", 4100, 1 / 11.0),
                  "memcpy_pinned": ("cudaMemcpy, pinned", 3800, 1 / 54.0),
                  "memcpy_async_pageable": ("cudaMemcpyAsync, pageable", 5200, 1 / 10.8),
                  "memcpy_async_pinned": ("cudaMemcpyAsync, pinned", 4700, 1 / 54.5)},
    "from_device": {"mapping": ("through the mapping", 1010, 1.01), "raw": ("raw loop", 1010, 1.008),
                    "memcpy_pageable": ("cudaMemcpy, pageable", 7900, 1 / 9.1),
                    "memcpy_pinned": ("cudaMemcpy, pinned", 7300, 1 / 53.0),
                    "memcpy_async_pageable": ("cudaMemcpyAsync, pageable", 8600, 1 / 9.0),
                    "memcpy_async_pinned": ("cudaMemcpyAsync, pinned", 8100, 1 / 53.2)},
}


def point(x, rounds, y=None, single=None):
    value = statistics.median(rounds)
    deviation = statistics.median(abs(one - value) for one in rounds)
    made = {"x": x, "value": value, "noise": 1.858 * deviation / len(rounds)**0.5 / value if value else 0,
            "minimum": min(rounds), "operations_per_round": 100, "rounds": rounds}
    if y is not None:
        made["y"] = y
    if single:
        made["single"] = dict(zip(("count", "minimum", "p50", "p99", "p999", "maximum"), single))
    return made


def series(identity, title, points, **fields):
    return {"id": identity, "group": "", "title": title, "operation": "copy", "direction": "", "method": "",
            "conditions": {}, "x_name": "size_bytes", "y_name": "", "unit": "ns", "better": "lower", "control": "",
            **fields, "points": points}


def head(tool, **fields):
    return {"schema_version": 2, "tool": tool, "version": "0.1.0", "date": "2026-11-21", "emulated": False,
            "backend": "rm",
            "machine": {"cpu_model": "Intel(R) Xeon(R) Platinum 8480+", "cpu_count": 32, "os_release": "6.8.0-60-generic",
                        "gpu_name": "NVIDIA H200", "gpu_pci_address": "0000:3b:00.0", "driver_version": "580.159.04"},
            "place": {"cpu": 4, "cpu_node": 0, "memory_node": 0, "gpu_node": 0, "advice": ""},
            "clock": {"name": "tsc", "why": "the time-stamp counter runs at a constant rate", "ns_per_tick": 0.5,
                      "overhead_ns": 11.2},
            "machine_noise": {"observed_ms": 50, "lost_share": 0.0004, "largest_gap_us": 7.1, "gaps": 21,
                              "is_quiet": True},
            "settings": {"store_kernel": "avx512", "load_kernel": "movntdqa", "mapping_type": "wc"}, "series": [],
            "ok": True, **fields}


def rounds_of(random_source, value, spread=0.01, count=9):
    return [round(value * max(0.5, random_source.gauss(1, spread)), 4) for _ in range(count)]


def singles_of(value):
    return (2000, round(value * 0.97, 3), round(value * 1.06 + 11, 3), round(value * 1.3 + 60, 3),
            round(value * 1.9 + 900, 3), round(value * 4 + 9000, 3))


def copies(source, sizes, slower=1.0):
    made = []
    for direction, methods in COPIES.items():
        for method, (title, latency, per_byte) in methods.items():
            points = []
            for size in sizes:
                value = latency + size * per_byte
                if method == "mapping" and size == 65536:
                    value *= slower
                points.append(point(size, rounds_of(source, value), single=singles_of(value)))
            made.append(series(f"copies/{direction}/{method}", title, points, group="copies_" + direction,
                               direction=direction, method=method,
                               control=f"copies/{direction}/raw" if method == "mapping" else ""))
    return made


def costs(source):
    made = []
    for operation, fixed, per_page in (("pin", 21, 0.2), ("map", 14, 0.6), ("pin_and_map", 36, 0.8), ("unmap", 9, 0.1),
                                       ("unpin", 11, 0.15)):
        points = [point(size, rounds_of(source, fixed + per_page * size / 65536, 0.03)) for size in SIZES[16:]]
        made.append(series("costs/" + operation, operation.replace("_", " "), points, group="costs",
                           operation=operation, method="mapping", unit="us"))
    opened = point(1, rounds_of(source, 310, 0.03), single=singles_of(310))
    return made + [series("costs/open", "open", [opened], group="costs_open", operation="open", method="mapping",
                          x_name="", unit="us")]


def threads(source):
    made = []
    for direction, one, most in (("to_device", 24.5, 42), ("from_device", 0.99, 11)):
        points = [point(count, rounds_of(source, min(one * count, most), 0.02)) for count in range(1, 17)]
        made.append(series("threads/" + direction, "1 MiB " + direction.replace("_", " "), points, group="threads",
                           direction=direction, method="mapping", x_name="threads", unit="GB/s", better="higher"))
    return made


def busy(source, what):
    made = []
    for method, factor in (("mapping", 1.7), ("raw", 1.69)):
        points = [point(size, rounds_of(source, factor * (138 + size / 24.5), 0.04)) for size in SIZES[:21:2]]
        made.append(series(f"busy_{what}/to_device/{method}", f"{COPIES['to_device'][method][0]}, beside a busy {what}",
                           points, group=f"busy_{what}/to_device", direction="to_device", method=method,
                           conditions={what: "busy"}))
    return made


def bench(seed=1, slower=1.0, **fields):
    source = random.Random(seed)
    made = head("bench", **fields)
    made["series"] = (copies(source, SIZES, slower) + costs(source) + threads(source) + busy(source, "gpu") +
                      busy(source, "bus"))
    return made


def quick(seed=5, cpus=2):
    """What `gdrkit bench --quick` writes, with its titles: nine sizes, costs of two, 8 B and 4 KiB by threads, busy GPU and bus."""
    source = random.Random(seed)
    made = head("bench", emulated=True, backend="emulated")
    made["series"] = copies(source, [1 << power for power in (0, 3, 6, 9, 12, 15, 18, 21, 24)])
    for one in made["series"]:
        one["title"] += ", " + one["direction"].replace("_", " the ")
        if one["method"] != "raw":
            one["control"] = f"copies/{one['direction']}/raw"
    for operation, value in (("open", 75), ("first_pin", 140), ("pin", 138), ("map", 4.3), ("pin_and_map", 142),
                             ("unmap", 2.4), ("unpin", 2.6), ("close", 0.6), ("mmap_munmap", 7.4)):
        is_control = operation == "mmap_munmap"
        made["series"].append(series(
            "costs/" + operation, "mmap + munmap of 64 KiB, the operating system's own" if is_control else
            operation.replace("_", " "), [point(size, rounds_of(source, value), single=singles_of(value)) for size in (65536, 4 << 20)],
            group="costs", operation=operation, method="raw" if is_control else "mapping", unit="us",
            control="" if is_control else "costs/mmap_munmap"))
    for direction in COPIES:
        words = direction.replace("_device", " the device")
        for size, text in ((8, "8 B"), (4096, "4 KiB")):
            for method, title in (("mapping", "through the mapping"), ("raw", "raw loop on the mapping")):
                made["series"].append(series(
                    f"threads/{direction}/{size}/{method}", f"{text} {words}, {title}",
                    [point(count, rounds_of(source, count * size / 900)) for count in (1, 2, 4, 8, 16) if count <= cpus],
                    group="threads/" + direction, direction=direction, method=method, x_name="threads", unit="GB/s",
                    better="higher", conditions={"size_bytes": str(size)}))
        for what, name in (("gpu", "GPU"), ("bus", "bus")):
            for method in ("mapping", "raw", "memcpy_async_pinned"):
                title, latency, per_byte = COPIES[direction][method]
                made["series"].append(series(
                    f"busy_{what}/{direction}/{method}", f"{title}, {words}, while the {name} is busy",
                    [point(size, rounds_of(source, 1.3 * (latency + size * per_byte)), single=singles_of(latency))
                     for size in (8, 4096, 65536, 1 << 20)], group=f"busy_{what}/{direction}", direction=direction,
                    method=method, conditions={what: "busy"}))
    return made


def bandwidth(gpus=8, seed=2):
    source = random.Random(seed)
    made = head("bandwidth")
    for method in ("copy_engine", "gpu_kernel"):
        points = [point(x, rounds_of(source, 2100 if x == y else 390, 0.01, 5), y)
                  for y in range(gpus) for x in range(gpus)]
        made["series"].append(series(f"device_to_device_memcpy_read_{method}", f"device_to_device_memcpy_read_{method}",
                                     points, group="device_to_device", direction="device_to_device", method=method,
                                     x_name="column", y_name="row", unit="GB/s", better="higher",
                                     conditions={"size": "512 MiB"}))
    return made


def strange():
    """What no section knows, what no axis has a place for, and what somebody may try to smuggle in."""
    source = random.Random(3)
    made = head("bench<script>alert(1)</script>", emulated=True, ok=False)
    made["machine"]["gpu_name"] = '"><img src=x onerror=alert(1)> & Söhne'
    made["machine_noise"].update(lost_share=0.07, is_quiet=False)
    made["place"]["advice"] = "The CPU is on node 1, the GPU on node 0: run it with numactl --cpunodebind=0."
    long_name = "a_word_without_any_space_" * 12
    few = [point(1, [5.0]), point(2, [7.0])]
    made["series"] = [
        series("a\"><b>", "</title><script>document.title='no'</script>", few, operation="<i>", method="\u202eevil\u0007"),
        series("long", long_name, [point(x, rounds_of(source, x)) for x in range(1, 9)], operation=long_name,
               group=long_name, x_name=long_name, unit=long_name, conditions={long_name: long_name}),
        series("zeros", "zeros and below", [point(x, [x - 3.0] * 3) for x in range(8)], group="zeros"),
        series("huge", "huge", [point(10.0**x, [10.0**(x * 2 - 300)] * 3) for x in range(0, 300, 7)], group="huge",
               x_name="count", unit="furlongs"),
        series("nothing", "nothing at all", [], group="nothing"),
        series("alone", "alone", [point(4096, [1.0, 2.0, 3.0])], group="alone", operation="dance", unit="ms"),
        series("ten thousand", "ten thousand points", [point(x, [100 + x % 97]) for x in range(1, 10001)],
               group="many", operation="count"),
        series("same/1", "same title", few, group="same"), series("same/2", "same title", few, group="same"),
        series("noisy", "noisy", [point(x, [1.0, 90.0, 300.0]) for x in (1, 2, 4, 8)], group="noisy"),
        series("holes", "matrix with holes", [point(0, [1.0], 0), point(5, [-2.0], 3), point(1e300, [1e300], 7)],
               group="holes", x_name="column", y_name="row", unit="GB/s", better="higher"),
        series("flat", "matrix of equals", [point(x, [3.0], y) for x in range(3) for y in range(3)], x_name="column",
               y_name="row", unit="GB/s", better="higher"),
    ] + [series(f"crowd/{number}", f"one of a crowd, {number}", [point(x, [float(x * number)]) for x in (1, 2, 4)],
                group="crowd", operation="crowd", method=f"m{number}") for number in range(1, 21)]
    return made


DOCUMENTS = {"bench": bench, "quick": quick, "bandwidth": bandwidth, "strange": strange, "slower": lambda: bench(4, 1.12)}

if __name__ == "__main__":
    json.dump(DOCUMENTS[sys.argv[1]](), sys.stdout, indent=1)
