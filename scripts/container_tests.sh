# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests the run-time image as built by debootstrap and the recipe's own steps.

container_folder=${GDRKIT_CONTAINER_FOLDER:-/var/tmp/gdrkit-containers}

run_tests_of_containers() {
  local why=""
  provide python debootstrap "${needs_of_container_tests[@]}"
  [ "$(id -u)" -eq 0 ] || why="root is required to make a Debian system"
  has_tool debootstrap || has_administrators_tool debootstrap || why="debootstrap is missing (Debian: debootstrap)"
  has_tool python3 || why="python3 is missing"
  if [ -n "$why" ]; then
    note "skipped: the run-time image: $why"
    return 0
  fi
  print_step "building the run-time image's files in a clean Debian, in $container_folder (the last commit; about 10 minutes on two cores)"
  bash scripts/clean_debian.sh "$container_folder" packaging/containers/image.sh build /root/gdrkit /image || return 1
  make_image_root || return 1
  print_step "testing the run-time image"
  GDRKIT_IMAGE_ROOT=$container_folder/image GDRKIT_FULL=1 GDRKIT_BIN=$root/build/bin PYTHONPATH=$root/tests/support \
    python3 -B tests/containers/container_test.py
}

# Performs the Containerfile's second stage on the base of the first one.
make_image_root() {
  local image=$container_folder/image
  print_step "making the run-time image"
  rm -rf "$image"
  cp -a --reflink=auto "$container_folder/base" "$image"
  rm "$image/.is_complete"
  cp -L /etc/resolv.conf "$image/etc/resolv.conf"
  cp packaging/containers/image.sh "$image/tmp/image.sh"
  chroot "$image" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 /tmp/image.sh prepare >/dev/null || return 1
  rm "$image/tmp/image.sh"
  cp -a "$container_folder/system/image/." "$image/"
  # Mount points of the tests: runtimes create them, but a read-only root does not allow it.
  mkdir -p "$image/host" "$image/metrics"
}
