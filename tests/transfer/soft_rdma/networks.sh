# shellcheck shell=sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Jobs of two PEs in two network namespaces, which are machines of their own to gdrkit: UCX over TCP, on a link that
# delays and loses packets. The same as tests/shmem/namespaces and osu's lossy network, on a Linux that has sch_netem.
# By full names: the shell's own `ip` does not support namespaces.

short="-t identity -t allocation -t scalars -t signals -t atomics -t barriers -t teams -t growth -t registration"
[ "$GDRKIT_FULL" = 1 ] && short=""
lossy="netem delay 2ms 1ms loss 0.5%"
# Its queue holds 10 KiB, so that bursts lose packets.
slow="tbf rate 50mbit burst 4kb latency 1ms"

mkdir -p /var/run /run

make_link() { # words for tc
  for side in 0 1; do
    /tools/ip netns del "m$side" 2>/dev/null
    /tools/ip netns add "m$side" || return 1
  done
  /tools/ip link add link0 netns m0 type veth peer name link0 netns m1 || return 1
  for side in 0 1; do
    /tools/ip -n "m$side" addr add "10.97.0.$((side + 1))/24" dev link0
    /tools/ip -n "m$side" link set lo up
    /tools/ip -n "m$side" link set link0 up
    # shellcheck disable=SC2086
    /tools/tc -n "m$side" qdisc add dev link0 root $1 || return 1
  done
  # UCX leaves out a device that is not up, and either side may be the later one.
  for side in 0 1; do
    until /tools/ip -n "m$side" link show link0 | grep -q "state UP"; do usleep 50000; done
  done
}
start_pe() { # number, command: sets `pid`
  # shellcheck disable=SC2086
  RANK=$1 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=10.97.0.1 MASTER_PORT=29500 GDRKIT_SHMEM_TOKEN=0123456789abcdef GDRKIT_BACKEND=emulated \
    GDRKIT_SHMEM_INTERFACE=link0 GDRKIT_SHMEM_HEAP_MAX=128M UCX_NET_DEVICES=link0 UCX_TLS=tcp,self \
    UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n /tools/ip netns exec "m$1" $2 >"/tmp/pe$1" 2>&1 &
  pid=$!
}
both_pes() { # words for tc, command, output of PE 0, how often
  make_link "$1" || return 1
  start_pe 1 "timeout 300 $2"
  other=$pid
  start_pe 0 "timeout 300 $2"
  wait "$pid"
  code=$?
  wait "$other"
  other_code=$?
  if [ "$code" != 0 ] || [ "$other_code" != 0 ]; then
    echo "PE 0 ended with $code: $(tail -n 3 /tmp/pe0) PE 1 with $other_code: $(tail -n 3 /tmp/pe1)"
    return 1
  fi
  [ "$(grep -c "$3" /tmp/pe0)" = "$4" ] || {
    echo "not $4 times '$3': $(tail -n 3 /tmp/pe0)"
    return 1
  }
  lost=$(for side in 0 1; do /tools/tc -s -n "m$side" qdisc show dev link0; done | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | awk '{n += $1} END {print n + 0}')
  [ "$lost" -gt 0 ] || {
    echo "the link lost nothing"
    return 1
  }
}
# The other one names it within 10 seconds.
killed_pe() { # words for tc
  make_link "$1" || return 1
  start_pe 1 "gdrkit shmem check -t barriers --rounds 100000000"
  victim=$pid
  start_pe 0 "gdrkit shmem check -t barriers --rounds 100000000"
  sleep 8
  kill -9 "$victim"
  began=$(cut -d. -f1 /proc/uptime)
  while [ -d "/proc/$pid" ] && [ "$(cut -d. -f1 /proc/uptime)" -lt $((began + 10)) ]; do usleep 100000; done
  if [ -d "/proc/$pid" ]; then
    kill -9 "$pid"
    echo "PE 0 went on for 10 s: $(tail -n 2 /tmp/pe0)"
    return 1
  fi
  wait "$pid"
  code=$?
  [ "$code" = 1 ] && grep -q "PE 1 .*has ended" /tmp/pe0 && return 0
  echo "exit code $code: $(tail -n 2 /tmp/pe0)"
  return 1
}

check shmem_over_a_lossy_link both_pes "$lossy" "gdrkit shmem check -e 4K --rounds 5 $short" "checks passed" 1
check shmem_over_a_slow_link both_pes "$slow" "gdrkit shmem check -e 64K --rounds 10 $short" "checks passed" 1
check shmem_killed_pe_over_a_lossy_link killed_pe "$lossy"
# 200 round trips of 5 sizes: few enough not to take minutes, and enough to lose some packets.
check osu_over_a_lossy_link both_pes "$lossy" "gdrkit osu latency -c -m 4:64 -i 200 -x 1 -W 4 --timeout 200" Pass 5
