#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The steps of the run-time image, for the Containerfile and other ways to make a root: debootstrap, buildah, Apptainer.
# usage: image.sh build SOURCE TARGET    builds SOURCE here and installs the image's files into TARGET
#        image.sh install BUILD TARGET   installs the files of an existing build
#        image.sh prepare                installs the packages that the image needs, in the image (root)
set -euo pipefail

usage() {
  sed -n 's/^# usage: /usage: /p; s/^#        image/       image/p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# Run-time dependencies of the programs. An image that does not need a feature may omit its package.
#   libibverbs1 ibverbs-providers   adapters: gdrkit perftest and the doctor's queries
#   libucx0                         PEs on other nodes
packages=(libibverbs1 ibverbs-providers libucx0)

prepare() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}"
  rm -rf /var/lib/apt/lists/*
}

install_files() { # build directory, target
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
