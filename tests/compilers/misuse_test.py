#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Misuse of gdrkit.hpp, shmem.hpp and NVSHMEM's tile functions that must not compile, each next to the correct form, which must."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILER = [*os.environ.get("CXX", "c++").split(), "-std=c++20", "-Werror=unused-result", "-I" + os.path.join(ROOT, "include")]
HEADERS = """
#include <gdrkit/gdrkit.hpp>
#include <gdrkit/shmem.hpp>

#include <array>
#include <span>
#include <string_view>
#include <vector>

"""
START = """
using namespace gdrkit;
void use([[maybe_unused]] Mapping& map, [[maybe_unused]] const Mapping& constant, [[maybe_unused]] Buffer& buffer,
         [[maybe_unused]] Pin& pin, [[maybe_unused]] Context& context, [[maybe_unused]] const shmem::Job& job,
         [[maybe_unused]] const shmem::SymmetricSpan<char>& chars, [[maybe_unused]] const shmem::SymmetricSpan<float>& floats,
         [[maybe_unused]] const shmem::SymmetricSpan<const float>& readable, [[maybe_unused]] const shmem::SymmetricSpan<std::uint64_t>& word,
         [[maybe_unused]] std::vector<float>& numbers, [[maybe_unused]] const std::vector<float>& fixed) {
"""
# name: (correct, wrong, what the compiler's message contains)
CASES = {
    "pointers as elements": ("std::vector<int> data(2); map.write(0, data);", "std::vector<int*> data(2); map.write(0, data);", "is_pointer"),
    "read into pointers": ("std::vector<int> data(2); map.read(0, data);", "std::vector<int*> data(2); map.read(0, data);", "is_pointer"),
    "objects as elements": ("std::vector<int> data; map.write(0, data);", "std::vector<std::vector<int>> data; map.write(0, data);",
                            "is_trivially_copyable"),
    "string literal": ('map.write(0, std::string_view("text"));', 'map.write(0, "text");', "a string literal ends with a zero"),
    "string literal to a buffer": ('buffer.copy_from_host(0, std::string_view("text"));', 'buffer.copy_from_host(0, "text");',
                                   "a string literal ends with a zero"),
    "array of characters": ("char text[4] = {}; map.write(0, text);", "const char text[4] = {}; map.write(0, text);",
                            "pass std::string_view or std::span"),
    "span of constants": ("const char text[4] = {}; map.write(0, std::span(text));", "const char text[4] = {}; map.read(0, std::span(text));",
                          "is_const|constraint"),
    "flag without a type": ("map.store_flag<std::uint32_t>(0, 1);", "map.store_flag(0, 1);", r"template (parameter|argument) 'T'"),
    "flag of three bytes": ("map.store_flag<std::array<char, 2>>(0, {});", "map.store_flag<std::array<char, 3>>(0, {});", "sizeof|FlagValue"),
    "flag that is a pointer": ("map.store_flag<std::uintptr_t>(0, 0);", "map.store_flag<int*>(0, nullptr);", "is_pointer|FlagValue"),
    "write to a constant mapping": ("map.write(0, std::array{1});", "constant.write(0, std::array{1});", "const"),
    "flag to a constant mapping": ("map.store_flag<int>(0, 1);", "constant.store_flag<int>(0, 1);", "const"),
    "segments to a constant mapping": ("map.write_segments({});", "constant.write_segments({});", "const"),
    "bytes of a constant mapping": ("map.bytes()[0] = std::byte{1};", "constant.bytes()[0] = std::byte{1};", "const|read-only|no viable"),
    "read into a temporary": ("std::vector<int> data(1); map.read(0, data);", "map.read(0, std::vector<int>(1));", "borrowed_range|constraint"),
    "mapping that is dropped": ("auto kept = pin.map();", "pin.map();", "nodiscard"),
    "copied mapping": ("auto moved = std::move(map);", "auto copied = map;", "deleted|implicitly"),
    "copied pin": ("auto moved = std::move(pin);", "auto copied = pin;", "deleted|implicitly"),
    "engine by a string": ("auto kept = pin.map({.engine = Engine::mover});", 'auto kept = pin.map({.engine = "mover"});', "convert|no matching|cannot"),
    "source of a read segment": ("const int x = 1; const WriteSegment one{0, &x, 4}; map.write_segments({&one, 1});",
                                 "const int x = 1; const ReadSegment one{0, &x, 4}; map.read_segments({&one, 1});", "invalid conversion|cannot initialize"),
    "atomic on a byte": ("(void)word.fetch_add(1, 0);", "(void)chars.fetch_add(1, 0);", "fetch_add"),
    "comparison of the C API": ("word.wait_until(shmem::Comparison::equal, 1);", "word.wait_until(GDRKIT_SHMEM_EQ, 1);", "Comparison"),
    "wait for a float": ("word.wait_until(shmem::Comparison::equal, 1);", "floats.wait_until(shmem::Comparison::equal, 1);", "wait_until"),
    "copied job": ("auto& same = job; (void)same;", "auto copied = job;", "deleted"),
    "element of a temporary buffer": ("auto kept = job.allocate<float>(4); (void)kept[0];", "(void)job.allocate<float>(4)[0];", "deleted"),
    "span of a temporary buffer": ("auto kept = job.allocate<float>(4); (void)kept.span();", "(void)job.allocate<float>(4).span();", "deleted"),
    "get into constants": ("floats.get(numbers, 0);", "floats.get(fixed, 0);", "cannot write to a target of const elements"),
    "get into a temporary": ("floats.get(std::span(numbers), 0);", "floats.get(std::vector<float>(4), 0);", "the target is a temporary object"),
    "literal with a signal": ('chars.put_signal(std::string_view("text"), word, 1, 0);', 'chars.put_signal("text", word, 1, 0);',
                              "a string literal includes its terminating zero"),
    "literal in a put": ('chars.put(std::string_view("text"), 0);', 'chars.put("text", 0);', "a string literal includes its terminating zero"),
    "symmetric objects": ("(void)job.allocate<int>(4);", "(void)job.allocate<std::vector<int>>(4);", "elements must be trivially copyable"),
    "symmetric pointers": ("(void)job.allocate<int>(4);", "(void)job.allocate<int*>(4);", "elements must not be pointers"),
    "span of pointers": ("(void)floats.size();", "shmem::SymmetricSpan<const char*> span(nullptr, 0); (void)span.size();",
                         "elements must not be pointers"),
    "other element type": ("floats.put(fixed, 0);", "floats.put(std::vector<double>(4), 0);", "must have the same type"),
    "temporary source on a stream": ("floats.put_on_stream(std::span(numbers), 0, nullptr);",
                                     "floats.put_on_stream(std::vector<float>(4), 0, nullptr);", "the source is a temporary object"),
    "store to constants": ("floats.store(1, 0);", "readable.store(1, 0);", "store"),
    "put to constants": ("readable.get(numbers, 0);", "readable.put(fixed, 0);", "cannot write to a symmetric span of const elements"),
}
# As in GPU kernels, but compiled for the host. NVSHMEM's tensors have the members of Tensor.
TILE_HEADERS = """
#include <gdrkit/compat/nvshmem_tile.cuh>

#include <array>
#include <tuple>

"""
TILE_START = """
using namespace gdrkit::shmem;
template <class Data, class Shape, class Stride>
struct Tensor {
  Data data() const { return {}; }
  Shape shape() const { return {}; }
  Stride stride() const { return {}; }
};
using One = std::tuple<int>;
using Two = std::tuple<int, int>;
struct Float8 { unsigned char bits; };
struct Coordinates { int x, y; };
template <class Data, class Shape, class Stride>
auto tile() { return detail::tile_of(Tensor<Data, Shape, Stride>()); }
template <class T, class Tuple = Two>
int put(Tuple tuple = {}) {
  const auto one = tile<T*, Two, Two>();
  return detail::copy_tile<true>(State(), one, one, tuple, tuple, 0, 0, thread());
}
template <class T>
int reduce() {
  const auto one = tile<T*, Two, Two>();
  return detail::reduce_tile<GDRKIT_SHMEM_SUM>(State(), 0, one, one, Two(), Two(), detail::Reducer::every_pe, 0, 0, thread());
}
void use() {
"""
TILE_CASES = {
    "scalar shape": ("(void)tile<int*, One, One>();", "(void)tile<int*, int, int>();", "a shape must be a tuple of 1 or 2 sizes"),
    "array as a shape": ("(void)tile<int*, Two, Two>();", "(void)tile<int*, std::array<int, 2>, Two>();", "a shape must be a tuple of 1 or 2 sizes"),
    "three dimensions": ("(void)tile<int*, Two, Two>();", "(void)tile<int*, std::tuple<int, int, int>, std::tuple<int, int, int>>();",
                         "a shape must be a tuple of 1 or 2 sizes"),
    "scalar stride": ("(void)tile<int*, One, One>();", "(void)tile<int*, One, int>();", "as many elements as the shape"),
    "too few strides": ("(void)tile<int*, Two, Two>();", "(void)tile<int*, Two, One>();", "as many elements as the shape"),
    "iterator as data": ("(void)tile<int*, One, One>();", "struct Iterator {}; (void)tile<Iterator, One, One>();", r"data\(\) must return a pointer"),
    "boundary without get": ("put<int>(One());", "put<int>(Coordinates());", "start_coord and boundary must be tuples"),
    "put of 16 bytes": ("put<Float8>();", "struct Long { long words[2]; }; put<Long>();", "elements of 1, 2, 4 or 8 bytes"),
    "sum of 8-bit floats": ("reduce<Half>(); reduce<Bfloat16>(); reduce<double>(); reduce<char>();", "reduce<Float8>();",
                            "elements must be integers, float, double, __half or __nv_bfloat16"),
}


class Misuse(unittest.TestCase):
    headers, start, cases = HEADERS, START, CASES

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.header = os.path.join(directory.name, "headers.hpp")
        with open(cls.header, "w", encoding="utf-8") as file:
            file.write(cls.headers)
        subprocess.run([*COMPILER, "-x", "c++-header", cls.header, "-o", cls.header + ".gch"], check=True)  # read once for all cases

    def compiled(self, body):
        """(whether it compiles, what the compiler printed in plain quotes)"""
        ended = subprocess.run([*COMPILER, "-include", self.header, "-x", "c++", "-fsyntax-only", "-"], input=self.start + body + "\n}\n", text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env={**os.environ, "LC_ALL": "C"})
        return ended.returncode == 0, ended.stdout

    def test_the_correct_forms_compile(self):
        ok, text = self.compiled("\n".join(f"  {{ {correct} }}" for correct, _, _ in self.cases.values()))
        self.assertTrue(ok, text[:4000])

    def test_misuse_does_not_compile(self):
        for name, (_, wrong, message) in self.cases.items():
            with self.subTest(name):
                ok, text = self.compiled("  " + wrong)
                self.assertFalse(ok, wrong)
                self.assertRegex(text, re.compile(message))


class TileMisuse(Misuse):
    headers, start, cases = TILE_HEADERS, TILE_START, TILE_CASES


if __name__ == "__main__":
    unittest.main()
