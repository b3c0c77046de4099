# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The run-time image's root: the files that packaging/containers/image.sh installs, on as much of a base as its commands need."""
import os
import re
import shutil
import subprocess

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
RECIPE = os.path.join(SOURCE, "packaging", "containers")
BUILD = os.path.dirname(os.environ["GDRKIT_BIN"])
# Those of a base image that the recipes call.
BASE_PROGRAMS = ("sh", "mv", "sleep", "true", "cat", "ls")
BASE_FOLDERS = ("dev", "proc", "sys", "tmp", "etc", "run", "host", "metrics", "usr/bin", "usr/lib", "usr/lib64", "usr/sbin")


def libraries_of(program):
    """Paths of the shared libraries that it is linked with, the dynamic linker among them."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m)(?:=> )?(/\S+) \(0x", listed)


def copy(source, root):
    """To the same path: links of the base lead there."""
    target = root + source
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(source, target)


def make_root(root):
    for folder in BASE_FOLDERS:
        os.makedirs(os.path.join(root, folder))
    for folder in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + folder, os.path.join(root, folder))
    subprocess.run([os.path.join(RECIPE, "image.sh"), "install", BUILD, root], check=True, stdout=subprocess.DEVNULL)
    programs = [shutil.which(name) for name in BASE_PROGRAMS]
    for program in programs:
        copy(program, root)
    for library in {path for program in (*programs, os.path.join(root, "usr/bin/gdrkit")) for path in libraries_of(program)}:
        if not os.path.exists(root + library):
            copy(library, root)
    os.chmod(root, 0o755)
