# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The command bundle: one archive with programs, libraries, sources and third-party build dependencies, for a
# machine without network and with another distribution.

bundle_limit_bytes=$((60 * 1024 * 1024))

list_sources() { # NUL-separated paths of the tree's own files
  if [ -e .git ] && has_tool git; then
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
      [ ! -f "$file" ] || printf '%s\0' "$file"
    done
  else
    find . \( -path './build*' -o -path ./dist -o -path ./third_party -o -name __pycache__ \) -prune -o \
      -type f -printf '%P\0'
  fi
}

# Prints the files and directories of Boost that the programs include. Whole directories, because other compilers include other
# files of them.
needed_of_boost() {
  "$CXX" -std=c++20 -I. -Ilib -isystem third_party/include -M measure/compare/spread.cpp | tr ' ' '\n' |
    sed -n 's,^\(.*include/boost/[^/]*\).*,\1,p' | sort -u
}

copy_third_party() { # target directory
  local name header found
  mkdir -p "$1/include" "$1/licenses"
  for name in CLI/CLI.hpp nlohmann/json.hpp tl/expected.hpp; do
    found=""
    for header in third_party/include /usr/local/include /usr/include; do
      [ -n "$found" ] || { [ -e "$header/$name" ] && found=$header/${name%%/*}; }
    done
    [ -n "$found" ] || die "cannot pack $name: not found"
    cp -rL "$found" "$1/include/"
  done
  mkdir "$1/include/boost"
  needed_of_boost | xargs cp -rLt "$1/include/boost" || die "cannot pack the headers of Boost.Math"
  found=third_party/googletest
  [ -e "$found" ] || found=/usr/src/googletest
  [ -e "$found/CMakeLists.txt" ] || die "cannot pack GoogleTest's sources: not found (Debian: googletest)"
  mkdir -p "$1/googletest"
  (cd "$found" && tar -cf - --exclude='*/test' --exclude='*/samples' --exclude='*/docs' .) | tar -xf - -C "$1/googletest"
  if [ -d third_party/licenses ]; then
    cp -r third_party/licenses/. "$1/licenses/"
  else
    for found in /usr/share/doc/{libcli11-dev,nlohmann-json3-dev,libexpected-dev,libboost1.*-dev,googletest}; do
      cp -L "$found/copyright" "$1/licenses/${found##*/}"
    done
  fi
}

# Fails if a program needs a library that another distribution may lack.
check_self_contained() { # files...
  local file needed
  for file in "$@"; do
    [[ $file != */gdrkit_osu_*.so ]] || continue # gdrkit osu loads it only where its MPI is installed
    while read -r needed; do
      case "$needed" in
        libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-*.so.* | libgdrkit.so* | libgdrkit_shmem.so* | libgdrapi.so*) ;;
        *) die "cannot pack $file: it needs $needed, which another machine may lack" ;;
      esac
    done < <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  done
}

has_nvcc() { PATH=${CUDA_HOME:-}/bin:${CUDA_PATH:-}/bin:$PATH:/usr/local/cuda/bin has_tool nvcc; }

make_bundle() {
  local name directory archive file size
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_tests[@]}"
  lacks_any_of "${needs_of_library[@]}" "${needs_of_programs[@]}" googletest && die "cannot make the bundle: the dependencies listed above are missing"
  print_step "building the release"
  # The bundle runs on other machines, so it contains GPU kernels for all GPUs.
  build_programs "-DGDRKIT_GPU_KERNELS=$(on_or_off has_nvcc)"

  name=gdrkit-bundle-$(project_version)-$(uname -m)
  directory=dist/$name
  archive=dist/$name.tar.gz
  print_step "packing $archive"
  rm -rf "$directory" "$archive"
  mkdir -p "$directory/build"
  list_sources | tar -cf - --null --no-recursion -T - | tar -xf - -C "$directory"
  cp -a build/bin build/lib "$directory/build/"
  copy_third_party "$directory/third_party"
  while IFS= read -r -d '' file; do
    if readelf -h "$file" >/dev/null 2>&1; then
      strip --strip-unneeded "$file"
      check_self_contained "$file"
    fi
  done < <(find "$directory/build" -type f -print0)
  tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" \
    -cf - "$name" | gzip -9n >"$archive"
  rm -rf "$directory"
  size=$(stat -c %s "$archive")
  [ "$size" -le "$bundle_limit_bytes" ] || die "$archive has $size bytes: the limit is $bundle_limit_bytes"
  print_step "$archive: $((size / 1024)) KiB"
}
