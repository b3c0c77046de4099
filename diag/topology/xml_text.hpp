// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// XmlElement: the subset of XML that NCCL writes: elements, attributes, comments. Bounded, so that untrusted text is
// safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace gdrkit::diag::topology {

struct XmlElement {
  static constexpr std::size_t most_elements = 65536;
  static constexpr std::size_t most_depth = 64;
  static constexpr std::size_t most_attributes = 64;

  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  /// nullptr if no element has that name.
  [[nodiscard]] const std::string* attribute(std::string_view key) const;
};

/// The root element of the document. EINVAL, with the line number, for anything else: text between elements, document
/// types (whose entities could grow without bounds), entities other than the five of XML, and documents that exceed the
/// limits above.
[[nodiscard]] base::Result<XmlElement> parse_xml(std::string_view text);

/// Escapes `text` for use as the value of an attribute.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace gdrkit::diag::topology
