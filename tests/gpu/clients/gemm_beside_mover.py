#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""What a matrix product loses while the mover stays on the GPU, and while it moves data.

usage: gemm_beside_mover.py LIBRARY_FOLDER
PyTorch's 8192^3 bf16 product (cuBLAS), alone, beside an idle resident mover and beside 10 GB/s of 256 KiB reads; medians of
interleaved rounds. Exits with 1 where the mover idles at a cost of 1.5 % or more, or moves at one of 3 % or more.
"""
import ctypes
import os
import statistics
import sys
import threading
import time

ROUNDS, PRODUCTS, SIZE = 9, 30, 8192
MODES = {"alone": None, "mover resident, idle": (64, 40e-6), "mover, 10 GB/s": (262144, 262144 / 10e9)}
LIMITS = {"mover resident, idle": 1.5, "mover, 10 GB/s": 3.0}


class MapOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("mapping_type", ctypes.c_int32), ("engine", ctypes.c_char_p)]


def map_by(gdrkit, tensor, engine):
    pin, pointer = ctypes.c_uint64(0), ctypes.c_void_p()
    options = MapOptions(ctypes.sizeof(MapOptions), 0, engine)
    lib = gdrkit.lib
    gdrkit.check(lib.gdrkit_pin(gdrkit.context, ctypes.c_uint64(tensor.data_ptr()), ctypes.c_size_t(tensor.numel()),
                                ctypes.byref(pin)))
    gdrkit.check(lib.gdrkit_map_with_options(pin, ctypes.byref(options), ctypes.byref(pointer)))
    return pin


class Reader(threading.Thread):
    """Reads so many bytes at each tick, as far as it can keep up."""

    def __init__(self, gdrkit, pin, host, size, period):
        super().__init__()
        self.call = lambda: gdrkit.check(gdrkit.lib.gdrkit_read(pin, ctypes.c_size_t(0), ctypes.c_void_p(host),
                                                                ctypes.c_size_t(size)))
        self.period, self.size, self.is_over, self.reads, self.seconds = period, size, False, 0, 0.0

    def run(self):
        begin = time.perf_counter()
        due = begin
        while not self.is_over:
            self.call()
            self.reads += 1
            due += self.period
            while time.perf_counter() < due and not self.is_over:
                pass
        self.seconds = time.perf_counter() - begin

    def rate(self):
        return self.reads * self.size / self.seconds / 1e9


def products_ms(torch, a, b, c):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(PRODUCTS):
        torch.matmul(a, b, out=c)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / PRODUCTS


def main(library_folder):
    try:
        import torch
    except ImportError:
        print("no PyTorch here")
        return 77
    if not torch.cuda.is_available():
        print("no GPU for PyTorch here")
        return 77
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from gdrkit_ctypes import Gdrkit
    sys.setswitchinterval(1e-5)
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.empty_like(a)
    source = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    host = torch.empty(1 << 20, dtype=torch.uint8, pin_memory=True)
    gdrkit = Gdrkit(library_folder)
    pin = map_by(gdrkit, source, b"mover")
    for _ in range(3):
        products_ms(torch, a, b, c)
    times, rates = {mode: [] for mode in MODES}, {mode: [] for mode in MODES}
    for _ in range(ROUNDS):
        for mode, pace in MODES.items():
            reader = Reader(gdrkit, pin, host.data_ptr(), *pace) if pace else None
            if reader:
                reader.start()
                time.sleep(0.002)
            times[mode].append(products_ms(torch, a, b, c))
            if reader:
                reader.is_over = True
                reader.join()
                rates[mode].append(reader.rate())
    gdrkit.close()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: {SIZE}^3 bf16, {ROUNDS} rounds of {PRODUCTS} products")
    failed = False
    for mode, each in times.items():
        median = statistics.median(each)
        losses = [(own / alone - 1) * 100 for own, alone in zip(each, times["alone"])]
        loss = statistics.median(losses)
        rate = f", mover {statistics.median(rates[mode]):.2f} GB/s" if rates[mode] else ""
        print(f"{mode:22} {median:.4f} ms, {2 * SIZE ** 3 / median / 1e9:.0f} TFLOP/s, loss {loss:+.2f} % "
              f"({min(losses):+.2f} to {max(losses):+.2f}){rate}")
        failed = failed or loss >= LIMITS.get(mode, 1e9)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
