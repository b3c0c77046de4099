#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The lists that packages are made from agree with each other, and the man pages with the libraries. The archive's
installer removes everything that it installed."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from cases import DirectoryTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARIES = os.path.join(os.path.dirname(os.environ["GDRKIT_BIN"]), "lib")


def text_of(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def debian_packages():
    return re.findall(r"^Package: (\S+)$", text_of("packaging", "debian", "control") + text_of("packaging", "debian", "control.python"),
                      re.MULTILINE)


def stanza(package):
    return re.search(rf"^Package: {re.escape(package)}\n(.*?)(\n\n|\Z)",
                     text_of("packaging", "debian", "control"), re.MULTILINE | re.DOTALL).group(1)


class PackageLists(DirectoryTest):
    def test_every_component_is_a_package_of_both_systems(self):
        rules = "".join(text_of(*path) for path in (("cmake", "GdrkitInstall.cmake"), ("cmake", "GdrkitManPages.cmake"),
                                                    ("cmake", "GdrkitModules.cmake"), ("transfer", "mpi_plugins.cmake")))
        rules = re.sub(r"(?m)^\s*#.*$", "", rules)
        components = set(re.findall(r"COMPONENT\s+([\w-]+)", rules)) - {"documentation"}
        components |= {"gdrkit-dkms", "gdrkit-modules", "python3-gdrkit"}  # installed by variables that contain their names
        self.assertEqual(set(debian_packages()) | {"gdrkit-modules"}, components)
        spec = text_of("packaging", "rpm", "gdrkit.spec")
        self.assertEqual(set(re.findall(r"^%files .*-f objects/(\S+)\.files$", spec, re.MULTILINE)), components)
        installed = re.search(r"for component in ([^;]+);", spec).group(1)
        self.assertEqual(set(re.sub(r"%\{\?\w+:(\S+)\}", r"\1", installed).split()), components)

    def test_the_modules_have_the_version_of_the_project(self):
        version = ".".join(re.findall(r"(?m)^#define GDRKIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text_of("include", "gdrkit", "version.h")))
        conf = text_of("kernel", "dkms.conf")
        self.assertIn(f'\nPACKAGE_VERSION="{version}"\n', conf)
        self.assertRegex(text_of("CHANGELOG.md"), rf"(?m)^## \[{re.escape(version)}\]")
        scripts = subprocess.run(["bash", "-c", ". scripts/common.sh; project_version"], cwd=SOURCE, check=True, stdout=subprocess.PIPE, text=True)
        self.assertEqual(scripts.stdout.strip(), version)
        form = re.search(r"(?s)\ninput = \"include/gdrkit/version.h\"\nregex = '''(.*?)'''", text_of("pyproject.toml")).group(1)
        self.assertEqual(".".join(re.search(form, text_of("include", "gdrkit", "version.h")).groups()), version)
        built = re.findall(r'^BUILT_MODULE_NAME\[\d\]="(\w+)"$', conf, re.MULTILINE)
        made = re.search(r"MODULES='([^']*)'", conf).group(1).split()
        self.assertEqual(sorted(built), sorted(made))
        self.assertEqual(built, re.findall(r'^BUILT_MODULE_LOCATION\[\d\]="(\w+)"$', conf, re.MULTILINE))

    def test_packages_replace_those_of_gdrcopy(self):
        for package, name in (("libgdrapi2", "libgdrapi"), ("gdrkit", "gdrcopy-tests"), ("gdrkit-dkms", "gdrdrv-dkms")):
            fields = stanza(package)
            for field in ("Provides", "Conflicts", "Replaces"):
                self.assertRegex(fields, rf"(?m)^{field}: (.*, )?{name}\b", f"{package}: {field}")
        self.assertRegex(stanza("libgdrkit-dev"), r"(?m)^Replaces: libgdrapi$")  # which also contains the header
        spec = text_of("packaging", "rpm", "gdrkit.spec")
        for name in ("gdrcopy", "gdrcopy-devel", "gdrcopy-kmod"):
            self.assertRegex(spec, rf"(?m)^Provides: +{name} = ")
            self.assertRegex(spec, rf"(?m)^Conflicts: +{name}\b")


class ManPages(DirectoryTest):
    def make_pages(self):
        subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "packaging", "man", "man_pages.py"), SOURCE, self.directory], check=True)

    def test_every_library_function_has_a_man_page(self):
        self.make_pages()
        for library in ("libgdrkit.so", "libgdrkit_shmem.so", "libgdrapi.so"):
            symbols = subprocess.run(["nm", "-D", "--defined-only", os.path.join(LIBRARIES, library)], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
            # Functions of a private version have no page.
            functions = re.findall(r" T (gdr\w+)(?!\S*_PRIVATE)(?:@|$)", symbols, re.MULTILINE)
            self.assertGreater(len(functions), 15, library)
            for name in functions:
                link = re.fullmatch(r"\.so man3/(\w+)\.3\n", self.read("man3", name + ".3"))
                page = self.read("man3", link.group(1) + ".3")
                self.assertRegex(page, rf"(?m)^([a-z].*\b{name}\(|#define {name} )")
                self.assertRegex(page, rf"\.SH NAME\n(.*, )?{name}[, ]")

    def test_renders_doxygen_blocks(self):
        sys.path.insert(0, os.path.join(SOURCE, "packaging", "man"))
        import man_pages
        page = man_pages.prose_of("/**\n * @brief Maps a pin.\n *\n * Of @ref gdrkit_pin.\n *\n * @param[out] address CPU address,\n *     in bytes\n"
                                  " * @retval -EAGAIN mapped\n * @code{.c}\n * f();\n * @endcode\n */")
        self.assertEqual(page, "Maps a pin.\n.PP\nOf gdrkit_pin.\n.TP\n.I address\nCPU address,\nin bytes\n.TP\n.B \\-EAGAIN\nmapped\n"
                               ".PP\n.in +2n\n.nf\nf();\n.fi\n.in")

    def test_keeps_the_text_of_comments(self):
        self.make_pages()
        page = self.read("man3", "gdrkit.3")
        self.assertIn("Copies several segments from the device, in any order.", page)
        self.assertNotIn("SPDX", page)
        self.assertNotIn("#ifndef", page)
        if shutil.which("man"):
            warned = subprocess.run(["man", "--warnings", "-l", self.path("man3", "gdrkit.3")], text=True,
                                    env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "140"}, capture_output=True, check=True)
            self.assertEqual(warned.stderr, "")


class Archive(DirectoryTest):
    def setUp(self):
        scripts = os.path.join(SOURCE, "packaging", "archive")
        os.makedirs(self.path("files", "share", "gdrkit"))
        shutil.copy(os.path.join(scripts, "install.sh"), self.directory)
        shutil.copy(os.path.join(scripts, "uninstall.sh"), self.path("files", "share", "gdrkit"))
        for path in ("bin/gdrkit", "lib/libgdrkit.so.0.1", "share/man/man1/gdrkit.1", "share/one word/two"):
            self.write(f"files/{path}", path)
        os.symlink("gdrkit", self.path("files", "bin", "gdrcopy_sanity"))
        self.prefix = self.path("prefix")

    def run_script(self, name, *arguments):
        return subprocess.run(["sh", name, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd=self.directory, check=False)

    def below(self, directory):
        return sorted(os.path.relpath(os.path.join(at, name), directory) for at, directories, names in os.walk(directory) for name in directories + names)

    def test_installs_all_files_and_removes_them(self):
        self.write("prefix/share/of another program", "")
        os.makedirs(os.path.join(self.prefix, "lib"))  # empty, and not ours
        ended = self.run_script("install.sh", "--prefix", self.prefix)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(os.readlink(os.path.join(self.prefix, "bin", "gdrcopy_sanity")), "gdrkit")
        for path in self.below(self.path("files")):
            self.assertTrue(os.path.lexists(os.path.join(self.prefix, path)), path)
        ended = self.run_script(os.path.join(self.prefix, "share", "gdrkit", "uninstall.sh"))
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(self.below(self.prefix), ["lib", "share", "share/of another program"])

    def test_second_installation_replaces_the_first(self):
        self.assertEqual(self.run_script("install.sh", "--prefix", self.prefix).returncode, 0)
        os.rename(self.path("files", "lib", "libgdrkit.so.0.1"), self.path("files", "lib", "libgdrkit.so.0.2"))
        self.assertEqual(self.run_script("install.sh", "--prefix", self.prefix).returncode, 0)
        self.assertEqual(os.listdir(os.path.join(self.prefix, "lib")), ["libgdrkit.so.0.2"])

    def test_invalid_arguments_are_reported(self):
        ended = self.run_script("install.sh", "--perfix", self.prefix)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("unknown argument '--perfix'", ended.stdout)
        self.assertFalse(os.path.exists(self.prefix))


if __name__ == "__main__":
    unittest.main()
