// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TarBytes: tar archives for tests, field by field, so that each field can be invalid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace gdrkit::test {

struct TarHeader {
  std::string name{};
  char type = '0';
  std::string link{};
  std::string prefix{};
  std::string magic = std::string(
      "ustar\0"
      "00",
      8);
  std::string size{};  ///< "": that of the content
};

class TarBytes {
 public:
  static constexpr std::size_t block = 512;

  TarBytes& add(const TarHeader& header, const std::string& content = "") {
    std::string bytes(block, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { bytes.replace(at, text.size(), text); };
    const auto octal = [](std::size_t value, int digits) {
      char text[32];
      std::snprintf(text, sizeof(text), "%0*zo", digits, value);
      return std::string(text);
    };
    put(0, header.name.substr(0, 100));
    put(100, octal(0644, 7));
    put(108, octal(0, 7));
    put(116, octal(44, 7));
    put(124, header.size.empty() ? octal(content.size(), 11) : header.size);
    put(148, "        ");
    put(156, std::string(1, header.type));
    put(157, header.link.substr(0, 100));
    put(257, header.magic);
    put(329, octal(195, 7));
    put(337, octal(7, 7));
    put(345, header.prefix);
    std::size_t sum = 0;
    for (const char byte : bytes) sum += static_cast<unsigned char>(byte);
    put(148, octal(sum, 6) + std::string(1, '\0'));
    bytes_ += bytes + content;
    bytes_.resize((bytes_.size() + block - 1) / block * block, '\0');
    return *this;
  }
  TarBytes& file(const std::string& name, const std::string& content) { return add({name}, content); }
  TarBytes& link(const std::string& name, const std::string& target) { return add({name, '2', target}); }
  /// Adds one record of an extended header. Its length includes the length field.
  TarBytes& pax(const std::string& key, const std::string& value) {
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() > length) ++length;
    return add({"extended", 'x'}, std::to_string(length) + rest);
  }
  [[nodiscard]] std::string unended() const { return bytes_; }
  [[nodiscard]] std::string bytes() const { return bytes_ + std::string(2 * block, '\0'); }

 private:
  std::string bytes_;
};

}  // namespace gdrkit::test
