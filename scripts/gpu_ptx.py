#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Compiles the GPU kernels to PTX for the oldest driver and GPU that support their instructions, and stores it in cmake/gpu_ptx.tar.xz.

A driver rejects PTX of a newer version than its own, and nvcc writes the newest version that it supports. So `.version`
and `.target` are lowered to the lowest that ptxas accepts for these instructions, starting at PTX 6.0 and sm_70 (the
first with the memory model).

usage: scripts/gpu_ptx.py        makes the archive; requires nvcc
       scripts/gpu_ptx.py NAME   prints the PTX of one GPU kernel from the archive"""
import collections
import concurrent.futures
import io
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = "platform/gpu_code/gpu_kernels.def"
ARCHIVE = os.path.join(ROOT, "cmake", "gpu_ptx.tar.xz")
OLDEST_TARGET = 70
OLDEST_VERSION = (6, 0)
HEAD = """// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A GPU kernel of gdrkit as PTX. Made by "./run ptx" with nvcc {compiler}: do not edit.
"""


def find_images():
    """Returns {name of a GPU kernel: (its source, the source's options)}."""
    images = {"mover": ("lib/engine/mover/mover.cu", ("-Ilib",))}
    with open(os.path.join(ROOT, LIST), encoding="ascii") as file:
        listed = re.findall(r"(?m)^GDRKIT_GPU_KERNEL\((\w+),", file.read())
    for name in listed:
        images[name] = (f"platform/gpu_code/{name}.cu", ("-I.", "-Iinclude"))
    return images


IMAGES = find_images()


class CannotRun(Exception):
    """A required tool is missing."""


def read_archive():
    """Returns {name: PTX}."""
    with tarfile.open(ARCHIVE) as archive:
        return {os.path.splitext(entry.name)[0]: archive.extractfile(entry).read().decode("ascii") for entry in archive}


def write_archive(path, files):
    """Writes {file name: content}. Equal files give equal bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as file:
        file.write(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def find_tool(name):
    directories = [os.environ.get(variable, "") for variable in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    found = shutil.which(name)
    for directory in directories:
        candidate = os.path.join(directory, "bin", name)
        if found is None and directory and os.access(candidate, os.X_OK):
            found = candidate
    if found is None:
        raise CannotRun(f"no {name} (CUDA toolkit) in PATH or /usr/local/cuda/bin")
    return found


def output_of(*command):
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def compiler_of(text):
    """Returns "13.0.88 (CL-36424714)" of the header that nvcc writes. The part of nvcc that makes PTX has a package and
    a version of its own, so `nvcc --version` does not identify it."""
    build = re.search(r"(?m)^// Compiler Build ID: (\S+)$", text).group(1)
    return re.search(r"(?m)^// Cuda compilation tools, .*, V([0-9.]+)$", text).group(1) + f" ({build})"


def recorded_compiler(text):
    return re.search(r'Made by "./run ptx" with nvcc (.+): do not edit', text).group(1)


def what_it_does(text):
    """Returns {function: count of each instruction}, to compare the work of two texts. Names of registers and labels
    are omitted, because they are numbered in the order of their use. Byte masks are omitted: depending on the machine,
    the same build of nvcc masks booleans again or not."""
    functions = {}
    for body in re.split(r"(?m)^(?=(?:\.visible |\.weak )?\.(?:entry|func)\b)", re.sub(r"(?m)[ \t]*//.*$", "", text)):
        lines = [re.sub(r"(%[a-z]+|\$L__BB|\$L)[0-9_]+", r"\1", " ".join(line.split())) for line in body.splitlines()]
        kept = [line for line in lines if line and not line.startswith((".reg ", "$L")) and line != "and.b32 %r, %r, 255;"]
        name = re.search(r"\b(?:entry|func)\b.*?(\w+) ?\($", kept[0] if kept else "")
        functions.setdefault(name.group(1) if name else "", collections.Counter()).update(kept)
    return functions


def architectures(ptxas):
    """Returns the architectures that this ptxas supports and that the GPU kernels can run on, ascending."""
    listed = output_of(ptxas, "--help")
    return sorted({int(number) for number in re.findall(r"'sm_(\d+)'", listed) if int(number) >= OLDEST_TARGET})


def accepts(ptxas, text, architecture):
    """Returns ptxas's error output, or "" if it compiles the text for sm_<architecture>; the quickest level accepts the same instructions."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "gpu_kernels.ptx")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        command = [ptxas, "-O0", f"-arch=sm_{architecture}", path, "-o", os.path.join(directory, "out")]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr or f"exit code {ended.returncode}"


def with_version(text, version, target):
    text = re.sub(r"(?m)^\.version .*$", f".version {version[0]}.{version[1]}", text)
    return re.sub(r"(?m)^\.target .*$", f".target sm_{target}", text)


def lower(text, ptxas):
    newest = tuple(int(number) for number in re.search(r"(?m)^\.version (\d+)\.(\d+)$", text).groups())
    listed = architectures(ptxas)
    for target in sorted({OLDEST_TARGET, *listed}):
        able = next(number for number in listed if number >= target)
        for major in range(OLDEST_VERSION[0], newest[0] + 1):
            for minor in range(10):
                lowered = with_version(text, (major, minor), target)
                if (major, minor) <= newest and not accepts(ptxas, lowered, able):
                    return lowered
    raise SystemExit(f"ptxas rejects every version up to that of nvcc:\n{accepts(ptxas, text, listed[-1])}")


def compile_ptx(image):
    source, options = IMAGES[image]
    nvcc, ptxas = find_tool("nvcc"), find_tool("ptxas")
    oldest = min(int(number) for number in re.findall(r"compute_(\d+)", output_of(nvcc, "--list-gpu-arch"))
                 if int(number) >= OLDEST_TARGET)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "out.ptx")
        output_of(nvcc, "-ptx", "-std=c++17", "-O3", "-Werror", "all-warnings", f"-arch=compute_{oldest}", *options,
                  source, "-o", path)
        with open(path, encoding="ascii") as file:
            text = file.read()
    compiler = compiler_of(text)
    text = re.sub(r"(?m)^[ \t]*//.*\n", "", text)  # nvcc's header, marks of inline assembly
    text = re.sub(r'(?m)^[ \t]*\.pragma "used_bytes_mask .*\n', "", text)  # a hint that requires PTX 8.3
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    return HEAD.format(compiler=compiler) + lower(text, ptxas)


def each_at_once(function, arguments):
    """Calls the function for all arguments on all CPUs and returns pairs (argument, result)."""
    arguments = list(arguments)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(arguments, pool.map(function, arguments)))


def main(arguments):
    if len(arguments) == 1 and arguments[0] in IMAGES:
        print(read_archive()[arguments[0]], end="")
        return 0
    if arguments:
        print(__doc__ + "\nNAME: " + " ".join(sorted(IMAGES)))
        return 0 if arguments in (["-h"], ["--help"]) else 2
    try:
        find_tool("nvcc"), find_tool("ptxas")
    except CannotRun as error:
        print(f"cannot make PTX: {error}", file=sys.stderr)
        return 77
    texts = dict(each_at_once(compile_ptx, IMAGES))
    if not os.path.exists(ARCHIVE) or texts != read_archive():
        write_archive(ARCHIVE, {f"{name}.ptx": text.encode("ascii") for name, text in texts.items()})
    for image, text in texts.items():
        version, target = re.search(r"(?m)^\.version (.*)\n\.target (.*)$", text).groups()
        print(f"{image}: PTX {version} for {target} and newer, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
