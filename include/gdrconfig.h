/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Names the processor family this is compiled for: exactly one of GDRAPI_X86, GDRAPI_ARM64, GDRAPI_POWER. */
#ifndef __GDRCONFIG_H__
#define __GDRCONFIG_H__

#if !defined(__GNUC__)
#error "gdrapi needs a compiler that speaks GNU C"
#elif defined(__x86_64__) || defined(__i386__)
#define GDRAPI_X86 1
#elif defined(__aarch64__)
#define GDRAPI_ARM64 1
#elif defined(__powerpc__) || defined(__PPC__)
#define GDRAPI_POWER 1
#else
#error "gdrapi does not know this processor family"
#endif

#endif
