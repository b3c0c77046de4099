#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The proprietary flavour rejects a planted GPL-only symbol and the open one accepts it. Every module of the finished
# build has the license that makes modpost check this.
set -euo pipefail

kernel=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$*"
  exit 1
}

license_of() { strings -a "$1" | sed -n 's/^license=//p'; }

for module in "$RIG_BUILD"/proprietary/*/*.ko; do
  case "$(license_of "$module")" in
    MIT | Proprietary) ;;
    *) fail "$module has license '$(license_of "$module")', which allows GPL-only symbols" ;;
  esac
done
for module in "$RIG_BUILD"/open/*/*.ko; do
  [ "$(license_of "$module")" = "Dual MIT/GPL" ] || fail "$module has license '$(license_of "$module")', not Dual MIT/GPL"
done

# A tree with one module that calls put_pid, which is GPL-only.
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
output=$("$scratch/tree/build.sh" "$RIG_HEADERS" --flavour open --out "$scratch/out" 2>&1) || fail "the open flavour rejects a GPL-only symbol: $output"
if output=$("$scratch/tree/build.sh" "$RIG_HEADERS" --flavour proprietary --out "$scratch/out" 2>&1); then
  fail "the proprietary flavour accepts a GPL-only symbol: $output"
fi
[[ $output == *"GPL-only symbol 'put_pid'"* ]] || fail "the build failed for another reason than the GPL-only symbol: $output"

# Warnings fail a build, too.
sed -i 's/put_pid(NULL);/int unused;/' "$scratch/tree/planted/planted.c"
if output=$("$scratch/tree/build.sh" "$RIG_HEADERS" --flavour open --out "$scratch/out" 2>&1); then fail "a warning did not fail the build"; fi
[[ $output == *"unused variable"* ]] || fail "the build failed for another reason than the warning: $output"
rc=0
output=$("$kernel/build.sh" /nowhere 2>&1) || rc=$?
{ [ "$rc" = 1 ] && [[ $output == *"no Makefile found"* ]]; } || fail "build.sh /nowhere: $rc, $output"
rc=0
output=$("$kernel/build.sh" 2>&1) || rc=$?
{ [ "$rc" = 2 ] && [[ $output == *"missing headers folder"* ]]; } || fail "build.sh: $rc, $output"
rc=0
output=$("$kernel/build.sh" "$RIG_HEADERS" --flavour sweet 2>&1) || rc=$?
{ [ "$rc" = 2 ] && [[ $output == *"invalid --flavour 'sweet'"* ]]; } || fail "build.sh --flavour sweet: $rc, $output"
