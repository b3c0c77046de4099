# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Finds build dependencies by testing each one directly (a tool that runs, a header that is found), without a query to
# the package manager. Installs what is missing on Debian and Ubuntu; lists it on other systems.

CXX=${CXX:-c++}

has_tool() { command -v "$1" >/dev/null 2>&1; }

has_header() { # a header that the C++ compiler finds, or that is in a bundle
  [ -e "third_party/include/$1" ] && return 0
  has_tool "$CXX" && printf '#include <%s>\n' "$1" | "$CXX" -std=c++20 -x c++ -E - >/dev/null 2>&1
}

has_compiler() {
  has_tool "$CXX" && printf '#include <vector>\n' | "$CXX" -std=c++20 -x c++ -fsyntax-only - >/dev/null 2>&1
}

has_cmake() {
  has_tool cmake && has_tool ctest || return 1
  local major minor
  IFS=. read -r major minor _ < <(cmake --version | sed -n 's/^cmake version //p')
  [ "$major" -gt 3 ] || { [ "$major" -eq 3 ] && [ "$minor" -ge 22 ]; }
}

has_browser() {
  has_tool chromium || has_tool chromium-browser || has_tool google-chrome || has_tool google-chrome-stable
}

has_googletest() {
  [ -e third_party/googletest/CMakeLists.txt ] || { has_header gtest/gtest.h && has_header gmock/gmock.h; }
}

has_clang_format() { has_venv || bash scripts/clang_format.sh >/dev/null 2>&1; } # or PyPI's, in a virtual environment

# Prints the newest clang++ that builds C++20 programs with the address sanitizer, or nothing.
clang_with_sanitizers() {
  local name
  for name in clang++-{30..16} clang++; do
    if has_tool "$name" && "$name" -std=c++20 -fsanitize=address,undefined -x c++ - -o /dev/null 2>/dev/null <<'TXT'; then
#include <vector>
#if __clang_major__ < 16
#error too old
#endif
int main() { return static_cast<int>(std::vector<int>().size()); }
TXT
      echo "$name"
      return 0
    fi
  done
}

has_clang() { [ -n "$(clang_with_sanitizers)" ]; }

has_yaml() { has_tool python3 && python3 -c 'import yaml' >/dev/null 2>&1; }

has_administrators_tool() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1; }

has_cross_compiler() { # prefix of its tools
  has_tool "$1-g++" && printf '#include <vector>\n' | "$1-g++" -std=c++20 -x c++ -fsyntax-only - >/dev/null 2>&1
}

has_library() { { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -F "$1" >/dev/null; }

has_mpi() { # openmpi or mpich, under Debian's names, with the headers
  has_tool "mpirun.$1" && has_tool "mpicc.$1" &&
    printf '#include <mpi.h>\n' | "mpicc.$1" -x c -fsyntax-only - >/dev/null 2>&1
}

has_venv() { "${PYTHON:-python3}" -c 'import ensurepip, venv' >/dev/null 2>&1; }

has_python_headers() { [ -e "$("${PYTHON:-python3}" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ]; }

of_system() { PYTHON=/usr/bin/python3 "$@"; } # packages are built for the system's interpreter

has_mpi4py() { /usr/bin/python3 -c 'import mpi4py' >/dev/null 2>&1; }

has_slurm() { has_administrators_tool slurmctld && has_administrators_tool slurmd && has_administrators_tool munged && has_tool srun; }

# One line per dependency: name | probe | packages of Debian | of Fedora, RHEL, Rocky | of SUSE | purpose. "-": none.
dependency_table() {
  cat <<'TXT'
compiler|has_compiler|g++|gcc-c++|gcc13-c++|everything: a C++20 compiler builds it (GCC 12 or newer)
cmake|has_cmake|cmake|cmake|cmake|everything: CMake 3.22 or newer drives the build
ninja|has_tool ninja|ninja-build|ninja-build|ninja|everything: the presets build with ninja
binutils|has_tool strip|binutils|binutils|binutils|everything: the linker's tools
expected|has_header tl/expected.hpp|libexpected-dev|expected-devel|cmake(tl-expected)|everything: the library returns errors in tl::expected
cli11|has_header CLI/CLI.hpp|libcli11-dev|cli11-devel|cli11-devel|the programs
json|has_header nlohmann/json.hpp|nlohmann-json3-dev|json-devel|nlohmann_json-devel|the programs
boost_math|has_header boost/math/distributions/students_t.hpp|libboost-dev|boost-devel|libboost_headers-devel|the programs
googletest|has_googletest|libgtest-dev libgmock-dev googletest|gtest-devel gmock-devel|gtest gmock|the tests
python|has_tool python3|python3|python3|python3|the checks of tests/tidy and the list of skipped tests
venv|has_venv|python3-venv|python3|python3|the tests of the Python package, whose nanobind comes from PyPI
python_headers|has_python_headers|python3-dev|python3-devel|python3-devel|the Python package
format|has_clang_format|python3-venv|python3|python3|the format check of all files: clang-format 14, from PyPI if missing
second_compiler|has_clang|clang-19 libclang-rt-19-dev llvm-19|clang compiler-rt|clang|the build with a second compiler: the address and undefined-behaviour sanitizers
linker|has_tool ld.lld|lld|lld|lld|fast links of the programs with sanitizers
abigail|has_tool abidiff|abigail-tools|libabigail|libabigail-tools|the test that the interfaces of the libraries stay compatible
shellcheck|has_tool shellcheck|shellcheck|ShellCheck|ShellCheck|the check of the shell scripts
git|has_tool git|git|git|git|the check of the rules for commits
ucx|has_library libucp.so.0|libucx0|ucx|libucp0|the tests of shmem between machines
ucx_headers|has_header ucp/api/ucp.h|libucx-dev|ucx-devel|libucp-devel|the test that compares our declarations of UCX with UCX's headers
namespaces|has_administrators_tool ip|iproute2|iproute|iproute2|the tests of shmem between network namespaces
openmpi|has_mpi openmpi|openmpi-bin libopenmpi-dev|openmpi-devel|openmpi4-devel|the tests of gdrkit osu over Open MPI
mpich|has_mpi mpich|mpich libmpich-dev|mpich-devel|mpich-devel|the tests of gdrkit osu over MPICH
mpi4py|has_mpi4py|python3-mpi4py|python3-mpi4py-openmpi|python3-mpi4py|the test that mpi4py's ranks are our PEs
slurm|has_slurm|slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge|slurm slurm-slurmctld slurm-slurmd munge|slurm slurm-node munge|the test of gdrkit osu under srun
yaml|has_yaml|python3-yaml|python3-pyyaml|python3-PyYAML|the tests of the examples for Kubernetes
doxygen|has_tool doxygen|doxygen|doxygen|doxygen|the site of the documentation
pkgconfig|has_tool pkg-config|pkg-config|pkgconf-pkg-config|pkg-config|programs that find the libraries by pkg-config
trace|has_tool strace|strace|strace|strace|the trace of what the doctor opens
browser|has_browser|chromium fonts-dejavu-core|chromium dejavu-sans-fonts|chromium dejavu-fonts|the tests of reports in a browser
cross_arm64|has_cross_compiler aarch64-linux-gnu|g++-aarch64-linux-gnu|gcc-c++-aarch64-linux-gnu|cross-aarch64-gcc13|the tests for arm64
cross_ppc64le|has_cross_compiler powerpc64le-linux-gnu|g++-powerpc64le-linux-gnu|gcc-c++-powerpc64le-linux-gnu|cross-ppc64le-gcc13|the tests for POWER
user_machine|has_tool qemu-aarch64|qemu-user|qemu-user|qemu-linux-user|the tests for arm64 and POWER
machine|has_tool qemu-system-x86_64|qemu-system-x86|qemu-system-x86|qemu-x86|the tests of the kernel modules, which run in a virtual machine
cpio|has_tool cpio|cpio|cpio|cpio|the tests of the kernel modules: its file system
make|has_tool make|make|make|make|CMake projects that use the libraries, and the kernel modules
kmod|has_administrators_tool modprobe|kmod|kmod|kmod|the kernel modules: symbol versions of built modules
libelf|has_library libelf.so.1|libelf1|elfutils-libelf|libelf1|the kernel modules: objtool of Linux
elf_headers|has_header libelf.h|libelf-dev|elfutils-libelf-devel|libelf-devel|the Linux with checks: its objtool
flex|has_tool flex|flex|flex|flex|the Linux with checks: its configuration
bison|has_tool bison|bison|bison|bison|the Linux with checks: its configuration
bc|has_tool bc|bc|bc|bc|the Linux with checks: its tables
xz|has_tool xz|xz-utils|xz|xz|the tests over soft RDMA and the Linux with checks: compressed modules and sources
debhelper|has_tool dh|debhelper|debhelper|-|packages: the debs
dpkg|has_tool dpkg-buildpackage|dpkg-dev build-essential|dpkg-dev|dpkg|packages: the debs
rpm|has_tool rpmbuild|rpm|rpm-build|rpm-build|packages: the rpms
debootstrap|has_administrators_tool debootstrap|debootstrap|debootstrap|debootstrap|the tests of the packages: a fresh Debian system
lintian|has_tool lintian|lintian|-|-|the tests of the packages
rpmlint|has_tool rpmlint|rpmlint|rpmlint|rpmlint|the tests of the packages
help2man|has_tool help2man|help2man|help2man|help2man|packages: pages of the manual
dnf|has_tool dnf|dnf|dnf|dnf|the tests of the packages: installing the rpms
openssl|has_tool openssl|openssl|openssl|openssl|the tests of the packages: a key to sign modules
system_headers|of_system has_python_headers|python3-dev|python3-devel|python3-devel|packages: python3-gdrkit
system_venv|of_system has_venv|python3-venv|python3|python3|packages: python3-gdrkit, whose nanobind comes from PyPI
dh_python|has_tool dh_python3|dh-python|-|-|packages: the deb python3-gdrkit
TXT
}

needs_of_library=(compiler cmake ninja binutils expected)
needs_of_programs=(cli11 json boost_math)
needs_of_tests=(googletest python)
needs_of_wheel=(python venv python_headers)
needs_of_browser_tests=(browser)
needs_of_trace_tests=(trace)
needs_of_format_tests=(format shellcheck git)
needs_of_remote_tests=(ucx ucx_headers namespaces)
needs_of_mpi_tests=(openmpi mpich mpi4py)
needs_of_slurm_tests=(slurm) # --full
needs_of_install_tests=(pkgconfig)
needs_of_users=(pkgconfig make) # for users who build programs on the installed libraries (docs/install.md)
needs_of_docs=(python doxygen)
needs_of_container_tests=(yaml)
needs_of_compiler_tests=(second_compiler linker)
needs_of_abi_tests=(abigail)
needs_of_packages=(python help2man make dpkg debhelper rpm)
needs_of_python_package=(system_headers system_venv dh_python)
needs_of_package_tests=(cpio debootstrap lintian rpmlint openssl dnf)
needs_of_kernel_tests=(python machine cpio make kmod libelf)
needs_of_checked_linux=(elf_headers flex bison bc xz) # --full

missing="" # names of missing dependencies, set by find_missing

find_missing() { # names...: sets `missing`
  local name probe rest
  missing=""
  while IFS='|' read -r name probe rest; do
    case " $* " in *" $name "*) $probe </dev/null || missing="$missing $name" ;; esac
  done < <(dependency_table)
}

is_missing() { case " $missing " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

os_release=/etc/os-release

# Prints the table column for this system: debian, fedora, suse; nothing for other systems.
family_of_system() {
  local ID="" ID_LIKE="" word
  # shellcheck source=/dev/null
  [ ! -r "$os_release" ] || . "$os_release"
  for word in $ID $ID_LIKE; do
    case $word in
      debian | ubuntu) echo debian && return ;;
      fedora | rhel | centos) echo fedora && return ;;
      suse | opensuse | sles) echo suse && return ;;
    esac
  done
}

packages_of_missing() { # family
  local name probe debian fedora suse loss
  while IFS='|' read -r name probe debian fedora suse loss; do
    is_missing "$name" || continue
    case $1 in
      fedora) debian=$fedora ;;
      suse) debian=$suse ;;
    esac
    [ "$debian" = - ] || tr ' ' '\n' <<<"$debian"
  done < <(dependency_table) | awk '!seen[$0]++'
}

quote_words() { # quotes only words that a shell would change
  local word
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_.+-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
}

# Prints what is missing, its purpose, and the command that installs it.
report_missing() {
  local family command packages name probe debian fedora suse loss
  family=$(family_of_system)
  note "missing:"
  while IFS='|' read -r name probe debian fedora suse loss; do
    ! is_missing "$name" || printf '  %s, required for %s\n' "$name" "$loss"
  done < <(dependency_table)
  mapfile -t packages < <(packages_of_missing "$family")
  case $family in
    debian) command="apt-get install" ;;
    fedora) command="dnf install" ;;
    suse) command="zypper install" ;;
    *)
      note "unknown package names on this system; Debian's names are: ${packages[*]}"
      return 0
      ;;
  esac
  note "install them, as root: $command$(quote_words "${packages[@]}")"
}

# Converts apt-get's status lines to "percent what": first the download, then dpkg.
progress_of_apt() {
  local kind number percent what
  while IFS=: read -r kind number percent what; do
    percent=${percent%%.*}
    case $kind in
      dlstatus) printf '%d download: %s\n' $((percent / 2)) "$what" ;;
      pmstatus) printf '%d %s\n' $((50 + percent / 2)) "$what" ;;
    esac
  done
}

download_size() { # packages...: formats the list of apt-get --print-uris
  apt-get install --print-uris -qq -y --no-install-recommends "$@" 2>/dev/null |
    awk "/^'/{count++; bytes += \$3} END{printf \"%d packages, %.1f MB to download\", count, bytes / 1e6}"
}

install_missing() {
  local packages as_root=() log=build/packages.log
  mapfile -t packages < <(packages_of_missing debian)
  if [ "$(id -u)" -ne 0 ]; then
    if has_tool sudo && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      note "cannot install ${packages[*]}: requires root or sudo without a password"
      return 0
    fi
  fi
  mkdir -p build
  print_step "reading the package lists"
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  "${as_root[@]}" apt-get update -qq || note "apt-get update failed; using the existing package lists"
  print_step "installing ${packages[*]}: $(download_size "${packages[@]}")"
  # sudo closes all descriptors except the first three, so the status goes to the log's descriptor.
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends -o APT::Status-Fd=1 "${packages[@]}" 2>&1 |
    tee "$log" | progress_of_apt | show_progress && return 0
  grep '^[EW]: ' "$log" >&2 || tail -n 20 "$log" >&2
  note "apt-get install failed; see $log"
}

# Installs what is missing of the given dependencies if possible. Afterwards `missing` contains what is still missing.
provide() {
  find_missing "$@"
  [ -n "$missing" ] || return 0
  if [ "${offline:-0}" = 1 ]; then
    :
  elif has_tool apt-get && [ "$(family_of_system)" = debian ]; then
    install_missing
    hash -r
    find_missing "$@"
  fi
  [ -n "$missing" ] || return 0
  report_missing
}

has_all() { ! lacks_any_of "$@"; }

lacks_any_of() { # checks the result of the last find_missing
  local name
  for name in "$@"; do is_missing "$name" && return 0; done
  return 1
}
