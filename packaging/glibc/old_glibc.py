#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Writes a directory for the linker's -L that binds programs and libraries to an older glibc than this machine's. It
contains libraries with the symbols of the installed ones, each in its newest version up to the given one, and an
archive with later functions.
usage: old_glibc.py DIRECTORY VERSION COMPILER      e.g. old_glibc.py build/old_glibc 2.28 gcc
Link with -L DIRECTORY -Wl,--wrap=__libc_start_main (start.c)."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Libraries whose functions moved to libc.so.6 in glibc 2.34.
MOVED = {"libpthread.so.0": r"pthread_|sem_", "libdl.so.2": r"dl(open|mopen|close|sym|vsym|addr|addr1|error|info)$",
         "librt.so.1": r"shm_|mq_|aio_|timer_|lio_listio"}


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def number_of(version):  # "GLIBC_2.2.5"; None for GLIBC_PRIVATE and other libraries
    match = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version)
    return match and tuple(int(part) for part in match[1].split("."))


def symbols_of(library, newest):
    """Returns name -> (version, type, size) of the symbols that the library defines."""
    found = {}
    for line in output_of("readelf", "-W", "--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) != 8 or fields[6] == "UND" or "@" not in fields[7]:
            continue
        name, version = re.split("@+", fields[7])
        number = number_of(version)
        if number and number <= newest and fields[3] in ("FUNC", "IFUNC", "OBJECT") and number >= number_of(found.get(name, ("GLIBC_0.0",))[0]):
            found[name] = (version, fields[3], int(fields[2], 0))
    return found


def write_library(directory, name, symbols, compiler):
    """Writes a shared library of this name that has these symbols and no code."""
    base = os.path.join(directory, name)
    versions = {}
    with open(base + ".s", "w", encoding="ascii") as file:
        for symbol, (version, kind, size) in sorted(symbols.items()):
            versions.setdefault(version, []).append(symbol)
            section, kind = (".bss", "object") if kind == "OBJECT" else (".text", "function")
            file.write(f"{section}\n.balign 32\n.globl {symbol}\n.type {symbol}, %{kind}\n{symbol}: .zero {max(size, 1) if kind == 'object' else 1}\n"
                       f".size {symbol}, {size if kind == 'object' else 1}\n")
    with open(base + ".map", "w", encoding="ascii") as file:
        for version in sorted(versions, key=number_of):
            file.write(f"{version} {{ {'; '.join(versions[version])}; }};\n")
    output_of(compiler, "-shared", "-nostdlib", f"-Wl,-soname,{name},--version-script={base}.map", base + ".s", "-o", base)


def versions_defined_by(library):
    return set(re.findall(r"Name: (GLIBC_[0-9.]+)", output_of("readelf", "-W", "-V", library).split("Version needs section")[0]))


def write_archive(directory, compiler):
    objects = []
    for name, standard in (("calls", "gnu11"), ("numbers", "c99"), ("start", "gnu11"), ("unwind", "gnu11")):
        objects.append(os.path.join(directory, name + ".o"))
        output_of(compiler, f"-std={standard}", "-O2", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-Wall", "-c",
                  os.path.join(HERE, name + ".c"), "-o", objects[-1])
    archive = os.path.join(directory, "libold_glibc.a")
    if os.path.exists(archive):
        os.remove(archive)
    output_of("ar", "rcsD", archive, *objects)
    return archive


def main():
    directory, version, compiler = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    newest = number_of("GLIBC_" + version)
    os.makedirs(directory, exist_ok=True)

    def path_of(name):
        path = output_of(compiler, "-print-file-name=" + name).strip()
        if not os.path.isabs(path):
            sys.exit(f"error: cannot link against glibc {version}: {compiler} lacks {name}; build on a system with glibc")
        return os.path.realpath(path)

    libc = path_of("libc.so.6")
    loader = re.search(r"\(NEEDED\).*\[(ld-[^\]]+)\]", output_of("readelf", "-W", "-d", libc))[1]
    symbols = symbols_of(libc, newest)
    libraries = []
    for name, pattern in MOVED.items():
        versions = versions_defined_by(path_of(name))
        moved = {symbol: symbols[symbol] for symbol in symbols if re.match(pattern, symbol) and symbols[symbol][0] in versions}
        # Installed libraries before 2.34 define these symbols, and some symbols are in both.
        write_library(directory, name, {**symbols_of(path_of(name), newest), **moved}, compiler)
        libraries.append(name)
        for symbol in moved:
            del symbols[symbol]
    write_library(directory, "libc.so.6", symbols, compiler)
    write_library(directory, loader, symbols_of(path_of(loader), newest), compiler)
    write_library(directory, "libm.so.6", symbols_of(path_of("libm.so.6"), newest), compiler)
    archive = write_archive(directory, compiler)
    moved = " ".join(os.path.join(directory, name) for name in libraries)
    with open(os.path.join(directory, "libc.so"), "w", encoding="utf-8") as file:
        # The loader comes last: that of glibc 2.31 and older exports its own malloc and realloc.
        file.write(f"GROUP ( {archive} AS_NEEDED ( {moved} ) {os.path.join(directory, 'libc.so.6')} {path_of('libc_nonshared.a')} "
                   f"AS_NEEDED ( {os.path.join(directory, loader)} ) )\n")
    with open(os.path.join(directory, "libm.so"), "w", encoding="utf-8") as file:
        file.write(f"GROUP ( {os.path.join(directory, 'libm.so.6')} )\n")


if __name__ == "__main__":
    main()
