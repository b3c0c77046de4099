// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A C++17 program that uses the C API: linking gdrkit::gdrkit_c, or pkg-config's flags, must not raise the standard.
#include <gdrkit/gdrkit.h>

#include <cstdio>

static_assert(__cplusplus == 201703L, "this program requires C++17");

int main() {
  gdrkit_context_t context{};
  const int result = gdrkit_open(nullptr, &context);
  std::printf("gdrkit %s opened: %s\n", gdrkit_version(), gdrkit_strerror(result));
  return result == 0 ? -gdrkit_close(context) : 1;
}
