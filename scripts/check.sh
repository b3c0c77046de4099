# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The command check: checks and tests to run before a commit.

# Prints the paths that differ from the last commit, one per line.
changed_files() { { git diff --name-only HEAD && git ls-files --others --exclude-standard; } | sort -u; }

# Prints a regular expression for ctest that selects the tests of these programs and Python test classes. Each argument
# has one name per line. Prints "" if both are empty.
tests_named() { # programs classes
  local parts=()
  [ -z "$1" ] || parts+=("^($(tr '\n' '|' <<<"$1" | sed 's/|$//'))(/|$)")
  [ -z "$2" ] || parts+=("/($(tr '\n' '|' <<<"$2" | sed 's/|$//'))$")
  (IFS='|' && echo "${parts[*]}")
}

classes_of() { # Python tests
  [ $# -eq 0 ] || sed -nE 's/^class ([A-Za-z0-9]+)\([A-Za-z0-9_., ]*Test(Case)?\):.*/\1/p' "$@"
}

# Prints the Python tests that cover the changed files, one per line: changed tests, tests of the guide, and for programs
# and their test data the tests in the nearest directory that mirrors theirs.
program_tests_among() { # changed files
  local file directory
  for file; do
    file=${file/#tests\/fixtures\//tests/diag/} # machines of the doctor
    [[ $file != transfer/report/*.cpp ]] || echo tests/diag/guide_test.py # compares the IDs of checks there
    case $file in
      tests/*_test.py) [ ! -e "$file" ] || echo "$file" ;;
      docs/guide/*.md | docs/tools.md | docs/troubleshooting.md | README.md) echo tests/diag/guide_test.py ;;
      *.md | tests/*.cpp | tests/*.hpp) ;;
      cli/* | diag/* | measure/* | transfer/* | tests/cli/* | tests/diag/* | tests/measure/* | tests/transfer/*)
        directory=${file#tests/}
        until grep -q . < <(find "tests/$directory" -name '*_test.py' 2>/dev/null); do directory=$(dirname "$directory"); done
        find "tests/$directory" -name '*_test.py'
        ;;
    esac
  done | sort -u
}

# Prints the CTest names of the tests of the Python package among the changed tests.
package_tests_among() { # Python tests
  [ $# -eq 0 ] || printf '%s\n' "$@" | sed -nE 's,^tests/python/([a-z_]+)_test\.py$,python/\1,p'
}

run_checks() {
  local built pattern changed=() tests=() failed=0
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_tests[@]}" "${needs_of_format_tests[@]}"
  is_missing googletest && die "cannot build the tests: GoogleTest is missing, see above"
  configure_release
  print_step "checking format, layers, names and scripts"
  ctest --preset release --parallel "$(jobs_here)" -L tidy | without_passed || failed=1
  print_step "building"
  touch build/check.begin
  compile release
  ! grep -E ': warning: ' build/build.log || failed=1
  mapfile -t changed < <(changed_files)
  mapfile -t tests < <(program_tests_among "${changed[@]}")
  built=$(find build/tests/bin -maxdepth 1 -type f -newer build/check.begin -printf '%f\n' && package_tests_among "${tests[@]}")
  pattern=$(tests_named "$built" "$(classes_of "${tests[@]}")")
  if [ -z "$pattern" ]; then
    print_step "no test program was rebuilt, and no Python test covers the changed files"
  else
    print_step "testing the rebuilt programs and the changed files"
    ctest --preset release --parallel "$(jobs_here)" -R "$pattern" | without_passed || failed=1
  fi
  [ "$failed" = 0 ] || die "a check or test failed, see above"
  print_step "all checks passed"
}
