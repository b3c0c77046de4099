#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every public header alone, with all installed compilers, in every standard that it supports, with the warnings that
users enable. Each macro with a value is also expanded in the user's file, where the user's warnings apply."""
import functools
import glob
import os
import re
import shutil
import subprocess
import unittest

from cases import main

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "include")
DIRECTORIES = ["-I" + INCLUDE, "-I" + os.path.join(INCLUDE, "gdrkit", "compat")]
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
C = ["c89", "c99", "c11", "c17", "c2x"]
CXX = ["c++98", "c++11", "c++14", "c++17", "c++20", "c++23", "c++26"]
# The oldest supported standards of C and C++, and the headers that support them.
CLAIMS = {header: standards for standards, headers in (
    (("c89", "c++98"), ("gdrapi.h", "gdrconfig.h", "gdrkit/buffer.h", "gdrkit/context.h", "gdrkit/copy.h", "gdrkit/errors.h",
                        "gdrkit/gdrkit.h", "gdrkit/mapping.h", "gdrkit/pin.h", "gdrkit/version.h")),
    (("c99", "c++11"), ("gdrkit/shmem.h", "gdrkit/shmem_atomic.h", "gdrkit/shmem_collectives.h", "gdrkit/shmem_job.h",
                        "gdrkit/shmem_kernel.h", "gdrkit/shmem_memory.h", "gdrkit/shmem_pe.h", "gdrkit/shmem_reduction.h",
                        "gdrkit/shmem_stream.h", "gdrkit/shmem_team.h", "gdrkit/shmem_transfer.h", "gdrkit/shmem_types.h",
                        "gdrkit/shmem_wait.h")),
    (("c11", "c++17"), ("nvshmem.h", "nvshmemx.h")),
    ((None, "c++20"), ("gdrkit/buffer.hpp", "gdrkit/bytes.hpp", "gdrkit/context.hpp", "gdrkit/error.hpp", "gdrkit/gdrkit.hpp",
                       "gdrkit/map_options.hpp", "gdrkit/mapping.hpp", "gdrkit/pin.hpp", "gdrkit/started_copy.hpp",
                       "gdrkit/shmem.hpp", "gdrkit/shmem_buffer.hpp", "gdrkit/shmem_job.hpp", "gdrkit/shmem_span.hpp")),
) for header in headers}
DEVICE_HEADERS = sorted(os.path.relpath(path, INCLUDE) for path in glob.glob(INCLUDE + "/gdrkit/**/*.cuh", recursive=True))
# Not expressions: fragments of functions, lists in braces.
NO_VALUE = re.compile(r"__\w+__$|GDRKIT_NVSHMEM_\w+|GDRKIT_SHMEM_IS_INT|gdr_get_info|\w+_INITIALIZER")


def values_of(header):
    """Returns the macros that have a value; those of nvshmem.h come from the headers that it includes."""
    compat = sorted(glob.glob(os.path.join(INCLUDE, "gdrkit", "compat", "*.h")))
    text = ""
    has_none = header == "nvshmemx.h" or header.endswith(".cuh")
    for path in compat if header == "nvshmem.h" else [] if has_none else [os.path.join(INCLUDE, header)]:
        with open(path, encoding="utf-8") as file:
            text += file.read()
    temporary = set(re.findall(r"(?m)^#undef (\w+)", text))
    return [name for name in dict.fromkeys(re.findall(r"(?m)^#define (\w+) +\S", text)) if not NO_VALUE.match(name) and name not in temporary]


def source_of(headers):
    includes = "".join(f"#include <{header}>\n#include <{header}>\n" for header in headers)
    uses = "".join(f"#ifdef {name}\n  if (sizeof({name}) == 0) return 1;\n#endif\n" for header in headers for name in values_of(header))
    return f"{includes}int main(void) {{\n{uses}  return 0;\n}}\n"


def run(words, source):
    return subprocess.run(words, input=source, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


@functools.lru_cache(None)
def supports(compiler, standard):
    return run([compiler, f"-std={standard}", "-x", "c" if standard in C else "c++", "-fsyntax-only", "-"], "").returncode == 0


def is_supported(compiler):
    version = run([compiler, "--version"], "").stdout
    major = int((re.search(r"(\d+)\.\d+\.\d+", version) or ["", "0"])[1])
    return major >= (16 if "clang" in version else 12)


def compilers(kind):
    """Returns the build's compiler, and each supported version of GCC and clang in PATH."""
    own, names = (os.environ.get("CC", "cc"), r"(gcc|clang)(-\d+)?") if kind == "c" else (os.environ.get("CXX", "c++"), r"(g\+\+|clang\+\+)(-\d+)?")
    found = [shutil.which(own)]
    for directory in os.environ["PATH"].split(os.pathsep):
        found += [path for path in sorted(glob.glob(os.path.join(directory, "*"))) if re.fullmatch(names, os.path.basename(path))]
    distinct = {os.path.realpath(path): path for path in reversed(found) if is_supported(path)}
    return list(distinct.values())


class Alone(unittest.TestCase):
    """Each header alone in its oldest standard; in every standard, all headers that support it together."""

    def check(self, kind, standards, oldest, extra=()):
        for compiler in compilers(kind):
            supported = [standard for standard in standards if supports(compiler, standard)]
            alone = [(oldest[header], [header]) for header in oldest]
            together = [(standard, [header for header in oldest if standards.index(oldest[header]) <= standards.index(standard)]) for standard in supported]
            for standard, headers in alone + together:
                with self.subTest(compiler=compiler, standard=standard, headers=headers):
                    ended = run([compiler, f"-std={standard}", "-x", kind, "-fsyntax-only", *WARNINGS, *extra, *DIRECTORIES, "-"], source_of(headers))
                    self.assertEqual(ended.returncode, 0, ended.stdout[:2000])

    def test_compiles_in_c(self):
        self.check("c", C, {header: c for header, (c, _) in CLAIMS.items() if c})

    def test_compiles_in_cxx(self):
        self.check("c++", CXX, {**{header: cxx for header, (_, cxx) in CLAIMS.items()}, **dict.fromkeys(DEVICE_HEADERS, "c++17")}, ["-Wold-style-cast"])

    def test_every_header_is_listed_with_its_standard(self):
        headers = {os.path.relpath(path, INCLUDE) for pattern in ("*.h", "gdrkit/*.h", "gdrkit/*.hpp") for path in glob.glob(os.path.join(INCLUDE, pattern))}
        self.assertEqual(headers, {header for header in CLAIMS if not header.startswith("nvshmem")})


class Nvcc(unittest.TestCase):
    """CUDA's own headers do not compile with -pedantic and -Wold-style-cast."""

    def setUp(self):
        self.nvcc = os.environ.get("GDRKIT_NVCC", "")
        if not os.access(self.nvcc, os.X_OK):
            self.skipTest("nvcc not found: only host compilers compile the headers for GPU kernels")

    def test_compiles_device_headers(self):
        source = "".join(f"#include <{header}>\n" for header in ["nvshmem.h", "nvshmemx.h", *DEVICE_HEADERS])
        for standard in ("c++17", "c++20"):
            with self.subTest(standard=standard):
                ended = run([self.nvcc, f"-std={standard}", "-arch=compute_75", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Wconversion",
                             *DIRECTORIES, "-x", "cu", "-c", "-o", os.devnull, "-"], source)
                self.assertEqual(ended.returncode, 0, ended.stdout[:2000])

    def test_host_cxx_has_tensors_if_it_finds_the_cxx_library_of_cuda(self):
        include = os.path.join(os.path.dirname(os.path.dirname(self.nvcc)), "include")
        directories = [directory for directory in (include, os.path.join(include, "cccl")) if os.path.exists(os.path.join(directory, "cuda", "std", "tuple"))]
        if not directories:
            self.skipTest("cuda/std/tuple not found")
        source = """
            #include <nvshmemx.h>
            constexpr nvshmemx::Tensor tile(static_cast<float*>(nullptr), nvshmemx::make_layout(nvshmemx::make_shape(3, ConstInt<4>{}),
                                                                                              nvshmemx::make_stride(ConstInt<4>{}, ConstInt<1>{})));
            static_assert(tile.data() == nullptr && cuda::std::get<0>(tile.shape()) == 3);
        """
        for compiler in compilers("c++"):
            for standard in ("c++17", "c++20"):
                for directory in [[], *([path] for path in directories)]:
                    with self.subTest(compiler=compiler, standard=standard, directory=directory):
                        ended = run([compiler, f"-std={standard}", "-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror", *DIRECTORIES,
                                     *("-I" + path for path in directory), "-"], source if directory else "#include <nvshmemx.h>\n")
                        self.assertEqual(ended.returncode, 0, ended.stdout[:2000])

    def test_compiles_the_nvshmem_side_of_the_benchmark(self):
        """Only builds with NVSHMEM compile this file. Our headers with NVSHMEM's names are sufficient."""
        ended = run([self.nvcc, "-std=c++17", "-arch=compute_75", "-rdc=true", "-dc", *DIRECTORIES, "-I" + ROOT, "-o", os.devnull,
                     os.path.join(ROOT, "transfer", "shmem", "bench", "nvshmem_device.cu")], "")
        self.assertEqual(ended.returncode, 0, ended.stdout[:2000])


if __name__ == "__main__":
    main()
