// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CanonicalNames: numbers that differ from run to run, replaced by numbers in the order in which they first appear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gdrkit::fakes {

/// A canonical number that appears as a real one in the same order has itself as its name, so a replayed library
/// returns canonical numbers unchanged. Zero and -1 keep their values.
class CanonicalNames {
 public:
  enum class Kind { descriptor, handle, bar1_address, context, stream, allocation, buffer };

  /// `names_are_canonical`: the other side returns canonical names, which have themselves as names. This is the case in
  /// a replay, also for numbers that the library chose and gets back.
  explicit CanonicalNames(bool names_are_canonical = false) : names_are_canonical_(names_are_canonical) {}

  [[nodiscard]] std::uint64_t name(Kind kind, std::uint64_t real);
  [[nodiscard]] int descriptor(int real) {
    return static_cast<int>(name(Kind::descriptor, static_cast<std::uint32_t>(real)));
  }
  /// The system may reuse the number for something else.
  void forget(Kind kind, std::uint64_t real) { names_.erase({kind, real}); }

  /// Contiguous device memory: addresses inside are named by their offset. Returns its canonical start.
  std::uint64_t add_region(std::uint64_t first, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t address(std::uint64_t real);
  /// Device addresses outside every region: the conversation cannot be compared, and must not be kept.
  [[nodiscard]] const std::vector<std::uint64_t>& unknown_addresses() const noexcept { return unknown_; }

  /// A mapped part of the process's own address space.
  void add_mapping(const void* address, std::size_t length);
  void remove_mapping(const void* address);
  [[nodiscard]] std::string mapping(const void* address) const;  ///< "m1+0x1000"; "0" for null; "unknown"
  [[nodiscard]] void* mapping_address(const std::string& name) const;

 private:
  struct Region {
    std::uint64_t first;
    std::uint64_t bytes;
    std::uint64_t canonical;
  };
  struct Mapping {
    std::uint64_t first;
    std::uint64_t bytes;
    unsigned number;
  };
  bool names_are_canonical_;
  std::map<std::pair<Kind, std::uint64_t>, std::uint64_t> names_;
  std::map<Kind, std::uint64_t> next_;
  std::vector<Region> regions_;
  std::vector<Mapping> mappings_;
  unsigned next_mapping_ = 0;
  std::vector<std::uint64_t> unknown_;
};

}  // namespace gdrkit::fakes
