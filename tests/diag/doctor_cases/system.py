# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Groups system and kernel_log of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
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


LOG = "/gdrkit/kernel_log"
BOTH = [({LOG: None}, "unknown"), ({LOG: m.UNREADABLE}, "unknown"), ({LOG: "no seconds\n"}, "unknown")]


def _log(*messages, **others):
    return {LOG: m.kernel_log("nvidia: loading", *messages, **others)}


def _cases(own, other):
    return [(changes, state, set()) for changes, state in own] + [(changes, state, {other}) for changes, state in BOTH]


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
               ({"/proc/cpuinfo": "flags\t: fpu avx2\n"}, "fail", set()),
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
    "gpu.xid": _cases([
        (_log("NVRM: Xid (PCI:0000:03:00): 79, pid=7, GPU has fallen off the bus."), "fail"),
        (_log("NVRM: Xid (PCI:0000:03:00): 31, pid=7, name=x, Ch 00000010"), "info"),
        (_log("NVRM: Xid (PCI:0000:03:00): 94, pid=7, Contained"), "warn"),
        (_log("NVRM: Xid (0000:03:00): 48, DBE"), "fail"),
        (_log("NVRM: Xid (nothing"), "ok"),
        (_log(*[f"NVRM: Xid (PCI:0000:{bus:02x}:00): {number}, x" for bus in range(20) for number in range(100, 120)]), "fail"),
    ], "iommu.faults") + [(_log("NVRM: GPU", is_whole=False), "info", {"iommu.faults"})],
    "iommu.faults": _cases([
        (_log("DMAR: [DMA Read NO_PASID] Request device [04:00.0] fault addr 0x1000 [fault reason 0x06] PTE Read"), "fail"),
        (_log("DMAR: [DMA Write] Request device [0x03:00.0] fault addr 1000"), "fail"),
        (_log("AMD-Vi: Event logged [IO_PAGE_FAULT device=04:00.0 domain=0x0011 address=0x1 flags=0x0]"), "fail"),
        (_log("mlx5_core 0000:04:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 address=0x1]"), "fail"),
        (_log("arm-smmu-v3 arm-smmu-v3.0.auto: event: F_TRANSLATION client: 0000:03:00.0 sid: 0x300"), "fail"),
        (_log("DMAR: [DMA Read] Request device [1f:00.0] fault addr 0x1000"), "info"),
        (_log("DMAR: [DMA Read] Request device [13:00.0] fault addr 0x1000", "DMAR: IOMMU enabled"), "info"),
        (_log("pcieport 0000:02:00.0: nothing of the IOMMU 04:00.0"), "ok"),
    ], "gpu.xid"),
}
