# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The exceptions that the extension modules raise."""


class Error(OSError):
    """A call of the library failed: `errno`, and in `strerror` the library's error message."""

    __module__ = "gdrkit"


class Timeout(Error, TimeoutError):
    """A wait came to its limit, or a GPU does not react any more."""

    __module__ = "gdrkit"
