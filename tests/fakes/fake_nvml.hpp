// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeNvml: how a test controls the fake libnvidia-ml.so.1. A test finds its functions by dlsym.
#pragma once

extern "C" {

/// Makes the function of this name return `result` from now on; nullptr: all functions succeed again.
using FakeNvmlFail = void(const char* name, int result);
/// Counts calls before nvmlInit, after nvmlShutdown, or with an invalid handle, link or size.
using FakeNvmlViolations = int();
/// Enables results that no driver returns: unterminated bytes that are not text, negative and huge numbers.
using FakeNvmlReturnInvalidValues = void(bool is_enabled);
}
