// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TarReader: reads the members of a tar archive in memory one by one, without copying.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"
#include "diag/topology/file_tree.hpp"

namespace gdrkit::diag::topology {

struct TarMember {
  enum class Kind { node, link, hard_link };

  Kind kind = Kind::node;
  Node node;
  std::string_view directory;  ///< precedes the name, separated by a slash; often empty
  std::string_view name;       ///< as the archive spells it: "./sys/class", "sys/class/"
  std::string_view content;    ///< of a file; the target of a link
  std::size_t offset = 0;      ///< of its header, for error messages
};

/// Reads POSIX's ustar and pax, GNU's long names, and the format before both. Views point into the archive.
class TarReader {
 public:
  explicit TarReader(std::string_view archive) : archive_(archive) {}

  /// Returns false at the regular end of the archive, a block of zeros. Error: the fault and the byte at which it
  /// occurs.
  [[nodiscard]] base::Result<bool> next(TarMember* member);

 private:
  /// Extended attributes of the next member, from separate headers.
  struct Extension {
    std::string_view name;
    std::string_view link;
    std::size_t size = 0;
    bool has_size = false;
  };

  [[nodiscard]] base::Result<std::string_view> content_of(std::string_view header, std::size_t size);
  [[nodiscard]] base::Status read_pax(std::string_view records, Extension* extension) const;
  [[nodiscard]] base::Result<bool> extend(char type, std::string_view header, Extension* extension);
  [[nodiscard]] base::Status fill(std::string_view header, const Extension& extension, TarMember* member);

  std::string_view archive_;
  std::size_t at_ = 0;
  std::size_t member_at_ = 0;  ///< of the header that is being read
};

}  // namespace gdrkit::diag::topology
