// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/sanity/verdict.hpp"

#include <unistd.h>

#include <cstdio>

namespace gdrkit::measure::sanity {
namespace {

int reason_descriptor = -1;

void write_reason(const std::string& reason) noexcept {
  if (reason_descriptor < 0) return;
  // Short enough to be written atomically. Losing the reason does not change the verdict.
  [[maybe_unused]] const ssize_t written = ::write(reason_descriptor, reason.data(), reason.size());
}

}  // namespace

void set_reason_descriptor(int descriptor) noexcept { reason_descriptor = descriptor; }

void waive(const std::string& reason) noexcept {
  write_reason(reason);
  ::_exit(exit_waived);
}

void fail(const std::string& reason) noexcept {
  std::fprintf(stderr, "%s\n", reason.c_str());
  write_reason(reason);
  ::_exit(exit_failed);
}

}  // namespace gdrkit::measure::sanity
