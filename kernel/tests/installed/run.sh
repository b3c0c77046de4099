#!/bin/busybox sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs the installed programs on the installed module, inside the virtual machine. Prints one line per test, like the
# programs of the other groups. usage: run.sh <group> [pattern]
export LD_LIBRARY_PATH=/installed GDRKIT_BACKEND=gdrdrv

verdict() { # name, status, seconds
  if [ "$2" = 0 ]; then
    echo "ok $group.$1 $(($3 * 1000)) ms"
  else
    echo "FAIL $group.$1 $(($3 * 1000)) ms: exited with status $2: $(tail -n 1 /tmp/output)"
  fi
}

group=$1
for name in gdrkit gdrcopy_sanity; do
  began=$(date +%s)
  if [ "$name" = gdrkit ]; then
    /installed/gdrkit sanity --verbose --time-limit 600
  else
    /installed/gdrcopy_sanity -t basic_cumemalloc -t data_validation_cumemalloc
  fi >/tmp/output 2>&1
  status=$?
  verdict "${name%_sanity}_sanity" "$status" $(($(date +%s) - began))
  echo "note $group.$name: $(grep -E '^Total: ' /tmp/output | tail -n 1)"
  sed 's/^/  /' /tmp/output # the whole output, for the console log
done
