#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs the commands of README and docs in a clean Debian, as root: ./run test docs starts it there. Prints a line for each page,
# "PASS page (blocks)" or "FAIL page:line: reason".
#   usage: run_pages.sh DIRECTORY     DIRECTORY: the output of scripts/doc_commands.py
set -uo pipefail

directory=$(cd -- "$1" && pwd)
export DEBIAN_FRONTEND=noninteractive
# With these packages a build makes man pages, which a plain installation then requires.
apt-get update -qq && apt-get install -y -qq --no-install-recommends help2man python3 >/dev/null || echo "FAIL preparation: apt-get failed"
while read -r script page count; do
  began=$SECONDS
  if bash "$directory/$script" >"$directory/$script.log" 2>&1 </dev/null; then
    echo "PASS $page ($count blocks, $((SECONDS - began)) s)"
  else
    tail -n 30 "$directory/$script.log" | grep -v '^FAIL '
    grep '^FAIL ' "$directory/$script.log" || echo "FAIL $page: it did not finish"
  fi
  export PATH=$HOME/opt/gdrkit/bin:$PATH # as README.md requires
done <"$directory/pages"
echo "all pages ran"
