# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The rules of the CDI specification, version 0.5.0, as assertions. Runtimes reject a file with an unknown field."""
import re

KIND = re.compile(r"[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?/[A-Za-z]([A-Za-z0-9_-]*[A-Za-z0-9])?")
DEVICE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?")
MOUNT_OPTIONS = {"ro", "rw", "nosuid", "nodev", "noexec", "bind", "rbind", "private", "rprivate"}


def check_keys(entry, needed, allowed=()):
    assert isinstance(entry, dict), entry
    assert set(needed) <= set(entry) <= {*needed, *allowed}, f"fields {sorted(entry)}"


def check_edits(edits):
    check_keys(edits, (), ("env", "deviceNodes", "mounts", "hooks"))
    assert edits, "an empty edit"
    for variable in edits.get("env", []):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*=.*", variable), variable
    for node in edits.get("deviceNodes", []):
        check_keys(node, ("path",), ("hostPath", "type", "major", "minor", "fileMode", "permissions", "uid", "gid"))
        assert node["path"].startswith("/dev/"), node
        assert node.get("type", "c") in ("b", "c", "u", "p") and set(node.get("permissions", "rwm")) <= set("rwm"), node
    paths = [node["path"] for node in edits.get("deviceNodes", [])]
    assert len(set(paths)) == len(paths), f"duplicate node: {paths}"
    for mount in edits.get("mounts", []):
        check_keys(mount, ("hostPath", "containerPath"), ("options", "type"))
        assert mount["hostPath"].startswith("/") and mount["containerPath"].startswith("/"), mount
        assert set(mount.get("options", [])) <= MOUNT_OPTIONS, mount


def check_specification(made):
    check_keys(made, ("cdiVersion", "kind", "devices"), ("containerEdits",))
    assert made["cdiVersion"] == "0.5.0", made["cdiVersion"]
    assert KIND.fullmatch(made["kind"]), made["kind"]
    names = [device["name"] for device in made["devices"]]
    assert names and len(set(names)) == len(names), names
    for device in made["devices"]:
        check_keys(device, ("name", "containerEdits"))
        assert DEVICE.fullmatch(device["name"]), device["name"]
        check_edits(device["containerEdits"])
