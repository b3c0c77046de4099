// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeNvml: how a test steers the library that stands in for libnvidia-ml.so.1. Its functions are found by dlsym.
#pragma once

extern "C" {

/// The function of this name answers with `result` from now on; nullptr: all answer well again.
using FakeNvmlFail = void(const char* name, int result);
/// Calls before nvmlInit, after nvmlShutdown, or with a handle, a link or a size that nobody gave out.
using FakeNvmlViolations = int();
/// Answers that no driver gives: bytes that are no text and do not end, negative and huge numbers.
using FakeNvmlTalkNonsense = void(bool does_it);
}
