#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The built libraries have the recorded interfaces, and a change that breaks programs is found and named."""
import os
import shutil
import sys
import tempfile
import unittest

import interface

LIBRARIES = os.environ["GDRKIT_LIBRARY_DIRECTORY"]
COMPILER = tuple(os.environ.get("CC", "cc").split())
HINT = "record what is new: python3 tests/abi/interface.py build/lib"


def library_of(file):
    return next(library for library in interface.LIBRARIES if library.file == file)


class InterfaceTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def stub(self, file, name="stub", **options):
        directory = os.path.join(self.directory, name)
        os.makedirs(directory)
        return interface.make_stub(os.path.join(LIBRARIES, file), library_of(file), directory, compiler=COMPILER, **options)


class RecordedInterface(InterfaceTest):
    def test_libraries_match_the_recorded_interfaces(self):
        for library in interface.LIBRARIES:
            with self.subTest(library.file):
                stub = self.stub(library.file, library.file)
                soname = os.path.basename(stub)
                self.assertEqual(interface.breaks(soname, interface.record_path(soname), stub), "",
                                 "this breaks programs that use the library: undo it, or follow docs/abi.md")
                self.assertEqual(interface.compare(interface.record_path(soname), stub), "", HINT)

    def test_every_record_belongs_to_a_built_library(self):
        sonames = [interface.soname_of(os.path.join(LIBRARIES, library.file)) for library in interface.LIBRARIES]
        self.assertEqual(sorted(os.listdir(interface.RECORDED)), sorted(soname + ".abi" for soname in sonames))

    def test_the_drop_in_has_17_functions(self):
        self.assertEqual(len(interface.exported_functions(os.path.join(LIBRARIES, "libgdrapi.so"))), 17)


class ChangedInterface(InterfaceTest):
    """Each kind of change, made in a copy of the headers."""

    def changed(self, file, header, old, new):
        """(what breaks, the whole report)"""
        number = len(os.listdir(self.directory))
        before = self.stub(file, f"before{number}")
        include = os.path.join(self.directory, f"include{number}")
        shutil.copytree(interface.INCLUDE, include)
        path = os.path.join(include, header)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as source:
            source.write(text.replace(old, new, 1))
        after = self.stub(file, f"after{number}", include=include)
        return interface.breaks(os.path.basename(after), before, after), interface.compare(before, after)

    def test_reports_changes_that_break_programs(self):
        for file, header, old, new, words in (
                ("libgdrapi.so", "gdrapi.h", "  uint32_t page_size; ", "  uint64_t page_size; ", "page_size"),
                ("libgdrapi.so", "gdrapi.h", "GPU_PAGE_SHIFT 16", "GPU_PAGE_SHIFT 12", "macro_GPU_PAGE_SHIFT"),
                ("libgdrapi.so", "gdrapi.h", "int gdr_unmap(gdr_t g,", "void gdr_unmap(gdr_t g,", "gdr_unmap"),
                ("libgdrapi.so", "gdrapi.h", "GDR_PIN_FLAG_FORCE_PCIE = 1", "GDR_PIN_FLAG_FORCE_PCIE = 2", "GDR_PIN_FLAG_FORCE_PCIE"),
                ("libgdrkit.so", "gdrkit/mapping.h", "GDRKIT_ENGINE_MOVER = 4", "GDRKIT_ENGINE_MOVER = 6", "GDRKIT_ENGINE_MOVER"),
                ("libgdrkit.so", "gdrkit/pin.h", "} gdrkit_pin_t;", "  uint64_t more;\n} gdrkit_pin_t;", "gdrkit_pin_t"),
                ("libgdrkit.so", "gdrkit/context.h", "  int32_t is_usable; ", "  int64_t is_usable; ", "is_usable"),
                ("libgdrkit.so", "gdrkit/copy.h", "gdrkit_pin_t pin, size_t offset, const void* source", "gdrkit_pin_t pin, int offset, const void* source",
                 "gdrkit_write")):
            with self.subTest(new):
                broken, _ = self.changed(file, header, old, new)
                self.assertIn(words, broken)

    def test_structs_with_a_size_field_may_grow_at_the_end(self):
        broken, report = self.changed("libgdrkit.so", "gdrkit/context.h", "  char reason[1024];", "  char reason[1024];\n  uint64_t more;")
        self.assertEqual(broken, "")
        self.assertIn("more", report)
        broken, _ = self.changed("libgdrkit.so", "gdrkit/context.h", "  char reason[1024];", "  uint64_t more;\n  char reason[1024];")
        self.assertIn("more", broken, "not at its end")
        broken, _ = self.changed("libgdrkit.so", "gdrkit/copy.h", "  void* target;", "  void* target;\n  uint64_t more;")
        self.assertIn("more", broken, "without a size of its own")

    def test_only_the_drop_in_rejects_new_functions(self):
        for file, is_closed in (("libgdrapi.so", True), ("libgdrkit.so", False)):
            after = self.stub(file, "after" + file)
            functions = interface.exported_functions(os.path.join(LIBRARIES, file))
            whole, interface.exported_functions = interface.exported_functions, lambda path: dict(list(functions.items())[1:])
            try:
                before = self.stub(file, "before" + file)
            finally:
                interface.exported_functions = whole
            self.assertEqual(interface.breaks(os.path.basename(after), before, after) != "", is_closed, file)
            self.assertIn(list(functions)[0], interface.breaks(os.path.basename(after), after, before), "a function that is gone")

    def test_rejects_undeclared_functions(self):
        with self.assertRaisesRegex(interface.InterfaceError, "gdrkit_unpin, which no header declares"):
            self.changed("libgdrkit.so", "gdrkit/pin.h", "int gdrkit_unpin(gdrkit_pin_t pin);", "")


if __name__ == "__main__":
    if shutil.which("abidiff") is None:
        print("abidiff is missing (Debian: abigail-tools): the interfaces are not compared with their records")
        sys.exit(77)
    unittest.main()
