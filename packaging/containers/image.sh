#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The steps of the run-time image, for the Containerfile and for every other way to make a root: debootstrap, buildah, Apptainer.
# usage: image.sh build SOURCE TARGET    builds SOURCE here and installs the image's files into TARGET
#        image.sh install BUILD TARGET   installs those of a build that is there
#        image.sh prepare                installs the packages that the image needs, in the image (root)
set -euo pipefail

usage() {
  sed -n 's/^# usage: /usage: /p; s/^#        image/       image/p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# What programs load at run time, where an image has no use for a part it may leave its package out.
#   libibverbs1 ibverbs-providers   adapters: gdrkit perftest, the doctor's questions to them
#   libucx0                         PEs of other machines
packages=(libibverbs1 ibverbs-providers libucx0)

prepare() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}"
  rm -rf /var/lib/apt/lists/*
}

install_files() { # build folder, target
  local component
  for component in libgdrapi2 libgdrkit0 gdrkit-shmem gdrkit; do
    DESTDIR=$2 cmake --install "$1" --prefix /usr --component "$component" --strip >/dev/null
  done
}

build() { # source, target
  (cd "$1" && ./run build)
  install_files "$1/build" "$2"
}

case "${1:-}:$#" in
  build:3) build "$2" "$3" ;;
  install:3) install_files "$2" "$3" ;;
  prepare:1) prepare ;;
  *) usage ;;
esac
