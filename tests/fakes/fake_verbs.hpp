// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeVerbs: how a test steers the library that stands in for libibverbs.so.1. Its functions are found by dlsym.
#pragma once

extern "C" {

/// The function of this name fails with `error` from now on, releases after they have released; nullptr: all do well
/// again. ibv_reg_dmabuf_mr does well by failing with EBADF; it fails to fail with the error 0.
using FakeVerbsFail = void(const char* name, int error);
/// What was given out and not given back: lists, contexts, protection domains, regions.
using FakeVerbsHeld = int();
/// Calls with what nobody gave out, releases in the wrong order, a dma-buf that might exist.
using FakeVerbsViolations = int();
/// Answers that no library gives: a huge count of devices and names that are no text.
using FakeVerbsTalkNonsense = void(bool does_it);
}
