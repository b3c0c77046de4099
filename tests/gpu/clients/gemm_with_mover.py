#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Measures the slowdown of a matrix product while the mover stays on the GPU, and while it moves data.

usage: gemm_with_mover.py PACKAGE_DIRECTORY    PACKAGE_DIRECTORY contains the Python package gdrkit: build/python
PyTorch's 8192^3 bf16 product (cuBLAS) runs alone, with an idle resident mover, and with 10 GB/s of 256 KiB reads. Short
rounds alternate, because the GPU's power changes all of them from second to second. A loss is the median over the
rounds, with its 95 % confidence interval. It is relative to the mean of the rounds alone before and after.
Exits with 1 if an idle mover costs 1.5 % or more, or a moving one 3 % or more. The same is measured for a persistent
product (Triton: one block per multiprocessor, each with many tiles), without a limit.
"""
import statistics
import sys
import threading
import time

ROUNDS, PRODUCTS, SIZE = 61, 8, 8192
MODES = {"mover resident, idle": (64, 40e-6), "mover, 10 GB/s": (262144, 262144 / 10e9)}
LIMITS = {"mover resident, idle": 1.5, "mover, 10 GB/s": 3.0}


class Reader(threading.Thread):
    """Reads a fixed number of bytes at each tick, as far as it can keep up."""

    def __init__(self, mapping, host, size, period):
        super().__init__()
        target = host[:size]
        self.call = lambda: mapping.read_into(0, target)
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


def rounds_ms(torch, product):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(PRODUCTS):
        product()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / PRODUCTS


def interval(values):
    """Returns the 95 % confidence interval of the median."""
    ordered, half = sorted(values), 0.98 * len(values) ** 0.5
    middle = len(values) / 2
    return ordered[max(0, int(middle - half))], ordered[min(len(values) - 1, int(middle + half))]


def with_mover(torch, mapping, host, product):
    """Returns the times alone, and for each mode the losses in percent and the mover's rates."""
    alone, losses, rates = [rounds_ms(torch, product)], {mode: [] for mode in MODES}, {mode: [] for mode in MODES}
    for _ in range(ROUNDS):
        for mode, pace in MODES.items():
            reader = Reader(mapping, host, *pace)
            reader.start()
            time.sleep(0.002)
            loaded = rounds_ms(torch, product)
            reader.is_over = True
            reader.join()
            rates[mode].append(reader.rate())
            time.sleep(0.002)  # the mover leaves after 0.1 ms without work
            alone.append(rounds_ms(torch, product))
            losses[mode].append((loaded / statistics.mean(alone[-2:]) - 1) * 100)
    return alone, losses, rates


def persistent_product(torch, a, b, c):
    """Returns the same product by a persistent GPU kernel, or None without Triton."""
    try:
        from persistent_product import multiply
    except ImportError:
        return None
    blocks = torch.cuda.get_device_properties(0).multi_processor_count

    def product():
        multiply(a, b, c, blocks)

    product()
    expected = torch.matmul(a, b)
    if not torch.allclose(c.float(), expected.float(), rtol=2e-2, atol=1.0):
        raise RuntimeError("the persistent product is wrong")
    return product


def main(package_directory):
    try:
        import torch
    except ImportError:
        print("PyTorch not found")
        return 77
    if not torch.cuda.is_available():
        print("PyTorch found no GPU")
        return 77
    sys.path.insert(0, package_directory)
    import gdrkit
    sys.setswitchinterval(1e-5)
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.empty_like(a)
    source = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    host = torch.empty(1 << 20, dtype=torch.uint8, pin_memory=True).numpy()
    mapping = gdrkit.map(source, engine="mover")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: {SIZE}^3 bf16, {ROUNDS} rounds of {PRODUCTS} products")
    failed = False
    for name, product in {"cuBLAS": lambda: torch.matmul(a, b, out=c), "persistent": persistent_product(torch, a, b, c)}.items():
        if product is None:
            print(f"{name}: Triton not found")
            continue
        for _ in range(3):
            rounds_ms(torch, product)
        alone, losses, rates = with_mover(torch, mapping, host, product)
        median = statistics.median(alone)
        print(f"{name}, alone: {median:.4f} ms, {2 * SIZE ** 3 / median / 1e9:.0f} TFLOP/s")
        for mode, each in losses.items():
            loss, (least, most) = statistics.median(each), interval(each)
            print(f"  {mode:22} loss {loss:+.2f} % (95 %: {least:+.2f} to {most:+.2f}), mover {statistics.median(rates[mode]):.2f} GB/s")
            failed = failed or (name == "cuBLAS" and loss >= LIMITS[mode])
    mapping.close()
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
