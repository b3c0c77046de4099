// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A job of two. PE 1 forks while another thread of it waits in finalize for PE 0, which waits for the fork. The child
// must learn that its parent was a PE.
#include <gdrkit/shmem.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>

namespace {

constexpr int is_forked = SIGUSR1;  // from PE 1 to PE 0

int finalize_after_the_fork(const sigset_t& waited) {
  const timespec limit{60, 0};
  const bool came = ::sigtimedwait(&waited, nullptr, &limit) == is_forked;
  if (!came) std::printf("PE 1 did not fork within 60 s\n");
  return gdrkit_shmem_finalize() == 0 && came ? 0 : 1;
}

int fork_within_finalize(pid_t pe_0) {
  int finalized = 1;
  std::thread ending([&] { finalized = gdrkit_shmem_finalize(); });
  while (gdrkit_shmem_my_pe() != -EINVAL) ::usleep(1000);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(gdrkit_shmem_my_pe() == -EACCES && gdrkit_shmem_quiet() == -EACCES ? 0 : 1);
  ::kill(pe_0, is_forked);
  int status = 1;
  ::waitpid(child, &status, 0);
  ending.join();
  if (status != 0) std::printf("the child ended with status 0x%x\n", status);
  return status == 0 && finalized == 0 ? 0 : 1;
}

}  // namespace

int main() {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, is_forked);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  if (gdrkit_shmem_init(nullptr) != 0) {
    std::printf("%s\n", gdrkit_shmem_last_error());
    return 1;
  }
  std::int64_t* number = nullptr;
  if (gdrkit_shmem_int64_calloc(1, &number) != 0) return 1;
  const std::int64_t own = ::getpid();
  if (gdrkit_shmem_my_pe() == 0 && gdrkit_shmem_put(number, &own, sizeof own, 1) != 0) return 1;
  if (gdrkit_shmem_barrier_all() != 0) return 1;
  if (gdrkit_shmem_my_pe() == 0) return finalize_after_the_fork(blocked);
  std::int64_t pe_0 = 0;
  if (gdrkit_shmem_get(&pe_0, number, sizeof pe_0, 1) != 0 || pe_0 <= 0) return 1;
  return fork_within_finalize(static_cast<pid_t>(pe_0));
}
