#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A container without an engine: runs one command in its own namespaces, in a root with the given device nodes, with
docker's capabilities and denied system calls. The job is JSON, see run(). Requires root, or a Linux where users may
create namespaces."""
import ctypes
import errno
import fcntl
import json
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import tempfile

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_NAME, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
COMMON_NODES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP
DOCKERS_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
NOBODY = 65534
AUDIT_ARCH_X86_64 = 0xC000003E
NUMBERS = {"ptrace": 101, "syslog": 103, "chroot": 161, "mount": 165, "umount2": 166, "init_module": 175, "mbind": 237,
           "set_mempolicy": 238, "get_mempolicy": 239, "add_key": 248, "request_key": 249, "keyctl": 250, "migrate_pages": 256,
           "unshare": 272, "move_pages": 279, "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308, "kcmp": 312,
           "memfd_create": 319, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "clone3": 435, "pidfd_getfd": 438}
# The system calls that docker's profile denies to a container without additional capabilities, if programs may use
# them.
DOCKERS_DENIALS = {name: errno.ENOSYS if name == "clone3" else errno.EPERM for name in NUMBERS if name != "memfd_create"}


def check(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source, target, kind, flags=0, options=None):
    check(LIBC.mount(source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), options and options.encode()),
          f"mount {source} on {target}")


def bind(source, target, flags=0):
    """Binds to a file or directory, which is created if it is missing."""
    os.makedirs(target if os.path.isdir(source) else os.path.dirname(target), exist_ok=True)
    if not os.path.isdir(source) and not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT, 0o644))
    mount(source, target, None, BIND)
    if flags:
        mount("none", target, None, REMOUNT | BIND | flags)


def isolate(root):
    """Keeps mounts below root in these namespaces."""
    try:
        mount("none", "/", None, RECURSIVE | PRIVATE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise  # else: in a chroot, whose root is not a mount point; then the mount above must already be private
    mount(root, root, None, BIND)
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        made = [line for line in file if line.split()[4] == os.path.realpath(root)]
    if not (made and "shared:" not in made[-1].partition(" - ")[0]):
        check(LIBC.umount2(root.encode(), 2), "umount " + root)
        raise OSError(errno.EINVAL, "mounts in this chroot would be visible outside")


def map_to_root(uid, gid):
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open("/proc/self/" + name, "w", encoding="ascii") as file:
            file.write(text)


def fill(root, job):
    """Mounts the file systems of every container, and those of this job."""
    mount("tmpfs", root + "/dev", "tmpfs", NO_SUID | NO_EXEC, "mode=755")
    for node in COMMON_NODES:
        bind(node, root + node)
    for node, stand_in in job.get("nodes", {}).items():
        bind(stand_in, root + node, NO_DEV if node in job.get("unusable", ()) else 0)
    os.mkdir(root + "/dev/shm")
    mount("tmpfs", root + "/dev/shm", "tmpfs", NO_SUID | NO_DEV, "size=64m,mode=1777")
    mount("tmpfs", root + "/tmp", "tmpfs", NO_SUID | NO_DEV, "mode=1777")
    mount("proc", root + "/proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
    mount("sysfs", root + "/sys", "sysfs", NO_SUID | NO_DEV | NO_EXEC | READ_ONLY)
    # The driver's directory comes from the host; these tests have none.
    if os.path.isdir(root + "/proc/driver"):
        mount("tmpfs", root + "/proc/driver", "tmpfs")
    if "driver" in job:
        os.mkdir(root + "/proc/driver/nvidia")
        with open(root + "/proc/driver/nvidia/version", "w", encoding="ascii") as file:
            file.write(job["driver"])
    for source, target, is_writable in job.get("mounts", ()):
        bind(source, root + target, NO_SUID | NO_DEV | (0 if is_writable else READ_ONLY))


def start_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 1))  # SIOCSIFFLAGS: up


def refuse(calls):
    """Makes these system calls fail, {name: errno}."""
    rules = [(0x20, 0, 0, 4), (0x15, 1, 0, AUDIT_ARCH_X86_64), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    for name, code in calls.items():
        rules += [(0x15, 0, 1, NUMBERS[name]), (0x06, 0, 0, 0x50000 | code)]
    rules.append((0x06, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(program)))
    check(LIBC.prctl(22, 2, ctypes.c_ulong(ctypes.addressof(head)), 0, 0), "seccomp")


def lower(is_user, needs_root):
    for number in range(64):
        if number not in DOCKERS_CAPABILITIES and LIBC.prctl(24, number, 0, 0, 0) != 0:
            break  # this Linux has no more capabilities
    if not is_user and not needs_root:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    check(LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")


def enter(job):
    uid, gid = os.getuid(), os.getgid()
    kinds = NEW_MOUNTS | NEW_NAME | NEW_IPC | NEW_PIDS | NEW_NET | (NEW_USER if uid else 0)
    check(LIBC.unshare(kinds), "unshare")
    if uid:
        map_to_root(uid, gid)
    child = os.fork()
    if child:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xff
    try:
        isolate(job["root"])
        start_loopback()
        fill(job["root"], job)
        os.chroot(job["root"])
        os.chdir("/")
        lower(bool(uid), job.get("is_root", False))
        if job.get("refused"):
            refuse(job["refused"])
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "container": "oci", **job.get("environment", {})}
        os.execvpe(job["command"][0], job["command"], environment)
    except OSError as error:
        print(f"container.py: {error}", file=sys.stderr)
    os._exit(99)


def command_for(root, *command, **job):
    """Runs a command in a container. job: nodes {path: its fake}, unusable [nodes], driver (the text of its version
    file), mounts [(host's path, container's path, is writable)], refused {system call: errno}, is_root, environment."""
    return [sys.executable, "-B", __file__, json.dumps({"root": root, "command": command, **job})]


def run(root, *command, **job):
    return subprocess.run(command_for(root, *command, **job), capture_output=True, text=True, timeout=240, check=False)


def why_not():
    """Returns the reason why containers cannot be made here, or None."""
    if platform.machine() != "x86_64":
        return "the numbers of the denied system calls are those of x86-64"
    with tempfile.TemporaryDirectory() as root:  # with this machine's programs
        os.chmod(root, 0o755)
        directories = [name for name in ("/usr", "/bin", "/lib", "/lib64") if os.path.isdir(name) and not os.path.islink(name)]
        for name in ("/bin", "/lib", "/lib64"):
            if os.path.islink(name):
                os.symlink(os.readlink(name), root + name)
        for name in ("dev", "proc", "sys", "tmp"):
            os.mkdir(os.path.join(root, name))
        tried = run(root, "true", refused=DOCKERS_DENIALS, mounts=[(name, name, False) for name in directories])
    return None if tried.returncode == 0 else "cannot create namespaces: " + (tried.stderr.strip().split("\n") or [""])[-1]


if __name__ == "__main__":
    sys.exit(enter(json.loads(sys.argv[1])))
