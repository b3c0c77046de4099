#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The proprietary flavour rejects a planted GPL-only symbol and the open one accepts it. Every module of the finished
# build has the license that makes modpost check this.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

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
expect_of 0 "" "$scratch/tree/build.sh" "$RIG_HEADERS" --flavour open --out "$scratch/out"
expect_of 1 "GPL-only symbol 'put_pid'" "$scratch/tree/build.sh" "$RIG_HEADERS" --flavour proprietary --out "$scratch/out"

# Warnings fail a build, too.
sed -i 's/put_pid(NULL);/int unused;/' "$scratch/tree/planted/planted.c"
expect_of 1 "unused variable" "$scratch/tree/build.sh" "$RIG_HEADERS" --flavour open --out "$scratch/out"
expect_of 1 "no Makefile found" "$kernel/build.sh" /nowhere
expect_of 2 "missing directory of Linux headers" "$kernel/build.sh"
expect_of 2 "invalid --flavour 'sweet'" "$kernel/build.sh" "$RIG_HEADERS" --flavour sweet
