// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A job of two PEs whose PE 1 forks children. One child calls collective functions and then exit(); the other returns
// from main. PE 0 must not leave a barrier before PE 1 itself has reached it.
#include <gdrkit/shmem.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

/// Returns 0, or the line of the call that failed.
int as_child(std::uint64_t* words) {
  if (gdrkit_shmem_sync_all() != -EACCES) return __LINE__;
  if (gdrkit_shmem_barrier_all() != -EACCES) return __LINE__;
  if (gdrkit_shmem_free(words) != -EACCES) return __LINE__;
  if (gdrkit_shmem_finalize() != -EACCES) return __LINE__;
  if (gdrkit_shmem_my_pe() != -EACCES) return __LINE__;
  return 0;
}

}  // namespace

int main() {
  gdrkit::shmem::Job job;
  std::uint64_t* words = nullptr;
  int failed = gdrkit_shmem_uint64_calloc(8, &words);
  failed |= gdrkit_shmem_barrier_all();
  for (std::uint64_t round = 1; round <= 5 && failed == 0; ++round) {
    if (gdrkit_shmem_my_pe() == 1) {
      const pid_t child = ::fork();
      if (child == 0) std::exit(as_child(words));  // runs exit handlers and destroys static objects, but not `job`
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status != 0) std::printf("the child ended with status 0x%x\n", status), failed = 1;
      const pid_t other = ::fork();
      if (other == 0) return 0;  // destroys `job`, too
      ::waitpid(other, &status, 0);
      if (status != 0) std::printf("the second child ended with status 0x%x\n", status), failed = 1;
      ::usleep(100'000);
      failed |= gdrkit_shmem_put(words, &round, sizeof round, 0);
    }
    if (gdrkit_shmem_barrier_all() != 0) {
      std::printf("%s\n", gdrkit_shmem_last_error());
      return 1;
    }
    std::uint64_t seen = round;
    if (gdrkit_shmem_my_pe() == 0) failed |= gdrkit_shmem_get(&seen, words, sizeof seen, 0);
    if (seen != round)
      std::printf("PE 0 left barrier %llu before PE 1 reached it\n", static_cast<unsigned long long>(round)),
          failed = 1;
    failed |= gdrkit_shmem_barrier_all();
  }
  return failed == 0 ? 0 : 1;
}
