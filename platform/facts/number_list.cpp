// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/number_list.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "driver/system.hpp"

namespace gdrkit::platform {
namespace {

constexpr std::size_t quoted_capacity = 64;  // maximum of a damaged file that an error message quotes

std::optional<int> take_number(std::string_view* text) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || value < 0 || value > largest_listed_number) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(stop - text->data()));
  return value;
}

bool take_range(std::string_view* text, std::vector<int>* numbers) {
  const auto first = take_number(text);
  if (!first) return false;
  auto last = first;
  if (!text->empty() && text->front() == '-') {
    text->remove_prefix(1);
    last = take_number(text);
  }
  if (!last || *last < *first) return false;
  for (int number = *first; number <= *last; ++number) numbers->push_back(number);
  return true;
}

}  // namespace

base::Result<std::vector<int>> parse_number_list(std::string_view text) {
  const std::string_view whole = text.substr(0, quoted_capacity);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::vector<int> numbers;
  while (!text.empty()) {
    if (!take_range(&text, &numbers)) {
      return base::fail(EINVAL, "'%.*s' is not a list of numbers such as 0-3,8", static_cast<int>(whole.size()),
                        whole.data());
    }
    if (text.empty()) break;
    const bool is_continued = text.front() == ',' && text.size() > 1;
    if (!is_continued) {
      return base::fail(EINVAL, "'%.*s' is not a list of numbers such as 0-3,8", static_cast<int>(whole.size()),
                        whole.data());
    }
    text.remove_prefix(1);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

base::Result<std::vector<int>> read_number_list(const std::string& path) {
  char text[8192];
  const ssize_t length = driver::real_system().read_text(path.c_str(), text, sizeof(text));
  if (length < 0) {
    const int error = static_cast<int>(-length);
    return base::fail(error, "cannot read %s: %s", path.c_str(), std::strerror(error));
  }
  auto numbers = parse_number_list(std::string_view(text, static_cast<std::size_t>(length)));
  if (!numbers.has_value()) {
    return base::fail(numbers.error().errno_value, "%s: %s", path.c_str(), numbers.error().text());
  }
  return numbers;
}

std::string to_list_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
    if (end > begin) text += "-" + std::to_string(numbers[end]);
    begin = end + 1;
  }
  return text;
}

}  // namespace gdrkit::platform
