// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Checker: state and functions of the checks of `gdrkit shmem check` on one PE.
// A failure is recorded and the check continues, so that all PEs make the same collective calls. Only a failure that
// prevents this throws; then this process ends, and the library ends the waits of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transfer/job/pe_session.hpp"

namespace gdrkit::transfer::shmem {

inline constexpr std::size_t kept_failures = 3;

/// What one check found on one PE: plain bytes, which travel through the symmetric heap to PE 0.
struct CheckResult {
  std::uint64_t seal = 0;  ///< result_seal once the rest has arrived
  std::uint64_t operations = 0;
  std::uint64_t failures = 0;
  std::uint64_t duration_us = 0;
  char texts[kept_failures][256] = {};  ///< of the first failures
};
inline constexpr std::uint64_t result_seal = 0x6764726b69747368;

struct CheckOptions {
  std::size_t largest_bytes = std::size_t{8} << 20;
  int rounds = 2000;    ///< of checks that repeat one exchange
  std::string spoiled;  ///< for tests: the check whose received data gets a wrong byte on the last PE
};

class Checker {
 public:
  Checker(job::PeSession& session, const CheckOptions& options) : session_(session), options_(options) {}

  [[nodiscard]] int pe() const noexcept { return session_.pe(); }
  [[nodiscard]] int n_pes() const noexcept { return session_.n_pes(); }
  /// Returns the PE `distance` positions after this one, cyclically.
  [[nodiscard]] int neighbour(int distance) const noexcept { return (pe() + distance + n_pes()) % n_pes(); }
  [[nodiscard]] const CheckOptions& options() const noexcept { return options_; }
  [[nodiscard]] job::PeSession& session() noexcept { return session_; }

  void begin(const char* name);
  [[nodiscard]] const CheckResult& finish();

  /// Prints to stderr, for results that do not reach PE 0.
  void print_failures();

  void fail(const std::string& text);
  /// Counts the operation. Returns whether the call succeeded, and records a failure.
  bool succeeds(int code, const std::string& what);
  /// Records the failure `what` unless `holds`.
  void demand(bool holds, const std::string& what);

  /// Throws Failure when the barrier fails.
  void barrier();

  // Access this PE's memory by the device's copies only, without the library under test. Throw Failure.
  void read(void* target, const void* source, std::size_t size_bytes);
  void write(void* target, const void* source, std::size_t size_bytes);
  void fill(void* target, std::uint8_t value, std::size_t size_bytes);
  template <class T>
  [[nodiscard]] T read_value(const T* source) {
    T value{};
    read(&value, source, sizeof value);
    return value;
  }

  /// Compares `got` with `expected`; records the first wrong byte after `what`.
  void compare(std::vector<std::uint8_t>* got, const std::vector<std::uint8_t>& expected, const std::string& what);
  /// With --spoil, changes the byte in the middle.
  void spoil(std::vector<std::uint8_t>* received);

 private:
  job::PeSession& session_;
  const CheckOptions& options_;
  CheckResult result_;
  std::string name_;
  std::int64_t begin_ns_ = 0;
};

/// An object of the symmetric heap. Construction and destruction are collective.
class SymmetricMemory {
 public:
  /// Throws Failure.
  SymmetricMemory(Checker& checker, std::size_t size_bytes);
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  ~SymmetricMemory();
  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return reinterpret_cast<T*>(data_);
  }

 private:
  Checker& checker_;
  const int uncaught_exceptions_;  // at construction
  std::uint8_t* data_ = nullptr;
};

/// Bytes that depend on the seed and the position, equal on every PE.
void fill_pattern(std::uint8_t* target, std::size_t size_bytes, std::uint64_t seed);
[[nodiscard]] std::vector<std::uint8_t> pattern(std::size_t size_bytes, std::uint64_t seed);
/// "byte 17 is 0x3a, expected 0x91"
[[nodiscard]] std::string wrong_byte(std::size_t index, std::uint8_t got, std::uint8_t expected);

/// A line of checks.def.
struct Check {
  const char* name;
  const char* summary;
  void (*run)(Checker& checker);
};

#define GDRKIT_SHMEM_CHECK(name, summary) void check_##name(Checker& checker);
#include "transfer/shmem/check/checks.def"
#undef GDRKIT_SHMEM_CHECK

inline constexpr Check all_checks[] = {
#define GDRKIT_SHMEM_CHECK(name, summary) {#name, summary, &check_##name},
#include "transfer/shmem/check/checks.def"
#undef GDRKIT_SHMEM_CHECK
};

}  // namespace gdrkit::transfer::shmem
