// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SanityTest: one line of tests.def, or one that the library's own lists give.
#pragma once

#include <string>
#include <vector>

#include "platform/device/device.hpp"

namespace gdrkit::measure::sanity {

/// What a test is told. It runs alone in a fresh process in which nothing of CUDA or the libraries was initialised.
struct Environment {
  bool is_emulated = false;
  int ordinal = 0;  ///< of the device
  platform::AllocationKind kind = platform::AllocationKind::cuda_malloc;
  std::string argument;  ///< name of a copy kernel, for the tests that are made for each
};

using TestFunction = void (*)(const Environment&);

/// original: of GDRCopy's list, under its name. own: what that list lacks; run by default too. extended: only
/// with -e or by name.
enum class List { original, own, extended };

struct SanityTest {
  std::string name;
  List list = List::original;
  TestFunction function = nullptr;
  platform::AllocationKind kind = platform::AllocationKind::cuda_malloc;
  std::string argument;
};

/// All tests in the order they run: original by name, own as listed, extended by name. A program may bring its own.
[[nodiscard]] std::vector<SanityTest> all_tests();

}  // namespace gdrkit::measure::sanity
