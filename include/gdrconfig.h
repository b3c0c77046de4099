/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The processor family that the program is compiled for: one of GDRAPI_X86, GDRAPI_ARM64, GDRAPI_POWER.
 */
#ifndef __GDRCONFIG_H__
#define __GDRCONFIG_H__

#if !defined(__GNUC__)
#error "gdrapi.h requires a compiler with GNU C extensions"
#elif defined(__x86_64__) || defined(__i386__)
/** @brief Defined as 1 on x86. */
#define GDRAPI_X86 1
#elif defined(__aarch64__)
/** @brief Defined as 1 on 64-bit Arm. */
#define GDRAPI_ARM64 1
#elif defined(__powerpc__) || defined(__PPC__)
/** @brief Defined as 1 on POWER. */
#define GDRAPI_POWER 1
#else
#error "gdrapi does not support this processor family"
#endif

#endif
