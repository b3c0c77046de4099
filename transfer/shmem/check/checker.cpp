// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/checker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli/interface/demand.hpp"
#include "platform/gpu_code/pattern_value.cuh"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr const char* message_prefix = "gdrkit shmem check: ";

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

void Checker::begin(const char* name) {
  name_ = name;
  result_ = {};
  begin_ns_ = platform::now_ns();
}

const CheckResult& Checker::finish() {
  result_.duration_us = static_cast<std::uint64_t>(platform::now_ns() - begin_ns_) / 1000;
  result_.seal = result_seal;
  return result_;
}

void Checker::fail(const std::string& text) {
  if (result_.failures < kept_failures) {
    char* const kept = result_.texts[result_.failures];
    std::snprintf(kept, sizeof result_.texts[0], "PE %d: %s", pe(), text.c_str());
  }
  ++result_.failures;
}

void Checker::print_failures() {
  for (std::size_t kept = 0; kept < std::min<std::uint64_t>(result_.failures, kept_failures); ++kept) {
    std::fprintf(stderr, "%s\n", cli::printable(name_ + ": " + result_.texts[kept]).c_str());
  }
}

bool Checker::succeeds(int code, const std::string& what) {
  ++result_.operations;
  if (code >= 0) return true;
  fail(job::last_error(cli::format("%s returned %d", what.c_str(), code)));
  return false;
}

void Checker::demand(bool holds, const std::string& what) {
  ++result_.operations;
  if (!holds) fail(what);
}

void Checker::barrier() { job::require(gdrkit_shmem_barrier_all(), "barrier_all"); }

void Checker::read(void* target, const void* source, std::size_t size_bytes) {
  cli::demand(session_.device().copy_to_host(target, address_of(source), size_bytes), message_prefix);
}

void Checker::write(void* target, const void* source, std::size_t size_bytes) {
  cli::demand(session_.device().copy_to_device(address_of(target), source, size_bytes), message_prefix);
}

void Checker::fill(void* target, std::uint8_t value, std::size_t size_bytes) {
  cli::demand(session_.device().fill(address_of(target), value, size_bytes), message_prefix);
}

void Checker::compare(std::vector<std::uint8_t>* got, const std::vector<std::uint8_t>& expected,
                      const std::string& what) {
  ++result_.operations;
  spoil(got);
  const auto [wrong, right] = std::mismatch(got->begin(), got->end(), expected.begin(), expected.end());
  if (wrong == got->end()) return;
  fail(what + ": " + wrong_byte(static_cast<std::size_t>(wrong - got->begin()), *wrong, *right));
}

void Checker::spoil(std::vector<std::uint8_t>* received) {
  if (options_.spoiled != name_ || pe() != n_pes() - 1 || received->empty()) return;
  (*received)[received->size() / 2] ^= 0xff;
}

SymmetricMemory::SymmetricMemory(Checker& checker, std::size_t size_bytes)
    : checker_(checker), uncaught_exceptions_(std::uncaught_exceptions()) {
  void* data = nullptr;
  if (gdrkit_shmem_malloc(size_bytes, &data) != 0) {
    cli::fail("gdrkit shmem check: " + job::last_error(cli::format("malloc of %zu bytes", size_bytes)));
  }
  data_ = static_cast<std::uint8_t*>(data);
}

SymmetricMemory::~SymmetricMemory() {
  // The other PEs do not take part: this process is about to end.
  if (std::uncaught_exceptions() > uncaught_exceptions_) return;
  (void)checker_.succeeds(gdrkit_shmem_free(data_), "free");
}

void fill_pattern(std::uint8_t* target, std::size_t size_bytes, std::uint64_t seed) {
  const std::uint64_t start = platform::pattern_hash(seed, 0);
  for (std::size_t offset = 0; offset < size_bytes; offset += sizeof(std::uint64_t)) {
    const std::uint64_t word = platform::pattern_hash(start + offset, 0);
    std::memcpy(target + offset, &word, std::min(sizeof word, size_bytes - offset));
  }
}

std::vector<std::uint8_t> pattern(std::size_t size_bytes, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(size_bytes);
  fill_pattern(bytes.data(), size_bytes, seed);
  return bytes;
}

std::string wrong_byte(std::size_t index, std::uint8_t got, std::uint8_t expected) {
  return cli::format("byte %zu is 0x%02x, expected 0x%02x", index, got, expected);
}

}  // namespace gdrkit::transfer::shmem
