#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs the tests and measurements that require a GPU and stores each output, with machine, driver, command and date, in
# a directory.
# usage: scripts/gpu_results.sh BUILD_DIRECTORY OUTPUT_DIRECTORY [part...]   parts: examples sanity tests copylat copybw bench apiperf pplat numa bandwidth bandwidth_json clients record shmem remote gdr_copy engines python
set -u

# Each test of a GoogleTest program runs in its own process: CUDA does not survive a fork.
if [ "${1:-}" = --each ]; then
  worst=0
  suite=
  while read -r line; do
    case $line in
      *.) suite=$line ;;
      Running*) ;;
      *) "$2" --gtest_filter="$suite$line" | grep -E '^\[ +(OK|FAILED|SKIPPED) +\]|: Failure|^ *(Expected|Actual)' | head -n 20
         [ "${PIPESTATUS[0]}" -eq 0 ] || worst=1 ;;
    esac
  done < <("$2" --gtest_list_tests)
  exit "$worst"
fi

if [ $# -lt 2 ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
build=$1
output=$2
shift 2
parts=${*:-examples sanity tests copylat copybw bench apiperf pplat clients}
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$output"
failed=0

describe() {
  echo "date: $(date -u +%Y-%m-%d)"
  echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, Linux $(uname -r)"
  nvidia-smi --query-gpu=name,driver_version,pci.bus_id --format=csv,noheader | sed 's/^/gpu: /'
  echo "user: uid $(id -u)"
}

# keep NAME SECONDS COMMAND...: runs with a time limit and keeps the output.
keep() {
  local name=$1 seconds=$2 file="$output/$1.txt" status
  shift 2
  { describe; echo "command: $*"; echo; } >"$file"
  timeout "$seconds" "$@" >>"$file" 2>&1
  status=$?
  sed -i "s|$here/||g" "$file"  # paths of this machine are meaningless elsewhere
  { echo; echo "exit code: $status"; } >>"$file"
  printf '%-28s exit %d\n' "$name" "$status"
  [ "$status" -eq 0 ] || failed=1
}

# keep_json NAME SECONDS COMMAND...: the same for one JSON document on stdout; stderr is shown.
keep_json() {
  local name=$1 seconds=$2 status
  shift 2
  timeout "$seconds" "$@" >"$output/$name.json"
  status=$?
  printf '%-28s exit %d\n' "$name.json" "$status"
  [ "$status" -eq 0 ] || failed=1
}

# find_library PACKAGE FILE: prints the path of a library in NVIDIA's Python packages, or nothing.
find_library() {
  python3 - "$1/lib/$2" <<'END' 2>/dev/null
import glob, sys, nvidia
print(*[file for path in nvidia.__path__ for file in glob.glob(f"{path}/{sys.argv[1]}")][:1])
END
}

for part in $parts; do
  case $part in
    examples)
      for program in "$build"/examples/*; do
        [ ! -f "$program" ] || [ ! -x "$program" ] || keep "example_$(basename "$program")" 60 "$program"
      done
      ;;
    sanity)
      keep info 30 "$build/bin/gdrkit" info
      keep sanity 300 "$build/bin/gdrkit" sanity
      keep gdrcopy_sanity 300 "$build/bin/gdrcopy_sanity" -v
      if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
        keep sanity_ordinary_user 300 setpriv --reuid 65534 --regid 65534 --clear-groups "$build/bin/gdrkit" sanity
      fi
      ;;
    tests)
      export GDRKIT_REQUIRE=gpu
      keep live_rm 240 "$0" --each "$build/tests/bin/live_rm_test"
      keep conformance 300 "$build/tests/bin/backend_conformance_test" --gtest_brief=1
      keep gpu_kernels 200 "$0" --each "$build/tests/bin/gpu_kernels_gpu_test"
      unset GDRKIT_REQUIRE
      ;;
    copylat)
      keep copylat_raw 300 "$build/bin/gdrkit" copylat --raw
      keep pin_cost 60 "$build/bin/gdrkit" copylat --pin-cost
      ;;
    apiperf)
      keep apiperf 120 "$build/bin/gdrkit" apiperf --size 0x10000000 --iterations 200
      keep apiperf_json 120 "$build/bin/gdrkit" apiperf --size 0x10000000 --iterations 200 --json
      keep gdrcopy_apiperf 120 "$build/bin/gdrcopy_apiperf"
      ;;
    pplat)
      keep pplat_raw 60 "$build/bin/gdrkit" pplat --raw
      keep pplat_raw_json 60 "$build/bin/gdrkit" pplat --raw --json
      keep pplat_data 120 "$build/bin/gdrkit" pplat --raw --data-size 4096 --iterations 2000
      keep pplat_gpu_first 60 "$build/bin/gdrkit" pplat --raw --mode 1
      keep gdrcopy_pplat 60 "$build/bin/gdrcopy_pplat"
      ;;
    bench)
      keep bench 300 "$build/bin/gdrkit" bench --json "$output/bench.json" --csv "$output/bench.csv"
      keep bench_quick 60 "$build/bin/gdrkit" bench --quick
      keep bench_compare 300 "$build/bin/gdrkit" bench --compare "$output/bench.json"
      ;;
    copybw) keep copybw 60 "$build/bin/gdrkit" copybw ;;
    numa)
      keep copybw_numa 120 "$build/bin/gdrkit" copybw --numa all
      keep copylat_numa 120 "$build/bin/gdrkit" copylat --numa all
      ;;
    bandwidth) keep bandwidth 500 "$build/bin/gdrkit" bandwidth ;;
    bandwidth_json)
      keep_json bandwidth 500 "$build/bin/gdrkit" bandwidth --json
      keep_json bandwidth_nvbandwidth 500 "$build/bin/gdrkit" bandwidth -j
      ;;
    clients)
      keep nccl 200 python3 "$here/tests/gpu/clients/nccl_two_ranks.py" "$build/lib"
      ;;
    shmem)
      keep shmem_info 60 "$build/bin/gdrkit" run -n 2 -- "$build/bin/gdrkit" shmem info
      keep shmem_check 60 "$build/bin/gdrkit" shmem check -n 2 --json="$output/shmem_check.json"
      nvshmem=${NVSHMEM_LIBRARY:-$(find_library nvshmem libnvshmem_host.so.3)}
      nccl=${NCCL_LIBRARY:-$(find_library nccl libnccl.so.2)}
      # NVSHMEM's device side is measured if nvshmem_device.fatbin is next to the program (-DGDRKIT_NVSHMEM).
      keep shmem_bench 400 "$build/bin/gdrkit" shmem bench -q --json="$output/shmem_bench.json" \
        ${nvshmem:+--peer nvshmem --nvshmem "$nvshmem"} ${nccl:+--peer nccl --nccl "$nccl"}
      GDRKIT_ENGINE=automatic keep shmem_bench_engine 100 "$build/bin/gdrkit" shmem bench -q --side host --quick -t get_host
      export GDRKIT_REQUIRE=gpu
      for test in shmem_litmus shmem_device; do
        keep "${test}_gpu_test" 200 "$build/tests/bin/${test}_gpu_test"
      done
      unset GDRKIT_REQUIRE
      ;;
    remote)
      # Every PE as if on its own machine. UCX_LIBRARY: a second libucp.so.0, such as one with CUDA support.
      keep remote_put 500 python3 "$here/scripts/remote_put.py" "$build/bin/gdrkit" --json "$output/remote_put.json" \
        ${UCX_LIBRARY:+--ucx "$UCX_LIBRARY"}
      export GDRKIT_REQUIRE=gpu,ucx GDRKIT_SHMEM_DISABLE_P2P=1
      for library in "" ${UCX_LIBRARY:+"$UCX_LIBRARY"}; do
        for transports in posix,cuda_copy,self tcp,cuda_copy,self; do
          name=$([ -z "$library" ] && echo system || echo other)_${transports%%,*}
          GDRKIT_UCX_LIBRARY=$library UCX_TLS=$transports keep "remote_check_$name" 120 "$build/bin/gdrkit" shmem check -n 2
          GDRKIT_UCX_LIBRARY=$library UCX_TLS=$transports keep "remote_device_$name" 120 \
            "$build/tests/bin/shmem_device_gpu_test" --gtest_filter='ShmemDevice.*'
        done
      done
      unset GDRKIT_REQUIRE GDRKIT_SHMEM_DISABLE_P2P
      ;;
    gdr_copy)
      # GDR_COPY_UCX: a libucp.so.0 built with CUDA and with our gdrapi.h (docs/transfers.md).
      # 1000 iterations: at 200 us per message, as without UCX's registration cache, all sizes take 10 s.
      for transports in sm,self,cuda_copy,gdr_copy sm,self,cuda_copy sm,self,cuda_copy,cuda_ipc,gdr_copy sm,self,cuda_copy,cuda_ipc; do
        for variant in default reloc engine; do
          [[ $transports == *gdr_copy* || $variant == default ]] || continue
          more=()
          [ "$variant" != reloc ] || more=(UCX_MEM_CUDA_HOOK_MODE=reloc)
          [ "$variant" != engine ] || more=(GDRKIT_DROPIN_ENGINE=automatic)
          LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} GDRKIT_UCX_LIBRARY=${GDR_COPY_UCX:?set it to the path of a libucp.so.0} \
            UCX_TLS=$transports keep "osu_latency_${transports//,/_}_$variant" 60 \
            env "${more[@]}" "$build/bin/gdrkit" osu latency D D -m 1:1M -i 1000
        done
      done
      ;;
    engines)
      GDRKIT_REQUIRE=gpu keep engine_conformance 120 "$build/tests/bin/engine_conformance_gpu_test"
      cache=$(mktemp -d)
      XDG_CACHE_HOME=$cache keep tune 60 "$build/bin/gdrkit" tune --json "$output/tune.json"
      sed -i -E "s/engines-[0-9a-f]{32}/engines-UUID/" "$output"/tune.*
      XDG_CACHE_HOME=$cache keep measure_engines 300 "$build/tests/bin/measure_engines"
      XDG_CACHE_HOME=$(mktemp -d) keep measure_engines_by_table 300 "$build/tests/bin/measure_engines"
      GDRKIT_REQUIRE=gpu keep memory_model 200 "$build/tests/bin/memory_model_gpu_test"
      keep gemm_with_mover 120 python3 "$here/tests/gpu/clients/gemm_with_mover.py" "$build/python"
      ;;
    python)
      # The wheel made by "./run test python", in its own directory; NumPy, PyTorch and pytest are those of the machine.
      wheel=${WHEEL:-$(find "$here/dist" -name 'gdrkit-*manylinux*.whl' 2>/dev/null | sort | tail -n 1)}
      site=$(mktemp -d)
      keep python_install 120 python3 -m pip install --no-index --no-deps --target "$site" "${wheel:-missing: a wheel in dist/}"
      export PYTHONPATH=$site
      for program in "$here"/examples/python/*.py; do
        keep "python_example_$(basename "$program" .py)" 60 python3 -B "$program"
      done
      keep python_bench 120 python3 -m gdrkit.bench
      keep python_tests 500 env -C "$site" GDRKIT_BACKEND=auto GDRKIT_SOURCE="$here" GDRKIT_BIN="$(realpath "$build")/bin" \
        python3 -B -m pytest -q -rs -p no:cacheprovider "$here/tests/python"
      unset PYTHONPATH
      ;;
    record) keep record 120 "$build/tests/bin/record_rm_conversation" "$output" ;;
    *)
      echo "unknown part '$part'" >&2
      exit 2
      ;;
  esac
done
! compgen -G "$output/*.json" >/dev/null || python3 "$here/scripts/minify_json.py" "$output"/*.json || failed=1
exit "$failed"
