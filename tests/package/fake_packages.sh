# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Fake packages of NVIDIA's driver and of GDRCopy: their names, versions and paths, with minimal content.

make_deb() { # folder with the tree, result folder, package, version, field: value...
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
make_fake_nvidia() { # result folder, Linux, our tree
  local folder source
  folder=$(mktemp -d)
  source=$folder/usr/src/nvidia-999.0
  mkdir -p "$source/nvidia"
  cp -r "$3/kernel" "$folder/kernel"
  must make -C "$folder/kernel" KDIR="/lib/modules/$2/build" FLAVOUR=open MODULES=fake_p2p
  mkdir -p "$folder/lib/modules/$2/updates"
  cp "$folder/kernel/Module.symvers" "$1/nvidia.symvers"
  cp "$folder/kernel/fake_p2p/fake_p2p.ko" "$folder/lib/modules/$2/updates/nvidia.ko"
  cp "$3/kernel/include/nv-p2p.h" "$source/nvidia/"
  echo 'MODULE_LICENSE("Dual MIT/GPL");' >"$source/nvidia/nv.c"
  rm -rf "$folder/kernel"
  make_deb "$folder" "$1" nvidia-fake 999.0
  rm -rf "$folder"
}

# A library, a module that DKMS builds, and a tool, with GDRCopy's names and paths.
make_fake_gdrcopy() { # result folder
  local folder libraries
  folder=$(mktemp -d)
  libraries=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  mkdir -p "$folder/lib/$libraries" "$folder/lib/usr/include"
  echo 'int gdr_open(void) { return 0; }' >"$folder/gdrapi.c"
  must gcc -shared -fPIC -Wl,-soname,libgdrapi.so.2 -o "$folder/lib/$libraries/libgdrapi.so.2.5" "$folder/gdrapi.c"
  ln -s libgdrapi.so.2.5 "$folder/lib/$libraries/libgdrapi.so.2"
  ln -s libgdrapi.so.2 "$folder/lib/$libraries/libgdrapi.so"
  echo '/* fake */' >"$folder/lib/usr/include/gdrapi.h"
  make_deb "$folder/lib" "$1" libgdrapi 2.5.1-1

  mkdir -p "$folder/tests/usr/bin"
  printf '#!/bin/sh\necho fake tool\n' >"$folder/tests/usr/bin/gdrcopy_sanity"
  chmod +x "$folder/tests/usr/bin/gdrcopy_sanity"
  make_deb "$folder/tests" "$1" gdrcopy-tests 2.5.1-1 "Depends: libgdrapi (>= 2.5.1)"

  mkdir -p "$folder/module/usr/src/gdrdrv-2.5.1" "$folder/module/DEBIAN"
  printf '#include <linux/module.h>\nMODULE_LICENSE("Dual MIT/GPL");\nMODULE_VERSION("2.5.1");\n' >"$folder/module/usr/src/gdrdrv-2.5.1/gdrdrv.c"
  echo 'obj-m := gdrdrv.o' >"$folder/module/usr/src/gdrdrv-2.5.1/Makefile"
  # shellcheck disable=SC2016 # DKMS expands them
  printf '%s\n' 'PACKAGE_NAME="gdrdrv"' 'PACKAGE_VERSION="2.5.1"' 'MAKE[0]="make -C ${kernel_source_dir} M=$dkms_tree/gdrdrv/2.5.1/build modules"' \
    'CLEAN="true"' 'BUILT_MODULE_NAME[0]="gdrdrv"' 'DEST_MODULE_LOCATION[0]="/updates/dkms"' 'AUTOINSTALL="yes"' \
    >"$folder/module/usr/src/gdrdrv-2.5.1/dkms.conf"
  # shellcheck disable=SC2016 # for all installed headers, as in in_debian.sh
  printf '#!/bin/sh\nset -e\nfor b in /lib/modules/*/build; do l=${b%%/build}; dkms install gdrdrv/2.5.1 -k ${l##*/}; done\n' >"$folder/module/DEBIAN/postinst"
  printf '#!/bin/sh\nset -e\ndkms remove gdrdrv/2.5.1 --all\n' >"$folder/module/DEBIAN/prerm"
  chmod +x "$folder/module/DEBIAN"/*
  make_deb "$folder/module" "$1" gdrdrv-dkms 2.5.1-1 "Depends: dkms (>= 1.95)"
  rm -rf "$folder"
}

make_fake_packages() { # result folder, Linux, our tree
  mkdir -p "$1"
  make_fake_nvidia "$@"
  make_fake_gdrcopy "$1"
}
