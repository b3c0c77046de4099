# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The run-time image's root: the files that packaging/containers/image.sh installs, on the part of a base image that its commands need."""
import os
import re
import shutil
import subprocess

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
RECIPE = os.path.join(SOURCE, "packaging", "containers")
BUILD = os.path.dirname(os.environ["GDRKIT_BIN"])
# The programs of a base image that the recipes call.
BASE_PROGRAMS = ("sh", "mv", "sleep", "true", "cat", "ls")
BASE_DIRECTORIES = ("dev", "proc", "sys", "tmp", "etc", "run", "host", "metrics", "usr/bin", "usr/lib", "usr/lib64", "usr/sbin")


def libraries_of(program):
    """Returns the paths of the shared libraries that it is linked with, including the dynamic linker."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m)(?:=> )?(/\S+) \(0x", listed)


def copy(source, root):
    """Copies to the same path: the base contains links to it."""
    target = root + source
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(source, target)


def make_root(root):
    for directory in BASE_DIRECTORIES:
        os.makedirs(os.path.join(root, directory))
    for directory in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + directory, os.path.join(root, directory))
    subprocess.run([os.path.join(RECIPE, "image.sh"), "install", BUILD, root], check=True, stdout=subprocess.DEVNULL)
    programs = [shutil.which(name) for name in BASE_PROGRAMS]
    for program in programs:
        copy(program, root)
    for library in {path for program in (*programs, os.path.join(root, "usr/bin/gdrkit")) for path in libraries_of(program)}:
        if not os.path.exists(root + library):
            copy(library, root)
    os.chmod(root, 0o755)
