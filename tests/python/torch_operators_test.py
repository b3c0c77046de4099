# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit.shmem.torch without a GPU: symmetric tensors, operators, and torch.compile on emulated PEs. On GPUs: gpu_test.py."""
import importlib.util
import sys

import gdrkit
import pytest
from conftest import USES_GPU
from gdrkit import shmem
from jobs import run_all_well

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
    pytest.mark.skipif(USES_GPU, reason="needs emulated memory; gpu_test.py has the same for a GPU"),
]

COLLECTIVES = """
import torch
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem
def main(pe, n):
    after, before = (pe + 1) % n, (pe - 1) % n
    inbox, signal = gshmem.zeros(2, 500), gshmem.zeros(1, dtype=torch.int64)
    for turn in range(1, 5):
        gshmem.put_signal(inbox, torch.full((1000,), 100.0 * pe + turn), signal, turn, after)
        gshmem.signal_wait_until(signal, ">=", turn, [inbox])
        assert (inbox == 100.0 * before + turn).all()
        gshmem.barrier_all()
    gshmem.signal_op(signal, 5, after, "add")
    gshmem.signal_wait_until(signal, "==", 9)
    source, target = gshmem.empty(2 * n), gshmem.empty(2 * n)
    source.copy_(torch.arange(2 * n) + 10 * pe)
    gshmem.barrier_all([source])
    gshmem.all_reduce(target, source)
    assert target.tolist() == [sum(10 * j + i for j in range(n)) for i in range(2 * n)]
    gshmem.all_gather(target, source[:2])
    assert target.tolist() == [10 * j + i for j in range(n) for i in range(2)]
    gshmem.all_to_all(target, source)
    assert target.tolist() == [10 * j + 2 * pe + i for j in range(n) for i in range(2)]
    gshmem.broadcast(target, source, 1)
    assert target.tolist() == [10 + i for i in range(2 * n)]
    gshmem.reduce_scatter(target[:2], source, "max")
    assert target[:2].tolist() == [10 * (n - 1) + 2 * pe + i for i in range(2)]
    got = torch.zeros(2 * n)
    gshmem.get(got, source, after)
    assert got.tolist() == [10 * after + i for i in range(2 * n)]
    row = shmem.world.split_strided(0, 1, n)
    gshmem.all_reduce(target[:1], source[:1], "min", row)
    assert target[0] == 0
    gshmem.barrier_all([target], row)
    gshmem.free(source)
    assert source.numel() == 0
with shmem.init(timeout=60):
    main(shmem.my_pe(), shmem.n_pes())
"""

# The values are symbols after the second call, so a third graph would be a compilation for each turn.
COMPILED = """
import torch
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem
class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inbox, self.sums, self.signal = gshmem.zeros(4, 250), gshmem.zeros(2), gshmem.zeros(1, dtype=torch.int64)
    def forward(self, numbers, turn, pe, after):
        for i in range(4):
            gshmem.put(self.inbox[i], numbers + i, after)
        gshmem.signal_op(self.signal, turn, after)
        gshmem.signal_wait_until(self.signal, ">=", turn, [self.inbox])
        own = self.inbox.sum()
        gshmem.put(self.sums[:1], own.reshape(1), pe)
        gshmem.all_reduce(self.sums[1:], self.sums[:1])
        total = self.sums[1] * 1
        gshmem.barrier_all([self.inbox, self.signal, self.sums])
        return own, total
def main(pe, n):
    step = torch.compile(Step(), fullgraph=True)
    for turn in range(1, 6):
        own, total = step(torch.full((250,), 10.0 * pe + turn), turn, pe, (pe + 1) % n)
        sums = [sum(250 * (10.0 * j + turn + i) for i in range(4)) for j in range(n)]
        assert (own.item(), total.item()) == (sums[pe - 1], sum(sums)), (turn, own, total, sums)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] <= 2
with shmem.init(timeout=120):
    main(shmem.my_pe(), shmem.n_pes())
"""

# Values that are older than a write or returned: torch.compile must copy them, not the tensor that an operator writes.
COPIED = """
import torch
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem
def ring(inbox, outbox, signal, last, pe, after):
    outbox.add_(1)
    half = inbox[500:]
    gshmem.put_signal(inbox, outbox, signal, 1, after)
    gshmem.signal_wait_until(signal, "==", 1, [inbox])
    received, part, more = inbox.clone(), half.clone(), inbox * 2
    gshmem.put(signal, torch.zeros_like(signal), pe)
    end = signal.clone()
    gshmem.barrier_all([inbox[:10], half, signal])
    gshmem.put(last, outbox[:2], pe)
    return received, part, more[998:] + 1, end, last.clone()
def main(pe, n):
    before, compiled = (pe - 1) % n, torch.compile(ring, fullgraph=True)
    inbox, signal, outbox = gshmem.zeros(1000), gshmem.zeros(1, dtype=torch.int64), torch.full((1000,), 100.0 * pe)
    last = gshmem.zeros(2)
    results = [compiled(inbox, outbox, signal, last, pe, (pe + 1) % n) for turn in range(3)]
    for turn, (received, part, more, end, own) in enumerate(results, 1):
        expected = 100.0 * before + turn
        assert (received == expected).all() and (part == expected).all(), (turn, received, part)
        assert (more.tolist(), end.tolist()) == ([2 * expected + 1] * 2, [0]), (turn, more, end)
        assert own.tolist() == [100.0 * pe + turn] * 2, (turn, own)
with shmem.init(timeout=120):
    main(shmem.my_pe(), shmem.n_pes())
"""

# Python's emulated memory cannot be shared, so gpu_test.py registers tensors.
REGISTRATION = """
import errno, gdrkit, torch
from gdrkit import shmem
from gdrkit.shmem import torch as gshmem
def main(pe, n):
    memory = gdrkit.Context().allocate(65536)
    mine = torch.from_dlpack(memory).view(torch.float32)
    for tensor, reason in ((mine, "exportable"), (mine[: 8 * pe + 8], "it has"), (mine[:0] if pe else mine, "PE 1 cannot|empty"),
                           (mine.view(2, -1).T, "not contiguous")):
        try:
            gshmem.register(tensor)
        except (gdrkit.Error, ValueError) as error:
            assert any(part in str(error) for part in reason.split("|")), error
        else:
            raise AssertionError(reason)
with shmem.init(timeout=60):
    main(shmem.my_pe(), shmem.n_pes())
"""


@pytest.mark.parametrize("n_pes, program", [(3, COLLECTIVES), (2, COMPILED), (2, COPIED), (2, REGISTRATION)],
                         ids=["collectives", "compiled", "copied", "registration"])
def test_runs_a_job_of_tensors(n_pes, program):
    run_all_well(n_pes, program, timeout=280)


@pytest.fixture
def gshmem():
    from gdrkit.shmem import torch as module
    with shmem.init(timeout=60):
        yield module


def test_rejects_invalid_tensors(gshmem):
    import torch
    inbox, signal, own = gshmem.zeros(4), gshmem.zeros(1, dtype=torch.uint64), torch.zeros(4)
    for call, error, reason in (
        (lambda: gshmem.put(inbox, own.double(), 0), TypeError, "type torch.float32, but the source has type torch.float64"),
        (lambda: gshmem.put(inbox[:2], own, 0), ValueError, "the source is too large: it has 4 elements, but the target has 2"),
        (lambda: gshmem.put(inbox, own.repeat(2)[::2], 0), ValueError, "the source is not contiguous"),
        (lambda: gshmem.put(own, own, 0), gdrkit.Error, "not in this PE's symmetric heap"),
        (lambda: gshmem.put(inbox, own, 1), gdrkit.Error, "PE 1"),
        (lambda: gshmem.signal_op(inbox[:1], 1, 0), TypeError, "as a signal"),
        (lambda: gshmem.signal_op(signal, 1, 0, "xor"), ValueError, "'xor' is not a signal operation"),
        (lambda: gshmem.signal_wait_until(signal, "==", 0, [own]), ValueError, "is not in symmetric memory"),
        (lambda: gshmem.barrier_all([own]), ValueError, "is not in symmetric memory"),
        (lambda: gshmem.all_gather(inbox, inbox[:1]), ValueError, "use a ratio of 1:1"),
        (lambda: gshmem.free(own), ValueError, "does not come from gdrkit.shmem.torch"),
        (gshmem.pool, gdrkit.Error, "requires a GPU"),
    ):
        with pytest.raises(error, match=reason):
            call()
    del call
    with pytest.raises(Exception, match="pass the tensors"):
        torch.compile(lambda tensor: (gshmem.barrier_all(), tensor + 1)[1], fullgraph=True, backend="eager")(inbox)
    view = inbox[1:]
    with pytest.raises(BufferError):
        gshmem.free(inbox)
    del view


def test_tracing_allocates_nothing_and_tracks_mutations(gshmem):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    inbox, own = gshmem.zeros(4), torch.ones(4)
    before = inbox._version
    torch.ops.gdrkit.put(inbox, own, 0)
    assert inbox._version == before + 1 and inbox.tolist() == [1.0] * 4
    mode = FakeTensorMode()
    fake, fake_part, fake_own = (mode.from_tensor(tensor) for tensor in (inbox, inbox[:1], own))
    with mode:
        assert torch.ops.gdrkit.put(fake, fake_own, 0) is None
        with pytest.raises(ValueError, match="the source is too large: it has 4 elements"):
            torch.ops.gdrkit.put(fake_part, fake_own, 0)
    del mode, fake, fake_part
    assert sys.modules["gdrkit.shmem.torch"] is gshmem


def test_custom_pass_runs_before_the_operator_pass(gshmem, monkeypatch):
    from gdrkit.shmem import _torch_compile as ours
    seen = []
    monkeypatch.setattr(ours.settings, "post_grad_custom_post_pass", seen.append)
    ours.install()
    ours.install()
    both = ours.settings.post_grad_custom_post_pass
    assert both.before == seen.append and both.uuid() is None
    graph = ours.torch.fx.Graph()
    graph.output(None)
    both(graph)
    assert seen == [graph]
    monkeypatch.setattr(ours.settings, "post_grad_custom_post_pass", None)
    ours.install()
    assert ours.settings.post_grad_custom_post_pass.uuid()
