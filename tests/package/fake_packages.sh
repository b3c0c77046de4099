# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Fake packages of NVIDIA's driver and of GDRCopy: their names, versions and paths, with minimal content.

make_deb() { # directory with the tree, result directory, package, version, field: value...
  local tree=$1 result=$2 package=$3 version=$4
  shift 4
  mkdir -p "$tree/DEBIAN"
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: nobody <nobody@example.org>\n' \
      "$package" "$version" "$(dpkg --print-architecture)"
    [ $# -eq 0 ] || printf '%s\n' "$@"
    printf 'Description: a fake package\n'
  } >"$tree/DEBIAN/control"
  must dpkg-deb --root-owner-group --build "$tree" "$result/${package}_$version.deb"
}

# Sources with a prototype header, and the module that DKMS built from them: the fake provider of the modules' tests
# exports the same symbols as NVIDIA's driver.
make_fake_nvidia() { # result directory, Linux, our tree
  local directory source
  directory=$(mktemp -d)
  source=$directory/usr/src/nvidia-999.0
  mkdir -p "$source/nvidia"
  cp -r "$3/kernel" "$directory/kernel"
  must make -C "$directory/kernel" KDIR="/lib/modules/$2/build" FLAVOUR=open MODULES=fake_p2p
  mkdir -p "$directory/lib/modules/$2/updates"
  cp "$directory/kernel/Module.symvers" "$1/nvidia.symvers"
  cp "$directory/kernel/fake_p2p/fake_p2p.ko" "$directory/lib/modules/$2/updates/nvidia.ko"
  cp "$3/kernel/include/nv-p2p.h" "$source/nvidia/"
  echo 'MODULE_LICENSE("Dual MIT/GPL");' >"$source/nvidia/nv.c"
  rm -rf "$directory/kernel"
  make_deb "$directory" "$1" nvidia-fake 999.0
  rm -rf "$directory"
}

# A library, a module that DKMS builds, and a tool, with GDRCopy's names and paths.
make_fake_gdrcopy() { # result directory
  local directory libraries
  directory=$(mktemp -d)
  libraries=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  mkdir -p "$directory/lib/$libraries" "$directory/lib/usr/include"
  echo 'int gdr_open(void) { return 0; }' >"$directory/gdrapi.c"
  must gcc -shared -fPIC -Wl,-soname,libgdrapi.so.2 -o "$directory/lib/$libraries/libgdrapi.so.2.5" "$directory/gdrapi.c"
  ln -s libgdrapi.so.2.5 "$directory/lib/$libraries/libgdrapi.so.2"
  ln -s libgdrapi.so.2 "$directory/lib/$libraries/libgdrapi.so"
  echo '/* fake */' >"$directory/lib/usr/include/gdrapi.h"
  make_deb "$directory/lib" "$1" libgdrapi 2.5.1-1

  mkdir -p "$directory/tests/usr/bin"
  printf '#!/bin/sh\necho fake tool\n' >"$directory/tests/usr/bin/gdrcopy_sanity"
  chmod +x "$directory/tests/usr/bin/gdrcopy_sanity"
  make_deb "$directory/tests" "$1" gdrcopy-tests 2.5.1-1 "Depends: libgdrapi (>= 2.5.1)"

  mkdir -p "$directory/module/usr/src/gdrdrv-2.5.1" "$directory/module/DEBIAN"
  printf '#include <linux/module.h>\nMODULE_LICENSE("Dual MIT/GPL");\nMODULE_VERSION("2.5.1");\n' >"$directory/module/usr/src/gdrdrv-2.5.1/gdrdrv.c"
  echo 'obj-m := gdrdrv.o' >"$directory/module/usr/src/gdrdrv-2.5.1/Makefile"
  # shellcheck disable=SC2016 # DKMS expands them
  printf '%s\n' 'PACKAGE_NAME="gdrdrv"' 'PACKAGE_VERSION="2.5.1"' 'MAKE[0]="make -C ${kernel_source_dir} M=$dkms_tree/gdrdrv/2.5.1/build modules"' \
    'CLEAN="true"' 'BUILT_MODULE_NAME[0]="gdrdrv"' 'DEST_MODULE_LOCATION[0]="/updates/dkms"' 'AUTOINSTALL="yes"' \
    >"$directory/module/usr/src/gdrdrv-2.5.1/dkms.conf"
  # shellcheck disable=SC2016 # for all installed headers, as in in_debian.sh
  printf '#!/bin/sh\nset -e\nfor b in /lib/modules/*/build; do l=${b%%/build}; dkms install gdrdrv/2.5.1 -k ${l##*/}; done\n' >"$directory/module/DEBIAN/postinst"
  printf '#!/bin/sh\nset -e\ndkms remove gdrdrv/2.5.1 --all\n' >"$directory/module/DEBIAN/prerm"
  chmod +x "$directory/module/DEBIAN"/*
  make_deb "$directory/module" "$1" gdrdrv-dkms 2.5.1-1 "Depends: dkms (>= 1.95)"
  rm -rf "$directory"
}

make_fake_packages() { # result directory, Linux, our tree
  mkdir -p "$1"
  make_fake_nvidia "$@"
  make_fake_gdrcopy "$1"
}
