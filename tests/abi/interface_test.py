#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The built libraries are what tests/abi/recorded says, and a change that breaks programs is found and named."""
import os
import shutil
import subprocess
import tempfile
import unittest

import interface

LIBRARIES = os.environ["GDRKIT_LIBRARY_FOLDER"]
COMPILER = tuple(os.environ.get("CC", "cc").split())


def read(file, **options):
    library = next(library for library in interface.LIBRARIES if library.file == file)
    return interface.read_interface(os.path.join(LIBRARIES, file), library, compiler=COMPILER, **options)


class RecordedInterfaceTest(unittest.TestCase):
    def test_no_program_that_uses_a_library_breaks(self):
        for library in interface.LIBRARIES:
            with self.subTest(library.file):
                soname, facts = read(library.file)
                old = interface.read_record(soname)
                self.assertTrue(old, f"{soname} has no record: {interface.record_path(soname)}")
                broken, added = interface.compare(soname, old, facts)
                self.assertEqual(broken, [], "this breaks programs that use the library: undo it, or give the library a new soname\n"
                                 + "\n".join(broken))
                self.assertEqual(added, [], "record what is new: python3 tests/abi/interface.py build/lib\n" + "\n".join(added))

    def test_every_record_is_of_a_library_of_this_build(self):
        sonames = [interface.soname_of(os.path.join(LIBRARIES, library.file)) for library in interface.LIBRARIES]
        self.assertEqual(sorted(os.listdir(interface.RECORDED)), sorted(soname + ".txt" for soname in sonames))

    def test_the_drop_in_has_17_functions(self):
        record = interface.read_record("libgdrapi.so.2")
        self.assertEqual(sum(fact.startswith("function gdr_") for fact in record), 17)


class ChangedInterfaceTest(unittest.TestCase):
    """Each kind of change, made in a copy of the headers."""

    def changed(self, file, header, *replacements):
        with tempfile.TemporaryDirectory() as folder:
            include = os.path.join(folder, "include")
            shutil.copytree(interface.INCLUDE, include)
            path = os.path.join(include, header)
            with open(path, encoding="utf-8") as source:
                text = source.read()
            for old, new in replacements:
                self.assertIn(old, text)
                text = text.replace(old, new, 1)
            with open(path, "w", encoding="utf-8") as source:
                source.write(text)
            soname, facts = read(file, include=include)
        return interface.compare(soname, interface.read_record(soname), facts)

    def test_moved_members_changed_values_and_types_are_named(self):
        broken, added = self.changed(
            "libgdrapi.so", "gdrapi.h", ("  uint32_t page_size; ", "  uint64_t page_size; "), ("GPU_PAGE_SHIFT 16", "GPU_PAGE_SHIFT 12"),
            ("unsigned wc_mapping : 1", "unsigned wc_mapping : 2"), ("int gdr_unmap(gdr_t g,", "void gdr_unmap(gdr_t g,"),
            ("GDR_PIN_FLAG_FORCE_PCIE = 1", "GDR_PIN_FLAG_FORCE_PCIE = 2"))
        self.assertEqual(added, [])
        self.assertEqual([line.split(":")[1].strip().removesuffix(" was") for line in broken],
                         ["function gdr_unmap", "macro GPU_PAGE_SHIFT", "member gdr_info_v2.page_size", "member gdr_info_v2.wc_mapping",
                          "value GDR_PIN_FLAG_FORCE_PCIE"])
        self.assertIn("libgdrapi.so.2: member gdr_info_v2.page_size was: at 16 u32; is: at 16 u64", broken)

    def test_a_struct_that_tells_its_size_may_grow_at_its_end(self):
        broken, added = self.changed("libgdrkit.so", "gdrkit/context.h", ("  char reason[1024];", "  char reason[1024];\n  uint64_t more;"))
        self.assertEqual(broken, [])
        self.assertEqual(added, ["libgdrkit.so.0: struct gdrkit_backend_report was: 1056 bytes; is: 1064 bytes",
                                 "libgdrkit.so.0: member gdrkit_backend_report.more is new: at 1056 u64"])

    def test_one_that_does_not_may_not(self):
        broken, _ = self.changed("libgdrkit.so", "gdrkit/pin.h", ("} gdrkit_pin_t;", "  uint64_t more;\n} gdrkit_pin_t;"))
        self.assertEqual(broken, ["libgdrkit.so.0: struct gdrkit_pin_t was: 8 bytes; is: 16 bytes"])

    def test_a_function_that_is_gone_is_named(self):
        soname, facts = read("libgdrkit.so")
        old = {**facts, "function gdrkit_fly": "i32 () @GDRKIT_0"}
        self.assertEqual(interface.compare(soname, old, facts), ([f"{soname}: function gdrkit_fly is gone; it was: i32 () @GDRKIT_0"], []))

    def test_only_the_drop_in_is_closed_to_new_functions(self):
        for soname, is_closed in (("libgdrapi.so.2", True), ("libgdrkit.so.0", False)):
            old = {"function f": "void ()"}
            broken, added = interface.compare(soname, old, {**old, "function g": "void ()"})
            self.assertEqual((len(broken), len(added)), (1, 0) if is_closed else (0, 1), soname)

    def test_a_function_that_no_header_declares_is_an_error(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.changed("libgdrkit.so", "gdrkit/pin.h", ("int gdrkit_unpin(gdrkit_pin_t pin);", ""))


if __name__ == "__main__":
    unittest.main()
