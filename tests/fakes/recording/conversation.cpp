// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/conversation.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace gdrkit::fakes {
namespace {

constexpr std::string_view magic = "# gdrkit conversation 1";
constexpr std::size_t shortest_run = 8;

}  // namespace

Words::Words(std::string_view line) {
  std::istringstream stream{std::string(line)};
  for (std::string word; stream >> word;) {
    const auto equals = word.find('=');
    words_.emplace_back(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
  }
}

Words& Words::add(const std::string& name, const std::string& value) {
  words_.emplace_back(name, value);
  return *this;
}

Words& Words::add(const std::string& name, std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return add(name, std::string(text));
}

Words& Words::add_signed(const std::string& name, std::int64_t value) { return add(name, std::to_string(value)); }

Words& Words::add_bytes(const std::string& name, const void* bytes, std::size_t size) {
  return add(name, to_hex(bytes, size));
}

bool Words::has(const std::string& name) const {
  return std::any_of(words_.begin(), words_.end(), [&](const auto& word) { return word.first == name; });
}

std::string Words::text(const std::string& name) const {
  for (const auto& [key, value] : words_) {
    if (key == name) return value;
  }
  return "";
}

std::uint64_t Words::number(const std::string& name) const { return std::strtoull(text(name).c_str(), nullptr, 0); }

std::int64_t Words::signed_number(const std::string& name) const {
  return std::strtoll(text(name).c_str(), nullptr, 10);
}

std::vector<std::uint8_t> Words::bytes(const std::string& name) const { return from_hex(text(name)); }

std::vector<std::string> Words::all(const std::string& name) const {
  std::vector<std::string> found;
  for (const auto& [key, value] : words_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

std::string Words::line() const {
  std::string line;
  for (const auto& [name, value] : words_) {
    if (!line.empty()) line += ' ';
    line += name + '=' + value;
  }
  return line;
}

std::string to_hex(const void* bytes, std::size_t size) {
  const auto* byte = static_cast<const std::uint8_t*>(bytes);
  std::string text;
  for (std::size_t i = 0; i < size;) {
    std::size_t run = 1;
    while (i + run < size && byte[i + run] == byte[i]) ++run;
    char piece[40];
    if (run >= shortest_run) {
      std::snprintf(piece, sizeof piece, "(%02x*%zu)", byte[i], run);
      i += run;
    } else {
      std::snprintf(piece, sizeof piece, "%02x", byte[i]);
      ++i;
    }
    text += piece;
  }
  return text;
}

std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  const auto byte_at = [&](std::size_t at) {
    std::uint8_t value = 0;
    std::from_chars(text.data() + at, text.data() + at + 2, value, 16);
    return value;
  };
  for (std::size_t i = 0; i + 1 < text.size();) {
    if (text[i] != '(') {
      bytes.push_back(byte_at(i));
      i += 2;
      continue;
    }
    const auto end = text.find(')', i);
    if (end == std::string_view::npos || end < i + 5) break;
    std::size_t run = 0;
    std::from_chars(text.data() + i + 4, text.data() + end, run);
    bytes.insert(bytes.end(), run, byte_at(i + 1));
    i = end + 1;
  }
  return bytes;
}

std::vector<Words> Conversation::header_lines(const std::string& name) const {
  std::vector<Words> found;
  for (const auto& [key, words] : header) {
    if (key == name) found.push_back(words);
  }
  return found;
}

Words Conversation::header_line(const std::string& name) const {
  const auto found = header_lines(name);
  return found.empty() ? Words() : found.front();
}

std::string Conversation::text() const {
  std::string all(magic);
  all += '\n';
  for (const auto& [name, words] : header) all += name + ' ' + words.line() + '\n';
  for (const Call& call : calls) all += "> " + call.input + "\n< " + call.output + '\n';
  return all;
}

bool Conversation::save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << text();
  file.close();
  return file.good();
}

std::optional<Conversation> load_conversation(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || line != magic) return std::nullopt;
  Conversation conversation;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("> ")) {
      conversation.calls.push_back({line.substr(2), ""});
    } else if (line.starts_with("< ")) {
      if (conversation.calls.empty()) return std::nullopt;
      conversation.calls.back().output = line.substr(2);
    } else {
      const auto space = line.find(' ');
      const Words words = space == std::string::npos ? Words() : Words(std::string_view(line).substr(space + 1));
      conversation.header.emplace_back(line.substr(0, space), words);
    }
  }
  return conversation;
}

}  // namespace gdrkit::fakes
