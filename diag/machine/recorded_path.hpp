// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RecordedPath: files that a recording holds, because a program or a check reads them.
#pragma once

namespace gdrkit::diag {

struct RecordedPath {
  /// content: files whole; folders, links, device nodes as they are. name: only that it exists. setpci: files that
  /// mention setpci, whole. variables: of an environment the variables of snapshot/variables.def.
  enum class Kind { content, name, setpci, variables };
  Kind kind;
  const char* pattern;  ///< snapshot/paths.def explains *, {a,b} and $NAME
  const char* purpose;
};

}  // namespace gdrkit::diag
