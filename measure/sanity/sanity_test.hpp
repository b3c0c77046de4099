// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SanityTest: one line of tests.def, or a test generated from the library's lists.
#pragma once

#include <string>
#include <vector>

#include "platform/device/device.hpp"

namespace gdrkit::measure::sanity {

/// The input of a test. It runs alone in a fresh process in which neither CUDA nor the libraries are initialized.
struct Environment {
  bool is_emulated = false;
  int ordinal = 0;  ///< of the device
  platform::AllocationKind kind = platform::AllocationKind::cuda_malloc;
  std::string argument;  ///< name of a copy kernel, for the tests that exist for each
};

using TestFunction = void (*)(const Environment&);

/// original: in GDRCopy's list, under its name. own: missing in that list; also run by default. extended: only with -e
/// or by name.
enum class List { original, own, extended };

struct SanityTest {
  std::string name;
  List list = List::original;
  TestFunction function = nullptr;
  platform::AllocationKind kind = platform::AllocationKind::cuda_malloc;
  std::string argument;
};

/// All tests in the order of execution: original by name, own as listed, extended by name. A program may define its
/// own.
[[nodiscard]] std::vector<SanityTest> all_tests();

}  // namespace gdrkit::measure::sanity
