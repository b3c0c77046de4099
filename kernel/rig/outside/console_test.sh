#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# console_to_junit.py: what passes, and everything that must fail.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

expect() { # rc, fragment of the output, fragment of the JUnit file, console lines...
  printf '%s\r\n' "${@:4}" >"$scratch/log"
  expect_of "$1" "$2" python3 -B "$kernel/rig/console_to_junit.py" "$scratch/log" machine "$scratch/junit.xml"
  grep -F "$3" "$scratch/junit.xml" >/dev/null || fail "console ${*:4}: \"$3\" is not in:"$'\n'"$(cat "$scratch/junit.xml")"
}

end="machine ends"
expect 0 "machine: 2 passed, 0 failed" 'name="kernel.machine.open.a.one"' "flavour open" "ok a.one 12 ms" "ok a.two 3 ms" "$end"
expect 1 "open.a.one: file.c:3: not true" 'status="fail"' "flavour open" "FAIL a.one 12 ms: file.c:3: not true" "$end"
expect 0 "1 passed, 0 failed, 1 skipped" 'message="SKIP_IN_MACHINE"' "flavour open" "ok a.one 1 ms" "skip a.two 0 ms: why" "$end"
expect 0 "note: open.a.one: 5 us a page" 'status="run"' "flavour open" "note a.one: 5 us a page" "ok a.one 1 ms" "$end"
expect 1 "no test ran" 'kernel.machine.selection' "flavour open" "$end"
expect 1 "no test ran" 'kernel.machine.selection' "flavour open" "skip a.two 0 ms: why" "$end"
expect 1 "the last completed test was open.a.one" 'kernel.machine.machine' "flavour open" "ok a.one 1 ms" "Kernel panic - not syncing"
for warning in "WARNING: CPU: 0 PID: 1 at mm/memory.c:1" "BUG: unable to handle page fault" "fake_p2p: LEAK: unloaded with 1 pins" \
  "refcount_t: underflow" "INFO: task x blocked for more than 15 seconds"; do
  expect 1 "Linux logged: [    3.1] $warning" 'kernel.machine.log' "flavour open" "ok a.one 1 ms" "[    3.1] $warning" "$end"
done
