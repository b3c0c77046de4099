# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group system of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
ARM = {"/proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"}
TABLE = "/sys/firmware/dmi/entries/0-0/raw"

LOGIND = "/etc/systemd/logind.conf"
DROP_IN = "/{0}/systemd/logind.conf.d/{1}.conf"

GUEST_ON_ARM = {"acs.redirect", "acs.persist", "cpu.wc", "cpu.copy_isa"}


def arm(vendor, product):
    return {**ARM, "/sys/class/dmi/id/sys_vendor": vendor + "\n", "/sys/class/dmi/id/product_name": product + "\n"}


CASES = {
    "vm.detect": [({"/proc/cpuinfo": BAD}, "unknown", GUEST_ON_ARM),
                  ({"/proc/cpuinfo": "flags\t: fpu pat avx2 hypervisor\n"}, "info", {"acs.redirect", "acs.persist"}),
                  (arm("QEMU", "QEMU Virtual Machine"), "info", GUEST_ON_ARM),
                  (arm("Amazon EC2", "g5g.16xlarge"), "info", GUEST_ON_ARM),
                  (arm("Amazon EC2", "g5g.metal"), "ok", {"cpu.wc", "cpu.copy_isa"}),
                  (arm("NVIDIA", "P3880"), "ok", {"cpu.wc", "cpu.copy_isa"}),
                  (arm("Google", "Google Compute Engine"), "unknown", GUEST_ON_ARM),
                  ({**arm("Google", "Google Compute Engine"), TABLE: bytes(19) + b"\x10"}, "info", GUEST_ON_ARM),
                  ({**arm("Google", "Google Compute Engine"), TABLE: bytes(20)}, "ok", {"cpu.wc", "cpu.copy_isa"}),
                  ({**arm("Google", "Google Compute Engine"), TABLE: b"\1" * 20}, "unknown", GUEST_ON_ARM),
                  ({**ARM, "/sys/hypervisor/type": "xen\n"}, "info", GUEST_ON_ARM),
                  ({**ARM, "/proc/device-tree/compatible": b"linux,dummy-virt\0"}, "info", GUEST_ON_ARM),
                  ({**ARM, "/proc/device-tree/compatible": b"vendor,board\0"}, "ok", {"cpu.wc", "cpu.copy_isa"}),
                  (ARM, "unknown", GUEST_ON_ARM)],
    "cpu.governor": [({GOVERNOR: "schedutil\n"}, "warn", set()), ({GOVERNOR: BAD}, "unknown", set())],
    "cpu.wc": [({"/proc/cpuinfo": "flags\t: fpu\n"}, "fail", {"cpu.copy_isa"}),
               ({"/proc/cmdline": "ro nopat\n"}, "fail", set()),
               ({"/proc/cmdline": b"a\0b"}, "unknown", {"acs.override", "iommu.cmdline", "acs.persist"})],
    "cpu.balancing": [({"/proc/sys/kernel/numa_balancing": "1\n"}, "warn", set()),
                      ({"/proc/sys/kernel/numa_balancing": "x\n"}, "unknown", set())],
    "cpu.copy_isa": [({"/proc/cpuinfo": "flags\t: fpu pat sse2\n"}, "info", set()),
                     ({**ARM, "/sys/class/dmi/id/sys_vendor": "Example\n"}, "ok", {"cpu.wc", "vm.detect"}),
                     ({"/proc/cpuinfo": BAD}, "unknown", {"vm.detect", "acs.redirect", "acs.persist", "cpu.wc"})],
    "sys.removeipc": [({LOGIND: "[Login]\n#RemoveIPC=yes\n", "/etc/slurm/slurm.conf": ""}, "warn", set()),
                      ({LOGIND: "[Login]\n#RemoveIPC=yes\n"}, "info", set()),
                      ({LOGIND: "[Login]\n#RemoveIPC=no\nRemoveIPC = on\n", "/etc/slurm/slurm.conf": ""}, "warn", set()),
                      ({LOGIND: "[Login]\nRemoveIPC=yes\n", DROP_IN.format("etc", "90"): "[Login]\nRemoveIPC=0\n"}, "ok", set()),
                      ({DROP_IN.format("usr/lib", "90"): "[Login]\nRemoveIPC=yes\n",
                        DROP_IN.format("etc", "10"): "[Login]\nRemoveIPC=no\n", "/etc/slurm/slurm.conf": ""}, "warn", set()),
                      ({DROP_IN.format("usr/lib", "90"): "[Login]\nRemoveIPC=yes\n",
                        DROP_IN.format("etc", "90"): "", "/etc/slurm/slurm.conf": ""}, "ok", set()),
                      ({LOGIND: None}, "skip", set()),
                      ({LOGIND: "RemoveIPC=perhaps\n"}, "unknown", set()),
                      ({DROP_IN.format("etc", "90"): BAD}, "unknown", set()),
                      ({LOGIND: BAD}, "unknown", set())],
}
