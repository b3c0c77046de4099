/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's initialization, finalization, queries, memory and ordering. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_SETUP_H
#define GDRKIT_COMPAT_NVSHMEM_SETUP_H

#include "nvshmem_base.h"

/* Flags of nvshmemx_init_attr. */
#define NVSHMEMX_INIT_WITH_MPI_COMM (1U << 1)
#define NVSHMEMX_INIT_WITH_SHMEM (1U << 2) /* unsupported: nvshmemx_init_attr() returns an error */
#define NVSHMEMX_INIT_WITH_UNIQUEID (1U << 3)

/* The layouts are NVSHMEM's, because libnvshmem_host.so.3 has them in its interface. */
typedef struct {
  int version;
  char internal[124]; /* a gdrkit_shmem_unique_id_t without its last 4 bytes, which are 0 */
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
  int cuda_device_id; /* -1: gdrkit chooses */
  char content[92];
} nvshmemx_init_args_t;
typedef struct {
  int version;
  void* mpi_comm; /* MPI_Comm* */
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_t;
#define GDRKIT_NVSHMEM_VERSION_OF(number, type) GDRKIT_SHMEM_CAST(int, ((number) << 16) + sizeof(type))
#define NVSHMEMX_UNIQUEID_INITIALIZER                        \
  {                                                          \
    GDRKIT_NVSHMEM_VERSION_OF(1, nvshmemx_uniqueid_t), { 0 } \
  }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER \
  { GDRKIT_NVSHMEM_VERSION_OF(1, nvshmemx_uniqueid_args_t), NULL, -1, -1 }
#define NVSHMEMX_INIT_ARGS_INITIALIZER                                                                \
  {                                                                                                   \
    GDRKIT_NVSHMEM_VERSION_OF(2, nvshmemx_init_args_t), NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1, { 0 } \
  }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
  { GDRKIT_NVSHMEM_VERSION_OF(2, nvshmemx_init_attr_t), NULL, NVSHMEMX_INIT_ARGS_INITIALIZER }

static inline struct gdrkit_shmem_options gdrkit_nvshmem_options(void) {
  struct gdrkit_shmem_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.should_read_nvshmem_variables = 1;
  options.should_follow_current_device = 1;
  return options;
}

/* These functions count references over the whole process. The init of a second module joins the PE of the first, and
 * the last finalize ends that PE. */
GDRKIT_NVSHMEM_HOST void nvshmem_init(void) {
  const struct gdrkit_shmem_options options = gdrkit_nvshmem_options();
  gdrkit_nvshmem_check(gdrkit_shmem_init_shared(&options), "nvshmem_init");
}
GDRKIT_NVSHMEM_HOST int nvshmem_init_thread(int requested, int* provided) {
  const struct gdrkit_shmem_options options = gdrkit_nvshmem_options();
  (void)requested;
  const int result = gdrkit_nvshmem_report(gdrkit_shmem_init_shared(&options), "nvshmem_init_thread");
  if (result == 0 && provided != NULL) *provided = NVSHMEM_THREAD_MULTIPLE;
  return result;
}
GDRKIT_NVSHMEM_HOST void nvshmem_query_thread(int* provided) { *provided = NVSHMEM_THREAD_MULTIPLE; }

GDRKIT_NVSHMEM_HOST int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* id) {
  gdrkit_shmem_unique_id_t made;
  const int result = gdrkit_nvshmem_report(gdrkit_shmem_get_unique_id(&made), "nvshmemx_get_uniqueid");
  if (result != 0) return result;
  id->version = GDRKIT_NVSHMEM_VERSION_OF(1, nvshmemx_uniqueid_t);
  memcpy(id->internal, made.bytes, sizeof id->internal);
  return NVSHMEMX_SUCCESS;
}
GDRKIT_NVSHMEM_HOST int nvshmemx_set_attr_uniqueid_args(const int rank, const int n_ranks,
                                                        const nvshmemx_uniqueid_t* id,
                                                        nvshmemx_init_attr_t* attributes) {
  attributes->args.uid_args.myrank = rank;
  attributes->args.uid_args.nranks = n_ranks;
  attributes->args.uid_args.id = id;
  return NVSHMEMX_SUCCESS;
}
/* `communicator`: a pointer to an MPI_Comm. */
GDRKIT_NVSHMEM_HOST int nvshmemx_set_attr_mpi_comm_args(void* communicator, nvshmemx_init_attr_t* attributes) {
  attributes->mpi_comm = communicator;
  return NVSHMEMX_SUCCESS;
}
/* `flags` is NVSHMEMX_INIT_WITH_UNIQUEID, NVSHMEMX_INIT_WITH_MPI_COMM, or 0 for the launcher's environment. The
 * function also prints its error, because many programs ignore the result. */
GDRKIT_NVSHMEM_HOST int nvshmemx_hostlib_init_attr(unsigned flags, nvshmemx_init_attr_t* attributes) {
  struct gdrkit_shmem_options options = gdrkit_nvshmem_options();
  gdrkit_shmem_unique_id_t id;
  int result = 0;
  if (attributes != NULL && attributes->version == GDRKIT_NVSHMEM_VERSION_OF(2, nvshmemx_init_attr_t) &&
      attributes->args.version == GDRKIT_NVSHMEM_VERSION_OF(2, nvshmemx_init_args_t) &&
      attributes->args.cuda_device_id >= 0) {
    options.has_device = 1;
    options.device = attributes->args.cuda_device_id;
  }
  if (flags != 0 && attributes == NULL) {
    fprintf(stderr, "nvshmemx_init_attr: cannot initialize: the attributes are NULL\n");
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  if ((flags & NVSHMEMX_INIT_WITH_UNIQUEID) != 0) {
    memset(&id, 0, sizeof id);
    if (attributes->args.uid_args.id == NULL || attributes->args.uid_args.nranks < 1) {
      fprintf(stderr,
              "nvshmemx_init_attr: cannot initialize: the attributes lack a unique id or the number of PEs; call "
              "nvshmemx_set_attr_uniqueid_args first\n");
      return NVSHMEMX_ERROR_INVALID_VALUE;
    }
    memcpy(id.bytes, attributes->args.uid_args.id->internal, sizeof attributes->args.uid_args.id->internal);
    options.pe = attributes->args.uid_args.myrank;
    options.n_pes = attributes->args.uid_args.nranks;
    options.unique_id = &id;
  } else if ((flags & NVSHMEMX_INIT_WITH_MPI_COMM) != 0) {
    result = gdrkit_shmem_use_mpi(&options, attributes->mpi_comm);
  } else if (flags != 0) {
    fprintf(
        stderr,
        "nvshmemx_init_attr: unsupported flags 0x%x; use NVSHMEMX_INIT_WITH_UNIQUEID or NVSHMEMX_INIT_WITH_MPI_COMM\n",
        flags);
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  if (result == 0) result = gdrkit_shmem_init_shared(&options);
  return gdrkit_nvshmem_report(result, "nvshmemx_init_attr");
}
GDRKIT_NVSHMEM_HOST int nvshmemx_init_attr(unsigned flags, nvshmemx_init_attr_t* attributes) {
  return nvshmemx_hostlib_init_attr(flags, attributes);
}

enum {
  NVSHMEM_STATUS_NOT_INITIALIZED = 0,
  NVSHMEM_STATUS_IS_BOOTSTRAPPED,
  NVSHMEM_STATUS_IS_INITIALIZED,
  NVSHMEM_STATUS_LIMITED_MPG,
  NVSHMEM_STATUS_FULL_MPG,
  NVSHMEM_STATUS_INVALID = INT_MAX
};
GDRKIT_NVSHMEM_HOST int nvshmemx_init_status(void) {
  return gdrkit_shmem_my_pe() < 0 ? NVSHMEM_STATUS_NOT_INITIALIZED : NVSHMEM_STATUS_IS_INITIALIZED;
}
GDRKIT_NVSHMEM_HOST void nvshmem_finalize(void) {
  gdrkit_nvshmem_check(gdrkit_shmem_finalize_shared(), "nvshmem_finalize");
}
GDRKIT_NVSHMEM_HOST void nvshmemx_hostlib_finalize(void) { nvshmem_finalize(); }
/* On the CPU, flushes stdio and exits this process with `status`. It does not run atexit handlers, because they may
 * wait for other PEs. The other PEs of this node exit with the same status in their next call that waits for this PE.
 * In a GPU kernel, causes a launch failure, which the next CUDA call returns. */
GDRKIT_NVSHMEM_BOTH void nvshmem_global_exit(int status) {
  GDRKIT_NVSHMEM_SPLIT((void)gdrkit_shmem_announce_exit(status); (void)fflush(NULL); _Exit(status), (void)status;
                       __trap());
}

GDRKIT_NVSHMEM_BOTH void nvshmem_info_get_version(int* major, int* minor) {
  *major = NVSHMEM_MAJOR_VERSION;
  *minor = NVSHMEM_MINOR_VERSION;
}
GDRKIT_NVSHMEM_BOTH void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch) {
  *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}
GDRKIT_NVSHMEM_BOTH void nvshmem_info_get_name(char* name) {
  const char text[] = NVSHMEM_VENDOR_STRING;
  for (size_t i = 0; i < sizeof text; ++i) name[i] = text[i];
}

/* Returns -1 before nvshmem_init. */
GDRKIT_NVSHMEM_BOTH int nvshmem_my_pe(void) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_or_invalid(gdrkit_shmem_my_pe()), GDRKIT_NVSHMEM_STATE.pe);
}
GDRKIT_NVSHMEM_BOTH int nvshmem_n_pes(void) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_or_invalid(gdrkit_shmem_n_pes()), GDRKIT_NVSHMEM_STATE.n_pes);
}

/* Memory. */

/* Sizes are rounded up, because atomic operations on 2 bytes update the aligned 4 bytes around them. */
#define GDRKIT_NVSHMEM_ROUND(size) ((size) > SIZE_MAX - 3 ? (size) : ((size) + 3) / 4 * 4)
GDRKIT_NVSHMEM_HOST void* nvshmem_malloc(size_t size) {
  void* address = NULL;
  if (size != 0) gdrkit_nvshmem_report(gdrkit_shmem_malloc(GDRKIT_NVSHMEM_ROUND(size), &address), "nvshmem_malloc");
  return address;
}
GDRKIT_NVSHMEM_HOST void* nvshmem_calloc(size_t count, size_t size) {
  const size_t bytes = size != 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
  void* address = NULL;
  if (bytes != 0)
    gdrkit_nvshmem_report(gdrkit_shmem_calloc(1, GDRKIT_NVSHMEM_ROUND(bytes), &address), "nvshmem_calloc");
  return address;
}
GDRKIT_NVSHMEM_HOST void* nvshmem_align(size_t alignment, size_t size) {
  void* address = NULL;
  if (size != 0)
    gdrkit_nvshmem_report(gdrkit_shmem_align(alignment, GDRKIT_NVSHMEM_ROUND(size), &address), "nvshmem_align");
  return address;
}
GDRKIT_NVSHMEM_HOST void nvshmem_free(void* address) {
  gdrkit_nvshmem_check(gdrkit_shmem_free(address), "nvshmem_free");
}
static inline void* gdrkit_nvshmem_ptr(const void* address, int pe) {
  void* pointer = NULL;
  return gdrkit_shmem_ptr(address, pe, &pointer) == 0 ? pointer : NULL;
}
/* Returns NULL for an address outside the symmetric heap, and for a PE whose memory this GPU cannot access. */
GDRKIT_NVSHMEM_BOTH void* nvshmem_ptr(const void* address, int pe) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_ptr(address, pe),
                              ::gdrkit::shmem::detail::ptr_in_heap(GDRKIT_NVSHMEM_STATE, address, pe));
}
/* Returns NULL, as NVSHMEM does if multicast memory is not supported. */
GDRKIT_NVSHMEM_BOTH void* nvshmemx_mc_ptr(nvshmem_team_t team, const void* address) {
  (void)team, (void)address;
  return NULL;
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
/* NVSHMEM's flush waits until sources may be written again, which quiet includes. */
GDRKIT_NVSHMEM_BOTH void nvshmemx_flush(void) { nvshmem_quiet(); }
GDRKIT_NVSHMEM_GPU(void nvshmemx_flush_warp() {
  ::gdrkit::shmem::quiet(GDRKIT_NVSHMEM_STATE, ::gdrkit::shmem::warp());
})
GDRKIT_NVSHMEM_GPU(void nvshmemx_flush_block() {
  ::gdrkit::shmem::quiet(GDRKIT_NVSHMEM_STATE, ::gdrkit::shmem::block());
})
GDRKIT_NVSHMEM_HOST void nvshmemx_quiet_on_stream(cudaStream_t stream) {
  gdrkit_nvshmem_check(gdrkit_shmem_quiet_on_stream(stream), "nvshmemx_quiet_on_stream");
}
GDRKIT_NVSHMEM_HOST void nvshmemx_flush_on_stream(cudaStream_t stream) { nvshmemx_quiet_on_stream(stream); }

#endif
