# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group system of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"

CASES = {
    "vm.detect": [({"/proc/cpuinfo": BAD}, "unknown", {"acs.redirect", "cpu.wc"})],
    "sec.lockdown": [({"/sys/kernel/security/lockdown": "none [integrity] confidentiality\n"}, "warn", set()),
                     ({"/sys/kernel/security": None}, "ok", set()),
                     ({"/sys/kernel/security/lockdown": BAD}, "unknown", set())],
    "cpu.governor": [({GOVERNOR: "schedutil\n"}, "warn", set()), ({GOVERNOR: BAD}, "unknown", set())],
    "cpu.wc": [({"/proc/cpuinfo": "flags\t: fpu\n"}, "fail", set()),
               ({"/proc/cmdline": "ro nopat\n"}, "fail", set()),
               ({"/proc/cmdline": b"a\0b"}, "unknown", {"acs.override", "iommu.cmdline"})],
    "cpu.balancing": [({"/proc/sys/kernel/numa_balancing": "1\n"}, "warn", set()),
                      ({"/proc/sys/kernel/numa_balancing": "x\n"}, "unknown", set())],
}
