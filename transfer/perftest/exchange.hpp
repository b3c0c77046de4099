// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Exchange: the data that both ends need about each other for verbs, in the format of perftest 6.06 (docs/transfers.md
// describes it). In each step the client sends first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "platform/vendor/verbs_objects.hpp"
#include "transfer/perftest/perftest_wire.hpp"

namespace gdrkit::transfer::perftest {

/// The data that the other end needs about a queue pair.
struct PairAddress {
  std::uint16_t lid = 0;
  std::uint32_t reads = 0;  ///< outstanding
  std::uint32_t number = 0;
  std::uint32_t psn = 0;
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;  ///< of the memory that the other end writes to and reads from
  bool has_gid = false;
  platform::VerbsGid gid;
};

/// perftest's record of it, 108 bytes with a GID and 59 without.
[[nodiscard]] std::string text_of(const PairAddress& address);
/// Returns false if the text is not such a record.
[[nodiscard]] bool parse_pair_address(const std::string& text, bool has_gid, PairAddress* address);
/// perftest's record of it over rdma_cm: 56 bytes, numbers big endian.
[[nodiscard]] std::string bytes_of(const PairAddress& address);
[[nodiscard]] PairAddress pair_address_in(const std::string& bytes, bool has_gid);

/// perftest's five numbers of a bandwidth.
struct SharedResult {
  std::uint64_t size_bytes = 0;
  std::uint64_t iterations = 0;
  double peak = 0;
  double average = 0;
  double rate = 0;
};

/// Functions throw Failure(failed) with the peer and the step if the peer has ended or does not respond.
class Exchange {
 public:
  explicit Exchange(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}

  /// Versions, page and cache line sizes.
  void begin();
  /// The other end is gdrkit's too, so that terms can be compared and data be checked.
  [[nodiscard]] bool is_own() const noexcept { return is_own_; }
  [[nodiscard]] const std::string& peer() const noexcept { return wire_->peer(); }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }

  [[nodiscard]] int swap_mtu(int mtu);
  [[nodiscard]] PairAddress swap(const PairAddress& own, const char* step);
  [[nodiscard]] SharedResult swap(const SharedResult& own);
  /// Truncates to 255 bytes. Only between ends of gdrkit.
  [[nodiscard]] std::string swap_text(const std::string& own, const char* step);
  template <class T>
  [[nodiscard]] T swap_value(const T& own, const char* step) {
    T theirs{};
    swap_bytes(&own, &theirs, sizeof own, step);
    return theirs;
  }
  void end() noexcept { wire_->end(); }

  /// Whether a message from the peer has arrived. Does not wait. Throws if the peer has ended.
  [[nodiscard]] bool has_message(const std::string& step) { return wire_->has_message(step); }

 private:
  void swap_bytes(const void* own, void* theirs, std::size_t size_bytes, const char* step);

  std::unique_ptr<Wire> wire_;
  bool is_own_ = false;
  std::string version_;
};

}  // namespace gdrkit::transfer::perftest
