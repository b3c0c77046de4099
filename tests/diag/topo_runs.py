# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs gdrkit topo on the machines of tests/fixtures/machines; NVLink as in a recording."""
import json

from doctor_runs import m, run_on

import named  # pylint: disable=wrong-import-position


def look(tree, *arguments):
    """The document of a machine."""
    ended = run_on(tree, "topo", "--json", *arguments)
    if ended.code not in (0, 3):
        raise AssertionError(ended.err)
    document = json.loads(ended.out)
    if document["exit_code"] != ended.code:
        raise AssertionError("the document names another exit code")
    return document


def tree_of(name):
    return named.NAMED[name]()


def cell(document, library, a, b):
    names = [device["name"] for device in document["devices"]]
    return document["distances"][library][names.index(a)][names.index(b)]


def best(document):
    return [(b["adapter"], b["class"]) for b in document["best_adapters"]]


def with_nvlinks(tree, switch_links=0, direct=None, c2c=0):
    """`tree` with NVML's facts: active links of each GPU to switches, or direct ones: {(a, b): count} by GPU number."""
    document = look(tree)
    addresses = [d["pci_address"] for d in document["devices"] if d["kind"] == "gpu"]
    gpus = []
    for number, address in enumerate(addresses):
        remotes = [("", "switch")] * switch_links
        for (a, b), count in (direct or {}).items():
            if number in (a, b):
                remotes += [(addresses[b if number == a else a], "gpu")] * count
        links = [{"index": i, "is_active": True, "can_p2p": True, "remote": remote, "remote_kind": kind}
                 for i, (remote, kind) in enumerate(remotes)]
        gpus.append({"index": number, "address": address, "c2c_links": c2c, "links": links})
    recorded = {"schema": "gdrkit.nvml/1", "outcome": "found", "gpus": gpus, "pairs": []}
    return m.changed(tree, {"/gdrkit/nvml.json": json.dumps(recorded) + "\n"})
