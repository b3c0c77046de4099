// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/identifiers.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::diag::snapshot {
namespace {

/// Names of tables in the firmware, which are the same on every machine.
constexpr std::string_view common_uuids[] = {"8be4df61-93ca-11d2-aa0d-00e098032b8c",
                                             "d719b2cb-3d3a-4596-a3bc-dad00e67656f"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '-' || c == '.'; }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '-'; }

char at_or_zero(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }
char before(std::string_view text, std::size_t at) { return at == 0 ? '\0' : text[at - 1]; }

template <class Predicate>
std::size_t run_of(std::string_view text, std::size_t at, Predicate is) {
  std::size_t length = 0;
  while (at + length < text.size() && is(text[at + length])) ++length;
  return length;
}

char lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); }

bool are_alike(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, [](char a, char b) { return lower(a) == lower(b); });
}

/// Other texts rarely contain such a word, so it is also searched for in other cases and as part of a longer name.
bool is_rare(std::string_view word) { return word.size() >= 5 || std::ranges::any_of(word, is_digit); }

constexpr std::size_t shortest_bare = 12;  // a hardware address without its colons

bool has_other_than(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) != std::string_view::npos;
}

}  // namespace

void Identifiers::add(const std::string& word, const std::string& replacement) {
  if (!word.empty()) words_.emplace(word, replacement);
}

void Identifiers::add_address(std::string_view address) {
  const auto bare = [](const std::string& text) {
    std::string digits;
    for (const char c : text) {
      if (is_hex(c)) digits += lower(c);
    }
    return digits;
  };
  const std::string digits = bare(std::string(address));
  const bool is_distinctive = has_other_than(digits, "0") && has_other_than(digits, "f");
  if (digits.size() >= shortest_bare && is_distinctive) bare_.emplace(digits, bare(replaced(address, Where::anywhere)));
}

std::string Identifiers::replaced(std::string_view text, Where where) const {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Match found = match(text, at, where);
    if (found.length == 0) {
      result += text[at++];
      continue;
    }
    result += found.replacement;
    at += found.length;
  }
  return result;
}

Identifiers::Match Identifiers::match(std::string_view text, std::size_t at, Where where) const {
  using Matcher = Match (Identifiers::*)(std::string_view, std::size_t) const;
  static constexpr Matcher anywhere[] = {
      &Identifiers::match_word,   &Identifiers::match_home,      &Identifiers::match_uuid,
      &Identifiers::match_groups, &Identifiers::match_interface, &Identifiers::match_person,
      &Identifiers::match_dashes, &Identifiers::match_bare,      &Identifiers::match_serial};
  static constexpr Matcher prose[] = {&Identifiers::match_ipv4, &Identifiers::match_ipv6, &Identifiers::match_secret};
  for (const Matcher matcher : anywhere) {
    if (Match found = (this->*matcher)(text, at); found.length > 0) return found;
  }
  if (where != Where::prose) return {};
  for (const Matcher matcher : prose) {
    if (Match found = (this->*matcher)(text, at); found.length > 0) return found;
  }
  return {};
}

Identifiers::Match Identifiers::match_word(std::string_view text, std::size_t at) const {
  const auto goes_on = [](char a, char b) { return (is_digit(a) || is_letter(a)) && (is_digit(b) || is_letter(b)); };
  // Of words with a common prefix the longest comes last.
  for (auto word = words_.rbegin(); word != words_.rend(); ++word) {
    const std::size_t length = word->first.size();
    const std::string_view here = text.substr(at, length);
    const char next = at_or_zero(text, at + length);
    const bool is_whole = !(is_word(before(text, at)) && is_word(text[at])) && !is_word(next);
    const bool is_part = is_rare(word->first) && !goes_on(before(text, at), text[at]) && !goes_on(text[at], next);
    if ((is_whole && here == word->first) || (is_part && are_alike(here, word->first))) return {length, word->second};
  }
  return {};
}

Identifiers::Match Identifiers::match_home(std::string_view text, std::size_t at) const {
  constexpr std::string_view start = "/home/";
  if (text.substr(at, start.size()) != start) return {};
  const std::size_t length = run_of(text, at + start.size(), is_name);
  if (length == 0) return {};
  const std::string_view name = text.substr(at + start.size(), length);
  if (name.substr(0, 5) == "user-") return {};
  return {start.size() + length, std::string(start) + person(name)};
}

Identifiers::Match Identifiers::match_uuid(std::string_view text, std::size_t at) const {
  constexpr std::size_t size = 36;
  if (is_hex(before(text, at)) || text.size() - at < size || is_word(at_or_zero(text, at + size))) return {};
  const std::string_view uuid = text.substr(at, size);
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? uuid[i] != '-' : !is_hex(uuid[i])) return {};
  }
  const bool is_common = std::ranges::find(common_uuids, uuid) != std::end(common_uuids);
  return {size, is_common ? std::string(uuid) : hash_.like(uuid, "uuid", true)};
}

/// Groups of hexadecimal digits with colons: four or eight of four digits are a GUID or GID, six to twenty of two are a
/// hardware address. A PCI address is neither.
Identifiers::Match Identifiers::match_groups(std::string_view text, std::size_t at) const {
  if (is_word(before(text, at)) || before(text, at) == ':' || !is_hex(text[at])) return {};
  const std::size_t width = run_of(text, at, is_hex);
  if (width != 2 && width != 4) return {};
  std::size_t count = 1;
  std::size_t end = at + width;
  while (at_or_zero(text, end) == ':' && run_of(text, end + 1, is_hex) == width) {
    end += 1 + width;
    ++count;
  }
  if (is_word(at_or_zero(text, end)) || (at_or_zero(text, end) == ':' && is_hex(at_or_zero(text, end + 1)))) return {};
  const std::string_view all = text.substr(at, end - at);
  if (!has_other_than(all, "0:") || !has_other_than(all, "fF:")) return {};
  if (width == 4 && count == 4) return {all.size(), hash_.like(all, "guid", true)};
  if (width == 4 && count == 8) return {all.size(), gid(all)};
  if (width == 2 && count >= 6 && count <= 20) {
    // The first byte of an address shows whether it is unicast and whether it is locally administered.
    return {all.size(), std::string(all.substr(0, 2)) + hash_.like(all, "hardware", true).substr(2)};
  }
  return {};
}

/// b8-ce-f6-12-34-56, a hardware address in the notation of boot loaders: a preceding 01- is the type of network.
Identifiers::Match Identifiers::match_dashes(std::string_view text, std::size_t at) const {
  constexpr std::size_t size = 17;
  if (is_hex(before(text, at)) || text.size() - at < size || is_word(at_or_zero(text, at + size))) return {};
  std::string colons(text.substr(at, size));
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 3 == 2 ? colons[i] != '-' : !is_hex(colons[i])) return {};
    if (i % 3 == 2) colons[i] = ':';
  }
  Match found = match_groups(colons, 0);
  std::ranges::replace(found.replacement, ':', '-');
  return found;
}

/// A hardware address or GUID of this machine without its colons.
Identifiers::Match Identifiers::match_bare(std::string_view text, std::size_t at) const {
  if (bare_.empty() || is_hex(before(text, at)) || !is_hex(text[at])) return {};
  const std::size_t length = run_of(text, at, is_hex);
  if (length < shortest_bare || length > 32) return {};
  std::string digits(text.substr(at, length));
  std::ranges::transform(digits, digits.begin(), lower);
  const auto known = bare_.find(digits);
  return known == bare_.end() ? Match{} : Match{length, known->second};
}

/// password=..., and the part before the @ of user:password@host.
Identifiers::Match Identifiers::match_secret(std::string_view text, std::size_t at) const {
  const auto ends = [](char c) { return std::string_view(" \t\r\n,;&\"'").find(c) != std::string_view::npos; };
  for (const std::string_view key : {"password", "passwd", "passphrase", "token", "secret", "apikey", "api_key"}) {
    std::size_t value = at + key.size();
    if (is_letter(before(text, at)) || !are_alike(text.substr(at, key.size()), key)) continue;
    if (at_or_zero(text, value) != '=') continue;
    const std::size_t length = run_of(text, ++value, [&](char c) { return !ends(c); });
    if (length == 0) return {};
    return {value + length - at, std::string(text.substr(at, value - at)) + "redacted"};
  }
  if (text.substr(at, 3) != "://") return {};
  const std::size_t length = run_of(text, at + 3, [&](char c) { return !ends(c) && c != '/' && c != '@'; });
  if (at_or_zero(text, at + 3 + length) != '@') return {};
  return {4 + length, "://redacted@"};
}

/// The subnet prefix and a port's GUID get the same replacement wherever they occur.
std::string Identifiers::gid(std::string_view gid) const {
  constexpr std::size_t half = 19;
  const std::string_view prefix = gid.substr(0, half);
  const std::string_view own = gid.substr(half + 1);
  if (!has_other_than(prefix, "0:") && (own.substr(0, 9) == "0000:ffff" || own.substr(0, 9) == "0000:FFFF")) {
    const unsigned long number =
        std::stoul(std::string(own.substr(10, 4)) + std::string(own.substr(15, 4)), nullptr, 16);
    const auto address =
        hash_.address({static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
                       static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)});
    return std::string(gid.substr(0, half + 11)) +
           cli::format("%02x%02x:%02x%02x", address[0], address[1], address[2], address[3]);
  }
  const bool is_common = !has_other_than(prefix.substr(4), "0:");
  const std::string first =
      is_common ? std::string(prefix) : std::string(prefix.substr(0, 4)) + hash_.like(prefix, "subnet", true).substr(4);
  return first + ":" + (has_other_than(own, "0:") ? hash_.like(own, "guid", true) : std::string(own));
}

/// enx001122334455: an interface named after its hardware address.
Identifiers::Match Identifiers::match_interface(std::string_view text, std::size_t at) const {
  constexpr std::size_t size = 15;
  if (is_word(before(text, at)) || text.substr(at, 3) != "enx" || run_of(text, at + 3, is_hex) != size - 3) return {};
  if (is_word(at_or_zero(text, at + size))) return {};
  return {size, "enx" + hash_.like(text.substr(at + 3, size - 3), "interface", true)};
}

Identifiers::Match Identifiers::match_person(std::string_view text, std::size_t at) const {
  if (is_name(before(text, at)) || !(is_letter(text[at]) || text[at] == '_')) return {};
  const std::size_t user = run_of(text, at, is_name);
  const std::size_t host_at = at + user + 1;
  if (at_or_zero(text, at + user) != '@' || !is_letter(at_or_zero(text, host_at))) return {};
  const std::string_view name = text.substr(at, user);
  const std::size_t length = run_of(text, host_at, is_name);
  return {user + 1 + length, (name == "root" ? "root" : person(name)) + "@" + host(text.substr(host_at, length))};
}

Identifiers::Match Identifiers::match_ipv4(std::string_view text, std::size_t at) const {
  if (is_name(before(text, at)) || !is_digit(text[at])) return {};
  std::array<std::uint8_t, 4> address{};
  std::size_t end = at;
  for (std::size_t part = 0; part < address.size(); ++part) {
    if (part > 0 && at_or_zero(text, end++) != '.') return {};
    const std::size_t digits = run_of(text, end, is_digit);
    if (digits == 0 || digits > 3) return {};
    const int number = std::stoi(std::string(text.substr(end, digits)));
    if (number > 255) return {};
    address[part] = static_cast<std::uint8_t>(number);
    end += digits;
  }
  const bool goes_on = at_or_zero(text, end) == '.' && is_digit(at_or_zero(text, end + 1));
  if (goes_on || is_word(at_or_zero(text, end))) return {};
  const auto other = hash_.address(address);
  return {end - at, cli::format("%u.%u.%u.%u", other[0], other[1], other[2], other[3])};
}

Identifiers::Match Identifiers::match_ipv6(std::string_view text, std::size_t at) const {
  const auto is_part = [](char c) { return is_hex(c) || c == ':'; };
  if (is_name(before(text, at)) || before(text, at) == ':' || !is_part(text[at])) return {};
  const std::size_t length = run_of(text, at, is_part);
  const std::string_view all = text.substr(at, length);
  if (all.find("::") == std::string_view::npos || length > INET6_ADDRSTRLEN || is_name(at_or_zero(text, at + length))) {
    return {};
  }
  std::uint8_t bytes[16];
  if (::inet_pton(AF_INET6, std::string(all).c_str(), bytes) != 1) return {};
  std::string groups;
  for (int i = 0; i < 16; i += 2) groups += cli::format("%s%02x%02x", i == 0 ? "" : ":", bytes[i], bytes[i + 1]);
  if (!has_other_than(groups.substr(0, groups.size() - 1), "0:")) return {};  // ::1 and ::
  const std::string other = gid(groups);
  for (std::size_t i = 0; i < 8; ++i) {
    const unsigned long group = std::stoul(other.substr(5 * i, 4), nullptr, 16);
    bytes[2 * i] = static_cast<std::uint8_t>(group >> 8);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(group);
  }
  char spelt[INET6_ADDRSTRLEN] = "";
  return {length, ::inet_ntop(AF_INET6, bytes, spelt, sizeof(spelt)) == nullptr ? other : spelt};
}

/// "serial": "1653923001234", Serial Number: 1653923001234
Identifiers::Match Identifiers::match_serial(std::string_view text, std::size_t at) const {
  constexpr std::size_t longest = 64;
  if (text[at] != 's' && text[at] != 'S') return {};
  std::string start(text.substr(at, 6 + 10));
  std::ranges::transform(start, start.begin(), lower);
  if (start.substr(0, 6) != "serial") return {};
  std::size_t value = at + 6;
  if (start.substr(6, 7) == " number" || start.substr(6, 7) == "_number") value += 7;
  const std::size_t between =
      run_of(text, value, [](char c) { return std::string_view(" :=\"\\").find(c) != std::string_view::npos; });
  if (between == 0 || between > 8) return {};
  value += between;
  const std::size_t length = run_of(text, value, is_word);
  const std::string_view serial = text.substr(value, length);
  const bool is_one = length >= 6 && length <= longest && std::ranges::any_of(serial, is_digit);
  if (!is_one) return {};
  return {value + length - at, std::string(text.substr(at, value - at)) + hash_.like(serial, "serial", false)};
}

}  // namespace gdrkit::diag::snapshot
