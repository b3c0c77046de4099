// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/nvidia_driver.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "shim/system.hpp"

namespace gdrkit::platform {
namespace {

bool is_digit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }

/// "580.159.04": digits in two or three groups with points between.
bool looks_like_version(std::string_view word) {
  if (word.empty() || !is_digit(word.front()) || !is_digit(word.back())) return false;
  const auto points = std::count(word.begin(), word.end(), '.');
  return points >= 1 && points <= 2 && word.find("..") == std::string_view::npos &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

base::Result<NvidiaDriver> parse_nvidia_driver(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  NvidiaDriver driver;
  driver.is_open_flavour = line.find("Open Kernel Module") != std::string_view::npos;
  while (!line.empty()) {
    const auto space = line.find_first_of(" \t");
    const std::string_view word = line.substr(0, space);
    if (looks_like_version(word)) {
      driver.version = word;
      return driver;
    }
    line = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  }
  return base::fail(EINVAL, "the NVIDIA driver's version file names no version");
}

base::Result<NvidiaDriver> read_nvidia_driver(const std::string& proc_root) {
  const std::string path = proc_root + "/driver/nvidia/version";
  char text[1024];
  const ssize_t length = shim::real_system().read_text(path.c_str(), text, sizeof(text));
  if (length < 0) {
    return base::fail(static_cast<int>(-length), "cannot read %s: %s", path.c_str(),
                      std::strerror(static_cast<int>(-length)));
  }
  return parse_nvidia_driver(std::string_view(text, static_cast<std::size_t>(length)));
}

}  // namespace gdrkit::platform
