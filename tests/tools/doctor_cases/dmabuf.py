# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group dmabuf of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
HANGS = {"peer.any", "rdma.stack"}

CASES = {
    "dmabuf.kernel": [
        ({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "warn", HANGS | {"dmabuf.p2pdma"}),
        ({"/proc/version": "Linux version 4.18.0-553.el8_10.x86_64 (x)\n"}, "info", HANGS | {"dmabuf.p2pdma"}),
        ({"/proc/version": "Linux\n"}, "unknown", HANGS | {"dmabuf.p2pdma"})],
    "dmabuf.p2pdma": [
        ({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "info", HANGS | {"dmabuf.kernel"}),
        ({"/proc/version": BAD}, "unknown", HANGS | {"dmabuf.kernel"})],
}
