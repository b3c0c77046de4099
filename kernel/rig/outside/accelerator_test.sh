#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The choice between KVM and software emulation: KVM only if the probe printed its line in time.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
[ -r /dev/kvm ] && [ -w /dev/kvm ] || exit 0 # without /dev/kvm, emulation is used without a probe
mkdir "$scratch/bin"
printf 'busybox' >"$scratch/busybox"

chosen_with() { # body of a fake qemu-system-x86_64
  printf '#!/bin/sh\n%s\n' "$1" >"$scratch/bin/qemu-system-x86_64"
  chmod +x "$scratch/bin/qemu-system-x86_64"
  # shellcheck disable=SC2034 # for machine.sh
  (
    busybox=$scratch/busybox GDRKIT_KERNEL_PROBE_S=1 PATH=$scratch/bin:$PATH
    # shellcheck source=kernel/rig/machine.sh
    source "$kernel/rig/machine.sh"
    choose_accelerator image >/dev/null
    echo "$accelerator"
  )
}

expect() { # accelerator, body of the fake QEMU
  local chosen
  chosen=$(chosen_with "$2")
  [ "$chosen" = "$1" ] || fail "with the fake QEMU '$2', machine.sh chose '$chosen', not '$1'"
}

expect kvm 'echo the probe has booted'
expect tcg 'exec sleep 30'
expect tcg 'echo "Could not access KVM kernel module" >&2; exit 1'
expect tcg 'kill -ABRT $$'
