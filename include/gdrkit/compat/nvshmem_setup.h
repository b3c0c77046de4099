/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's beginning and end, questions, memory and ordering. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_SETUP_H
#define GDRKIT_COMPAT_NVSHMEM_SETUP_H

#include "nvshmem_base.h"

/* Flags of nvshmemx_init_attr. With MPI's communicator: include mpi.h first. */
#define NVSHMEMX_INIT_WITH_UNIQUEID (1U << 3)
#if defined(MPI_VERSION)
#define NVSHMEMX_INIT_WITH_MPI_COMM (1U << 1)
#endif

typedef struct {
  int version;
  char internal[124];
  gdrkit_shmem_unique_id_t id;
} nvshmemx_uniqueid_t;
typedef struct {
  int version;
  const nvshmemx_uniqueid_t* id;
  int myrank;
  int nranks;
} nvshmemx_uniqueid_args_t;
typedef struct {
  int version;
  nvshmemx_uniqueid_args_t uid_args;
} nvshmemx_init_args_t;
typedef struct {
  int version;
  void* mpi_comm; /* MPI_Comm* */
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_t;
#if defined(__cplusplus)
#define NVSHMEMX_UNIQUEID_INITIALIZER \
  nvshmemx_uniqueid_t {}
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
  nvshmemx_init_attr_t {}
#else
#define NVSHMEMX_UNIQUEID_INITIALIZER \
  { 0 }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
  { 0 }
#endif

static inline struct gdrkit_shmem_options gdrkit_nvshmem_options(void) {
  struct gdrkit_shmem_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.reads_nvshmem_variables = 1;
  options.follows_current_device = 1;
  return options;
}

/* These functions count references over the whole process. The init of a second module joins the PE of the first, and
 * the last finalize ends that PE. */
static inline void nvshmem_init(void) {
  const struct gdrkit_shmem_options options = gdrkit_nvshmem_options();
  gdrkit_nvshmem_check(gdrkit_shmem_init_shared(&options), "nvshmem_init");
}
static inline int nvshmem_init_thread(int requested, int* provided) {
  const struct gdrkit_shmem_options options = gdrkit_nvshmem_options();
  (void)requested;
  const int result = gdrkit_shmem_init_shared(&options);
  if (result == 0 && provided != NULL) *provided = NVSHMEM_THREAD_MULTIPLE;
  return result;
}
static inline void nvshmem_query_thread(int* provided) { *provided = NVSHMEM_THREAD_MULTIPLE; }

static inline int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* id) { return gdrkit_shmem_get_unique_id(&id->id); }
static inline int nvshmemx_set_attr_uniqueid_args(const int rank, const int n_ranks, const nvshmemx_uniqueid_t* id,
                                                  nvshmemx_init_attr_t* attributes) {
  attributes->args.uid_args.myrank = rank;
  attributes->args.uid_args.nranks = n_ranks;
  attributes->args.uid_args.id = id;
  return NVSHMEMX_SUCCESS;
}
#if defined(MPI_VERSION)
static inline int gdrkit_nvshmem_mpi_allgather(const void* mine, size_t size_bytes, void* all, void* communicator) {
  return MPI_Allgather(mine, GDRKIT_SHMEM_CAST(int, size_bytes), MPI_BYTE, all, GDRKIT_SHMEM_CAST(int, size_bytes),
                       MPI_BYTE, *GDRKIT_SHMEM_CAST(MPI_Comm*, communicator)) == MPI_SUCCESS
             ? 0
             : 1;
}
#endif
/* NVSHMEMX_INIT_WITH_UNIQUEID, NVSHMEMX_INIT_WITH_MPI_COMM, or 0 for the launcher's environment. */
static inline int nvshmemx_init_attr(unsigned flags, nvshmemx_init_attr_t* attributes) {
  struct gdrkit_shmem_options options = gdrkit_nvshmem_options();
  if ((flags & NVSHMEMX_INIT_WITH_UNIQUEID) != 0) {
    options.pe = attributes->args.uid_args.myrank;
    options.n_pes = attributes->args.uid_args.nranks;
    options.unique_id = &attributes->args.uid_args.id->id;
#if defined(MPI_VERSION)
  } else if ((flags & NVSHMEMX_INIT_WITH_MPI_COMM) != 0) {
    MPI_Comm_rank(*GDRKIT_SHMEM_CAST(MPI_Comm*, attributes->mpi_comm), &options.pe);
    MPI_Comm_size(*GDRKIT_SHMEM_CAST(MPI_Comm*, attributes->mpi_comm), &options.n_pes);
    options.allgather = gdrkit_nvshmem_mpi_allgather;
    options.allgather_argument = attributes->mpi_comm;
#endif
  } else if (flags != 0) {
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  return gdrkit_shmem_init_shared(&options);
}

enum { NVSHMEM_STATUS_NOT_INITIALIZED = 0, NVSHMEM_STATUS_IS_BOOTSTRAPPED = 1, NVSHMEM_STATUS_IS_INITIALIZED = 2 };
static inline int nvshmemx_init_status(void) {
  return gdrkit_shmem_my_pe() < 0 ? NVSHMEM_STATUS_NOT_INITIALIZED : NVSHMEM_STATUS_IS_INITIALIZED;
}
static inline void nvshmem_finalize(void) { gdrkit_nvshmem_check(gdrkit_shmem_finalize_shared(), "nvshmem_finalize"); }
/* Ends this process; the launcher ends the others, whose calls name this PE. */
GDRKIT_NVSHMEM_BOTH void nvshmem_global_exit(int status) {
  GDRKIT_NVSHMEM_SPLIT(_Exit(status), (void)status; __trap());
}

static inline void nvshmem_info_get_version(int* major, int* minor) {
  *major = NVSHMEM_MAJOR_VERSION;
  *minor = NVSHMEM_MINOR_VERSION;
}
static inline void nvshmem_info_get_name(char* name) { strcpy(name, NVSHMEM_VENDOR_STRING); }

GDRKIT_NVSHMEM_BOTH int nvshmem_my_pe(void) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_shmem_my_pe(), GDRKIT_NVSHMEM_STATE.pe);
}
GDRKIT_NVSHMEM_BOTH int nvshmem_n_pes(void) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_shmem_n_pes(), GDRKIT_NVSHMEM_STATE.n_pes);
}

/* Memory. */

static inline void* nvshmem_malloc(size_t size) { return gdrkit_shmem_malloc(size); }
static inline void* nvshmem_calloc(size_t count, size_t size) { return gdrkit_shmem_calloc(count, size); }
static inline void* nvshmem_align(size_t alignment, size_t size) { return gdrkit_shmem_align(alignment, size); }
static inline void nvshmem_free(void* address) { gdrkit_nvshmem_check(gdrkit_shmem_free(address), "nvshmem_free"); }
GDRKIT_NVSHMEM_BOTH void* nvshmem_ptr(const void* address, int pe) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_shmem_ptr(address, pe),
                              static_cast<void*>(::gdrkit::shmem::ptr(
                                  GDRKIT_NVSHMEM_STATE, static_cast<char*>(const_cast<void*>(address)), pe)));
}

/* Ordering. */

GDRKIT_NVSHMEM_BOTH void nvshmem_fence(void) {
  GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_check(gdrkit_shmem_fence(), "nvshmem_fence"),
                       ::gdrkit::shmem::fence(GDRKIT_NVSHMEM_STATE));
}
GDRKIT_NVSHMEM_BOTH void nvshmem_quiet(void) {
  GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_check(gdrkit_shmem_quiet(), "nvshmem_quiet"),
                       ::gdrkit::shmem::quiet(GDRKIT_NVSHMEM_STATE));
}
static inline void nvshmemx_quiet_on_stream(cudaStream_t stream) {
  gdrkit_nvshmem_check(gdrkit_shmem_quiet_on_stream(stream), "nvshmemx_quiet_on_stream");
}

#endif
