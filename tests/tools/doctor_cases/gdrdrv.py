# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group gdrdrv of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE

CASES = {
    "gdr.version": [({"/sys/module/gdrdrv/version": "2.3\n"}, "warn", set()),
                    ({"/sys/module/gdrdrv/version": "1.9\n"}, "fail", set()),
                    ({"/sys/module/gdrdrv/version": "x" * 300000}, "unknown", set())],
    "gdr.node": [({"/dev/gdrdrv": m.Device((507, 0, 0o666, 0, 0))}, "fail", set()),
                 ({"/dev/gdrdrv": None}, "fail", set()),
                 ({"/dev/gdrdrv": m.Device((508, 0, 0o600, 0, 0))}, "warn", set()),
                 ({"/proc/devices": BAD}, "unknown", set())],
}
