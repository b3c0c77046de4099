// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeVerbs: how a test controls the fake libibverbs.so.1. A test finds its functions by dlsym.
#pragma once

extern "C" {

/// Makes the function of this name fail with `error` from now on; release functions fail after the release. nullptr:
/// all succeed again. ibv_reg_dmabuf_mr succeeds by failing with EBADF; with the error 0 it returns a region.
using FakeVerbsFail = void(const char* name, int error);
/// Counts resources that were not released: lists, contexts, protection domains, regions.
using FakeVerbsHeld = int();
/// Counts calls with invalid arguments, releases in the wrong order, and dma-buf descriptors that might exist.
using FakeVerbsViolations = int();
/// Enables results that no library returns: a huge count of devices and names that are not text.
using FakeVerbsReturnInvalidValues = void(bool is_enabled);
}
