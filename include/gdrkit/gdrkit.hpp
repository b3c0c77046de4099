// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_GDRKIT_HPP
#define GDRKIT_GDRKIT_HPP

/// @file
/// @brief gdrkit for C++20: owning objects over gdrkit.h that throw gdrkit::Error. Header-only; link libgdrkit.
///
/// `auto map = gdrkit::map(pointer, size_bytes);` maps device memory. Objects own what they need: a Mapping keeps its
/// Pin and its Context alive, a Pin and a Buffer keep their Context. They can be moved and destroyed in any order.
///
/// Threads: the rules of gdrkit.h apply. One thread must not move or destroy an object while another uses it.

#include <gdrkit/gdrkit.h>
#include <gdrkit/buffer.hpp>
#include <gdrkit/bytes.hpp>
#include <gdrkit/context.hpp>
#include <gdrkit/error.hpp>
#include <gdrkit/map_options.hpp>
#include <gdrkit/mapping.hpp>
#include <gdrkit/pin.hpp>
#include <gdrkit/started_copy.hpp>

#endif
