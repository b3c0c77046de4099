// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Initramfs: options in modprobe.d affect a driver that is loaded from the initramfs only after it has been rebuilt.
#pragma once

namespace gdrkit::diag::doctor {

/// For Steps: Debian and Ubuntu use update-initramfs, Red Hat and SUSE dracut. Rebuilds for every installed Linux.
inline constexpr char rebuild_initramfs[] =
    "if command -v update-initramfs >/dev/null 2>&1; then\n"
    "  update-initramfs -u -k all\n"
    "elif command -v dracut >/dev/null 2>&1; then\n"
    "  dracut --force --regenerate-all\n"
    "fi";

}  // namespace gdrkit::diag::doctor
