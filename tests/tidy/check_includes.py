#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A file that uses a name of std must include its standard header, directly or through headers of this tree: the
includes between standard headers differ between compilers and their versions. No header is included inside a namespace: where
another file has included it before, as in a united build, the mistake has no effect."""
import os
import re

import repo
import report

# header: names that only this header provides for certain
NAMES = {
    "algorithm":
        "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range fill fill_n find "
        "find_first_of find_if find_if_not for_each generate includes is_permutation is_sorted lexicographical_compare lower_bound max "
        "max_element merge min min_element minmax minmax_element mismatch none_of nth_element partial_sort partition ranges remove "
        "remove_if replace replace_if reverse rotate search set_difference set_intersection shuffle sort stable_partition stable_sort "
        "swap_ranges transform unique upper_bound",
    "any": "any any_cast",
    "array": "array to_array",
    "atomic":
        "atomic atomic_bool atomic_flag atomic_int atomic_ref atomic_signal_fence atomic_thread_fence memory_order memory_order_acq_rel "
        "memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero endian has_single_bit popcount rotl",
    "bitset": "bitset",
    "cctype": "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper",
    "charconv": "chars_format from_chars from_chars_result to_chars to_chars_result",
    "chrono": "chrono",
    "cmath":
        "abs acos asin atan atan2 ceil cos erfc exp exp2 fabs floor fma fmod frexp hypot isfinite isinf isnan ldexp lgamma llround log "
        "log10 log1p log2 lround modf nan nearbyint pow round sin sqrt tan trunc",
    "compare": "partial_ordering strong_ordering weak_ordering",
    "concepts": "convertible_to derived_from floating_point integral invocable same_as signed_integral unsigned_integral",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "csignal": "raise signal",
    "cstdarg": "va_list",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t to_integer",
    "cstdint": "int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t",
    "cstdio":
        "fclose ferror fflush fgets FILE fopen fprintf fputc fputs fread fscanf fseek fwrite getc perror printf putc putchar puts rename "
        "snprintf sprintf sscanf vfprintf vsnprintf",
    "cstdlib":
        "_Exit abort aligned_alloc atexit atoi calloc exit free getenv malloc qsort quick_exit realloc strtod strtof strtol strtold "
        "strtoll strtoul strtoull system",
    "cstring":
        "memchr memcmp memcpy memmove memset strchr strcmp strcpy strcspn strerror strlen strncmp strncpy strrchr strspn strstr strtok",
    "ctime": "gmtime localtime mktime strftime time time_t tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception set_terminate terminate uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "bind equal_to function greater invoke less minus multiplies not_fn plus reference_wrapper",
    "future": "async future future_status launch packaged_task promise",
    "initializer_list": "initializer_list",
    "iomanip": "quoted setfill setprecision setw",
    "iostream": "cerr cin clog cout",
    "iterator":
        "advance back_insert_iterator back_inserter distance forward_iterator_tag front_inserter input_iterator_tag inserter "
        "istream_iterator istreambuf_iterator make_move_iterator next ostream_iterator ostreambuf_iterator prev "
        "random_access_iterator_tag reverse_iterator",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory":
        "addressof align allocator default_delete destroy_at dynamic_pointer_cast enable_shared_from_this make_shared make_unique "
        "shared_ptr static_pointer_cast unique_ptr weak_ptr",
    "mutex": "adopt_lock call_once defer_lock lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex try_to_lock unique_lock",
    "new": "align_val_t bad_alloc destroying_delete get_new_handler launder nothrow nothrow_t",
    "numbers": "numbers",
    "numeric": "accumulate gcd inner_product iota lcm midpoint partial_sum reduce",
    "optional": "bad_optional_access nullopt optional",
    "queue": "priority_queue queue",
    "random":
        "bernoulli_distribution discrete_distribution minstd_rand mt19937 mt19937_64 normal_distribution random_device seed_seq "
        "student_t_distribution uniform_int_distribution uniform_real_distribution",
    "regex": "regex regex_match regex_replace regex_search smatch",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex",
    "source_location": "source_location",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stack": "stack",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error runtime_error",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "basic_string getline stod stoi stol stoll stoul stoull string to_string u16string u8string wstring",
    "string_view": "basic_string_view string_view",
    "system_error": "errc error_code generic_category make_error_code system_category system_error",
    "thread": "jthread this_thread thread",
    "tuple": "apply forward_as_tuple ignore make_tuple tie tuple tuple_cat tuple_element_t",
    "type_traits":
        "add_const_t add_pointer_t alignment_of bool_constant common_type_t conditional conditional_t decay_t enable_if_t extent_v "
        "false_type integral_constant invoke_result_t is_arithmetic_v is_array_v is_base_of_v is_class_v is_const_v is_constant_evaluated "
        "is_convertible_v is_copy_constructible_v is_empty_v is_enum_v is_floating_point_v is_function_v is_integral_v is_invocable_r_v "
        "is_invocable_v is_nothrow_copy_assignable_v is_nothrow_copy_constructible_v is_nothrow_move_assignable_v "
        "is_nothrow_move_constructible_v is_pointer_v is_reference_v is_same is_same_v is_signed_v is_standard_layout_v "
        "is_trivially_copyable is_trivially_copyable_v is_trivially_destructible_v is_unsigned_v is_void_v make_signed_t make_unsigned_t "
        "remove_const_t remove_cv_t remove_cvref_t remove_pointer_t remove_reference_t true_type type_identity_t underlying_type_t void_t",
    "typeinfo": "type_info",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_multiset unordered_set",
    "utility":
        "as_const cmp_equal cmp_greater cmp_less declval exchange forward in_place in_range index_sequence index_sequence_for "
        "integer_sequence make_index_sequence make_pair move pair piecewise_construct swap to_underlying unreachable",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
# Names that the standard defines in several headers, or in a C header under its own name.
ALSO = {
    "abs": {"cstdlib"}, "errc": {"charconv"}, "getline": {"istream"}, "initializer_list": {"map", "set", "string", "utility", "vector"},
    "move": {"algorithm"}, "nothrow": {"memory"}, "ranges": {"ranges"}, "size_t": {"cstdio", "cstdlib", "cstring", "ctime"},
    "string_view": {"string"}, "swap": {"array", "string_view"}, "va_list": {"cstdio"},
}
USE = re.compile(r"(?<![\w:])(?:::)?std::(\w+)")
INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*(?:<([^>]+)>|"([^"]+)")')
SUFFIXES = (".cpp", ".hpp", ".cuh", ".cu")


def headers_of(source):
    """Returns the includes of a file: C headers by their C++ names, and files of the tree as written."""
    standard, own = set(), set()
    for angled, quoted in INCLUDE.findall(repo.comments_blanked(source)):
        if angled and "/" not in angled:
            standard.add("c" + angled[:-2] if angled.endswith(".h") else angled)
        else:
            own.add(angled or quoted)
    return standard, own


class Tree:
    """Finds the standard headers that a file includes, directly or through headers of this tree."""

    def __init__(self, root):
        self.root = root
        self.paths = [path for path in repo.own_files(root) if path.endswith(SUFFIXES + (".h", ".def"))]
        self.by_name = {}
        for path in self.paths:
            self.by_name.setdefault(os.path.basename(path), []).append(path)
        self.cached = {}

    def found(self, include, path):
        """Returns the included file: in the directory of the including one, else below an include directory; the longest common path wins."""
        sibling = os.path.normpath(os.path.join(os.path.dirname(path), include))
        candidates = [name for name in self.by_name.get(os.path.basename(include), ()) if ("/" + name).endswith("/" + include.lstrip("./"))]
        if sibling in candidates or not candidates:
            return sibling if sibling in self.paths else None
        return max(candidates, key=lambda name: len(os.path.commonprefix([name, path])))

    def standard_headers(self, path):
        if path not in self.cached:
            self.cached[path] = set()  # ends cycles
            standard, own = headers_of(repo.read(self.root, path))
            for header in filter(None, (self.found(include, path) for include in own)):
                standard |= self.standard_headers(header)
            self.cached[path] = standard
        return self.cached[path]


def included_in_namespaces(root, path):
    """Yields line number and header of each include after the opening line of a namespace and before its last line."""
    depth = 0
    for number, line in enumerate(repo.read(root, path).splitlines(), 1):
        if re.match(r"(?:inline )?namespace\b.*\{\s*$", line):
            depth += 1
        elif re.match(r"\}\s*// namespace", line):
            depth -= 1
        elif depth > 0 and (include := re.match(r'\s*#\s*include\s+[<"]([^>"]+\.(?:hpp|h|cuh)|[^>".]+)[>"]', line)):
            yield number, include[1]


def find_violations(root):
    tree = Tree(root)
    for path in tree.paths:
        if not path.endswith(SUFFIXES):
            continue
        for number, header in included_in_namespaces(root, path):
            yield f"{path}:{number}: {header} is included inside a namespace"
        code, reported = repo.code_only(repo.read(root, path)), set()
        for use in USE.finditer(code):
            header = HEADER_OF.get(use.group(1))
            allowed = {header} | ALSO.get(use.group(1), set())
            if header and header not in reported and not allowed & tree.standard_headers(path):
                reported.add(header)
                yield f"{path}:{repo.line_of(code, use.start())}: std::{use.group(1)} requires #include <{header}>"


if __name__ == "__main__":
    report.main(find_violations)
