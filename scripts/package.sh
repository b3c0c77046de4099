# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The command package: makes debs by debhelper, rpms by rpmbuild, and an archive with its own installer, in
# dist/packages. All come from one copy of the sources and one directory of objects in it. Each package contains one
# component of cmake --install.
#   GDRKIT_PACKAGE_VERSION   version of the packages (default: the project's)
#   GDRKIT_PACKAGE_KINDS     which of deb, rpm, archive to make (default: all)
#   GDRKIT_PACKAGE_LINUX     directory of Linux headers: also makes packages of modules for that Linux; dkms_prepare.sh finds the driver
#   GDRKIT_PACKAGE_SIGN_KEY, GDRKIT_PACKAGE_SIGN_CERTIFICATE   files to sign these modules with

package_objects=""
package_source=""
package_python="" # interpreter with nanobind; if empty, python3-gdrkit is not made

# The time of the last commit, so that two builds of it give the same bytes; without git, that of the newest file.
date_of_sources() {
  if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
    echo "$SOURCE_DATE_EPOCH"
  elif [ -e .git ] && has_tool git; then
    git log -1 --format=%ct
  else
    list_sources | xargs -0 stat -c %Y | sort -n | tail -n 1
  fi
}

# The copy that packages are built from: the tree's own files, with the version in the places that contain it, and
# debian/ where dpkg expects it.
copy_sources_of_packages() { # version
  local linux="" major minor patch
  mkdir -p "$package_source"
  find "$package_source" -mindepth 1 -maxdepth 1 ! -name objects -exec rm -rf {} +
  list_sources | tar -cf - --null --no-recursion -T - | tar -xf - -C "$package_source"
  [ ! -d third_party/include ] || cp -r third_party "$package_source/"
  if [ "$1" != "$(project_version)" ]; then
    IFS=. read -r major minor patch <<<"$1"
    sed -i "s/^\(#define GDRKIT_VERSION_MAJOR\) .*/\1 $major/; s/^\(#define GDRKIT_VERSION_MINOR\) .*/\1 $minor/
      s/^\(#define GDRKIT_VERSION_PATCH\) .*/\1 $patch/" "$package_source/include/gdrkit/version.h"
    sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$1\"/" "$package_source/kernel/dkms.conf"
  fi
  sed "s/@VERSION@/$1/; s/@DATE@/$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')/" \
    packaging/rpm/gdrkit.spec >"$package_source/gdrkit.spec"
  cp -r packaging/debian "$package_source/debian"
  rm "$package_source"/debian/control.{modules,python}
  [ -z "$package_python" ] || cat packaging/debian/control.python >>"$package_source/debian/control"
  printf 'gdrkit (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- The gdrkit authors <gdrkit@example.org>  %s\n' \
    "$1" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$package_source/debian/changelog"
  linux=${GDRKIT_PREBUILT_LINUX:-}
  if [ -n "$linux" ]; then
    sed "s/@LINUX@/$linux/g" packaging/debian/control.modules >>"$package_source/debian/control"
    for script in postinst postrm; do
      mv "$package_source/debian/gdrkit-modules.$script" "$package_source/debian/gdrkit-modules-$linux.$script"
    done
  else
    rm "$package_source"/debian/gdrkit-modules.*
  fi
}

# Sets GDRKIT_PREBUILT, a directory with the modules, and GDRKIT_PREBUILT_LINUX.
build_modules_of_packages() {
  local headers=$GDRKIT_PACKAGE_LINUX directory=$root/build-package/modules name
  [ -r "$headers/include/generated/utsrelease.h" ] ||
    die "cannot use GDRKIT_PACKAGE_LINUX=$headers: include/generated/utsrelease.h is missing; use a directory of Linux headers"
  GDRKIT_PREBUILT_LINUX=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"/\1/p' "$headers/include/generated/utsrelease.h")
  if [ -n "${GDRKIT_PACKAGE_SIGN_KEY:-}" ]; then find_signing_key "$headers"; fi
  print_step "building the kernel modules for Linux $GDRKIT_PREBUILT_LINUX"
  rm -rf "$directory"
  mkdir -p "$directory"
  # Builds the files that DKMS would build, by the commands of dkms.conf.
  DESTDIR=$directory/source cmake --install "$package_objects" --prefix / --component gdrkit-dkms >/dev/null
  # shellcheck disable=SC1091,SC2034 # dkms.conf reads these
  (
    cd "$directory"/source/src/gdrkit-*
    kernelver=$GDRKIT_PREBUILT_LINUX kernel_source_dir=$headers
    source ./dkms.conf
    bash ./dkms_prepare.sh "$kernelver" "$kernel_source_dir"
    # The build ID covers everything that is compiled, including the paths in debug information.
    export KCFLAGS="${KCFLAGS:-} -ffile-prefix-map=$PWD=."
    eval "${MAKE[0]}" >"$directory/build.log" 2>&1 || { tail -n 20 "$directory/build.log"; exit 1; }
    for name in "${BUILT_MODULE_NAME[@]}"; do
      cp "$name/$name.ko" "$directory/"
      strip --strip-debug "$directory/$name.ko"
      [ -z "${GDRKIT_PACKAGE_SIGN_KEY:-}" ] ||
        "$headers/scripts/sign-file" sha256 "$GDRKIT_PACKAGE_SIGN_KEY" "$GDRKIT_PACKAGE_SIGN_CERTIFICATE" "$directory/$name.ko" || exit 1
    done
  ) || die "cannot build the kernel modules for Linux $GDRKIT_PREBUILT_LINUX"
  export GDRKIT_PREBUILT_LINUX GDRKIT_PREBUILT=$directory
}

# Makes the paths of the key and certificate absolute: the modules are built in another directory.
find_signing_key() { # directory of Linux headers
  local variable
  GDRKIT_PACKAGE_SIGN_CERTIFICATE=${GDRKIT_PACKAGE_SIGN_CERTIFICATE:?set it to the certificate of GDRKIT_PACKAGE_SIGN_KEY}
  for variable in GDRKIT_PACKAGE_SIGN_KEY GDRKIT_PACKAGE_SIGN_CERTIFICATE; do
    [ -r "${!variable}" ] || die "cannot sign the modules: $variable=${!variable} is not a readable file"
    printf -v "$variable" %s "$(readlink -e "${!variable}")"
    export "${variable?}"
  done
  [ -x "$1/scripts/sign-file" ] || die "cannot sign the modules: $1 has no scripts/sign-file (Debian: linux-kbuild)"
}

configure_packages() { # options...
  (cd "$package_source" && cmake --preset package -B "$package_objects" "-DGDRKIT_BUILD_PYTHON=$(on_or_off [ -n "$package_python" ])" \
    "-DPython_EXECUTABLE=$package_python" "$@") >"$root/build-package/configure.log" 2>&1 || {
    cat "$root/build-package/configure.log"
    die "cannot configure the packages"
  }
  cmake --build "$package_objects" --parallel "$(jobs_here)" || die "cannot build the packages"
}

make_debs() {
  local log=$root/build-package/debs.log
  print_step "making the debs"
  (cd "$package_source" && DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}" \
    dpkg-buildpackage --build=binary --no-sign --no-pre-clean --no-check-builddeps) >"$log" 2>&1 || {
    tail -n 40 "$log"
    die "dpkg-buildpackage failed; see $log"
  }
  mv "$root"/build-package/*.deb "$root/dist/packages/"
  rm -f "$root"/build-package/gdrkit_*.{buildinfo,changes}
}

make_rpms() {
  local log=$root/build-package/rpms.log defines=() top=$root/build-package/rpm
  print_step "making the rpms"
  if [ -n "${GDRKIT_PREBUILT_LINUX:-}" ]; then
    defines+=(--define "gdrkit_linux $GDRKIT_PREBUILT_LINUX" --define "gdrkit_prebuilt $GDRKIT_PREBUILT")
  fi
  [ -z "$package_python" ] || defines+=(--define "gdrkit_python $package_python")
  rm -rf "$top"
  # -D _lib: the library directory of Fedora, RHEL and SLES, independent of this machine. --nodeps: Debian's packages
  # provide the build dependencies here.
  (cd "$package_source" && rpmbuild -bb --build-in-place --nodeps --define "_topdir $top" --define "_lib lib64" \
    --define "_libdir /usr/lib64" --define "_buildhost gdrkit" \
    --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
    --define "_usrsrc /usr/src" "${defines[@]}" gdrkit.spec) >"$log" 2>&1 || {
    tail -n 40 "$log"
    die "rpmbuild failed; see $log"
  }
  find "$top/RPMS" -name '*.rpm' -exec mv {} "$root/dist/packages/" \;
}

packed() { # directory, name in it
  tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --anchored --exclude="$2/debian" --exclude="$2/objects" -cf - "$2" | gzip -9n
}

# The archive: relocatable programs and libraries, with a short installer.
make_archives() { # version
  local name=gdrkit-$1-linux-$(uname -m) directory
  print_step "making the archive $name.tar.gz"
  directory=$root/build-package/$name
  rm -rf "$directory"
  configure_packages -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_SKIP_INSTALL_RPATH=OFF
  cmake --install "$package_objects" --prefix "$directory/files" >/dev/null
  # grep -I matches no binary file: scripts in bin, such as nvshmrun, stay as they are.
  find "$directory/files" -type f \( -name '*.so*' -o -path '*/bin/*' \) ! -exec grep -Iq . {} \; -exec strip --strip-unneeded {} +
  DESTDIR=$directory/modules cmake --install "$package_objects" --prefix / --component gdrkit-dkms >/dev/null
  mkdir -p "$directory/files/share/gdrkit"
  cp packaging/archive/uninstall.sh "$directory/files/share/gdrkit/"
  cp packaging/archive/install.sh LICENSE README.md "$directory/"
  packed "$root/build-package" "$name" >"$root/dist/packages/$name.tar.gz"
  rm -rf "$directory"
}

find_python_of_packages() {
  local found
  package_python=""
  if is_missing dh_python && ! is_missing debhelper; then
    found="dh_python3 is missing (Debian: dh-python), which debs require"
  elif found=$(python_of_packages "$root/build-package/python-venv"); then
    package_python=$found
    return 0
  fi
  note "without python3-gdrkit: $found"
}

make_packages() {
  local version=${GDRKIT_PACKAGE_VERSION:-$(project_version)} kinds="" kind
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_packages[@]}" "${needs_of_python_package[@]}"
  lacks_any_of "${needs_of_library[@]}" "${needs_of_programs[@]}" python help2man && die "cannot make packages: the dependencies listed above are missing"
  for kind in ${GDRKIT_PACKAGE_KINDS:-deb rpm archive}; do
    case "$kind" in
      deb) has_all make dpkg debhelper || continue ;;
      rpm) has_all rpm || continue ;;
      archive) ;;
      *) usage_error "invalid kind '$kind' in GDRKIT_PACKAGE_KINDS; use deb, rpm or archive" ;;
    esac
    kinds="$kinds $kind"
  done
  mkdir -p build-package
  find_python_of_packages
  unset GDRKIT_PREBUILT GDRKIT_PREBUILT_LINUX # set by the surrounding command
  SOURCE_DATE_EPOCH=$(date_of_sources)
  export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
  umask 022
  package_source=$root/build-package/gdrkit-$version
  package_objects=$package_source/objects
  rm -rf dist/packages
  mkdir -p dist/packages
  copy_sources_of_packages "$version"
  # The source of all packages, which rpmbuild -tb accepts unchanged.
  packed "$root/build-package" "gdrkit-$version" >"dist/packages/gdrkit-$version.tar.gz"
  print_step "building the content of the packages"
  configure_packages
  if [ -n "${GDRKIT_PACKAGE_LINUX:-}" ]; then
    build_modules_of_packages
    copy_sources_of_packages "$version"
  fi
  for kind in $kinds; do "make_${kind}s" "$version"; done
  print_step "made in dist/packages:"
  (cd dist/packages && sha256sum -- *) | tee build-package/sha256sums
  [ -n "${GDRKIT_PACKAGE_KINDS:-}" ] || [ "$kinds" = " deb rpm archive" ] || note "made only these kinds:$kinds"
}
