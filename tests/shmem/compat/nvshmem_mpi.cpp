// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NVSHMEMX_INIT_WITH_MPI_COMM with nvshmem.h included before MPI's declarations. Two processes with the few functions
// of an MPI that init uses, in the ABI of Open MPI (FAKE_OPEN_MPI) or of MPICH. Prints "two PEs by MPI".
#include <nvshmem.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(FAKE_OPEN_MPI)
using MPI_Comm = struct ompi_communicator_t*;
using MPI_Datatype = struct ompi_datatype_t*;
#pragma GCC visibility push(default)
extern "C" {
extern char ompi_mpi_byte[8];
char ompi_mpi_byte[8];
}
#pragma GCC visibility pop
static char world[8];
static const auto MPI_COMM_WORLD = reinterpret_cast<MPI_Comm>(world);
static const auto MPI_BYTE = reinterpret_cast<MPI_Datatype>(ompi_mpi_byte);
#else
using MPI_Comm = int;
using MPI_Datatype = int;
constexpr MPI_Comm MPI_COMM_WORLD = 0x44000000;
constexpr MPI_Datatype MPI_BYTE = 0x4c00010d;
#endif

namespace {
struct Shared {
  pthread_barrier_t barrier;
  char parts[2][65536];
};
Shared* shared;
int rank;
}  // namespace

#pragma GCC visibility push(default)
extern "C" {
int MPI_Comm_rank(MPI_Comm communicator, int* result) {
  *result = rank;
  return communicator == MPI_COMM_WORLD ? 0 : 5;
}
int MPI_Comm_size(MPI_Comm communicator, int* result) {
  *result = 2;
  return communicator == MPI_COMM_WORLD ? 0 : 5;
}
int MPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all, int all_count, MPI_Datatype all_type,
                  MPI_Comm communicator) {
  const auto size = static_cast<size_t>(count);
  if (communicator != MPI_COMM_WORLD || type != MPI_BYTE || all_type != MPI_BYTE || count != all_count) return 3;
  if (size > sizeof shared->parts[0]) return 15;
  memcpy(shared->parts[rank], mine, size);
  pthread_barrier_wait(&shared->barrier);
  for (size_t part = 0; part < 2; ++part) memcpy(static_cast<char*>(all) + part * size, shared->parts[part], size);
  pthread_barrier_wait(&shared->barrier);
  return 0;
}
}
#pragma GCC visibility pop

#if defined(AS_LIBRARY)
extern "C" __attribute__((visibility("default"))) int run_as_library();
int run_as_library() {
#else
int main() {
#endif
  shared =
      static_cast<Shared*>(mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, 2);
  const pid_t child = fork();
  rank = child == 0 ? 1 : 0;

  MPI_Comm communicator = MPI_COMM_WORLD;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = &communicator;
  nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr);
  auto* const word = static_cast<int*>(nvshmem_malloc(sizeof(int)));
  nvshmem_int_p(word, 70 + rank, 1 - rank);
  nvshmem_barrier_all();
  const bool is_right = nvshmem_my_pe() == rank && nvshmem_n_pes() == 2 && nvshmem_int_g(word, rank) == 71 - rank;
  nvshmem_finalize();
  if (child == 0) return is_right ? 0 : 1;
  int status = 1;
  waitpid(child, &status, 0);
  if (!is_right || status != 0) return 1;
  printf("two PEs by MPI\n");
  return 0;
}
