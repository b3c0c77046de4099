// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/recorded_facts.hpp"

#include <algorithm>
#include <vector>

#include "base/number.hpp"

namespace gdrkit::diag::topology {
namespace {

constexpr std::string_view blanks = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(blanks); begin != std::string_view::npos;
       begin = line.find_first_not_of(blanks)) {
    line = line.substr(begin);
    const auto end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line = line.substr(end);
  }
  return words;
}

bool parse_device(const std::vector<std::string_view>& words, Node* node) {
  node->kind = NodeKind::character_device;
  return words.size() == 7 && base::parse_number(words[2], &node->major) &&
         base::parse_number(words[3], &node->minor) && base::parse_number(words[4], &node->mode, 8) &&
         base::parse_number(words[5], &node->user) && base::parse_number(words[6], &node->group);
}

}  // namespace

base::Result<RecordedFacts> RecordedFacts::parse(std::string_view list) {
  RecordedFacts facts;
  for (unsigned number = 1; !list.empty(); ++number) {
    const auto end = std::min(list.find('\n'), list.size());
    const auto words = words_of(list.substr(0, end));
    list = list.substr(std::min(end + 1, list.size()));
    if (words.empty() || words[0].front() == '#') continue;
    Node node;
    std::string_view path = words.size() > 1 ? words[1] : std::string_view();
    if (words[0] == "unreadable" && words.size() > 1) {
      path = {path.data(), static_cast<std::size_t>(words.back().data() + words.back().size() - path.data())};
      facts.unreadable_.emplace(path);
    } else if (words[0] == "character_device" && parse_device(words, &node)) {
      facts.devices_.emplace(path, node);
    } else {
      return base::fail(EINVAL,
                        "invalid line %u of gdrkit-recording: use 'unreadable PATH' or 'character_device PATH "
                        "MAJOR MINOR MODE USER GROUP'",
                        number);
    }
    facts.add_name(path);
  }
  return facts;
}

void RecordedFacts::add_name(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == path.size()) return;
  const std::string_view directory = slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
  names_[std::string(directory)].emplace(path.substr(slash + 1));
}

const Node* RecordedFacts::device(std::string_view path) const {
  const auto found = devices_.find(path);
  return found == devices_.end() ? nullptr : &found->second;
}

const std::set<std::string>& RecordedFacts::names_in(std::string_view directory) const {
  static const std::set<std::string> none;
  const auto found = names_.find(directory);
  return found == names_.end() ? none : found->second;
}

}  // namespace gdrkit::diag::topology
