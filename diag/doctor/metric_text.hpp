// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MetricText: metrics in the text format that Prometheus' node_exporter reads from a file.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gdrkit::diag::doctor {

using Labels = std::vector<std::pair<const char*, std::string>>;

class MetricText {
 public:
  /// Starts a metric; later calls of add() add to it. `type`: gauge or counter.
  void start(const char* name, const char* type, const char* help);
  /// Ignores a set of labels that was added before, since a repeated series makes the whole file invalid.
  void add(const Labels& labels, double value);
  void add(const Labels& labels, unsigned long long value);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void add_line(const Labels& labels, const std::string& value);

  std::string name_;
  std::string text_;
  std::set<std::string> series_;
};

}  // namespace gdrkit::diag::doctor
