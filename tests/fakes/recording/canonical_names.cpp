// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/canonical_names.hpp"

#include <cstdio>
#include <cstdlib>

namespace gdrkit::fakes {
namespace {

using Kind = CanonicalNames::Kind;

std::uint64_t first_of(Kind kind) {
  switch (kind) {
    case Kind::descriptor: return 100;
    case Kind::handle: return 0xcd000001;
    case Kind::bar1_address: return 0xba1000000000;
    case Kind::context: return 0xc0000001;
    case Kind::stream: return 0x57000001;
    case Kind::allocation: return 0xa1000001;
    case Kind::buffer: return 1;
  }
  return 0;
}

std::uint64_t step_of(Kind kind) { return kind == Kind::bar1_address ? 0x1000000 : 1; }

}  // namespace

std::uint64_t CanonicalNames::name(Kind kind, std::uint64_t real) {
  const bool is_nothing = real == 0 || (kind == Kind::descriptor && real == 0xffffffffu);
  if (is_nothing) return real;
  const auto found = names_.find({kind, real});
  if (found != names_.end()) return found->second;
  const auto next = next_.try_emplace(kind, first_of(kind)).first;
  const std::uint64_t assigned = next->second;
  next->second += step_of(kind);
  names_[{kind, real}] = assigned;
  if (names_are_canonical_) names_[{kind, assigned}] = assigned;
  return assigned;
}

std::uint64_t CanonicalNames::add_region(std::uint64_t first, std::uint64_t bytes) {
  constexpr unsigned shift = 40;
  for (const Region& region : regions_) {
    if (region.first == first && region.bytes == bytes) return region.canonical;
  }
  const std::uint64_t canonical = (std::uint64_t{regions_.size()} + 1) << shift;
  regions_.push_back({first, bytes, canonical});
  return canonical;
}

std::uint64_t CanonicalNames::address(std::uint64_t real) {
  if (real == 0) return 0;
  for (const Region& region : regions_) {
    if (real - region.first < region.bytes) return region.canonical + (real - region.first);
  }
  // The address one past the end also belongs to the region, but a region that begins there has precedence.
  for (const Region& region : regions_) {
    if (real == region.first + region.bytes) return region.canonical + region.bytes;
  }
  unknown_.push_back(real);
  return real;
}

void CanonicalNames::add_mapping(const void* address, std::size_t length) {
  const auto first = reinterpret_cast<std::uint64_t>(address);
  for (const Mapping& mapping : mappings_) {
    if (first - mapping.first < mapping.bytes) return;  // a part of a range that was reserved before
  }
  mappings_.push_back({first, length, next_mapping_++});
}

void CanonicalNames::remove_mapping(const void* address) {
  std::erase_if(mappings_,
                [&](const Mapping& mapping) { return mapping.first == reinterpret_cast<std::uint64_t>(address); });
}

std::string CanonicalNames::mapping(const void* address) const {
  if (address == nullptr) return "0";
  const auto real = reinterpret_cast<std::uint64_t>(address);
  for (const Mapping& mapping : mappings_) {
    if (real - mapping.first >= mapping.bytes) continue;
    char text[48];
    std::snprintf(text, sizeof text, "m%u+0x%llx", mapping.number,
                  static_cast<unsigned long long>(real - mapping.first));
    return text;
  }
  return "unknown";
}

void* CanonicalNames::mapping_address(const std::string& name) const {
  for (const Mapping& mapping : mappings_) {
    const std::string prefix = "m" + std::to_string(mapping.number) + "+";
    if (!name.starts_with(prefix)) continue;
    return reinterpret_cast<void*>(mapping.first + std::strtoull(name.c_str() + prefix.size(), nullptr, 16));
  }
  return nullptr;
}

}  // namespace gdrkit::fakes
