// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/common_options.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "gdrkit/gdrkit.h"

namespace gdrkit::cli {
namespace {

void set(const char* name, const std::string& value) {
  if (!value.empty() && ::setenv(name, value.c_str(), 1) != 0) {
    fail(format("cannot set %s=%s: %s", name, value.c_str(), std::strerror(errno)));
  }
}

}  // namespace

void check_copy_kernel(const std::string& requested) {
  std::string names;
  int is_usable = 0;
  for (unsigned index = 0; const char* name = gdrkit_copy_kernel_name(index, &is_usable); ++index) {
    if (requested == name) {
      if (is_usable != 0) return;
      cannot_run(format("this CPU does not support the copy kernel '%s'; gdrkit info lists the supported ones", name));
    }
    names += std::string(names.empty() ? "" : ", ") + name;
  }
  reject(format("unknown copy kernel '%s'; use one of %s", requested.c_str(), names.c_str()));
}

Option json_option(DocumentOption* target, const std::string& schema) {
  return {'\0', "json", "[FILE]", target, "write JSON (" + schema + ") to FILE or to standard output"};
}

void add_common_options(CommandLine* line, CommonOptions* options) {
  line->options.push_back({'d', "device", "GPU", &options->device, "number of the GPU, in CUDA's order"});
  line->options.push_back(
      {'\0', "backend", "NAME", &options->backend, "use only this backend ('gdrkit info' lists them)", false});
  line->options.push_back(
      {'\0', "copy-kernel", "NAME", &options->copy_kernel, "use this copy kernel ('gdrkit info' lists them)", false});
  line->options.push_back(json_option(&options->json, "docs/tools.md"));
  line->options.push_back({'\0', "quiet", "", &options->quiet, "print only the results", false});
}

void apply(const CommonOptions& options) {
  if (!options.copy_kernel.empty()) check_copy_kernel(options.copy_kernel);
  set("GDRKIT_BACKEND", options.backend);
  set("GDRKIT_COPY_KERNEL", options.copy_kernel);
}

}  // namespace gdrkit::cli
