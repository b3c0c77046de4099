#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# usage: on_gpu.sh PROGRAM [ARGUMENT...]: runs it if there is a GPU. Otherwise exits with 77 and the reason, or with 1
# if GDRKIT_REQUIRE contains gpu.
if [ -e /dev/nvidiactl ] || [ -e /dev/gdrdrv ]; then exec "$@"; fi
echo "no GPU: neither /dev/nvidiactl nor /dev/gdrdrv exists"
case ",${GDRKIT_REQUIRE:-}," in *,gpu,*) exit 1 ;; *) exit 77 ;; esac
