// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The bytes of an RM ioctl and of what it points to, as words of a conversation.
#pragma once

#include <cstddef>
#include <string>

#include "driver/cuda.hpp"
#include "fakes/recording/canonical_names.hpp"
#include "fakes/recording/conversation.hpp"

namespace gdrkit::fakes {

[[nodiscard]] std::string ioctl_name(unsigned long request);  ///< "RM_ALLOC"; the number for others

/// Adds main= and, if the structure points to more, params= and entries=. Replaces descriptors, handles and BAR1
/// addresses by their canonical names, and pointers by 1.
void add_ioctl_bytes(Words& words, unsigned long request, const void* argument, CanonicalNames& names);
/// The reverse, for a replayed result: writes everything but pointers to `argument` and the memory that it points to.
void write_ioctl_bytes(const Words& words, unsigned long request, void* argument);

/// One observed EXPORT_TO_DMABUF_FD. The driver does not read array entries beyond the number of objects, so they are
/// omitted (zero).
[[nodiscard]] std::string export_bytes(const driver::ObservedIoctl& observed, CanonicalNames& names);

}  // namespace gdrkit::fakes
