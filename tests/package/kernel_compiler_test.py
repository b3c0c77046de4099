#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The compiler that built Linux also builds the kernel modules; directories of Linux headers and compilers are fakes. A failed build
of DKMS leaves the package configured."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from cases import DirectoryTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL = os.path.join(SOURCE, "kernel")
OTHER_GCC = 'CONFIG_CC_VERSION_TEXT="gcc-98 (Debian 98.1.0-3) 98.1.0"\nCONFIG_GCC_VERSION=980100\n'
OTHER_CLANG = 'CONFIG_CC_VERSION_TEXT="Debian clang version 97.1.7 (3+b1)"\nCONFIG_CC_IS_CLANG=y\nCONFIG_CLANG_VERSION=970107\n'
LLD = "CONFIG_LD_IS_LLD=y\n"
LLVM_TOOLS = ("ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy")
# Replaces the build system of Linux: a probe compiles if it is the first alternative of its question.
LINUX_MAKEFILE = """modules:
\t@echo "CC=$(CC) LLVM=$(LLVM)" >>{record}
\t@case "$(M)" in */probes) cd "$(M)" && for name in {choices}; do echo >$$name.o; done; exit 1;; esac
clean:
"""


class CompilerTest(DirectoryTest):
    def setUp(self):
        self.headers = self.path("headers")
        features = self.read(KERNEL, "compat", "features.txt")
        choices = " ".join(["CANARY", *re.findall(r"(?m)^\w+: *(\S+)", features)])
        self.write("headers/Makefile", LINUX_MAKEFILE.format(record=self.path("record"), choices=choices))
        self.compiler("gcc", "88")  # the machine's own

    def compiler(self, name, version):
        self.write(f"bin/{name}", f"#!/bin/sh\necho {version}\n", 0o755)

    def run_it(self, *command, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("CC", "LLVM", "CROSS_COMPILE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        # /usr/bin has shells, make and compilers, but none of the versions that the tests use.
        environment.update(PATH=f"{self.path('bin')}:/usr/bin:/bin", **variables)
        return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False)

    def found(self, config, file="include/config/auto.conf", **variables):
        self.write(os.path.join("headers", file), config)
        ended = self.run_it("bash", os.path.join(KERNEL, "compat", "compiler.sh"), self.headers, **variables)
        return ended.returncode, ended.stdout.strip()


class KernelCompiler(CompilerTest):
    def test_finds_gcc_of_linux_by_its_major_version(self):
        self.compiler("gcc-98", "98")
        self.assertEqual(self.found(OTHER_GCC), (0, "CC=gcc-98"))
        self.assertEqual(self.found(OTHER_GCC.replace("gcc-98 (", "x86_64-linux-gnu-gcc-98 (")), (0, "CC=gcc-98"))
        self.assertEqual(self.found('CONFIG_CC_VERSION_TEXT="gcc (GCC) 88.3.1 20230605 (Red Hat 88.3.1-2)"\n'), (0, "CC=gcc"))
        self.assertEqual(self.found('CONFIG_CC_VERSION_TEXT="gcc (SUSE Linux) 88.3.0"\n'), (0, "CC=gcc"))

    def test_finds_the_compiler_in_other_files(self):
        self.compiler("gcc-98", "98.1.0")
        self.assertEqual(self.found(OTHER_GCC, ".config"), (0, "CC=gcc-98"))
        os.remove(os.path.join(self.headers, ".config"))
        line = '#define LINUX_COMPILER "gcc-98 (Debian 98.1.0-3) 98.1.0, GNU ld (GNU Binutils for Debian) 2.44"\n'
        self.assertEqual(self.found(line, "include/generated/compile.h"), (0, "CC=gcc-98"))
        os.remove(os.path.join(self.headers, "include", "generated", "compile.h"))
        self.assertEqual(self.found("CONFIG_64BIT=y\n"), (0, ""))  # older Linux: the default

    def test_a_missing_gcc_is_reported(self):
        status, output = self.found(OTHER_GCC)
        self.assertEqual(status, 1)
        self.assertEqual(output, f"error: cannot build kernel modules against {self.headers}: GCC 98 built this Linux but is not "
                               "installed; install gcc-98, or set CC to another compiler")

    def test_finds_cross_compilers_by_prefix(self):
        self.compiler("gcc-98", "98")
        self.compiler("aarch64-linux-gnu-gcc-98", "98")
        self.assertEqual(self.found(OTHER_GCC, CROSS_COMPILE="aarch64-linux-gnu-"), (0, "CC=aarch64-linux-gnu-gcc-98"))
        self.assertIn("install riscv64-linux-gnu-gcc-98", self.found(OTHER_GCC, CROSS_COMPILE="riscv64-linux-gnu-")[1])

    def test_finds_clang_of_linux_and_its_linker(self):
        self.compiler("clang", "11.0.0")
        self.assertIn("clang-97 is not installed; install clang-97, lld-97 and llvm-97", self.found(OTHER_CLANG + LLD)[1])
        self.compiler("clang-97", "97.1.7")
        self.assertEqual(self.found(OTHER_CLANG), (0, "CC=clang-97"))  # linked by GNU ld
        status, output = self.found(OTHER_CLANG + LLD)
        self.assertEqual(status, 1)
        self.assertIn("ld.lld-97, llvm-ar-97, llvm-nm-97, llvm-objcopy-97 is not installed", output)
        for tool in LLVM_TOOLS:
            self.compiler(f"{tool}-97", "97.1.7")
        self.assertEqual(self.found(OTHER_CLANG + LLD), (0, "LLVM=-97"))
        os.remove(self.path("bin", "clang-97"))
        self.compiler("clang", "97.1.1")
        for tool in LLVM_TOOLS:
            self.compiler(tool, "97.1.1")
        self.assertEqual(self.found(OTHER_CLANG + LLD), (0, "LLVM=1"))

    def test_variables_take_precedence(self):
        self.assertEqual(self.found(OTHER_GCC, CC="gcc-12"), (0, "CC=gcc-12"))
        self.assertEqual(self.found(OTHER_GCC, LLVM="1"), (0, "LLVM=1"))
        self.assertEqual(self.found(OTHER_GCC, CC="ccache gcc-12"), (0, r"CC=ccache\ gcc-12"))


class KernelBuild(CompilerTest):
    def tree(self):
        """Makes a copy of the files that DKMS builds."""
        tree = self.path("tree")
        shutil.copytree(KERNEL, tree, ignore=shutil.ignore_patterns("rig", "tests", "fake_*"), dirs_exist_ok=True)
        return tree

    def make(self, *arguments, **variables):
        self.write("record", "")
        ended = self.run_it("make", "-C", self.tree(), f"KDIR={self.headers}", *arguments, **variables)
        return ended, self.read("record").splitlines()

    def test_make_passes_the_compiler_to_probes_and_modules(self):
        self.write("headers/include/config/auto.conf", OTHER_GCC)
        ended, used = self.make()
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("install gcc-98", ended.stdout)
        self.assertEqual(used, [])
        self.assertEqual(self.make("clean")[0].returncode, 0)  # requires no compiler
        self.compiler("gcc-98", "98")
        ended, used = self.make()
        self.assertEqual((ended.returncode, used), (0, ["CC=gcc-98 LLVM="] * 2), ended.stdout)
        for arguments, variables in ((["CC=ccache gcc-12"], {}), ([], {"CC": "ccache gcc-12"})):
            ended, used = self.make(*arguments, **variables)
            self.assertEqual((ended.returncode, used), (0, ["CC=ccache gcc-12 LLVM="] * 2), ended.stdout)
        self.write("headers/include/config/auto.conf", OTHER_CLANG + LLD)
        for tool in ("clang", *LLVM_TOOLS):
            self.compiler(f"{tool}-97", "97.1.7")
        self.assertEqual(self.make()[1], ["CC=cc LLVM=-97"] * 2)

    def plant_driver(self):
        self.write("root/usr/src/nvidia-580.1/nvidia/nv-p2p.h", self.read(KERNEL, "include", "nv-p2p.h"))
        self.write("root/usr/src/nvidia-580.1/Module.symvers", "0x1\tnvidia_p2p_get_pages\tnvidia\tEXPORT_SYMBOL\t\n")
        return self.path("root")

    def test_dkms_and_insmod_report_a_missing_compiler_before_building(self):
        self.write("headers/include/config/auto.conf", OTHER_GCC)
        root = self.plant_driver()
        prepare = os.path.join(self.tree(), "dkms_prepare.sh")
        self.assertIn('\nPRE_BUILD="dkms_prepare.sh ${kernelver} ${kernel_source_dir}"\n', self.read(KERNEL, "dkms.conf"))
        for command in ((prepare, "7.1.0", self.headers), (prepare, "--check", "7.1.0", self.headers)):
            ended = self.run_it("bash", *command, GDRKIT_ROOT=root)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("install gcc-98", ended.stdout)
        linux = os.uname().release
        os.makedirs(os.path.join(root, "lib", "modules", linux))
        os.symlink(self.headers, os.path.join(root, "lib", "modules", linux, "build"))
        ended = self.run_it("bash", os.path.join(self.tree(), "insmod.sh"), "--build", GDRKIT_ROOT=root)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("install gcc-98", ended.stdout)
        self.compiler("gcc-98", "98")
        ended = self.run_it("bash", prepare, "7.1.0", self.headers, GDRKIT_ROOT=root)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("with CC=gcc-98", ended.stdout)


class MaintainerScripts(CompilerTest):
    def test_a_failed_build_does_not_fail_dpkg(self):
        self.write("dkms_install.sh", "#!/bin/sh\necho the build failed\nexit 1\n", 0o755)
        for script, step in (("postinst", "configure"), ("postinst", "triggered"), ("prerm", "remove"), ("prerm", "upgrade")):
            text = self.read(SOURCE, "packaging", "debian", f"gdrkit-dkms.{script}")
            text = text.replace("/usr/src/gdrkit-#MODULES_VERSION#", self.directory)
            ended = self.run_it("sh", "-c", text, "script", step)
            self.assertEqual(ended.returncode, 0, ended.stdout)
            self.assertIn("the build failed\ngdrkit-dkms: cannot ", ended.stdout)


if __name__ == "__main__":
    if shutil.which("make") is None:
        print("make is not installed (Debian: make)")
        sys.exit(77)
    unittest.main()
