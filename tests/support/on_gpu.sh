#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# usage: on_gpu.sh PROGRAM [ARGUMENT...]: runs it where there is a GPU; else exit code 77 with the reason, or 1 where
# GDRKIT_REQUIRE names gpu.
if [ -e /dev/nvidiactl ] || [ -e /dev/gdrdrv ]; then exec "$@"; fi
echo "no GPU: /dev/nvidiactl and /dev/gdrdrv are not here"
case ",${GDRKIT_REQUIRE:-}," in *,gpu,*) exit 1 ;; *) exit 77 ;; esac
