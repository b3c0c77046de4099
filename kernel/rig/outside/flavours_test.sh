#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The proprietary flavour cannot use a GPL-only symbol by mistake: a planted one stops its build and not the open one's, and
# every module of the finished build has the licence that makes modpost check.
set -euo pipefail

kernel=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$*"
  exit 1
}

licence_of() { strings -a "$1" | sed -n 's/^license=//p'; }

for module in "$RIG_BUILD"/proprietary/*/*.ko; do
  case "$(licence_of "$module")" in
    MIT | Proprietary) ;;
    *) fail "$module has licence '$(licence_of "$module")', which lets GPL-only symbols in" ;;
  esac
done
for module in "$RIG_BUILD"/open/*/*.ko; do
  [ "$(licence_of "$module")" = "Dual MIT/GPL" ] || fail "$module has licence '$(licence_of "$module")', not Dual MIT/GPL"
done

# A tree of one module that drops a reference on a pid, which is GPL-only.
mkdir "$scratch/tree"
cp -r "$kernel"/{Kbuild,Makefile,build.sh,compat,include} "$scratch/tree/"
mkdir "$scratch/tree/planted"
echo 'obj-m := planted.o' >"$scratch/tree/planted/Kbuild"
cat >"$scratch/tree/planted/planted.c" <<'TXT'
#include <linux/module.h>
#include <linux/pid.h>
#include "flavour.h"

void *gdrkit_planted(void)
{
	put_pid(NULL);
	return gdrkit_planted;
}
MODULE_DESCRIPTION("planted");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
TXT
sed -i 's/^void \*gdrkit_planted(void)$/void *gdrkit_planted(void);\n&/' "$scratch/tree/planted/planted.c"
output=$("$scratch/tree/build.sh" "$RIG_HEADERS" --flavour open --out "$scratch/out" 2>&1) || fail "the open flavour refused a GPL-only symbol: $output"
if output=$("$scratch/tree/build.sh" "$RIG_HEADERS" --flavour proprietary --out "$scratch/out" 2>&1); then
  fail "the proprietary flavour took a GPL-only symbol: $output"
fi
[[ $output == *"GPL-only symbol 'put_pid'"* ]] || fail "another reason than the GPL-only symbol: $output"

# Warnings stop a build, too.
sed -i 's/put_pid(NULL);/int unused;/' "$scratch/tree/planted/planted.c"
if output=$("$scratch/tree/build.sh" "$RIG_HEADERS" --flavour open --out "$scratch/out" 2>&1); then fail "a warning passed"; fi
[[ $output == *"unused variable"* ]] || fail "another reason than the warning: $output"
rc=0
output=$("$kernel/build.sh" /nowhere 2>&1) || rc=$?
{ [ "$rc" = 1 ] && [[ $output == *"contains no Makefile"* ]]; } || fail "build.sh /nowhere: $rc, $output"
rc=0
output=$("$kernel/build.sh" 2>&1) || rc=$?
{ [ "$rc" = 2 ] && [[ $output == *"a headers folder is required"* ]]; } || fail "build.sh: $rc, $output"
rc=0
output=$("$kernel/build.sh" "$RIG_HEADERS" --flavour sweet 2>&1) || rc=$?
{ [ "$rc" = 2 ] && [[ $output == *"--flavour takes"* ]]; } || fail "build.sh --flavour sweet: $rc, $output"
