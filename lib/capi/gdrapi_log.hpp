// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GDRCopy's log, as scripts expect it: plain lines on stderr, off unless GDRCOPY_ENABLE_LOGGING is set.
#pragma once

namespace gdrkit::capi {

/// Numbers are those of GDRCOPY_LOG_LEVEL: a message is printed when its level is at least the one set.
enum class LogLevel : int { debug = 1, info = 2, warning = 3, error = 4 };

/// Writes one line: the level's prefix, the text, a newline. The environment is read at the first message of the
/// process and never again. Never called on the copy path. Leaves errno alone.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...) noexcept;

}  // namespace gdrkit::capi
