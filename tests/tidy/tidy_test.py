#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Plants violations in small trees and expects each check to find exactly them."""
import os
import subprocess
import sys
import tempfile
import unittest

import check_commands
import check_includes
import check_json
import check_labels
import check_layers
import check_links
import check_readmes
import check_rules
import check_sizes
import check_words

SPDX = "// SPDX-FileCopyrightText: The gdrkit authors\n// SPDX-License-Identifier: MIT\n"
LAYERS = ("include:\nlib/base:\nlib/driver: lib/base\nlib/cpu: lib/base\nlib/copy: lib/base lib/cpu\n"
          "lib/backend: lib/base lib/driver\nlib/capi: lib/base include\nplatform: lib/base lib/driver\nmeasure: lib/base include platform\n")


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = self.directory.name
        self.plant("cmake/layers.txt", LAYERS)

    def plant(self, path, text=""):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def expect(self, check, *fragments):
        found = list(check.find_violations(self.root))
        self.assertEqual(len(found), len(fragments), found)
        for fragment in fragments:
            self.assertTrue(any(fragment in violation for violation in found), (fragment, found))


class Layers(TidyTest):
    def setUp(self):
        super().setUp()
        self.plant("lib/base/result.hpp")
        self.plant("lib/cpu/features.hpp")
        self.plant("lib/driver/cuda.hpp")
        self.plant("include/gdrkit/gdrkit.h")

    def test_accepts_includes_of_lower_layers(self):
        self.plant("lib/copy/copier.hpp", '#include <cstddef>\n#include "base/result.hpp"\n#include "cpu/features.hpp"\n')
        self.plant("lib/copy/copier.cpp", '#include "copier.hpp"\n#include "copy/copier.hpp"\n')
        self.plant("lib/capi/gdrapi.cpp", "#include <gdrkit/gdrkit.h>\n")
        self.expect(check_layers)

    def test_rejects_an_include_of_a_higher_layer(self):
        self.plant("lib/base/settings.cpp", '#include "driver/cuda.hpp"\n')
        self.expect(check_layers, "lib/base/settings.cpp:1: layer 'lib/base' may not include 'lib/driver'")

    def test_resolves_relative_paths_and_angle_brackets(self):
        self.plant("lib/base/a.cpp", '\n#include "../driver/cuda.hpp"\n')
        self.plant("lib/cpu/b.cpp", "#  include <driver/cuda.hpp>\n")
        self.plant("measure/c.cpp", '#include "../lib/cpu/features.hpp"\n')
        self.expect(check_layers, "lib/base/a.cpp:2:", "lib/cpu/b.cpp:1:", "layer 'measure' may not include 'lib/cpu'")

    def test_compares_the_list_with_the_table_of_architecture(self):
        lines = [line.split(":") for line in LAYERS.splitlines()]
        row = lambda name, may: f"| `{name}` | " + (" ".join(f"`{word}`" for word in may.split()) or "nothing") + " | a job |\n"
        head = "# A\n\n## Layers\n| directory | may include | job |\n| --- | --- | --- |\n"
        self.plant("ARCHITECTURE.md", head + "".join(row(name, may) for name, may in lines) + "\n## Next\n| `x` | `y` | z |\n")
        self.expect(check_layers)
        wrong = [(name, may + " lib/core" if name == "lib/cpu" else may) for name, may in lines if name != "lib/copy"]
        self.plant("ARCHITECTURE.md", head + "".join(row(name, may) for name, may in wrong) + row("lib/attic", ""))
        self.expect(check_layers, "lacks lib/copy", "contains lib/attic", "lib/cpu must list lib/base")

    def test_ignores_includes_in_comments(self):
        self.plant("lib/base/a.cpp", '// #include "driver/cuda.hpp"\n/*\n#include "driver/cuda.hpp"\n*/\n')
        self.expect(check_layers)

    def test_rejects_an_undeclared_layer(self):
        self.plant("lib/engine/engine.cpp", '#include "base/result.hpp"\n')
        self.plant("new_product/a.cuh")
        self.plant("kernel/gdrdrv/pin.c")
        self.expect(check_layers, "lib/engine/engine.cpp: cmake/layers.txt has no line", "new_product/a.cuh: cmake/layers.txt has no line")

    def test_rejects_a_missing_own_header(self):
        self.plant("lib/base/a.cpp", '#include "base/missing.hpp"\n')
        self.expect(check_layers, '"base/missing.hpp" does not exist')

    def test_detects_indirect_use_through_other_layers(self):
        self.plant("platform/device.hpp", '#include "driver/cuda.hpp"\n')
        self.plant("platform/device.cpp", '#include "platform/device.hpp"\nint x = driver::cuda();\n')
        self.plant("measure/a.cpp", '#include "platform/device.hpp"\n// driver::cuda() in a comment\nint x = driver::cuda();\n')
        self.plant("measure/b.cpp", 'int x = gdrkit::platform::device();\n')
        self.expect(check_layers, "measure/a.cpp:3: names driver:: without", "measure/b.cpp:1: names platform:: without")

    def test_rejects_a_namespace_of_another_directory(self):
        self.plant("cmake/layers.txt", LAYERS + "shmem/heap:\ntransfer/osu:\n")
        self.plant("shmem/heap/a.hpp", "namespace gdrkit::shmem_impl::node {\nclass Node;\n}\n\nnamespace gdrkit::shmem_impl::heap {\nint x;\n}\n")
        self.plant("shmem/heap/b.cpp", "namespace gdrkit::shmem {\nint x;\n}\nnamespace gdrkit::shmem_impl::heap::parts {\n}\n")
        self.plant("lib/base/c.cpp", "namespace gdrkit::core {\nint x;\n}\n")
        self.plant("transfer/osu/d.cpp", "namespace gdrkit::transfer {\nint x;\n}\n")
        self.expect(check_layers, "shmem/heap/b.cpp:1: opens namespace gdrkit::shmem; its directory's is gdrkit::shmem_impl::heap",
                    "lib/base/c.cpp:1: opens namespace gdrkit::core", "transfer/osu/d.cpp:1: opens namespace gdrkit::transfer;")

    def test_accepts_the_product_namespace_for_shared_directories(self):
        self.plant("cmake/layers.txt", LAYERS + "cli:\n")
        self.plant("cli/a.cpp", "namespace gdrkit::cli {\nint x;\n}\n")
        self.plant("cli/parts/b.cpp", "namespace gdrkit::cli {\nint x;\n}\nnamespace gdrkit::cli::parts {\n}\n")
        self.plant("cli/parts/c.cpp", "namespace gdrkit::cli::parts::of {\nint x;\n}\nusing namespace gdrkit::cli;\n")
        self.expect(check_layers)
        self.plant("cli/d.cpp", "namespace gdrkit::cli::parts {\nint x;\n}\n")
        self.plant("cli/parts/e.cpp", "namespace gdrkit::transfer {\nint x;\n}\n")
        self.plant("cli/parts/f.cpp", "namespace gdrkit::cli::others {\nint x;\n}\n")
        self.expect(check_layers, "cli/d.cpp:1: opens namespace gdrkit::cli::parts; its directory's is gdrkit::cli",
                    "cli/parts/e.cpp:1: opens namespace gdrkit::transfer; its directory's is gdrkit::cli::parts",
                    "cli/parts/f.cpp:1: opens namespace gdrkit::cli::others")

    def test_rejects_a_using_namespace_in_a_header(self):
        self.plant("lib/base/a.hpp", "namespace gdrkit::base {\nusing namespace gdrkit::driver;\n}\n")
        self.expect(check_layers, "lib/base/a.hpp:2: a header may not have a using namespace")

    def test_rejects_two_files_of_a_product_with_one_name(self):
        self.plant("lib/base/a.hpp")
        self.plant("lib/cpu/a.hpp")
        self.expect(check_layers, "lib/cpu/a.hpp: lib/base/a.hpp has the same name")

    def test_rejects_cycles_in_kernel_modules(self):
        self.plant("kernel/gdrdrv/pin.h")
        self.plant("kernel/gdrdrv/pin.c", '#include "pin.h"\n#include "orphans.h"\n')
        self.plant("kernel/gdrdrv/orphans.h")
        self.plant("kernel/gdrdrv/orphans.c", '#include "orphans.h"\n#include "pin.h"\n')
        self.expect(check_layers, "kernel/gdrdrv/pin: its includes form a cycle", "kernel/gdrdrv/orphans:")

    def test_keeps_backends_independent(self):
        self.plant("lib/backend/backend.hpp")
        self.plant("lib/backend/rm/rm_client.hpp", '#include "backend/backend.hpp"\n')
        self.plant("lib/backend/emulated/pin.cpp", '#include "backend/rm/rm_client.hpp"\n')
        self.expect(check_layers, "backend 'emulated' may not include backend 'rm'")

    def test_limits_the_includes_of_copy_kernels(self):
        self.plant("lib/copy/word_access.hpp")
        self.plant("lib/copy/kernels/avx2.cpp", '#include <immintrin.h>\n#include <cstdint>\n#include "copy/word_access.hpp"\n')
        self.plant("lib/copy/kernels/bad.cpp", '#include <vector>\n#include "base/result.hpp"\n')
        self.expect(check_layers, "may not include <vector>", "may not include lib/base/result.hpp")

    def test_keeps_tests_out_of_the_library(self):
        self.plant("tests/support/fake.hpp")
        self.plant("lib/driver/a.cpp", '#include "tests/support/fake.hpp"\n')
        self.expect(check_layers, "only tests include tests")

    def test_keeps_kernel_modules_out_of_products(self):
        self.plant("kernel/include/gdrdrv_abi.h")
        self.plant("lib/backend/gdrdrv/module_file.cpp", '#include "kernel/include/gdrdrv_abi.h"\n')
        self.plant("lib/driver/a.cpp", '#include "kernel/include/gdrdrv_abi.h"\n')
        self.expect(check_layers, "lib/driver/a.cpp:1: a product may not include a kernel module's header")


def body(lines):
    return "{\n" + "  f();\n" * (lines - 2) + "}\n"


class Sizes(TidyTest):
    def test_measures_files(self):
        self.plant("lib/base/long.cpp", "//\n" * 601)
        self.plant("lib/base/fits.cpp", "//\n" * 600)
        self.plant("tests/unit/long_test.cpp", "//\n" * 801)
        self.plant("tests/unit/fits_test.cpp", "//\n" * 800)
        self.plant("new_product/long.cuh", "//\n" * 601)
        self.expect(check_sizes, "lib/base/long.cpp: 601 lines", "tests/unit/long_test.cpp: 801 lines", "new_product/long.cuh")

    def test_measures_functions_in_every_position(self):
        for name, head in {
            "free": "void f() ",
            "in_namespace": "namespace a::b {\nnamespace {\nint f(int x) noexcept ",
            "in_class": "class A final : public B {\n public:\n  int f() const override ",
            "in_extern_c": 'extern "C" {\nint f(void) ',
            "macro": "TEST(Suite, DoesIt) ",
            "constructor": "A::A(int x) : x_{x}, y_(2), z_{{1, 2}, 3} ",
            "default_value": "void f(Options options = {}, int x = 3) ",
            "operator": "bool operator==(const A& a, const A& b) ",
            "trailing_return": "auto f() -> std::vector<int> ",
        }.items():
            with self.subTest(name):
                closing = "}\n" * (head.count("{\n"))
                self.plant("lib/base/a.cpp", head + body(71) + closing)
                self.expect(check_sizes, "71 lines in one function")
                self.plant("lib/base/a.cpp", head + body(70) + closing)
                self.expect(check_sizes)

    def test_measures_each_function_separately(self):
        self.plant("lib/base/a.cpp", "struct A {\n" + ("void f() " + body(60)) * 3 + "};\n" + "int g() " + body(60))
        self.expect(check_sizes)

    def test_does_not_report_tables_and_types_as_functions(self):
        self.plant("lib/base/a.cpp", "constexpr int table[] = {\n" + "  1,\n" * 100 + "};\n" + "enum class E : int {\n" + "  e,\n" * 100 + "};\n")
        self.plant("lib/base/b.cpp", "const Row rows[f(2)] = {\n" + "  {1, g()},\n" * 100 + "};\n")
        self.expect(check_sizes)

    def test_ignores_braces_in_text_and_conditionals(self):
        text = 'void f() {\n  g("}{{", \'{\', R"x({{{)x");  // {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\n'
        self.plant("lib/base/a.cpp", text + "int g() " + body(71))
        self.expect(check_sizes, "lib/base/a.cpp:10: 71 lines")

    def test_reports_unbalanced_braces(self):
        self.plant("lib/base/a.cpp", "void f() {\n")
        self.plant("lib/base/b.cpp", "}\n")
        self.expect(check_sizes, "unclosed brace", "unmatched closing brace")


class Rules(TidyTest):
    def test_requires_the_licence_in_every_source(self):
        for path in ("lib/base/a.cpp", "tests/t.py", "scripts/s.sh", "cmake/C.cmake", "run"):
            self.plant(path, "int x;\n")
        self.plant("include/gdrkit/a.h", "/* SPDX-FileCopyrightText: The gdrkit authors\n * SPDX-License-Identifier: MIT */\n")
        self.plant("lib/base/b.cpp", SPDX + "int x;\n")
        self.expect(check_rules, "lib/base/a.cpp", "tests/t.py", "scripts/s.sh", "cmake/C.cmake", "run:")

    def test_rejects_an_unresolved_merge_in_any_file(self):
        self.plant("README.md", "# A\n=======\n" + "<" * 7 + " HEAD\n" + "=" * 7 + "\n" + ">" * 7 + " main\n")
        self.plant("docs/a.md", "fine\n" + ">" * 7 + " 1234567 (docs: fix it)\n")
        self.expect(check_rules, "README.md:3: unresolved merge", "docs/a.md:2: unresolved merge")

    def test_rejects_a_cpu_set_of_fixed_size(self):
        for path in ("lib/base/cpu_set.hpp", "lib/core/a.cpp", "platform/host/b.hpp", "tests/unit/c_test.cpp"):
            self.plant(path, SPDX + "// not a cpu_set_t\ncpu_set_t set;\n")
        self.plant("measure/fine.cpp", SPDX + "// cpu_set_t supports only 1024 CPUs\nbase::CpuSet set;\n")
        self.expect(check_rules, "lib/core/a.cpp:4: cpu_set_t", "platform/host/b.hpp:4:", "tests/unit/c_test.cpp:4:")

    def test_rejects_includes_missing_in_nvrtc(self):
        self.plant("include/gdrkit/detail/a.cuh", SPDX + "f([&](auto n, int) {});\nstd::integral_constant<int, 1> one;\n")
        self.plant("include/gdrkit/detail/b.cuh", SPDX + "auto f = [&](int n) { return std::size_t(n); };\nauto x = y[0](n);\n")
        self.plant("include/gdrkit/c.hpp", SPDX + "std::string text;\n")
        self.expect(check_rules, "include/gdrkit/detail/a.cuh:3: NVRTC rejects", "include/gdrkit/detail/a.cuh:4: include/gdrkit/detail/nvrtc does")

    def test_reports_calls_forbidden_in_the_library(self):
        for number, code in enumerate((
            'const char* x = std::getenv("X");', "::secure_getenv(name);", 'std::printf("x");', 'fprintf(stderr, "x");',
            "#include <iostream>", "std::abort();", "_exit(1);", "throw Error();", "FILE* file = fopen(path, mode);", "assert(x);",
        )):
            with self.subTest(code):
                self.plant("lib/core/a.cpp", SPDX + code + "\n")
                found = list(check_rules.find_violations(self.root))
                self.assertTrue(found and all(v.startswith("lib/core/a.cpp:3:") for v in found), (number, found))

    def test_accepts_similar_code(self):
        self.plant("lib/core/a.cpp", SPDX + "\n".join((
            "// never throw, never printf, no getenv", 'fail(EIO, "abort() was called, printf too");', "std::snprintf(a, n, f);",
            "std::vsnprintf(a, n, f, v);", "[[gnu::format(printf, 1, 2)]] void f();", "static_assert(sizeof(a) == 4);",
            "int aborted = region.exit(); transaction->abort();", "#include <cstdio>",
        )) + "\n")
        self.expect(check_rules)

    def test_allows_only_the_two_exceptions(self):
        self.plant("lib/base/settings.cpp", SPDX + 'std::getenv("X");\n')
        self.plant("lib/capi/log_sink.cpp", SPDX + 'std::fputs(text, stderr);\n')
        self.plant("measure/a.cpp", SPDX + 'std::printf("x"); std::getenv("X"); throw 1;\n')
        self.expect(check_rules)
        self.plant("lib/driver/settings.cpp", SPDX + 'std::getenv("X");\n')
        self.expect(check_rules, "lib/driver/settings.cpp:3: the library reads or changes the environment: getenv")


class Readmes(TidyTest):
    def test_requires_a_readme_in_every_product(self):
        self.plant("lib/README.md", "x\n")
        self.plant("lib/driver/a.cpp")
        self.plant("measure/copylat/a.cpp")
        self.expect(check_readmes, "measure: README.md is missing")

    def test_limits_the_length_of_readmes(self):
        self.plant("lib/README.md", "x\n")
        self.plant("lib/base/README.md", "x\n" * 41)
        self.plant("lib/base/a.cpp")
        self.plant("README.md", "x\n" * 151)
        self.expect(check_readmes, "lib/base/README.md: longer than 40", "README.md: longer than 150")


class Links(TidyTest):
    def test_follows_links_and_anchors(self):
        self.plant("lib/a.md", "# Here\n[b](b.md#a-b-c) [c](../LICENSE) [d](https://example.org/x) [e](#here)\n[gone](gone.md#part) [two\n"
                   "lines](b.md#it) `[no](link)`\n```sh\n[no](link)\n```\n[again](b.md#a-b-c-1)\n")
        self.plant("lib/b.md", "# A `b`, c\n## A b c\n```\n# It\n```\n")
        self.plant("LICENSE")
        self.expect(check_links, "lib/a.md:3: the link to gone.md#part has no file", "lib/a.md:3: the link to b.md#it has no heading")

    def test_indexes_list_every_page(self):
        self.plant("docs/README.md", "[a](a.md) [guide](guide/README.md)\n")
        self.plant("docs/guide/README.md", "[one](one.md)\n")
        self.plant("docs/results/README.md", "`2026-a`\n")
        for path in ("docs/a.md", "docs/b.md", "docs/guide/one.md", "docs/guide/two.md", "docs/results/2026-a/x", "docs/results/2026-b/x", "TOP.md"):
            self.plant(path)
        self.expect(check_links, "docs/README.md: does not link to docs/b.md", "docs/README.md: does not link to TOP.md",
                    "docs/README.md: does not link to docs/results/README.md", "docs/guide/README.md: does not link to docs/guide/two.md",
                    "docs/results/README.md: does not name the directory 2026-b")


class Json(TidyTest):
    INDENTED = '{\n "size": 1.50,\n "text": "a, [b]: \\"c\\" {",\n "none": [],\n "rows": [\n  {"a": [1,\n 2]},\n  -2e-05\n ],\n "more": {"b": 1}\n}\n'

    def test_rejects_indentation_and_invalid_json(self):
        self.plant("docs/results/a/indented.json", self.INDENTED)
        self.plant("docs/results/a/cut_off.json", '{"a":')
        self.plant("docs/results/a/fine.json", '{\n"a":" two  spaces"\n}\n')
        self.plant("docs/design/a.json", self.INDENTED)
        self.expect(check_json, "indented.json:2: is indented", "cut_off.json: invalid JSON")

    def test_the_script_changes_white_space_only(self):
        self.plant("docs/results/a.json", self.INDENTED)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "minify_json.py")
        path = os.path.join(self.root, "docs/results/a.json")
        for _ in range(2):  # a second time changes nothing
            subprocess.run([sys.executable, script, path], check=True, capture_output=True)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), '{\n"size":1.50,\n"text":"a, [b]: \\"c\\" {",\n"none":[\n\n],\n"rows":[\n{"a":[1,2]},\n-2e-05\n],\n"more":{"b":1}\n}\n')
        self.expect(check_json)
        self.plant("docs/results/a.json", "{")
        self.assertNotEqual(subprocess.run([sys.executable, script, path], capture_output=True, check=False).returncode, 0)


class Includes(TidyTest):
    def test_accepts_names_of_included_headers(self):
        self.plant("lib/base/size.hpp", "#include <stdint.h>\n#include <vector>\nusing Sizes = std::vector<std::uint64_t>;\n")
        self.plant("lib/base/size.cpp", '#include "base/size.hpp"\nstd::vector<std::uint64_t> sizes;  // std::map\n')
        self.plant("platform/size.cpp", '#include <cstring>\nconst char* text = "std::map";\nstd::size_t size;\n')
        self.expect(check_includes)

    def test_reports_a_missing_standard_header_once_per_file(self):
        self.plant("lib/base/size.cpp", "#include <vector>\n#include <map>\nstd::map<int, std::uint64_t> one;\nstd::uint32_t two;\n")
        self.expect(check_includes, "lib/base/size.cpp:3: std::uint64_t requires #include <cstdint>")

    def test_reports_a_header_inside_a_namespace(self):
        self.plant("lib/base/size.cpp", 'namespace base {\n#include "base/sizes.def"\n#include "base/size.hpp"\n}  // namespace base\n')
        self.expect(check_includes, "lib/base/size.cpp:3: base/size.hpp is included inside a namespace")


class Labels(TidyTest):
    README = "| directory | label | verifies |\n| --- | --- | --- |\n| `lib/<layer>` | `unit` | x |\n| `a` | `fuzz`, `threads` | `gpu` |\n| `fakes` | | x |\n"

    def setUp(self):
        super().setUp()
        self.plant("tests/README.md", self.README)
        self.plant("tests/a/CMakeLists.txt", "add(x SOURCES a.cpp LABELS unit threads\n  TIMEOUT 3)\n# LABELS old\n")
        self.plant("cmake/a.cmake", 'set_tests_properties(x PROPERTIES LABELS fuzz)\nset(LABELS "${TEST_LABELS}")\n')
        self.plant("CMakePresets.json", '{"testPresets":[{"name":"a"},{"name":"b","filter":{"include":{"label":"unit|^fuzz$"}}}]}')

    def test_accepts_equal_labels_everywhere(self):
        self.expect(check_labels)

    def test_reports_a_gpu_test_without_the_lock(self):
        self.plant("tests/README.md", self.README + "| `a` | `gpu` | x |\n")
        self.plant("tests/b/CMakeLists.txt", "set_tests_properties(x PROPERTIES LABELS gpu TIMEOUT 1)\n"
                                             "set_tests_properties(y PROPERTIES LABELS gpu RESOURCE_LOCK gpu)\n")
        self.expect(check_labels, "tests/b/CMakeLists.txt: a test with the label gpu lacks RESOURCE_LOCK gpu")

    def test_reports_a_missing_label(self):
        self.plant("tests/b/CMakeLists.txt", "add(x LABELS slow)\n")
        self.plant("tests/README.md", self.README + "| `a` | `gone` | x |\n")
        self.plant("CMakePresets.json", '{"testPresets":[{"name":"b","filter":{"exclude":{"label":"unit|missing"}}}]}')
        self.expect(check_labels, "tests/b/CMakeLists.txt: the label 'slow'", "no test has the label 'gone'", "'b' selects the label 'missing'")


class Words(TidyTest):
    def test_reports_the_bare_word_in_documents_and_comments(self):
        self.plant("docs/a.md", "A kernel copies.\n\nKernels are fast, and the Kernel\nmodular.\n")
        self.plant("lib/a.cpp", "int x;  // the kernel does it\n/* many\n * kernels */\n")
        self.plant("cmake/a.cmake", "# a kernel\nset(kernel 1)\n")
        self.expect(check_words, "docs/a.md:1:", "docs/a.md:3:", "docs/a.md:3:", "lib/a.cpp:1:", "lib/a.cpp:3:", "cmake/a.cmake:1:")

    def test_accepts_every_qualified_word(self):
        self.plant("docs/a.md", "Copy kernels, a kernel module, GPU\nkernels, a copy\nkernel, the Linux kernel, a user-space kernel, `kernel`, kernel/uapi, copy_kernel,\n"
                                "[x](kernel.md), kernels_x86_64.def, kernel.hpp, kernels().\n\n```\nkernel\n```\n")
        self.plant("lib/a.cpp", 'Kernel kernel = f("kernel");  // a copy\n// kernel, "kernel", "gpu,kernel" and lib/copy/kernels/avx2.cpp\n}  // namespace kernels\n')
        self.expect(check_words)


    def test_reports_nonstandard_terms(self):
        self.plant("docs/a.md", "The library tells why.\n\nIt is no\nerror.\n")
        self.plant("lib/a.cpp", 'f("there is x");  // nothing\n/* whoever reads */ g("asked for %d");\n#include "beside.hpp"\n')
        self.plant("scripts/a.sh", "say=1\necho 'it answers'  # by itself\n")
        self.expect(check_words, "docs/a.md:1: 'tells'", "docs/a.md:3: 'is no", "lib/a.cpp:2: 'whoever'", "lib/a.cpp:2: 'asked'",
                    "scripts/a.sh:2: 'answers'", "scripts/a.sh:2: 'by itself'")

    def test_accepts_names_code_and_people(self):
        self.plant("docs/a.md", "Users may ask; you want this. It is no longer open. `tells` and\n\n```\nit says\n```\n[x](beside.md)\n")
        self.plant("lib/a.cpp", "int sent = lookup(task);  // told_ and asked() and a/beside\n")
        self.expect(check_words)

    def test_reports_identifiers_and_file_names(self):
        self.plant("lib/a.cpp", 'int told_;\nbool x = isAsked(told_, "ask_");  // told_\n')
        self.plant("tests/meeting_test.py", "def look_up(name):\n    return 'ask'  # ask_\n")
        self.expect(check_words, "lib/a.cpp:1: identifier 'told_'", "lib/a.cpp:2: identifier 'isAsked'",
                    "tests/meeting_test.py: the file name has 'meeting_test'", "tests/meeting_test.py:1: identifier 'look_up'")

    def test_accepts_identifiers_of_other_libraries(self):
        self.plant("lib/a.cpp", "int x = nvshmemx_ask_smem(1);\n")
        self.expect(check_words)

    def test_reports_a_sentence_that_is_too_long(self):
        sentence = " ".join(["word"] * 18)
        self.plant("docs/a.md", f"# Title\n\n{sentence}\n{sentence}.\n\n- {sentence}\n- {sentence}. {sentence}.\n\n| {sentence} | {sentence} |\n")
        self.plant("lib/a.cpp", f"// {sentence} {sentence}\n")
        self.expect(check_words, "docs/a.md:3: a sentence of 36 words")


class CommandLine(TidyTest):
    def test_fails_only_with_violations(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_layers.py")
        self.plant("lib/base/a.cpp", "")
        self.assertEqual(subprocess.run([sys.executable, script, self.root], capture_output=True, check=False).returncode, 0)
        self.plant("lib/base/a.cpp", '#include "base/gone.hpp"\n')
        result = subprocess.run([sys.executable, script, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("lib/base/a.cpp:1:", result.stdout)


class Commands(TidyTest):
    def test_accepts_blocks_that_run_and_blocks_with_a_reason(self):
        self.plant("examples/ring.c")
        self.plant("README.md", "```sh\n./run build\n```\n<!-- not run: needs a GPU -->\n```sh\nsudo gdrkit doctor\n```\n"
                                "<!-- run with ring.c=examples/ring.c -->\n```sh\ncc ring.c\n```\n```text\nsudo\n```\n")
        self.plant("docs/results/x.md", "```\nsudo reboot\n```\n")  # lab output
        self.expect(check_commands)

    def test_rejects_stale_markers_and_markers_without_reason(self):
        self.plant("README.md", "<!-- not run: needs a GPU -->\n\n```sh\ngdrkit bench\n```\n<!-- not run: -->\n```sh\ngdrkit bench\n```\n")
        self.plant("docs/a.md", "<!-- run with ring.c=examples/ring.c -->\n```sh\ncc ring.c\n```\n<!-- note -->\n")
        self.expect(check_commands, "README.md:1: a marker of commands without a block", "README.md:6: a block that is not run requires a reason",
                    "docs/a.md:1: the marker contains examples/ring.c", "docs/a.md:5: an unknown marker")

    def test_rejects_commands_missing_on_a_clean_system(self):
        self.plant("docs/a.md", "```sh\nls\nsudo reboot\n```\n```sh\nls\n")
        self.expect(check_commands, "docs/a.md:1: commands that a clean system lacks", "docs/a.md:5: the block does not end")

    def test_rejects_nonexistent_commands(self):
        self.plant("cli/subcommands.def", 'GDRKIT_SUBCOMMAND(bench, x, "x", true)\n')
        self.plant("run", "  build) x ;;\n")
        self.plant("scripts/a.sh")
        self.plant("docs/a.md", "```sh\ngdrkit bench\n./run build  # gdrkit gone\nscripts/a.sh\ngdrkit bensh | gdrkit completion bash\n./run biuld\n"
                                "python3 scripts/b.py\n```\n")
        self.expect(check_commands, "has no gdrkit bensh", "has no ./run biuld", "has no scripts/b.py")

    def test_requires_a_language_and_a_wrapper_for_each_block(self):
        self.plant("tests/docs/wrappers/line.c", "/* SNIPPET */\n")
        self.plant("docs/a.md", "```\nls\n```\n```rust\nx\n```\n```c\nx();\n```\n<!-- compile with line -->\n```c\nx();\n```\n"
                                "```cpp\nint main() {}\n```\n<!-- compile with line -->\n```cuda\nx();\n```\n<!-- compile with line -->\n```sh\nls\n```\n")
        self.expect(check_commands, "docs/a.md:1: a block without a known language", "docs/a.md:4: a block without a known language",
                    "docs/a.md:7: a fragment of c needs", "docs/a.md:17: tests/docs/wrappers has no line for cuda",
                    "docs/a.md:21: a marker of a fragment without a block")

    def test_saves_a_program_under_the_documented_name(self):
        self.plant("docs/a.md", "Save it as `first.py`:\n```python\nx = 1\n```\n```sh\npython3 first.py\n```\n")
        blocks, _ = check_commands.blocks_of(self.root, "docs/a.md")
        self.assertEqual([(block.saved_as, block.is_commands()) for block in blocks], [("first.py", False), (None, True)])


if __name__ == "__main__":
    unittest.main()
