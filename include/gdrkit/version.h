/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The version of gdrkit's headers, as numbers for the preprocessor.
 *
 * This is the one place that holds the version: CMake, the packages and the Python package read it from here.
 * gdrkit_version() returns the version of the library that the program runs with.
 */
#ifndef GDRKIT_VERSION_H
#define GDRKIT_VERSION_H

/** @brief Major version. From 1.0 on, incompatible changes increment it. */
#define GDRKIT_VERSION_MAJOR 0
/** @brief Minor version. Additions increment it, and incompatible changes while the major version is 0. */
#define GDRKIT_VERSION_MINOR 2
/** @brief Patch version. Bug fixes increment it. */
#define GDRKIT_VERSION_PATCH 0

/**
 * @brief The version as one number, for comparisons: major * 10000 + minor * 100 + patch.
 * @code{.c}
 * #if GDRKIT_VERSION < 200
 * #error "this program needs gdrkit 0.2.0"
 * #endif
 * @endcode
 */
#define GDRKIT_VERSION (GDRKIT_VERSION_MAJOR * 10000 + GDRKIT_VERSION_MINOR * 100 + GDRKIT_VERSION_PATCH)

#endif
