# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A pass over the graphs of torch.compile that lets gdrkit's operators write symmetric tensors in place.

torch.compile gives the result of each write a value of its own, and removes copies between values. If an older value is
used after a write, inductor lets the operator write a copy, which is not in symmetric memory. If the last value is
returned, the result is the symmetric tensor itself (observed with PyTorch 2.11). This pass copies these values instead.
"""
from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]
import torch._inductor.config as settings  # type: ignore[import-not-found, unused-ignore]
from torch._inductor.custom_graph_pass import (  # type: ignore[import-not-found, unused-ignore]
    CustomGraphPass,
    get_hash_for_files,
)

_aten: Any = torch.ops.aten


def _storage(node: Any) -> int | None:
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _writes(node: Any, value: Any) -> bool:
    """Graphs end with a copy_ of the last value to each input that was written."""
    return node.target is _aten.copy_.default and node.args[0] is value


def _replace_by_copy(graph: Any, value: Any, place: Any, users: list[Any]) -> None:
    """Copies the value before `place`, for these users."""
    with graph.inserting_before(place):
        copy = graph.call_function(_aten.clone.default, (value,))
    copy.meta["val"] = value.meta["val"].clone()
    for user in users:
        user.replace_input_with(value, copy)


def copy_values(graph: Any) -> None:
    """Copies values that are used after a later write, and those that are returned."""
    order = {node: index for index, node in enumerate(graph.nodes)}
    views = defaultdict(list)
    for node in graph.nodes:
        views[_storage(node)].append(node)
    written = {_storage(node) for node in graph.find_nodes(op="placeholder")} - {None}
    inputs = frozenset(written)
    functionalized = torch.ops.higher_order.auto_functionalized_v2
    for write in graph.find_nodes(op="call_function", target=functionalized):
        if getattr(write.args[0], "namespace", None) != "gdrkit":
            continue
        bases = write.kwargs["_all_bases"]
        for value in [value for base in bases for value in views[_storage(base)] if order[value] < order[write]]:
            late = [user for user in value.users if order.get(user, -1) > order[write] and not _writes(user, value)]
            if late:
                _replace_by_copy(graph, value, write, late)
        for result in write.users:  # (None, new value of each base)
            if result.target is operator.getitem and result.args[1] and _storage(bases[result.args[1] - 1]) in written:
                written.add(_storage(result))
    output = next(iter(reversed(graph.nodes)))
    for value in list(output.all_input_nodes):
        if _storage(value) in written - inputs:
            _replace_by_copy(graph, value, output, [output])


class _Pass(CustomGraphPass):  # type: ignore[misc, unused-ignore]
    def __init__(self, before: Any) -> None:
        self.before = before

    def __call__(self, graph: Any) -> None:
        if self.before is not None:
            self.before(graph)
        copy_values(graph)

    def uuid(self) -> Any:
        """For inductor's cache. None: inductor does not cache the graph."""
        own = get_hash_for_files((__file__,))
        if self.before is None:
            return own
        other = self.before.uuid() if isinstance(self.before, CustomGraphPass) else None
        return other and (own, other)


def install() -> None:
    """Adds the pass behind the one that a program has set."""
    if not isinstance(settings.post_grad_custom_post_pass, _Pass):
        settings.post_grad_custom_post_pass = _Pass(settings.post_grad_custom_post_pass)
