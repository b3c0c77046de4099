#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# ./run check selects the tests of rebuilt programs, changed Python tests, and the Python tests that cover changed files.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/check.sh
source scripts/check.sh

expect() { # name expected actual
  [ "$2" = "$3" ] || {
    printf 'failed: %s: expected "%s", got "%s"\n' "$@"
    exit 1
  }
}
expect "nothing" "" "$(tests_named "" "")"
expect "programs" "^(engine_test|copy_test)(/|$)" "$(tests_named $'engine_test\ncopy_test' "")"
expect "a class" "/(SanityRunner)$" "$(tests_named "" SanityRunner)"
expect "both" "^(cli_test)(/|$)|/(Json|Program)$" "$(tests_named cli_test $'Json\nProgram')"
grep -qxF SanityRunner < <(classes_of tests/cli/tools_test.py) || expect "classes" SanityRunner "$(classes_of tests/cli/tools_test.py)"
expect "no file" "" "$(classes_of)"
expect "a page of the guide" tests/diag/guide_test.py "$(program_tests_among docs/guide/acs.md diag/README.md lib/copy/choose.cpp)"
expect "a directory with tests" tests/transfer/nccl/nccl_test.py "$(program_tests_among transfer/nccl/table.cpp tests/transfer/nccl/nccl_test.py)"
for file in diag/doctor/checks.def tests/diag/doctor_cases/system.py tests/fixtures/machines/host.py; do
  grep -qxF tests/diag/doctor_test.py < <(program_tests_among "$file") || expect "$file" tests/diag/doctor_test.py "$(program_tests_among "$file")"
done
file=transfer/report/result_json.cpp # its check IDs
grep -qxF tests/diag/guide_test.py < <(program_tests_among "$file") || expect "$file" tests/diag/guide_test.py "$(program_tests_among "$file")"
expect "a class with a digit or of unittest" FreshBuild "$(classes_of tests/install/fresh_build_test.py)"
expect "no product" "" "$(program_tests_among lib/copy/choose.cpp tests/lib/copy/choose_test.cpp tests/diag/gone_test.py)"
expect "tests of the Python package" python/flag "$(package_tests_among tests/python/flag_test.py tests/cli/tools_test.py)"
expect "no test of the Python package" "" "$(package_tests_among)"

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
git init -q .
touch kept changed
git add .
git -c user.name=a -c user.email=a@b commit -qm first
echo 1 >changed
touch "added_test.py"
expect "changed files" $'added_test.py\nchanged' "$(changed_files)"
echo ok
