# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group security of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
BOOT = "/sys/firmware/efi/efivars/" + m.SECURE_BOOT
ON = {BOOT: bytes((6, 0, 0, 0, 1))}
NO_GDRDRV = {"/sys/module/gdrdrv": None}
SLE = {"/etc/os-release": 'NAME="SLES"\nID="sles"\n'}
SETTING = "/lib/modprobe.d/10-unsupported-modules.conf"
GDRDRV = {"gdr.module", "gdr.version"}

CASES = {
    "sec.lockdown": [({"/sys/kernel/security/lockdown": "none [integrity] confidentiality\n"}, "warn", set()),
                     ({"/sys/kernel/security": None}, "ok", set()),
                     ({"/sys/kernel/security/lockdown": BAD}, "unknown", set())],
    "sec.secureboot": [({**ON, **NO_GDRDRV}, "warn", GDRDRV),
                       (ON, "ok", set()),
                       ({"/sys/firmware": None}, "ok", set()),
                       ({BOOT: None, "/sys/firmware/efi/efivars/Other": b"1"}, "ok", set()),
                       ({BOOT: None, "/sys/firmware/efi/fw_platform_size": "64\n"}, "unknown", set()),
                       ({BOOT: BAD}, "unknown", set()),
                       ({BOOT: bytes((6, 0, 0, 0))}, "unknown", set()),
                       ({BOOT: bytes((6, 0, 0, 0, 7))}, "unknown", set())],
    "sec.sle": [({**SLE, **NO_GDRDRV, SETTING: "# text\nallow_unsupported_modules 0\n"}, "warn", GDRDRV),
                ({**SLE, SETTING: "allow_unsupported_modules 0\n"}, "ok", set()),
                ({**SLE, **NO_GDRDRV, SETTING: "allow_unsupported_modules 0\n",
                  SETTING.replace("/lib", "/etc"): "allow_unsupported_modules 1\n"}, "ok", GDRDRV),
                (SLE, "unknown", set()),
                ({**SLE, SETTING: BAD}, "unknown", set()),
                ({"/etc/os-release": BAD}, "unknown", set())],
}
