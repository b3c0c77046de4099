#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The install rules, and each way to use the installed files from a project outside the tree, on the emulated device:
find_package, pkg-config with a plain compiler, add_subdirectory, and the program and compile line of README."""
import fnmatch
import os
import re
import shutil
import subprocess

from cases import DirectoryTest, main

SOURCE, BUILD, CMAKE = (os.environ["GDRKIT_" + name] for name in ("SOURCE", "BUILD", "CMAKE"))
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
HERE = os.path.dirname(os.path.abspath(__file__))
# README installs into ~/opt/gdrkit, so the tests use their own home directory. The Prefix tests recreate it.
HOME = os.path.join(BUILD, "tests", "install-home")
PREFIX = os.path.join(HOME, "opt", "gdrkit")
SOLVED = "what the CPU stored"


def clean_environment(**more):
    """Returns the environment without variables that could select another gdrkit than the installed one."""
    names = ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CPATH", "LIBRARY_PATH", "DESTDIR")
    kept = {name: value for name, value in os.environ.items() if name not in names and not name.startswith("GDRKIT_")}
    return {**kept, "GDRKIT_BACKEND": "emulated", **more}


class InstallTest(DirectoryTest):
    def run_ok(self, *command, cwd=None, **environment):
        ended = subprocess.run(command, cwd=cwd or self.directory, env=clean_environment(**environment), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1100, check=False)
        self.assertEqual(ended.returncode, 0, f"{' '.join(command)}\n{ended.stdout}")
        return ended.stdout

    def installed(self):
        """Returns the libraries' directory of the prefix: lib, lib64 or lib/<architecture>."""
        self.assertTrue(os.path.isdir(PREFIX), f"{PREFIX} does not exist: run install/Prefix first")
        for directory, _, names in os.walk(PREFIX):
            if "libgdrkit.so" in names:
                return directory
        self.fail(f"no libgdrkit.so below {PREFIX}")

    def copy_project(self, name):
        project = self.path(name)
        shutil.copytree(os.path.join(HERE, name), project)
        for example in ("first_copy.cpp", "first_copy.c", "drop_in.c", "drop_in.h", "shmem_ring.c"):
            shutil.copy(os.path.join(SOURCE, "examples", example), project)
        shutil.copy(os.path.join(SOURCE, "tests", "shmem", "compat", "nvshmem_host.c"), project)
        return project

    def configure(self, project, *options):
        launcher = os.environ.get("GDRKIT_LAUNCHER")
        launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")] if launcher else []
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        # The programs run once: neither optimised nor with debug information, which halves the compiler's work.
        self.run_ok(CMAKE, "-S", project, "-B", os.path.join(project, "build"), *generator, f"-DCMAKE_C_COMPILER={CC}",
                    f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *launchers, *options)

    def build(self, project):
        parallel = str(os.cpu_count() or 2)
        self.run_ok(CMAKE, "--build", os.path.join(project, "build"), "--parallel", parallel)

    def expect_programs_work(self, project):
        build = os.path.join(project, "build")
        self.assertIn(SOLVED, self.run_ok(os.path.join(build, "first_copy")))
        self.assertIn(SOLVED, self.run_ok(os.path.join(build, "first_copy_c")))
        self.assertIn("PE 0 of 1: 100 rounds", self.run_ok(os.path.join(build, "shmem_ring")))
        self.assertIn("read back", self.run_ok(os.path.join(build, "drop_in")))
        self.assertIn("PE 0 of 1: ok", self.run_ok(os.path.join(build, "nvshmem_host")))
        self.assertIn("opened: Success", self.run_ok(os.path.join(build, "cxx17")))


class Prefix(InstallTest):
    """Makes the prefix that the other classes use, and checks its content."""

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(HOME, ignore_errors=True)
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", PREFIX], check=True, stdout=subprocess.DEVNULL,
                       env=clean_environment())

    def test_it_contains_headers_libraries_programs_and_packages(self):
        libraries = self.installed()
        for path in ("include/gdrapi.h", "include/gdrconfig.h", "include/gdrkit/gdrkit.h", "include/gdrkit/gdrkit.hpp",
                     "include/gdrkit/shmem.h",
                     "bin/gdrkit", "bin/gdrcopy_sanity", "bin/gdrcopy_copybw", "bin/gdrcopy_copylat", "bin/gdrcopy_apiperf",
                     "bin/gdrcopy_pplat", "bin/all_reduce_perf"):
            self.assertTrue(os.path.isfile(os.path.join(PREFIX, path)), path)
        for name in ("cmake/gdrkit/gdrkit-config.cmake", "pkgconfig/gdrkit.pc", "pkgconfig/gdrapi.pc", "pkgconfig/gdrkit_shmem.pc",
                     "pkgconfig/gdrkit_nvshmem.pc"):
            self.assertTrue(os.path.isfile(os.path.join(libraries, name)), name)
        # The names that programs load: NCCL loads libgdrapi.so at run time, others load the soname.
        self.assertEqual(os.readlink(os.path.join(libraries, "libgdrapi.so")), "libgdrapi.so.2")
        self.assertEqual(os.readlink(os.path.join(libraries, "libgdrapi.so.2")), "libgdrapi.so.2.6")
        self.assertEqual(os.readlink(os.path.join(libraries, "libgdrkit.so")), "libgdrkit.so.0")
        self.assertEqual(os.readlink(os.path.join(PREFIX, "bin/gdrcopy_sanity")), "gdrkit")

    def test_each_shell_finds_its_completion(self):
        program = os.path.join(PREFIX, "bin", "gdrkit")
        for shell, path in (("bash", "bash-completion/completions/gdrkit"), ("zsh", "zsh/site-functions/_gdrkit"),
                            ("fish", "fish/vendor_completions.d/gdrkit.fish")):
            script = self.read(PREFIX, "share", path)
            self.assertEqual(script, self.run_ok(program, "completion", shell))
            self.assertIn("gdrkit", script)
            self.assertNotIn(BUILD, script)
            if shutil.which(shell):
                self.run_ok(shell, "-n", os.path.join(PREFIX, "share", path))
        if shutil.which("bash"):
            script = "source share/bash-completion/completions/gdrkit; COMP_WORDS=(gdrkit ben); COMP_CWORD=1; $(complete -p gdrkit | "\
                    "sed 's/.*-F \\([^ ]*\\).*/\\1/') gdrkit; echo ${COMPREPLY[@]}"
            self.assertEqual(self.run_ok("bash", "-c", script, cwd=PREFIX).split(), ["bench"])

    def test_it_contains_every_header(self):
        headers = os.path.join(SOURCE, "include")
        for directory, _, names in os.walk(headers):
            for name in names:
                path = os.path.join(PREFIX, "include", os.path.relpath(os.path.join(directory, name), headers))
                self.assertTrue(os.path.isfile(path), path)

    def test_no_file_contains_the_path_of_the_build_or_the_prefix(self):
        for directory, _, names in os.walk(PREFIX):
            for path in (os.path.join(directory, name) for name in names):
                with open(path, "rb") as file:
                    content = file.read()
                is_text = path.endswith((".cmake", ".pc", ".h", ".hpp"))
                self.assertNotIn(PREFIX.encode(), content, path)
                if is_text:
                    self.assertNotIn(SOURCE.encode(), content, path)

    def test_a_moved_prefix_and_a_staged_one_run(self):
        moved = self.path("elsewhere")
        shutil.copytree(PREFIX, moved, symlinks=True)
        hidden = PREFIX + ".hidden"
        os.rename(PREFIX, hidden)
        try:
            self.assertIn("emulated", self.run_ok(os.path.join(moved, "bin", "gdrkit"), "info"))
        finally:
            os.rename(hidden, PREFIX)
        self.run_ok(CMAKE, "--install", BUILD, "--prefix", "/usr", DESTDIR=self.directory)
        self.assertIn("emulated", self.run_ok(self.path("usr", "bin", "gdrkit"), "info"))
        self.assertTrue(os.path.islink(self.path("usr", "bin", "gdrcopy_sanity")))

    def test_the_runtime_component_is_sufficient_for_programs_that_load_it(self):
        self.run_ok(CMAKE, "--install", BUILD, "--prefix", self.directory, "--component", "libgdrapi2")
        found = sorted(name for _, _, names in os.walk(self.directory) for name in names)
        self.assertEqual(found, ["libgdrapi.so", "libgdrapi.so.2", "libgdrapi.so.2.6"])

    def test_kernel_modules_are_installed_only_on_request(self):
        self.assertFalse(os.path.exists(os.path.join(PREFIX, "src")))
        self.run_ok(CMAKE, "--install", BUILD, "--prefix", self.directory, "--component", "gdrkit-dkms")
        self.assertTrue(os.path.exists(self.path("lib", "udev", "rules.d", "60-gdrkit.rules")))
        (sources,) = os.listdir(self.path("src"))
        version = re.search(r'^PACKAGE_VERSION="(.*)"$', self.read("src", sources, "dkms.conf"), re.MULTILINE).group(1)
        self.assertEqual("gdrkit-" + version, sources)


class FindPackage(InstallTest):
    def test_builds_a_project_in_every_language(self):
        self.installed()
        project = self.copy_project("consumer")
        self.configure(project, f"-DCMAKE_PREFIX_PATH={PREFIX}")
        self.build(project)
        self.expect_programs_work(project)

    def test_builds_a_project_in_c_only(self):
        self.installed()
        project = self.copy_project("c_only")
        self.configure(project, f"-DCMAKE_PREFIX_PATH={PREFIX}")
        self.build(project)
        self.assertIn(SOLVED, self.run_ok(os.path.join(project, "build", "first_copy_c")))

    def test_another_version_and_an_unknown_component_are_rejected(self):
        self.installed()
        for words, message in (("99.0", "99.0"), ("COMPONENTS shmem abacus", "gdrkit has no component 'abacus': gdrkit, gdrapi, shmem")):
            self.write("CMakeLists.txt", f"cmake_minimum_required(VERSION 3.22)\nproject(x LANGUAGES NONE)\nfind_package(gdrkit {words})\n"
                                         "if(gdrkit_FOUND)\n  message(FATAL_ERROR \"found\")\nendif()\n")
            self.assertIn(message, self.run_ok(CMAKE, "-S", self.directory, "-B", self.path("b"), f"-DCMAKE_PREFIX_PATH={PREFIX}"))


class PkgConfig(InstallTest):
    def setUp(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config not found (Debian: pkg-config)")
        self.libraries = self.installed()

    def flags(self, package):
        path = os.path.join(self.libraries, "pkgconfig")
        return self.run_ok("pkg-config", "--cflags", "--libs", package, PKG_CONFIG_PATH=path).split()

    def compile_and_run(self, compiler, options, source, *packages):
        flags = [flag for package in packages for flag in self.flags(package)]
        self.run_ok(*compiler.split(), *options, source, *flags, f"-Wl,-rpath,{self.libraries}", "-o", "program")
        return self.run_ok(self.path("program"))

    def test_compiler_builds_c_and_both_cxx_standards(self):
        examples = os.path.join(SOURCE, "examples")
        own = os.path.join(HERE, "consumer", "cxx17.cpp")
        self.assertIn(SOLVED, self.compile_and_run(CXX, ["-std=c++20"], os.path.join(examples, "first_copy.cpp"), "gdrkit"))
        self.assertIn("Success", self.compile_and_run(CXX, ["-std=c++17"], own, "gdrkit"))
        self.assertIn(SOLVED, self.compile_and_run(CC, ["-std=c11"], os.path.join(examples, "first_copy.c"), "gdrkit"))
        ring = os.path.join(examples, "shmem_ring.c")
        self.assertIn("PE 0 of 1: 100 rounds", self.compile_and_run(CC, ["-std=c11"], ring, "gdrkit_shmem"))
        names = os.path.join(SOURCE, "tests", "shmem", "compat", "nvshmem_host.c")
        self.assertIn("PE 0 of 1: ok", self.compile_and_run(CC, ["-std=c11"], names, "gdrkit_nvshmem"))
        self.assertIn("read back", self.compile_and_run(CC, [], os.path.join(examples, "drop_in.c"), "gdrapi", "gdrkit"))

    def test_versions_match_the_libraries(self):
        path = os.path.join(self.libraries, "pkgconfig")
        self.assertEqual(self.run_ok("pkg-config", "--modversion", "gdrapi", PKG_CONFIG_PATH=path).strip(), "2.6")
        header = self.read(SOURCE, "include", "gdrkit", "version.h")
        version = ".".join(re.findall(r"(?m)^#define GDRKIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header))
        self.assertEqual(self.run_ok("pkg-config", "--modversion", "gdrkit", PKG_CONFIG_PATH=path).strip(), version)

    def test_older_standard_reports_the_requirement(self):
        ended = subprocess.run([*CXX.split(), "-std=c++17", os.path.join(SOURCE, "examples", "first_copy.cpp"),
                                *self.flags("gdrkit"), "-o", self.path("program")],
                               capture_output=True, text=True, check=False)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("gdrkit/gdrkit.hpp needs C++20", ended.stderr)


class NvshmemHome(InstallTest):
    """Programs written for NVSHMEM are built by their own build files, with another NVSHMEM_HOME."""

    def setUp(self):
        self.home = os.path.join(self.installed(), "gdrkit", "nvshmem")
        self.source = os.path.join(SOURCE, "tests", "shmem", "compat", "nvshmem_host.c")

    def expect_two_pes(self, program):
        out = self.run_ok(os.path.join(self.home, "bin", "nvshmrun"), "-n", "2", "-ppn", "2", program, GDRKIT_EMULATED_DEVICES="2")
        self.assertEqual(sorted(out.splitlines()), ["PE 0 of 2: ok", "PE 1 of 2: ok"])

    def test_find_package(self):
        project = self.path("nvshmem")
        shutil.copytree(os.path.join(HERE, "nvshmem"), project)
        shutil.copy(self.source, project)
        self.configure(project, f"-DCMAKE_PREFIX_PATH={self.home}")
        self.build(project)
        self.expect_two_pes(os.path.join(project, "build", "program"))

    def test_makefile_links_with_nvshmem_options(self):
        for libraries in (("-lnvshmem_host", "-lnvshmem_device"), ("-lnvshmem",)):
            self.run_ok(*CC.split(), self.source, f"-I{self.home}/include", f"-L{self.home}/lib", *libraries,
                        f"-Wl,-rpath,{self.home}/lib", "-o", "program")
            self.expect_two_pes(self.path("program"))

    def test_a_client_loads_the_host_library(self):
        client = os.path.join(SOURCE, "tests", "shmem", "clients", "host_library.c")
        self.run_ok(*CC.split(), client, "-ldl", "-o", "client")
        out = self.run_ok(self.path("client"), os.path.join(self.home, "lib", "libnvshmem_host.so.3"),
                          GDRKIT_BACKEND="emulated")
        self.assertIn("two PEs through the library", out)

    def test_launcher_rejects_unsupported_options(self):
        for arguments, error in ((("-n", "2", "-hosts", "a,b", "true"), "unsupported option '-hosts'"), (("-n",), "requires a number"),
                                 (("-n", "2"), "missing program")):
            ended = subprocess.run([os.path.join(self.home, "bin", "nvshmrun"), *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(error, ended.stderr)


class NvshmemHomeNvcc(InstallTest):
    def test_links_relocatable_device_code(self):
        home = os.path.join(self.installed(), "gdrkit", "nvshmem")
        nvcc = shutil.which("nvcc", path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")
        if nvcc is None:
            self.skipTest("no nvcc")
        program = os.path.join(SOURCE, "tests", "shmem", "compat", "nvshmem_gpu_of_pe.cu")
        for libraries in (("-lnvshmem_host", "-lnvshmem_device"), ("-lnvshmem",)):
            self.run_ok(nvcc, "-std=c++17", "-arch=sm_90", "-rdc=true", program, f"-I{home}/include", f"-L{home}/lib",
                        *libraries, "-o", "program")


class AddSubdirectory(InstallTest):
    def test_builds_the_same_targets_only(self):
        project = self.copy_project("consumer")
        self.configure(project, f"-DGDRKIT_SOURCE={SOURCE}", "-DGDRKIT_UNITY=ON")
        cache = self.read(project, "build", "CMakeCache.txt")
        for option in ("TOOLS", "TESTS", "EXAMPLES"):
            self.assertIn(f"GDRKIT_BUILD_{option}:BOOL=OFF", cache)
        self.assertIn("GDRKIT_INSTALL:BOOL=OFF", cache)
        self.build(project)
        self.expect_programs_work(project)
        made = {name for _, _, names in os.walk(os.path.join(project, "build", "gdrkit", "lib")) for name in names}
        self.assertIn("libgdrkit.so", made)
        # The project's own directories are unchanged.
        self.assertFalse(os.path.exists(os.path.join(project, "build", "lib")))
        self.assertFalse(os.path.exists(os.path.join(project, "build", "gdrkit", "measure")))


class SourceDistribution(InstallTest):
    """The files that pip builds a wheel from: the tree without the directories that pyproject.toml excludes, except the files that it includes."""

    def test_cmake_configures_like_the_wheel(self):
        try:
            import tomllib
        except ImportError:
            self.skipTest("reading pyproject.toml requires Python 3.11")
        with open(os.path.join(SOURCE, "pyproject.toml"), "rb") as file:
            wheel = tomllib.load(file)["tool"]["scikit-build"]
        left_out = [pattern.strip("/") for pattern in wheel["sdist"]["exclude"]]
        project = self.path("sdist")

        def ignore(directory, names):
            return [name for pattern in (".git", *left_out) for name in fnmatch.filter(names, pattern)] if directory == SOURCE else []

        shutil.copytree(SOURCE, project, ignore=ignore)
        self.assertFalse(os.path.exists(os.path.join(project, "kernel")))
        for path in wheel["sdist"]["include"]:
            os.makedirs(project + os.path.dirname(path))
            shutil.copy(SOURCE + path, project + path)
        # lib/backend/gdrdrv includes it, which only a compilation would detect.
        self.assertTrue(os.path.exists(os.path.join(project, "kernel", "include", "gdrdrv_abi.h")))
        defines = {**wheel["cmake"]["define"], "GDRKIT_BUILD_PYTHON": "OFF"}  # nanobind may be missing
        self.configure(project, *(f"-D{name}={value}" for name, value in defines.items()))


class Readme(InstallTest):
    """The first program of README, with the commands of README."""

    def setUp(self):
        self.text = self.read(SOURCE, "README.md")

    def block(self, language, after=0):
        match = re.compile(r"^```" + language + r"\n(.*?)^```$", re.MULTILINE | re.DOTALL).search(self.text, after)
        self.assertIsNotNone(match, f"README contains no block of {language}")
        return match

    def test_program_matches_the_example(self):
        example = self.read(SOURCE, "examples", "first_copy.cpp").split("\n", 3)[3]  # below the licence and the description
        self.assertEqual(self.block("cpp").group(1), example)

    def test_documented_commands_build_and_run_the_program(self):
        libraries = self.installed()
        program = self.block("cpp")
        commands = self.block("sh", program.end())
        self.assertLess(commands.start() - program.end(), 300, "the commands must follow the program")
        self.write("first_copy.cpp", program.group(1))
        self.assertIn("GDRKIT_BACKEND=emulated ./first_copy", commands.group(1))
        self.assertIn("~/opt/gdrkit", commands.group(1))
        link = os.path.join(PREFIX, "lib")
        if not os.path.exists(link):  # lib64, where README has lib for Debian
            os.symlink(libraries, link)
        output = self.run_ok("bash", "-ec", commands.group(1), HOME=HOME)
        self.assertIn("emulated: the device has what the CPU stored", output)

    def test_install_command_is_documented(self):
        self.assertIn("cmake --install build --prefix ~/opt/gdrkit\n", self.text)


if __name__ == "__main__":
    main()
