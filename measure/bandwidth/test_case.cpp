// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/test_case.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

constexpr const char* list_hint = "; 'gdrkit bandwidth --list' lists all tests";

const TestCase* find_test(const std::string& word) {
  const auto& all = test_cases();
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error == std::errc() && stop == word.data() + word.size()) {
    if (index < all.size()) return &all[index];
    throw cli::Failure(
        cli::ExitCode::usage,
        cli::format("unknown test %s: tests are numbered from 0 to %zu", word.c_str(), all.size() - 1) + list_hint);
  }
  for (const TestCase& test : all) {
    if (word == test.name) return &test;
  }
  throw cli::Failure(cli::ExitCode::usage, "unknown test '" + word + "'" + list_hint);
}

const char* arrow(const TestCase& test) {
  if (test.is_bidirectional || test.is_latency()) return "<->";
  if (test.family == Family::all_to_one) return test.flow == Flow::write ? "<-" : "->";
  if (test.family == Family::one_to_all) return test.flow == Flow::write ? "->" : "<-";
  return test.flow == Flow::forth || test.flow == Flow::write ? "->" : "<-";
}

}  // namespace

const std::vector<TestCase>& test_cases() {
  static const std::vector<TestCase> all = {
#define GDRKIT_BUS_TEST(name, family, mover, flow, is_bidirectional, description) \
  {#name, Family::family, Mover::mover, Flow::flow, is_bidirectional, description},
#include "measure/bandwidth/bandwidth_tests.def"
#undef GDRKIT_BUS_TEST
  };
  return all;
}

std::string TestCase::title() const {
  const std::string by = mover == Mover::copy_engine ? "CE" : "SM";
  switch (family) {
    case Family::local: return "memcpy local GPU(column) bandwidth (GB/s)";
    case Family::host_latency: return "memory latency SM CPU(row) <-> GPU(column) (ns)";
    case Family::pair_latency: return "Device to Device Latency SM GPU(row) <-> GPU(column) (ns)";
    case Family::host:
    case Family::all_host: return "memcpy " + by + " CPU(row) " + arrow(*this) + " GPU(column) bandwidth (GB/s)";
    case Family::all_to_one:
    case Family::one_to_all: return "memcpy " + by + " GPU(column) " + arrow(*this) + " all others bandwidth (GB/s)";
    case Family::pair: break;
  }
  return "memcpy " + by + " GPU(row) " + arrow(*this) + " GPU(column) bandwidth (GB/s)";
}

std::vector<const TestCase*> select_tests(const std::vector<std::string>& names,
                                          const std::vector<std::string>& prefixes) {
  if (!names.empty() && !prefixes.empty()) {
    throw cli::Failure(cli::ExitCode::usage, "cannot combine --testcase with --testcasePrefixes; omit one");
  }
  std::vector<const TestCase*> selected;
  for (const std::string& name : names) {
    // A test given twice, by name and by index, would yield two results of one name, which is invalid in a document.
    const TestCase* const test = find_test(name);
    if (std::find(selected.begin(), selected.end(), test) == selected.end()) selected.push_back(test);
  }
  for (const TestCase& test : test_cases()) {
    bool is_meant = names.empty() && prefixes.empty();
    for (const std::string& prefix : prefixes) is_meant = is_meant || std::string(test.name).rfind(prefix, 0) == 0;
    if (is_meant) selected.push_back(&test);
  }
  if (selected.empty())
    throw cli::Failure(cli::ExitCode::usage,
                       std::string("no test name begins with a prefix of --testcasePrefixes") + list_hint);
  return selected;
}

}  // namespace gdrkit::measure::bandwidth
