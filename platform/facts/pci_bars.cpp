// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/pci_bars.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>

#include "driver/system.hpp"

namespace gdrkit::platform {
namespace {

/// Removes the next blank-separated "0x..." from `line`; returns false if the line does not start with one.
bool take_hex(std::string_view* line, std::uint64_t* value) {
  const auto begin = line->find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  *line = line->substr(begin);
  if (line->substr(0, 2) != "0x") return false;
  const char* end = line->data() + line->size();
  const auto [stop, error] = std::from_chars(line->data() + 2, end, *value, 16);
  if (error != std::errc()) return false;
  *line = line->substr(static_cast<std::size_t>(stop - line->data()));
  return line->empty() || line->front() == ' ' || line->front() == '\t';
}

}  // namespace

base::Result<PciBars> parse_pci_bars(std::string_view text) {
  PciBars bars{};
  for (std::size_t number = 0; number < bars.size(); ++number) {
    const auto line_end = text.find('\n');
    std::string_view line = text.substr(0, line_end);
    std::uint64_t start = 0;
    std::uint64_t last = 0;
    std::uint64_t flags = 0;
    if (!take_hex(&line, &start) || !take_hex(&line, &last) || !take_hex(&line, &flags) || last < start) {
      return base::fail(EINVAL, "line %zu of a PCI resource file is not 'start end flags'", number + 1);
    }
    // An absent BAR is all zeros. `last` is the address of the last byte.
    if (flags != 0) bars[number] = PciBar{start, last - start + 1, flags};
    text = line_end == std::string_view::npos ? std::string_view() : text.substr(line_end + 1);
  }
  return bars;
}

base::Result<PciBars> read_pci_bars(const std::string& sysfs_root, const PciAddress& address) {
  const std::string path = sysfs_root + "/bus/pci/devices/" + to_string(address) + "/resource";
  char text[4096];
  const ssize_t length = driver::real_system().read_text(path.c_str(), text, sizeof(text));
  if (length < 0) {
    return base::fail(static_cast<int>(-length), "cannot read %s: %s", path.c_str(),
                      std::strerror(static_cast<int>(-length)));
  }
  return parse_pci_bars(std::string_view(text, static_cast<std::size_t>(length)));
}

PciBar nvidia_bar1(const PciBars& bars) noexcept {
  bool is_first = true;
  for (const PciBar& bar : bars) {
    if (bar.size_bytes == 0) continue;
    if (!is_first) return bar;
    is_first = false;
  }
  return {};
}

}  // namespace gdrkit::platform
