#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs a command, prints its output, and fails unless both its exit code and a line of its output are as expected. CTest
# ignores the exit code of a test that has PASS_REGULAR_EXPRESSION.
# usage: expect.sh EXIT_CODE PATTERN COMMAND [ARGUMENT...]      PATTERN: extended regular expression
expected=$1
pattern=$2
shift 2
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
if [ "$status" -ne "$expected" ]; then
  echo "expect.sh: the exit code is $status, expected $expected"
  exit 1
fi
if ! printf '%s\n' "$output" | grep -E -q -e "$pattern"; then
  echo "expect.sh: no line matches '$pattern'"
  exit 1
fi
