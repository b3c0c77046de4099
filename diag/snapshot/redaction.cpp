// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/recording.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "diag/snapshot/identifiers.hpp"
#include "diag/topology/text_parts.hpp"

namespace gdrkit::diag::snapshot {
namespace {

using Where = Identifiers::Where;

constexpr const char* environ_path = "/proc/self/environ";
constexpr std::string_view host_files[] = {"/proc/sys/kernel/hostname", "/etc/hostname"};
/// A host or user of such a name is renamed only where the meaning is unambiguous.
constexpr std::string_view common_words[] = {"root",  "localhost", "host",   "node",     "server",
                                             "gpu",   "linux",     "nvidia", "mellanox", "user",
                                             "admin", "ubuntu",    "slurm",  "gdrkit",   "infiniband"};

std::string first_word(const std::string& text) { return text.substr(0, text.find_first_of(" \t\r\n")); }

/// In files of modules and firmware four numbers with dots are a version, elsewhere an address.
Where where_of(const std::string& path) {
  const bool is_prose = path.starts_with("/etc/") || path.starts_with("/gdrkit/") || path == "/proc/cmdline" ||
                        path == environ_path || path.ends_with(".conf") || path.ends_with(".xml") ||
                        path.starts_with("/home/") || path.starts_with("/root/");
  return is_prose && !path.ends_with("os-release") ? Where::prose : Where::anywhere;
}

/// Launchers' variables contain hosts, people, directories and jobs. Numbers and bindings are kept, because the checks
/// judge them.
bool is_of_launcher(std::string_view name) {
  for (const std::string_view start : {"SLURM_", "PMI_", "PMIX_", "OMPI_", "FLUX_", "PALS_"}) {
    if (name.starts_with(start)) return !name.starts_with("OMPI_MCA_");
  }
  return name.find("HOSTID") != std::string_view::npos || name == "KUBERNETES_SERVICE_HOST";
}

bool is_plain(std::string_view name, std::string_view value) {
  return value.find_first_not_of("0123456789,-x()") == std::string_view::npos ||
         name.find("BIND") != std::string_view::npos || name.find("GPU") != std::string_view::npos;
}

class Redaction {
 public:
  Redaction(const MachineView& view, const SaltedHash::Salt& salt, Recording& recording)
      : hash_(salt), identifiers_(hash_), recording_(recording) {
    learn_hosts();
    learn_people(view);
    learn_addresses();
  }

  void run() {
    std::map<std::string, Item> items;
    for (auto& [path, item] : recording_.items) {
      if (item.is_link) {
        item.content = identifiers_.replaced(item.content, Where::anywhere);
      } else if (item.has_content) {
        item.content = content_of(path, item.content);
      }
      items.emplace(identifiers_.replaced(path, Where::anywhere), std::move(item));
    }
    recording_.items = std::move(items);
  }

 private:
  [[nodiscard]] bool is_common(const std::string& word) const {
    return word.size() < 2 || std::ranges::find(common_words, word) != std::end(common_words) ||
           recording_.items.count("/sys/module/" + word) != 0;
  }

  void learn_hosts() {
    for (const std::string_view path : host_files) {
      const auto item = recording_.items.find(std::string(path));
      if (item == recording_.items.end()) continue;
      const std::string whole = first_word(item->second.content);
      const std::string label = whole.substr(0, whole.find('.'));
      if (!is_common(label)) identifiers_.add(label, identifiers_.host(label));
      if (whole == label) continue;
      identifiers_.add(whole, identifiers_.host(whole));
      // A domain of one word, as in node7.local, is too ambiguous to replace.
      const std::string domain = whole.substr(label.size() + 1);
      if (domain.find('.') != std::string::npos) identifiers_.add(domain, "domain-" + hash_.word(domain));
    }
  }

  void learn_addresses() {
    for (const auto& [path, item] : recording_.items) {
      const bool is_address =
          path.ends_with("/address") || path.ends_with("/node_guid") || path.ends_with("/sys_image_guid");
      if (is_address && path.starts_with("/sys/")) identifiers_.add_address(first_word(item.content));
    }
  }

  void learn_people(const MachineView& view) {
    const auto bytes = view.bytes(environ_path, MachineView::text_limit);
    for (const std::string& variable : topology::split(std::string(bytes.value.begin(), bytes.value.end()), '\0')) {
      const auto equals = variable.find('=');
      if (equals == std::string::npos) continue;
      const std::string name = variable.substr(0, equals);
      const std::string value = variable.substr(equals + 1);
      const bool is_person = name == "USER" || name == "LOGNAME" || name == "SUDO_USER" || name == "SLURM_JOB_USER";
      if (is_person && !is_common(value)) identifiers_.add(value, identifiers_.person(value));
      if (name == "HOME" && value.size() > 1 && value != "/root" && value.front() == '/') {
        identifiers_.add(value, "/home/" + identifiers_.person(value.substr(value.rfind('/') + 1)));
      }
    }
  }

  [[nodiscard]] std::string content_of(const std::string& path, const std::string& content) const {
    if (std::ranges::find(host_files, path) != std::end(host_files)) {
      return identifiers_.host(first_word(content)) + "\n";
    }
    if (path == environ_path) return variables(content);
    if (path.ends_with("/config") && path.starts_with("/sys/")) return configuration_space(content);
    const bool has_zeros = content.find('\0') != std::string::npos;
    if (has_zeros && content.starts_with("\x7f"
                                         "ELF"))
      return without_homes(content);
    if (has_zeros && path.starts_with("/sys/")) return content;  // firmware tables, which do not identify a host
    if (path.ends_with("/mountinfo")) return mounts(content, 4);
    if (path == "/proc/mounts" || path.ends_with("/mounts")) return mounts(content, 1);
    if (path == "/proc/net/route" || path == "/proc/net/ipv6_route") return routes(content);
    return identifiers_.replaced(content, where_of(path));
  }

  [[nodiscard]] std::string variables(const std::string& content) const {
    std::string result;
    for (const std::string& variable : topology::split(content, '\0')) {
      const auto equals = std::min(variable.find('='), variable.size());
      const std::string name = variable.substr(0, equals);
      const std::string value = variable.substr(std::min(equals + 1, variable.size()));
      const bool is_redacted = is_of_launcher(name) && !is_plain(name, value);
      result += name + "=" +
                (is_redacted ? "redacted-" + hash_.word(value) : identifiers_.replaced(value, Where::prose)) +
                std::string(1, '\0');
    }
    return result;
  }

  /// Keeps only mounts at standard places. Others may name servers, people and projects.
  [[nodiscard]] std::string mounts(const std::string& content, std::size_t place) const {
    std::string result;
    for (const std::string& line : topology::split(content, '\n')) {
      std::istringstream words(line);
      std::string where;
      for (std::size_t i = 0; i <= place; ++i) {
        where.clear();
        words >> where;
      }
      bool is_kept = where == "/";
      for (const std::string_view top : {"/dev", "/sys", "/proc"})
        is_kept = is_kept || where == top || where.starts_with(std::string(top) + "/");
      if (is_kept || where == "/run") result += identifiers_.replaced(line, Where::prose) + "\n";
    }
    return result;
  }

  /// Replaces networks and gateways, in hexadecimal digits without dots or colons. Masks have the same form and are
  /// kept.
  [[nodiscard]] std::string routes(const std::string& content) const {
    const auto is_digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    std::string result;
    for (std::string& line : topology::split(identifiers_.replaced(content, Where::anywhere), '\n')) {
      std::size_t column = 0;
      for (std::size_t at = 0; at < line.size();) {
        const auto end = std::min(line.find_first_of(" \t", at), line.size());
        const std::string word = line.substr(at, end - at);
        const bool is_address = (word.size() == 8 && (column == 1 || column == 2)) || word.size() == 32;
        if (is_address && std::ranges::all_of(word, is_digit) && word.find_first_not_of('0') != std::string::npos) {
          line.replace(at, word.size(), hash_.like(word, "route", true));
        }
        column += word.empty() ? 0 : 1;
        at = end + 1;
      }
      result += line + "\n";
    }
    return result;
  }

  /// Libraries built by users contain the path of their build. It is overwritten in place, because every byte must keep
  /// its offset.
  [[nodiscard]] static std::string without_homes(std::string bytes) {
    constexpr std::string_view home = "/home/";
    for (auto at = bytes.find(home); at != std::string::npos; at = bytes.find(home, at)) {
      for (at += home.size(); at < bytes.size() && bytes[at] != '/' && bytes[at] != '\0'; ++at) bytes[at] = 'x';
    }
    return bytes;
  }

  /// The extended capability 3 is a serial number, usually the card's hardware address.
  [[nodiscard]] std::string configuration_space(std::string bytes) const {
    constexpr std::size_t extended = 0x100, capability = 0x0003, most = 960;
    const auto word = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
      return value;
    };
    std::size_t at = extended;
    for (std::size_t count = 0; count < most && at >= extended && at + 12 <= bytes.size(); ++count) {
      const std::uint32_t head = word(at);
      if ((head & 0xffff) == capability) {
        const std::uint64_t other = hash_.value("card:" + bytes.substr(at + 4, 8));
        for (std::size_t i = 0; i < 8; ++i) bytes[at + 4 + i] = static_cast<char>(other >> (8 * i));
      }
      at = head >> 20 & 0xffc;
    }
    return bytes;
  }

  SaltedHash hash_;
  Identifiers identifiers_;
  Recording& recording_;
};

}  // namespace

void redact(const MachineView& view, const SaltedHash::Salt& salt, Recording* recording) {
  Redaction(view, salt, *recording).run();
}

}  // namespace gdrkit::diag::snapshot
