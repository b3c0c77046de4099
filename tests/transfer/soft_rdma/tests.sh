# shellcheck shell=sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The tests, run inside the machine by busybox' shell. A test is a function; what it prints is the reason of its failure.
# rxe0 is the server's device and rxe1 the client's. GDRKIT_FULL=1: all.

tests="write_bw write_lat read_bw read_lat send_bw send_lat atomic_bw atomic_lat"
# On a busy host a packet's acknowledgement takes long: -u 18 waits a second before it is sent again.
here="-x 0 -F -u 18"

check() { # name, function, arguments...
  name=$1
  case "$name" in $pattern) ;; *) return ;; esac
  shift
  began=$(cut -d' ' -f1 /proc/uptime | tr -d .)
  if output=$("$@" 2>&1); then verdict=ok text=""; else verdict=FAIL text=": $(echo "$output" | tail -n 4 | tr '\n' ' ')"; fi
  now=$(cut -d' ' -f1 /proc/uptime | tr -d .)
  echo "$verdict soft_rdma.$name $(((now - began) * 10)) ms$text"
}

# The server starts first and is waited for; both must end with 0.
both() { # server's command / client's command / what waits for the server, else wait_for_listener
  server=$1
  client=$2
  waits=${3:-wait_for_listener}
  # shellcheck disable=SC2086
  timeout 60 $server >/tmp/server 2>&1 &
  pid=$!
  $waits "$pid" || {
    cat /tmp/server
    return 1
  }
  # shellcheck disable=SC2086
  timeout 60 $client >/tmp/client 2>&1
  client_code=$?
  wait "$pid"
  server_code=$?
  [ "$client_code" = 0 ] && [ "$server_code" = 0 ] && return 0
  echo "client $client_code: $(tail -n 3 /tmp/client) server $server_code: $(tail -n 3 /tmp/server)"
  return 1
}
wait_for_listener() { # process that listens on perftest's port, 18515
  for try in $(seq 200); do
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qi ':4853 .* 0A ' && return 0
    [ -d "/proc/$1" ] || return 1
    usleep 50000
  done
  return 1
}

wait_for_cm_listener() { # process that listens by rdma_cm
  for try in $(seq 200); do
    rdma resource show cm_id 2>/dev/null | grep -q LISTEN && return 0
    [ -d "/proc/$1" ] || return 1
    usleep 50000
  done
  return 1
}

# The first number of the row in column N.
column() { # file, column
  awk -v column="$2" '/^ [0-9]+ +[0-9]+ /{print $column; exit}' "$1"
}

own() { # test, options...
  # shellcheck disable=SC2086
  gdrkit perftest "$@" --loopback -d rxe0,rxe1 $here --timeout 40 >/tmp/own 2>&1 || {
    cat /tmp/own
    return 1
  }
  [ -n "$(column /tmp/own 1)" ] || {
    echo "no row: $(cat /tmp/own)"
    return 1
  }
}
own_client() { # test, options...
  test=$1
  shift
  both "ib_$test -d rxe0 $here $*" "gdrkit perftest $test -d rxe1 $here $* --timeout 40 127.0.0.1" &&
    [ "$(column /tmp/client 2)" = 200 ]
}
own_server() {
  test=$1
  shift
  both "gdrkit perftest $test -d rxe0 $here $* --timeout 40" "ib_$test -d rxe1 $here $* 127.0.0.1" &&
    [ "$(column /tmp/client 2)" = 200 ]
}

# Both ends at rxe0, which the address 10.0.0.1 leads to.
by_cm() { # server: own or perftest, client: likewise, test, options...
  test=$3
  case "$1" in own) server="gdrkit perftest $test --timeout 40" ;; *) server="ib_$test" ;; esac
  case "$2" in own) client="gdrkit perftest $test --timeout 40" ;; *) client="ib_$test" ;; esac
  shift 3
  both "$server -d rxe0 $here -n 200 $*" "$client -d rxe0 $here -n 200 $* 10.0.0.1" wait_for_cm_listener &&
    [ -n "$(column /tmp/client 2)" ]
}

# One end is killed or stopped while the other works with it: the other must report it by name, soon.
broken() { # test, signal, who: server or client
  gdrkit perftest "$1" -d rxe0 -x 0 -D 30 -s "$size" --timeout 4 >/tmp/server 2>&1 &
  server=$!
  wait_for_listener $server || return 1
  gdrkit perftest "$1" -d rxe1 -x 0 -D 30 -s "$size" --timeout 4 127.0.0.1 >/tmp/client 2>&1 &
  client=$!
  sleep 2
  if [ "$3" = server ]; then victim=$server other=$client output=/tmp/client; else victim=$client other=$server output=/tmp/server; fi
  kill "-$2" "$victim"
  for try in $(seq 450); do
    [ -d "/proc/$other" ] || break
    usleep 100000
  done
  if [ -d "/proc/$other" ]; then
    kill -9 $server $client
    echo "the other end went on for 45 s: $(tail -n 2 $output)"
    return 1
  fi
  wait $other
  code=$?
  kill -9 "$victim" 2>/dev/null
  wait "$victim" 2>/dev/null
  [ "$code" = 1 ] && grep -q "127\.0\.0\.1" $output && return 0
  echo "exit code $code: $(tail -n 2 $output)"
  return 1
}

# Ours and perftest's in turn over the same devices; the best of each, as other work of the host only makes them slower.
# A run of send_bw has the full rate or half of it, of either program, hence up to 12.
# Compared is the message rate, which has six decimals: of atomics the bandwidth has but two digits.
bandwidth() { # test, messages
  count=${2:-400}
  best_own=0
  best_theirs=0
  for round in $(seq 12); do
    both "gdrkit perftest $1 -d rxe0 $here -n $count --timeout 40" "gdrkit perftest $1 -d rxe1 $here -n $count --timeout 40 127.0.0.1" ||
      return 1
    value=$(column /tmp/client 5)
    best_own=$(awk -v a="$best_own" -v b="$value" 'BEGIN{print (b > a) ? b : a}')
    both "ib_$1 -d rxe0 $here -n $count" "ib_$1 -d rxe1 $here -n $count 127.0.0.1" || return 1
    value=$(column /tmp/client 5)
    best_theirs=$(awk -v a="$best_theirs" -v b="$value" 'BEGIN{print (b > a) ? b : a}')
    ratio=$(awk -v a="$best_own" -v b="$best_theirs" 'BEGIN{printf "%.3f", a / b}')
    [ "$round" -ge 3 ] && awk -v r="$ratio" 'BEGIN{exit !(r >= 0.9)}' && break
  done
  echo "note soft_rdma.bandwidth_$1: gdrkit $best_own Mpps, perftest $best_theirs Mpps, ratio $ratio, best of $round" >/dev/console
  awk -v r="$ratio" 'BEGIN{exit !(r >= 0.9)}' || {
    echo "gdrkit $best_own Mpps, perftest $best_theirs Mpps"
    return 1
  }
}
middle() { # file with a number each line, an odd count of them
  sort -n "$1" | awk '{value[NR] = $1} END {print value[(NR + 1) / 2]}'
}
# In turn too. It fails where ours are longer both by the medians and by the least: other work of the host only makes them
# longer, and now and then one run is shorter than all others. Each end has a CPU of its own: of two that poll on one, a message takes 4 ms, of perftest's too.
latency() { # test
  : >/tmp/own_typical
  : >/tmp/their_typical
  for round in 1 2 3 4 5 6 7; do
    both "taskset 1 gdrkit perftest $1 -d rxe0 $here -n 1000 --timeout 40" "taskset 2 gdrkit perftest $1 -d rxe1 $here -n 1000 --timeout 40 127.0.0.1" ||
      return 1
    column /tmp/client 5 >>/tmp/own_typical
    both "taskset 1 ib_$1 -d rxe0 $here -n 1000" "taskset 2 ib_$1 -d rxe1 $here -n 1000 127.0.0.1" || return 1
    column /tmp/client 5 >>/tmp/their_typical
  done
  own=$(middle /tmp/own_typical) theirs=$(middle /tmp/their_typical)
  best_own=$(sort -n /tmp/own_typical | head -n 1) best_theirs=$(sort -n /tmp/their_typical | head -n 1)
  ratio=$(awk -v a="$own" -v b="$theirs" 'BEGIN{printf "%.3f", a / b}')
  best_ratio=$(awk -v a="$best_own" -v b="$best_theirs" 'BEGIN{printf "%.3f", a / b}')
  echo "note soft_rdma.latency_$1: typical, median of $round: gdrkit $own us, perftest $theirs us, ratio $ratio; least: gdrkit $best_own us, perftest $best_theirs us, ratio $best_ratio" >/dev/console
  awk -v m="$ratio" -v l="$best_ratio" 'BEGIN{exit !((m > 0 && m <= 1.1) || (l > 0 && l <= 1.1))}' || {
    echo "median of $round: gdrkit $own us, perftest $theirs us; least: gdrkit $best_own us, perftest $best_theirs us"
    return 1
  }
}

for test in $tests; do check "own_$test" own "$test" -n 200; done
check own_send_bw_datagrams own send_bw -n 200 -c UD
check own_write_bw_both_ways own write_bw -n 200 -b
check own_read_bw_of_two_pairs own read_bw -n 100 -q 2
for test in write_bw write_lat; do check "own_${test}_with_immediate" own "$test" -n 200 --write_with_imm; done
for test in write_bw read_bw send_bw; do check "own_${test}_in_lists" own "$test" -n 200 -l 16; done
check own_client_of_perftest_write_bw_in_lists own_client write_bw -n 200 -l 8
check perftest_client_of_own_send_bw_in_lists own_server send_bw -n 200 -l 8
check own_traffic_class_and_flow_labels own write_bw -n 100 -q 2 --tclass 104 --flow_label 5,6 --ipv6
check own_datagrams_with_a_traffic_class own send_lat -n 200 -c UD --tclass 104
check own_write_lat_with_all_results own write_lat -n 200 -H
check own_type_of_service_by_rdma_cm by_cm own own write_bw -R -T 104
check own_source_address_by_rdma_cm by_cm own own send_lat -z --bind_source_ip 10.0.0.1
for test in $tests; do
  check "own_client_of_perftest_$test" own_client "$test" -n 200
  check "perftest_client_of_own_$test" own_server "$test" -n 200
done
for test in write_bw send_lat; do
  for option in z R; do
    check "own_${test}_by_rdma_cm_$option" by_cm own own "$test" "-$option"
    check "own_client_of_perftest_${test}_by_rdma_cm_$option" by_cm perftest own "$test" "-$option"
    check "perftest_client_of_own_${test}_by_rdma_cm_$option" by_cm own perftest "$test" "-$option"
  done
done
check own_read_bw_of_two_pairs_by_rdma_cm_R by_cm own own read_bw -R -q 2
size=4096
check killed_client_of_write_bw broken write_bw KILL client
check killed_server_of_send_lat broken send_lat KILL server
check stopped_server_of_write_lat broken write_lat STOP server
check bandwidth_of_write_bw bandwidth write_bw
if [ "$GDRKIT_FULL" = 1 ]; then
  for test in write_bw write_lat read_bw send_bw; do check "all_sizes_of_$test" own "$test" -a -n 20; done
  for test in write_bw write_lat read_bw read_lat send_bw send_lat; do
    for who in client server; do
      for signal in KILL STOP; do check "${signal}_${who}_of_$test" broken "$test" $signal $who; done
    done
  done
  size=8
  for who in client server; do check "KILL_${who}_of_atomic_bw" broken atomic_bw KILL $who; done
  for test in read_bw send_bw; do check "bandwidth_of_$test" bandwidth "$test"; done
  # 400 of these take 15 ms.
  check bandwidth_of_atomic_bw bandwidth atomic_bw 4000
  for test in write_lat read_lat send_lat atomic_lat; do check "latency_of_$test" latency "$test"; done
  if /tools/tc qdisc add dev va root netem loss 1% 2>/tmp/errors; then
    for test in $tests; do check "loss_of_1_percent_$test" own "$test" -n 200; done
  else
    echo "skip soft_rdma.loss_of_1_percent 0 ms: $(cat /tmp/errors)"
  fi
fi
