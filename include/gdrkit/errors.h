/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Error messages, and the version of the library.
 */
#ifndef GDRKIT_ERRORS_H
#define GDRKIT_ERRORS_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Returns the message of this thread's last failed call: the operation, the object, the cause and what to do.
 *
 * @return The message; "" if no call has failed. It stays valid until the thread's next failed call.
 * @note Successful calls keep the message.
 *
 * @code{.c}
 * void report(const char* operation, int error) {
 *   fprintf(stderr, "%s: %s (%s)\n", operation, gdrkit_last_error(), gdrkit_strerror(error));
 * }
 * @endcode
 */
const char* gdrkit_last_error(void);

/**
 * @brief Returns the text of an errno.
 *
 * @param[in] error  A negative or positive errno, or 0.
 * @return A static text, never NULL.
 */
const char* gdrkit_strerror(int error);

/**
 * @brief Returns the version of the library that the program runs with.
 *
 * @return A static text such as "0.2.0". The macros of gdrkit/version.h hold the version of the headers.
 */
const char* gdrkit_version(void);

#ifdef __cplusplus
}
#endif
#endif
