// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/recording.hpp"

#include <algorithm>
#include <cstring>

#include "cli/interface/exit_code.hpp"
#include "diag/topology/recorded_facts.hpp"

namespace gdrkit::diag::snapshot {
namespace {

using topology::NodeKind;

constexpr std::size_t block = 512;

char type_of(const Item& item) {
  if (item.is_link) return '2';
  return item.node.kind == NodeKind::directory ? '5' : item.node.kind == NodeKind::file ? '0' : '6';
}

void pad(std::string& archive) { archive.resize((archive.size() + block - 1) / block * block, '\0'); }

/// A header in POSIX's ustar format. Names that do not fit get an extended header before it.
void add_header(std::string& archive, const std::string& name, char type, const Item& item, std::size_t size) {
  std::string header(block, '\0');
  const auto put = [&](std::size_t at, const std::string& text, std::size_t width) {
    header.replace(at, std::min(text.size(), width), text, 0, width);
  };
  put(0, name, 100);
  put(100, cli::format("%07o", item.node.mode & 07777), 7);
  put(108, cli::format("%07o", item.node.user & 07777777), 7);
  put(116, cli::format("%07o", item.node.group & 07777777), 7);
  put(124, cli::format("%011zo", size), 11);
  put(136, "00000000000", 11);
  put(148, "        ", 8);
  header[156] = type;
  if (item.is_link) put(157, item.content, 100);
  put(257,
      std::string("ustar\0"
                  "00",
                  8),
      8);
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(148, cli::format("%06o", sum) + std::string(1, '\0'), 7);
  archive += header;
}

std::string pax_record(const char* key, const std::string& value) {
  const std::string rest = std::string(" ") + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() > length) ++length;
  return std::to_string(length) + rest;
}

void add_member(std::string& archive, const std::string& path, const Item& item) {
  const std::string name = path.substr(1) + (type_of(item) == '5' ? "/" : "");
  std::string records;
  if (name.size() > 100) records += pax_record("path", name);
  if (item.is_link && item.content.size() > 100) records += pax_record("linkpath", item.content);
  if (!records.empty()) {
    Item extension;
    extension.node.mode = 0644;
    add_header(archive, "extended", 'x', extension, records.size());
    archive += records;
    pad(archive);
  }
  const bool is_file = type_of(item) == '0';
  add_header(archive, name, type_of(item), item, is_file ? item.content.size() : 0);
  if (!is_file) return;
  archive += item.content;
  pad(archive);
}

/// Skips a path that cannot be a line of the list; the checks read no such names.
bool can_be_listed(const std::string& path, const Item& item) {
  const char* breaks = item.is_refused ? "\r\n" : " \t\r\n";
  return path.find_first_of(breaks) == std::string::npos && path.find_last_of(" \t") + 1 != path.size();
}

bool needs_list(const Item& item) { return item.is_refused || item.node.kind == NodeKind::character_device; }

}  // namespace

std::vector<std::string> Recording::missed() const {
  std::vector<std::string> paths;
  for (const auto& [path, item] : items) {
    if (item.is_missed) paths.push_back(path);
  }
  return paths;
}

std::string Recording::to_archive() const {
  Item list;
  list.node.kind = NodeKind::file;
  list.node.mode = 0644;
  list.content = "# entries that the archive cannot contain\n";
  for (const auto& [path, item] : items) {
    if (!can_be_listed(path, item)) continue;
    if (item.is_refused) list.content += "unreadable " + path + "\n";
    if (item.is_refused || item.node.kind != NodeKind::character_device) continue;
    list.content += cli::format("character_device %s %u %u %o %u %u\n", path.c_str(), item.node.major, item.node.minor,
                                item.node.mode, item.node.user, item.node.group);
  }
  std::string archive;
  add_member(archive, std::string("/") + topology::RecordedFacts::file_name, list);
  for (const auto& [path, item] : items) {
    if (needs_list(item) && !can_be_listed(path, item)) continue;
    if (item.is_seen && item.node.kind != NodeKind::character_device) add_member(archive, path, item);
  }
  archive.resize(archive.size() + 2 * block, '\0');
  return archive;
}

}  // namespace gdrkit::diag::snapshot
