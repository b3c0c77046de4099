// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/guarded_thread.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace gdrkit::diag {
namespace {

#if defined(__x86_64__)
constexpr unsigned own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned own_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned own_architecture = 0;  // filters are not supported here: nothing is run
#endif

// O_TMPFILE includes O_DIRECTORY, which readers use.
constexpr unsigned forbidden_flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
constexpr unsigned x32_calls = 0x40000000;

/// x86-64 has an older variant of many calls, which later architectures lack.
constexpr int refused_calls[] = {
    SYS_mknodat,
    SYS_unlinkat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_renameat2,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fchmod,
    SYS_fchown,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_execve,
    SYS_execveat,
    SYS_mount,
    SYS_umount2,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_openat2,
    SYS_ptrace,
    SYS_fallocate,
    SYS_renameat,
#if defined(__x86_64__)
    SYS_mknod,
    SYS_unlink,
    SYS_symlink,
    SYS_link,
    SYS_rename,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_creat,
    SYS_rmdir,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
    SYS_open_by_handle_at,
    SYS_swapon,
    SYS_chroot,
    SYS_pivot_root,
#if defined(SYS_io_uring_setup)
    SYS_io_uring_setup,  // would bypass the filter
#endif
};

/// Newer than the headers of some build machines; the same number on all architectures.
constexpr int refused_young_calls[] = {
    428, 429,       // open_tree, move_mount
    452,            // fchmodat2
    463, 466, 469,  // setxattrat, removexattrat, file_setattr
};

class Filter {
 public:
  Filter() {
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 1, 0);
    add(BPF_RET | BPF_K, refusal(EACCES));
    load_number();
    add(BPF_JMP | BPF_JGE | BPF_K, x32_calls, 0, 1);
    add(BPF_RET | BPF_K, refusal(EACCES));
    for (const int call : refused_calls) refuse(call, EACCES);
    for (const int call : refused_young_calls) refuse(call, EACCES);
    // The usual error for a directory that exists. NVML fails on other errors.
    refuse(SYS_mkdirat, EEXIST);
    refuse_flags(SYS_openat, 2);
#if defined(__x86_64__)
    refuse(SYS_mkdir, EEXIST);
    refuse_flags(SYS_open, 1);
#endif
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }

  /// Installs the filter for the calling thread. Returns 0 or an errno.
  [[nodiscard]] int set() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    const sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
  }

 private:
  static constexpr unsigned refusal(int error) { return SECCOMP_RET_ERRNO | static_cast<unsigned>(error); }

  void add(int code, unsigned value, unsigned char if_true = 0, unsigned char if_false = 0) {
    code_.push_back({static_cast<unsigned short>(code), if_true, if_false, value});
  }
  void load_number() { add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)); }
  void refuse(int call, int error) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1);
    add(BPF_RET | BPF_K, refusal(error));
  }
  /// Little-endian: the low word of the argument comes first and contains the flags.
  void refuse_flags(int call, unsigned argument) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 4);
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, args) + argument * sizeof(__u64)));
    add(BPF_JMP | BPF_JSET | BPF_K, forbidden_flags, 0, 1);
    add(BPF_RET | BPF_K, refusal(EACCES));
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter> code_;
};

}  // namespace

std::string run_guarded(const std::function<void()>& work) {
  if (own_architecture == 0)
    return "the filter that prevents vendor libraries from changing files does not support this processor architecture";
  Filter filter;
  int error = 0;
  std::thread thread([&] {
    error = filter.set();
    if (error == 0) work();
  });
  thread.join();
  if (error == 0) return "";
  return "cannot install the filter that prevents vendor libraries from changing files (seccomp: " +
         std::string(std::strerror(error)) + ")";
}

}  // namespace gdrkit::diag
