// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/metric_text.hpp"

#include <cstddef>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t longest_value = 200;

/// The format requires UTF-8: bytes that are not printable ASCII become '?'.
std::string escaped(const std::string& value) {
  std::string text;
  for (const char character : value.substr(0, longest_value)) {
    if (character == '\n') {
      text += "\\n";
    } else if (character == '\\' || character == '"') {
      text += std::string("\\") + character;
    } else {
      text += character < 0x20 || character > 0x7e ? '?' : character;
    }
  }
  return text;
}

}  // namespace

void MetricText::start(const char* name, const char* type, const char* help) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
}

void MetricText::add(const Labels& labels, double value) { add_line(labels, cli::format("%.17g", value)); }

void MetricText::add(const Labels& labels, unsigned long long value) { add_line(labels, cli::format("%llu", value)); }

void MetricText::add_line(const Labels& labels, const std::string& value) {
  std::string series = name_;
  for (const auto& [name, content] : labels) {
    series += (series == name_ ? "{" : ",") + std::string(name) + "=\"" + escaped(content) + "\"";
  }
  if (!labels.empty()) series += "}";
  if (series_.insert(series).second) text_ += series + " " + value + "\n";
}

}  // namespace gdrkit::diag::doctor
