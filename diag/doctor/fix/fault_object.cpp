// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/fix/fault_object.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/interface/wrapped_text.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr const char* placeholders[] = {"ADDRESS", "ADAPTER", "PORT", "INTERFACE"};
constexpr std::int64_t ethernet = 1;  // ARPHRD_ETHER; IPoIB has 32

void put(FaultObject& object, const char* placeholder, const std::string& value) {
  if (is_safe_word(value)) object[placeholder] = value;
}

/// The Ethernet interface of an adapter's port (1, 2, ...). "" if there is none, or if several are possible.
std::string interface_of(const Adapter& adapter, const std::string& port, const MachineView& view) {
  const std::string directory = adapter.directory + "/device/net/";
  std::vector<std::string> found;
  std::vector<std::string> of_port;
  for (const std::string& name : view.names(directory).value) {
    const auto type = view.number(directory + name + "/type");
    if (!type.is_found() || type.value != ethernet) continue;
    found.push_back(name);
    const auto index = view.number(directory + name + "/dev_port");
    if (index.is_found() && index.value + 1 == std::strtol(port.c_str(), nullptr, 10)) of_port.push_back(name);
  }
  if (found.size() == 1) return found.front();
  return of_port.size() == 1 ? of_port.front() : "";
}

bool is_word_character(char character) {
  return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
         (character >= '0' && character <= '9') || character == '_';
}

/// Position of the first placeholder that is a separate word; npos if there is none.
std::size_t find_placeholder(const std::string& text, std::size_t from, std::string* which) {
  std::size_t first = std::string::npos;
  for (const char* placeholder : placeholders) {
    const std::string word = placeholder;
    for (auto at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1)) {
      const bool is_whole = (at == 0 || !is_word_character(text[at - 1])) &&
                            (at + word.size() == text.size() || !is_word_character(text[at + word.size()]));
      if (!is_whole) continue;
      if (at < first) {
        first = at;
        *which = word;
      }
      break;
    }
  }
  return first;
}

/// A subject may also be a setting, a file or a port. Linux limits names of network interfaces to 15 characters.
bool may_be_interface(const std::string& subject) {
  return !subject.empty() && subject.size() < 16 && subject.find_first_of("/:= ") == std::string::npos;
}

constexpr std::size_t longest_word = 64;

// Does not use <cctype>, whose definition of a letter depends on the locale.
bool is_safe(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || std::string_view("._:@-").find(character) != std::string_view::npos;
}

}  // namespace

FaultObject object_of(const std::string& subject, const Machine& machine) {
  FaultObject object;
  if (const auto address = platform::parse_pci_address(subject); address.has_value()) {
    put(object, "ADDRESS", platform::to_string(*address));
    put(object, "PORT", platform::to_string(*address));
  }
  const auto colon = subject.find(':');
  const std::string name = subject.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : subject.substr(colon + 1);
  for (const Adapter& adapter : machine.adapters) {
    if (adapter.name != name && (adapter.pci.address.empty() || adapter.pci.address != subject)) continue;
    put(object, "ADAPTER", adapter.name);
    put(object, "INTERFACE", interface_of(adapter, port, machine.view));
    if (object.count("ADDRESS") == 0) put(object, "ADDRESS", adapter.pci.address);
    if (port.find_first_not_of("0123456789") == std::string::npos) put(object, "PORT", port);
  }
  if (may_be_interface(subject) && machine.view.presence("/sys/class/net/" + subject + "/type") == Outcome::found)
    put(object, "INTERFACE", subject);
  return object;
}

std::optional<std::string> filled(const std::string& text, const FaultObject& object, Quoting quoting) {
  std::string result;
  std::string which;
  std::size_t from = 0;
  for (auto at = find_placeholder(text, 0, &which); at != std::string::npos;
       at = find_placeholder(text, from, &which)) {
    const auto value = object.find(which);
    if (value == object.end()) return std::nullopt;
    const auto word = shell_word(value->second);
    if (!word.has_value()) return std::nullopt;
    result += text.substr(from, at - from) + (quoting == Quoting::shell ? *word : value->second);
    from = at + which.size();
  }
  return result + text.substr(from);
}

bool is_safe_word(const std::string& text) {
  return !text.empty() && text.size() <= longest_word && text.front() != '-' && std::ranges::all_of(text, is_safe);
}

std::optional<std::string> shell_word(const std::string& text) {
  if (!is_safe_word(text)) return std::nullopt;
  return "'" + text + "'";
}

std::string shell_comment(const std::string& text, unsigned indent) {
  const std::string start = "#" + std::string(indent, ' ');
  std::string plain = text;
  for (char& character : plain) {
    if (character < 0x20 || character > 0x7e) character = character == '\t' || character == '\n' ? ' ' : '?';
  }
  return plain.empty() ? "#\n" : cli::wrapped(start, start, plain);
}

}  // namespace gdrkit::diag::doctor
