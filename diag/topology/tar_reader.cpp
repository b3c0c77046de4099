// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The layout is defined by POSIX.1-2017, "ustar Interchange Format" and "pax Interchange Format", and by GNU tar's
// manual.
#include "diag/topology/tar_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/number.hpp"

namespace gdrkit::diag::topology {
namespace {

constexpr std::size_t block = 512;

struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, user_field{108, 8}, group_field{116, 8}, size_field{124, 12};
constexpr Field checksum_field{148, 8}, link_field{157, 100}, magic_field{257, 8}, major_field{329, 8};
constexpr Field minor_field{337, 8}, prefix_field{345, 155};
constexpr std::size_t type_offset = 156;

std::string_view raw(std::string_view header, const Field& field) { return header.substr(field.offset, field.size); }

/// Ends at a zero byte or with the field.
std::string_view text(std::string_view header, const Field& field) {
  const std::string_view all = raw(header, field);
  return all.substr(0, std::min(all.find('\0'), all.size()));
}

/// Octal digits with surrounding blanks, or GNU's big-endian binary with the first bit set. Returns false for other
/// text.
bool number(std::string_view header, const Field& field, std::size_t* value) {
  std::string_view digits = raw(header, field);
  std::size_t result = 0;
  if ((static_cast<unsigned char>(digits[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto byte = static_cast<unsigned char>(digits[i]);
      if (result >> 48 != 0) return false;
      result = result << 8 | (i == 0 ? byte & 0x7fu : byte);
    }
    *value = result;
    return true;
  }
  const auto begin = std::min(digits.find_first_not_of(' '), digits.size());
  digits = digits.substr(begin);
  digits = digits.substr(0, std::min(digits.find_first_of(std::string_view("\0 ", 2)), digits.size()));
  if (digits.empty()) {
    *value = 0;
    return true;
  }
  return base::parse_number(digits, value, 8);
}

/// The sum of all bytes, with the checksum field as blanks. Some old programs summed signed characters.
bool has_right_checksum(std::string_view header) {
  long as_unsigned = 0;
  long as_signed = 0;
  for (std::size_t i = 0; i < block; ++i) {
    const bool is_own = i >= checksum_field.offset && i < checksum_field.offset + checksum_field.size;
    as_unsigned += is_own ? ' ' : static_cast<unsigned char>(header[i]);
    as_signed += is_own ? ' ' : static_cast<signed char>(header[i]);
  }
  std::size_t stored = 0;
  return number(header, checksum_field, &stored) &&
         (static_cast<long>(stored) == as_unsigned || static_cast<long>(stored) == as_signed);
}

bool has_content(char type) {
  return std::string_view(
             "\0"
             "07LKxg",
             7)
             .find(type) != std::string_view::npos;
}

std::string_view without_end(std::string_view text) { return text.substr(0, std::min(text.find('\0'), text.size())); }

}  // namespace

base::Result<std::string_view> TarReader::content_of(std::string_view header, std::size_t size) {
  if (size > archive_.size() - at_) {
    return base::fail(EINVAL, "is truncated: the member at byte %zu, '%.100s', has %zu bytes, but only %zu are present",
                      member_at_, std::string(text(header, name_field)).c_str(), size, archive_.size() - at_);
  }
  const std::string_view content = archive_.substr(at_, size);
  at_ = std::min(at_ + (size + block - 1) / block * block, archive_.size());
  return content;
}

base::Status TarReader::read_pax(std::string_view records, Extension* extension) const {
  const auto damaged = [&] { return base::fail(EINVAL, "has a damaged extended header at byte %zu", member_at_); };
  while (!records.empty()) {  // "27 path=some/name\n": the number counts the whole record
    std::size_t length = 0;
    const auto [stop, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto start = static_cast<std::size_t>(stop - records.data());
    if (error != std::errc() || length > records.size() || length < start + 3 || records[start] != ' ' ||
        records[length - 1] != '\n') {
      return damaged();
    }
    const std::string_view record = records.substr(start + 1, length - start - 2);
    records = records.substr(length);
    const auto equals = record.find('=');
    if (equals == std::string_view::npos) return damaged();
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") extension->name = value;
    if (key == "linkpath") extension->link = value;
    if (key.substr(0, 11) == "GNU.sparse.") {
      return base::fail(
          EINVAL,
          "contains a sparse file at byte %zu, which recordings do not support; pack the directory without --sparse",
          member_at_);
    }
    if (key != "size") continue;
    if (!base::parse_number(value, &extension->size)) return damaged();
    extension->has_size = true;
  }
  return {};
}

/// Returns true if the header was one of these. The next header is then that of the member.
base::Result<bool> TarReader::extend(char type, std::string_view header, Extension* extension) {
  if (type != 'x' && type != 'g' && type != 'L' && type != 'K') return false;
  std::size_t size = 0;
  if (!number(header, size_field, &size)) return base::fail(EINVAL, "has a damaged size at byte %zu", member_at_);
  const auto content = content_of(header, size);
  if (!content.has_value()) return base::pass(content);
  if (type == 'L') extension->name = without_end(*content);
  if (type == 'K') extension->link = without_end(*content);
  if (type == 'x') {
    if (const auto status = read_pax(*content, extension); !status.has_value()) return base::pass(status);
  }
  return true;
}

base::Status TarReader::fill(std::string_view header, const Extension& extension, TarMember* member) {
  const char type = header[type_offset];
  std::size_t size = 0;
  std::size_t mode = 0, user = 0, group = 0, major = 0, minor = 0;
  if (!number(header, size_field, &size) || !number(header, mode_field, &mode) || !number(header, user_field, &user) ||
      !number(header, group_field, &group)) {
    return base::fail(EINVAL, "has a damaged number in the header at byte %zu", member_at_);
  }
  if (extension.has_size) size = extension.size;
  // Before ustar this field had other contents, and GNU's own header stores times here.
  const bool is_ustar = raw(header, magic_field).substr(0, 6) == std::string_view("ustar\0", 6);
  if (extension.name.empty()) {
    member->name = text(header, name_field);
    if (is_ustar) member->directory = text(header, prefix_field);
  } else {
    member->name = extension.name;
  }
  const bool is_directory = type == '5' || (!member->name.empty() && member->name.back() == '/' && type != '2');
  switch (type) {
    case '\0':
    case '0':
    case '7':
    case '5': member->node.kind = is_directory ? NodeKind::directory : NodeKind::file; break;
    case '1':
    case '2':
      member->kind = type == '1' ? TarMember::Kind::hard_link : TarMember::Kind::link;
      member->content = extension.link.empty() ? text(header, link_field) : extension.link;
      break;
    case '3':
      member->node.kind = NodeKind::character_device;
      if (!number(header, major_field, &major) || !number(header, minor_field, &minor)) {
        return base::fail(EINVAL, "has a damaged device number in the header at byte %zu", member_at_);
      }
      break;
    case '4':
    case '6': break;
    default:
      return base::fail(EINVAL, "contains a member of type 0x%02x at byte %zu, which recordings do not use",
                        static_cast<unsigned char>(type), member_at_);
  }
  member->node.mode = mode & 07777;
  member->node.user = static_cast<unsigned>(user);
  member->node.group = static_cast<unsigned>(group);
  member->node.major = static_cast<unsigned>(major);
  member->node.minor = static_cast<unsigned>(minor);
  if (!has_content(type)) return {};
  const auto content = content_of(header, size);
  if (!content.has_value()) return base::pass(content);
  if (member->node.kind == NodeKind::file) member->content = *content;
  return {};
}

base::Result<bool> TarReader::next(TarMember* member) {
  Extension extension;
  while (true) {
    member_at_ = at_;
    if (archive_.size() - at_ < block) {
      return base::fail(EINVAL, "is truncated at byte %zu: the block of zeros that ends an archive is missing", at_);
    }
    const std::string_view header = archive_.substr(at_, block);
    if (header.find_first_not_of('\0') == std::string_view::npos) return false;
    if (!has_right_checksum(header)) {
      return base::fail(EINVAL, "has a wrong checksum in the header at byte %zu", at_);
    }
    at_ += block;
    const auto was_extension = extend(header[type_offset], header, &extension);
    if (!was_extension.has_value()) return base::pass(was_extension);
    if (*was_extension) continue;
    TarMember filled;
    filled.offset = member_at_;
    if (const auto status = fill(header, extension, &filled); !status.has_value()) return base::pass(status);
    *member = filled;
    return true;
  }
}

}  // namespace gdrkit::diag::topology
