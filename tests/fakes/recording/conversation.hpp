// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Conversation: the library's calls to the system and to CUDA in one flow, and their results, as lines of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdrkit::fakes {

/// Fields of a line: "name=value" words, values without spaces.
class Words {
 public:
  Words() = default;
  explicit Words(std::string_view line);

  Words& add(const std::string& name, const std::string& value);
  Words& add(const std::string& name, std::uint64_t value);  ///< hexadecimal
  Words& add_signed(const std::string& name, std::int64_t value);
  Words& add_bytes(const std::string& name, const void* bytes, std::size_t size);

  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const;  ///< the first one of this name; "" if missing
  [[nodiscard]] std::uint64_t number(const std::string& name) const;
  [[nodiscard]] std::int64_t signed_number(const std::string& name) const;
  [[nodiscard]] std::vector<std::uint8_t> bytes(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const;  ///< every value of that name
  [[nodiscard]] std::string line() const;

 private:
  std::vector<std::pair<std::string, std::string>> words_;
};

/// Hexadecimal, runs of at least eight equal bytes as "(00*120)".
[[nodiscard]] std::string to_hex(const void* bytes, std::size_t size);
[[nodiscard]] std::vector<std::uint8_t> from_hex(std::string_view text);

/// File format: "# ..." comments, "name words" header lines, then for each call "> name words" and "< words".
struct Conversation {
  struct Call {
    std::string input;   ///< "sys.open path=/dev/nvidiactl flags=0x2"
    std::string output;  ///< "result=100"

    bool operator==(const Call&) const = default;
  };
  /// Describes the machine and the flow, in the order written.
  std::vector<std::pair<std::string, Words>> header;
  std::vector<Call> calls;

  [[nodiscard]] std::vector<Words> header_lines(const std::string& name) const;
  [[nodiscard]] Words header_line(const std::string& name) const;  ///< the first one; empty if missing
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool save(const std::string& path) const;
};
/// nullopt: the file is not readable, or not in this format.
[[nodiscard]] std::optional<Conversation> load_conversation(const std::string& path);

}  // namespace gdrkit::fakes
