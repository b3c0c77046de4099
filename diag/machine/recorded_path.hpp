// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RecordedPath: files that a recording holds, because a program or a check reads them.
#pragma once

namespace gdrkit::diag {

struct RecordedPath {
  /// content: whole files; folders, links and device nodes as they are. name: only the existence. setpci: whole files
  /// that mention setpci. variables: of an environment only the variables of snapshot/variables.def.
  enum class Kind { content, name, setpci, variables };
  Kind kind;
  const char* pattern;  ///< snapshot/paths.def explains *, {a,b} and $NAME
  const char* purpose;
};

}  // namespace gdrkit::diag
