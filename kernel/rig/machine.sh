# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds the test programs and the virtual machine's file system, and runs the machine, or writes why it cannot run.

accelerator="" # of QEMU: kvm or tcg; chosen before the first machine starts
memory_mb=768  # of the virtual machine

# Writes one result for everything that cannot run, and exits.
skip_all() { # test suite, its name in GDRKIT_REQUIRE, reason
  local suite=$1 required=$2 mark='<skipped message="SKIP_NO_MACHINE"/>' status=notrun failed=0 reason
  shift 2
  reason=$(printf '%s' "$*" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')
  case ",${GDRKIT_REQUIRE:-}," in
    *",$required,"*)
      mark='<failure message="required (GDRKIT_REQUIRE)"/>' status=fail failed=1
      echo "FAIL required (GDRKIT_REQUIRE), but: $*"
      ;;
    *) echo "skipped: $*" ;;
  esac
  mkdir -p "$results"
  printf '<testsuite name="%s"><testcase name="%s.machine" status="%s">%s<system-out>%s</system-out></testcase></testsuite>\n' \
    "$suite" "$suite" "$status" "$mark" "$reason" >"$results/$suite.xml"
  exit "$failed"
}

test_groups() { # directories with modules.txt: with GDRKIT_KERNEL_INSTALLED those that test installed packages, else the others
  local list
  for list in "$kernel"/tests/*/modules.txt; do
    list=${list%/modules.txt}
    if [ -e "$list/packages_only" ] && [ -z "${GDRKIT_KERNEL_INSTALLED:-}" ]; then continue; fi
    if [ ! -e "$list/packages_only" ] && [ -n "${GDRKIT_KERNEL_INSTALLED:-}" ]; then continue; fi
    echo "${list##*/}"
  done
}

# One static program per group, unless the group has a build.sh.
build_programs_of_groups() { # directory
  local group directory=$1
  mkdir -p "$directory"
  for group in $(test_groups); do
    if [ -x "$kernel/tests/$group/build.sh" ]; then
      "$kernel/tests/$group/build.sh" "$directory/$group" || return 1
    else
      "${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -Werror -static -pthread -I"$kernel" -o "$directory/$group" \
        "$kernel"/tests/support/*.c "$kernel/tests/$group"/*.c || return 1
    fi
  done
}

make_file_system() { # release, flavours, result
  local directory=$scratch/file_system flavour group
  rm -rf "$directory"
  mkdir -p "$directory/bin" "$directory/rig" "$directory/tests" "$directory/modules"
  cp "$busybox" "$directory/bin/busybox"
  cp "$kernel/rig/guest_init" "$directory/init"
  chmod +x "$directory/init"
  for flavour in $2; do
    mkdir -p "$directory/modules/$flavour"
    find "$build/$1/$flavour" -name '*.ko' -exec cp {} "$directory/modules/$flavour/" \;
    strip -g "$directory/modules/$flavour"/*.ko
  done
  for group in $(test_groups); do
    cp "$programs/$group" "$directory/tests/$group"
    cp "$kernel/tests/$group/modules.txt" "$directory/tests/$group.modules"
    if [ -d "$programs/$group.files" ]; then cp -r "$programs/$group.files/." "$directory/"; fi
  done
  {
    printf "flavours='%s'\n" "$2"
    printf "groups='%s'\n" "$(test_groups | tr '\n' ' ')"
    printf "pattern='%s'\n" "${GDRKIT_KERNEL_TESTS:-*}"
    printf 'export GDRKIT_KERNEL_FULL=%s\n' "$full"
    printf 'export GDRKIT_KERNEL_CHECKED=%s\n' "$checked"
  } >"$directory/rig/settings"
  (cd "$directory" && find . | cpio -o -H newc --quiet | gzip -1) >"$3"
}

# A machine that prints one line and powers off. On some hosts /dev/kvm opens, but machines under it hang.
probe_accelerator() { # accelerator, image: true if the line was printed
  local directory=$scratch/probe
  rm -rf "$directory"
  mkdir -p "$directory/bin"
  cp "$busybox" "$directory/bin/busybox"
  printf '#!/bin/busybox sh\necho the probe has booted\n/bin/busybox poweroff -f\n' >"$directory/init"
  chmod +x "$directory/init"
  (cd "$directory" && find . | cpio -o -H newc --quiet | gzip -1) >"$scratch/probe.cpio.gz"
  # In a subshell, whose stderr is discarded, because bash prints a message when QEMU is killed.
  (run_qemu "$1" "$2" "$scratch/probe.cpio.gz" "$scratch/probe-$1.log" "${GDRKIT_KERNEL_PROBE_S:-20}") 2>/dev/null
  grep -q "the probe has booted" "$scratch/probe-$1.log"
}

choose_accelerator() { # image: sets `accelerator`
  [ -z "$accelerator" ] || return 0
  accelerator=tcg
  if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
    if probe_accelerator kvm "$1"; then accelerator=kvm; else echo "/dev/kvm exists, but a machine under it does not boot"; fi
  fi
}

run_machine() { # image, file system, console log, limit in seconds
  choose_accelerator "$1"
  echo "booting Linux $linux_release under $accelerator; console in $3"
  run_qemu "$accelerator" "$@"
}

# The 2 GiB BAR is sparse on both sides: only touched pages are allocated. On a busy host a virtual CPU may stall longer
# than Linux's default limits for lockups (20 s) and RCU stalls (21 s).
run_qemu() { # accelerator, image, file system, console log, limit in seconds
  local options=kvm timeouts="watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
  [ "$1" = kvm ] || options=$1,thread=multi
  shift
  timeout --foreground -k 10 "$4" qemu-system-x86_64 -accel "$options" -cpu max -m "$memory_mb" -smp 2 -nographic -no-reboot \
    -kernel "$1" -initrd "$2" -append "console=ttyS0 quiet panic=-1 oops=panic mitigations=off nokaslr $timeouts" \
    -nic none -object memory-backend-ram,id=gpu,size=2G,share=on,reserve=off -device ivshmem-plain,memdev=gpu \
    </dev/null >"$3" 2>&1
}
