#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A product of square bf16 matrices by a persistent GPU kernel: the given number of blocks processes all tiles."""
import triton
import triton.language as tl

ROWS, COLUMNS, DEPTH = 128, 256, 64


@triton.jit
def multiply_tiles(a, b, c, size, blocks, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    across = size // columns
    for tile in range(tl.program_id(0), size // rows * across, blocks):
        row = tile // across * rows + tl.arange(0, rows)
        column = tile % across * columns + tl.arange(0, columns)
        inner = tl.arange(0, depth)
        from_a = a + row[:, None] * size + inner[None, :]
        from_b = b + inner[:, None] * size + column[None, :]
        total = tl.zeros((rows, columns), dtype=tl.float32)
        for _ in range(0, size, depth):
            total = tl.dot(tl.load(from_a), tl.load(from_b), total)
            from_a += depth
            from_b += depth * size
        tl.store(c + row[:, None] * size + column[None, :], total.to(tl.bfloat16))


def multiply(a, b, c, blocks):
    """Returns c = a b; sizes are multiples of 256."""
    multiply_tiles[(blocks,)](a, b, c, a.shape[0], blocks, ROWS, COLUMNS, DEPTH, num_warps=8, num_stages=3)
