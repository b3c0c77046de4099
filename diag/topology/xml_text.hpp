// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// XmlElement: the small part of XML that NCCL writes: elements, attributes, comments. Bounded, for text of any origin.
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

/// The one element of the document. EINVAL, naming the line, for anything else: text between elements, document types
/// (whose entities could grow without end), entities but the five of XML itself, more than the limits above.
[[nodiscard]] base::Result<XmlElement> parse_xml(std::string_view text);

/// `text` as the value of an attribute.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace gdrkit::diag::topology
