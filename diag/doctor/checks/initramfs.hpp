// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Initramfs: options in modprobe.d count for a driver that is loaded from there only once it was written anew.
#pragma once

namespace gdrkit::diag::doctor {

/// For Steps: Debian and Ubuntu have update-initramfs, Red Hat and SUSE dracut; for every Linux that is installed.
inline constexpr char rebuild_initramfs[] =
    "if command -v update-initramfs >/dev/null 2>&1; then\n"
    "  update-initramfs -u -k all\n"
    "elif command -v dracut >/dev/null 2>&1; then\n"
    "  dracut --force --regenerate-all\n"
    "fi";

}  // namespace gdrkit::diag::doctor
