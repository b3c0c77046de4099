// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/xml_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace gdrkit::diag::topology {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::pair<std::string_view, char> entities[] = {
    {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  base::Result<XmlElement> parse() {
    if (const auto status = skip_between(); !status.has_value()) return base::pass(status);
    XmlElement root;
    if (const auto status = take_element(&root, 1); !status.has_value()) return base::pass(status);
    if (const auto status = skip_between(); !status.has_value()) return base::pass(status);
    if (at_ != text_.size()) return refuse("text follows the root element; remove it");
    return root;
  }

 private:
  [[nodiscard]] tl::unexpected<base::Error> refuse(const char* what) const {
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    return base::fail(EINVAL, "line %ld: %s", static_cast<long>(lines) + 1, what);
  }
  [[nodiscard]] bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

  /// Skips blanks, comments and the declaration.
  base::Status skip_between() {
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      const bool is_comment = starts("<!--");
      if (!is_comment && starts("<!")) return refuse("document types and CDATA are not supported; remove them");
      if (!is_comment && !starts("<?")) return {};
      const std::string_view stop = is_comment ? "-->" : "?>";
      const auto end = text_.find(stop, at_ + (is_comment ? 4 : 2));
      if (end == std::string_view::npos)
        return refuse(is_comment ? "the comment has no end (-->)" : "the declaration has no end (?>)");
      at_ = end + stop.size();
    }
    return {};
  }

  std::string_view take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && at_ - begin < 64 && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  base::Status take_value(std::string* value) {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') return refuse("an attribute value has no quotes; quote it");
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      char c = text_[at_];
      if (c == '<' || c == '\0')
        return refuse("an attribute value contains '<' or a NUL byte; write '<' as &lt; and remove NUL bytes");
      if (c == '&') {
        const auto end = std::min(text_.find(';', at_), text_.size());
        const std::string_view name = text_.substr(at_ + 1, std::min<std::size_t>(end - at_ - 1, 8));
        const auto* known = std::ranges::find_if(entities, [&](const auto& e) { return e.first == name; });
        if (known == std::end(entities)) return refuse("an entity is unknown; use &amp; &lt; &gt; &quot; or &apos;");
        c = known->second;
        at_ = end;
      }
      value->push_back(c);
    }
    if (at_ >= text_.size()) return refuse("an attribute value has no closing quote");
    ++at_;
    return {};
  }

  /// Parses up to and including "/>" or ">"; returns which one it was.
  base::Result<bool> take_attributes(XmlElement* element) {
    for (;;) {
      skip_blanks();
      if (starts("/>")) return at_ += 2, true;
      if (starts(">")) return at_ += 1, false;
      const std::string key(take_name());
      if (key.empty()) return refuse("a tag has no '>' or '/>' at its end");
      skip_blanks();
      if (!starts("=")) return refuse("an attribute has no value; write NAME=\"VALUE\"");
      ++at_;
      skip_blanks();
      if (element->attribute(key) != nullptr) return refuse("an element has the same attribute twice; remove one");
      if (element->attributes.size() == XmlElement::most_attributes)
        return refuse("an element has too many attributes");
      std::string value;
      if (const auto status = take_value(&value); !status.has_value()) return base::pass(status);
      element->attributes.emplace_back(key, std::move(value));
    }
  }

  base::Status take_element(XmlElement* element, std::size_t depth) {
    if (!starts("<")) return refuse("an element must begin here with '<'");
    if (depth > XmlElement::most_depth) return refuse("the elements are nested too deep");
    if (++count_ > XmlElement::most_elements) return refuse("the file has too many elements");
    ++at_;
    element->name = take_name();
    if (element->name.empty()) return refuse("an element has no name");
    const auto is_empty = take_attributes(element);
    if (!is_empty.has_value()) return base::pass(is_empty);
    if (*is_empty) return {};
    for (;;) {
      if (const auto status = skip_between(); !status.has_value()) return status;
      if (starts("</")) break;
      element->children.emplace_back();
      if (const auto status = take_element(&element->children.back(), depth + 1); !status.has_value()) return status;
    }
    at_ += 2;
    if (take_name() != element->name) return refuse("the end tag does not match the open element");
    skip_blanks();
    if (!starts(">")) return refuse("an end tag has no '>' at its end");
    ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

const std::string* XmlElement::attribute(std::string_view key) const {
  for (const auto& [name_of, value] : attributes) {
    if (name_of == key) return &value;
  }
  return nullptr;
}

base::Result<XmlElement> parse_xml(std::string_view text) { return Parser(text).parse(); }

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto* entity = std::ranges::find_if(entities, [&](const auto& e) { return e.second == c; });
    if (entity != std::end(entities)) {
      escaped += "&" + std::string(entity->first) + ";";
    } else {
      escaped += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace gdrkit::diag::topology
