# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# What nanobind's stub generator leaves out: from Python 3.12 on it finds these, without types; gdrkit/_context.py declares them.
gdrkit\._core\.Mapping\.__(release_)?buffer__:

