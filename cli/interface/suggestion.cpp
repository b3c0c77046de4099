// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/suggestion.hpp"

#include <algorithm>
#include <cstdint>

namespace gdrkit::cli {
namespace {

constexpr std::size_t fewest_first_letters = 3;  // with fewer, a prefix matches too many words
constexpr std::size_t longest_word =
    64;  // a longer word is unlikely to be a typing error, and the distance takes quadratic time

}  // namespace

std::size_t edit_distance(const std::string& one, const std::string& other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> cost((one.size() + 1) * width);
  for (std::size_t row = 0; row <= one.size(); ++row) {
    for (std::size_t column = 0; column <= other.size(); ++column) {
      std::size_t& cell = cost[row * width + column];
      if (row == 0 || column == 0) {
        cell = row + column;
        continue;
      }
      const std::size_t replaced = one[row - 1] == other[column - 1] ? 0 : 1;
      cell = std::min({cost[(row - 1) * width + column] + 1, cost[row * width + column - 1] + 1,
                       cost[(row - 1) * width + column - 1] + replaced});
      const bool is_swap =
          row > 1 && column > 1 && one[row - 1] == other[column - 2] && one[row - 2] == other[column - 1];
      if (is_swap) cell = std::min(cell, cost[(row - 2) * width + column - 2] + 1);
    }
  }
  return cost.back();
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  if (word.size() > longest_word) return "";
  std::string nearest;
  std::size_t least = SIZE_MAX;
  std::string begun;
  std::size_t begins = 0;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance <= std::max<std::size_t>(1, std::min(word.size(), candidate.size()) / 3)) {
      least = distance;
      nearest = candidate;
    }
    if (word.size() < fewest_first_letters || !candidate.starts_with(word)) continue;
    begun = candidate;
    ++begins;
  }
  return nearest.empty() && begins == 1 ? begun : nearest;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace gdrkit::cli
