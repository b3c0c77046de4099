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

/// A canonical number, met as a real one in the same order, names itself: a replayed library that is given canonical
/// numbers says them back unchanged. Zero and -1 stay what they are.
class CanonicalNames {
 public:
  enum class Kind { descriptor, handle, bar1_address, context, stream, allocation, buffer };

  /// `names_are_known`: the other side answers with canonical names, which then name themselves. So it is in a replay,
  /// also for numbers that the library chose and gets back.
  explicit CanonicalNames(bool names_are_known = false) : names_are_known_(names_are_known) {}

  [[nodiscard]] std::uint64_t name(Kind kind, std::uint64_t real);
  [[nodiscard]] int descriptor(int real) {
    return static_cast<int>(name(Kind::descriptor, static_cast<std::uint32_t>(real)));
  }
  /// The system may use the number again, for something else.
  void forget(Kind kind, std::uint64_t real) { names_.erase({kind, real}); }

  /// Device memory that belongs together: addresses inside are named by their offset. Returns its canonical start.
  std::uint64_t add_region(std::uint64_t first, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t address(std::uint64_t real);
  /// Device addresses that were in no region: the conversation cannot be compared, and must not be kept.
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
  bool names_are_known_;
  std::map<std::pair<Kind, std::uint64_t>, std::uint64_t> names_;
  std::map<Kind, std::uint64_t> next_;
  std::vector<Region> regions_;
  std::vector<Mapping> mappings_;
  unsigned next_mapping_ = 0;
  std::vector<std::uint64_t> unknown_;
};

}  // namespace gdrkit::fakes
