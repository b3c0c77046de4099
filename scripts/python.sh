# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The Python package: selects the interpreter for builds, packages and the tests of the wheel.

python_venv=build/python-venv
# Pinned, so that packages made of one commit at different times have the same bytes.
nanobind_of_packages=nanobind==3.1.0

can_build_python() { # interpreter
  [ -x "$(command -v "$1")" ] && "$1" - <<'END' >/dev/null 2>&1
import os, sysconfig, nanobind
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
END
}

# Prints the interpreter whose nanobind and headers build the package, or nothing.
python_for_package() {
  local candidate
  for candidate in "$root/$python_venv/bin/python" python3; do
    if can_build_python "$candidate"; then
      command -v "$candidate"
      return 0
    fi
  done
}

# For ./run build and ./run test: if nanobind is missing, installs it from PyPI into the build tree.
provide_python() {
  local why
  [ -z "$(python_for_package)" ] || return 0
  if [ "${offline:-0}" = 1 ]; then
    why="nanobind or Python's headers are missing (--offline: downloads are disabled)"
  elif print_step "fetching nanobind, numpy and pytest from PyPI" && ! why=$(make_python_venv python3 "$python_venv" nanobind numpy pytest 2>&1); then
    why=$(tail -n 1 <<<"$why")
  else
    return 0
  fi
  note "the Python package is not built: $why"
}

make_python_venv() { # interpreter, directory, packages...
  local interpreter=$1 directory=$2
  shift 2
  PYTHON=$interpreter has_python_headers || {
    echo "Python's headers are missing (Debian: python3-dev)"
    return 1
  }
  "$interpreter" -m venv "$directory" &&
    "$directory/bin/pip" --quiet --disable-pip-version-check --timeout 10 --retries 1 install "$@"
}

# For ./run package: the system's Python, which python3-gdrkit is for, with its own nanobind or one in a build directory.
# Prints the interpreter; on failure prints the reason and returns 1.
python_of_packages() { # directory
  local why interpreter
  for interpreter in "$1/bin/python" /usr/bin/python3; do
    can_build_python "$interpreter" && echo "$interpreter" && return 0
  done
  if [ "${offline:-0}" = 1 ]; then
    why="nanobind or Python's headers are missing (--offline: downloads are disabled)"
  elif why=$(make_python_venv /usr/bin/python3 "$1" "$nanobind_of_packages" 2>&1) && can_build_python "$1/bin/python"; then
    echo "$1/bin/python"
    return 0
  fi
  tail -n 1 <<<"${why:-nanobind does not work}"
  return 1
}

# ./run test python: tests the sdist and the wheel in a fresh environment, emulated.
run_tests_of_python() {
  [ "$offline" = 0 ] || die "cannot test the wheel: it needs packages of PyPI; omit --offline"
  provide "${needs_of_library[@]}" "${needs_of_wheel[@]}"
  ! lacks_any_of "${needs_of_library[@]}" "${needs_of_wheel[@]}" || die "cannot make the wheel: the dependencies listed above are missing"
  bash tests/python/wheel/run.sh
}
