/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * One-sided communication between GPUs, for C (C99 or newer) and C++ (C++11 or newer). Names and layouts may change
 * until version 1.0.
 *
 * A job has n processing elements (PEs), numbered from 0, each with one GPU. Each PE's GPU holds a symmetric heap:
 * every PE allocates the same objects in the same order, and names another PE's copy of an object by the address of its
 * own. */
#ifndef GDRKIT_SHMEM_H
#define GDRKIT_SHMEM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function returns 0 (or a value >= 0) on success and a negative errno on failure, unless it says otherwise;
 * outputs are set only on success, and gdrkit_shmem_last_error() tells what failed: the PE, the step, the cause. A bad
 * PE, an address outside the symmetric heap, or a range that leaves its allocation is -EINVAL, and nothing is written.
 * A PE that ended while another waits for it is -ECONNRESET there within seconds; a wait that exceeds its limit is
 * -ETIMEDOUT.
 *
 * Threads: all functions are thread-safe. Collective functions (they say so) must be called by all PEs in the same
 * order, by one thread of each.
 *
 * Memory: `target` and `source` of another PE are addresses in the caller's own symmetric heap. A local buffer may be
 * host memory or memory of the caller's GPU, inside or outside its heap. Symmetric memory is device memory: the CPU
 * does not dereference it (gdrkit_shmem_put and get with the caller's own number reach it).
 *
 * Ordering: what each call guarantees, and to whom, is in docs/shmem-memory-model.md. In short: a put has left its
 * source when it returns; fence orders puts to the same PE; after quiet all earlier puts are visible at their targets.
 */

/* One PE of this process. A process may have several PEs, one for each GPU. Each thread uses the PE that it bound last
 * with gdrkit_shmem_init or gdrkit_shmem_use. A thread that bound none uses the only PE of the process; if there are
 * several, calls return -EINVAL.
 *
 * In a forked child, every call on a PE of the parent returns -EACCES. The exit of the child does not affect these PEs.
 * gdrkit_shmem_init makes the child a PE of its own; unless the options set n_pes, its job has one PE. */
typedef struct {
  uint64_t value;
} gdrkit_shmem_pe_t;

/* Names a job. Made by the process of PE 0 and sent to all others by any means. */
typedef struct {
  unsigned char bytes[128];
} gdrkit_shmem_unique_id_t;

/* All-gather of the application's: part i of `all` comes from PE i. 0 on success. */
typedef int (*gdrkit_shmem_allgather_t)(const void* mine, size_t size_bytes, void* all, void* argument);

/* Set struct_size = sizeof the struct and zero the rest: then a launcher's environment (gdrkit run, mpirun, srun,
 * torchrun) says everything; without one the job has one PE. */
struct gdrkit_shmem_options {
  uint32_t struct_size;
  int32_t n_pes;       /* 0: the environment says pe and n_pes */
  int32_t pe;          /* 0 to n_pes - 1 */
  uint32_t has_device; /* 1: `device` counts; 0: the PE's position among those of its machine */
  int32_t device;      /* as CUDA counts */
  uint32_t timeout_ms; /* of init, of collectives and waits; 0: $GDRKIT_SHMEM_TIMEOUT_S, else 300 s */
  const gdrkit_shmem_unique_id_t* unique_id; /* how PEs find each other; with n_pes > 1 either this */
  gdrkit_shmem_allgather_t allgather;        /* or this */
  void* allgather_argument;
  uint64_t heap_bytes; /* symmetric memory to start with, for each PE; 0: $GDRKIT_SHMEM_HEAP, else 64 MiB; it grows */
  uint64_t heap_max_bytes; /* it never grows beyond; 0: the size of the largest GPU's memory */
  /* 1: if $GDRKIT_SHMEM_HEAP is not set, $NVSHMEM_SYMMETRIC_SIZE sets the size, in NVSHMEM's grammar (nvshmem.h) */
  uint32_t should_read_nvshmem_variables;
  /* 1, as NVSHMEM does it: without has_device, the device is that of the calling thread's current CUDA context, unless
   * there is none or it is device 0. After init, the PE's device is current in that thread. The first call of malloc,
   * calloc, align or barrier_all in a thread where another device is current prints a warning to stderr. */
  uint32_t should_follow_current_device;
};

struct gdrkit_shmem_info {
  uint32_t struct_size;
  int32_t pe;
  int32_t n_pes;
  int32_t node_pes; /* PEs that share this machine's memory with this one, itself included */
  int32_t device;   /* as CUDA counts */
  int32_t is_emulated;
  uint64_t heap_address;   /* of the caller's own heap */
  uint64_t heap_bytes;     /* allocated from the GPU by now */
  uint64_t heap_max_bytes; /* may grow to this */
  uint64_t heap_used_bytes;
  uint64_t stride_bytes; /* between the heaps of PEs of this machine, in this process's address space */
};

/* What GPU kernels need to know of a PE (gdrkit/shmem_device.cuh): passed to them by value, or copied to where they
 * find it. Valid until the PE is finalized. */
struct gdrkit_shmem_device_state {
  int32_t pe;
  int32_t n_pes;
  uint64_t heap_address; /* of the own heap */
  uint64_t heap_bytes;   /* to the end of its address range */
  uint64_t stride_bytes; /* from one PE's heap to the next one's */
  uint64_t sync_address; /* words of the own heap that barriers use */
  uint64_t limit_ns;     /* of each wait */
  /* In host memory: ends waits when a PE has ended, and reports waits that timed out; 0: none. */
  uint64_t control_address;
  uint64_t teams_address; /* description of each team for GPU kernels (gdrkit/detail/shmem_team.cuh) */
  uint64_t proxy_address; /* command queue to PEs of other machines (gdrkit/detail/shmem_proxy.cuh); 0: all PEs are on
                             this machine */
};

/* IS_INT: other languages and casts may pass any int, and functions compare it with the values below. So the enum's
 * type must hold every int. CAST: a conversion for which neither C nor C++ compilers print a warning. */
#ifdef __cplusplus
#define GDRKIT_SHMEM_IS_INT : int
#define GDRKIT_SHMEM_CAST(type, value) static_cast<type>(value)
#else
#define GDRKIT_SHMEM_IS_INT
#define GDRKIT_SHMEM_CAST(type, value) ((type)(value))
#endif

enum gdrkit_shmem_comparison GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_EQ = 0,
  GDRKIT_SHMEM_NE = 1,
  GDRKIT_SHMEM_GT = 2,
  GDRKIT_SHMEM_LE = 3,
  GDRKIT_SHMEM_LT = 4,
  GDRKIT_SHMEM_GE = 5
};
enum gdrkit_shmem_signal GDRKIT_SHMEM_IS_INT { GDRKIT_SHMEM_SIGNAL_SET = 9, GDRKIT_SHMEM_SIGNAL_ADD = 10 };
enum gdrkit_shmem_atomic_operation GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_ATOMIC_FETCH = 0,
  GDRKIT_SHMEM_ATOMIC_SET = 1,
  GDRKIT_SHMEM_ATOMIC_ADD = 2,
  GDRKIT_SHMEM_ATOMIC_SWAP = 3,
  GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP = 4,
  GDRKIT_SHMEM_ATOMIC_AND = 5,
  GDRKIT_SHMEM_ATOMIC_OR = 6,
  GDRKIT_SHMEM_ATOMIC_XOR = 7
};
/* How wait_until and test read a word: its size in bytes, negative for signed integers. */
enum gdrkit_shmem_word GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_UINT16 = 2,
  GDRKIT_SHMEM_UINT32 = 4,
  GDRKIT_SHMEM_UINT64 = 8,
  GDRKIT_SHMEM_INT16 = -2,
  GDRKIT_SHMEM_INT32 = -4,
  GDRKIT_SHMEM_INT64 = -8
};

/* Begin and end */

/* -EADDRNOTAVAIL: no network address to listen on. */
int gdrkit_shmem_get_unique_id(gdrkit_shmem_unique_id_t* id);
/* Closes the listening socket of an id that no job has used. Every id keeps such a socket open until PE 0 uses the id.
 * Returns -EINVAL if this process has no socket for the id. */
int gdrkit_shmem_release_unique_id(const gdrkit_shmem_unique_id_t* id);
/* Collective over the job. `options` may be NULL. Takes the GPU's primary context, the one that the CUDA runtime uses
 * too; the calling thread's current context stays. -ENODEV: no GPU, and the emulated device was not asked for
 * (GDRKIT_BACKEND=emulated). */
int gdrkit_shmem_init(const struct gdrkit_shmem_options* options);
/* Collective. Waits for calls of other threads on the calling thread's PE, then for all PEs, frees the heap and ends
 * the PE. Calls on it that begin later return -EINVAL. Returns -ETIMEDOUT if a call of another thread does not end
 * within the PE's limit, and -EBUSY if the calling thread is within a call on the PE; nothing has changed then. */
int gdrkit_shmem_finalize(void);
/* For libraries that share one PE of their process. The first call works like gdrkit_shmem_init. Later calls ignore
 * `options` and bind the calling thread to that PE. */
int gdrkit_shmem_init_shared(const struct gdrkit_shmem_options* options);
/* Call it once for each gdrkit_shmem_init_shared. The last of these calls works like gdrkit_shmem_finalize; earlier
 * calls only decrement the count. Returns -EINVAL if no gdrkit_shmem_init_shared is left to match. */
int gdrkit_shmem_finalize_shared(void);
/* Sets pe, n_pes and the allgather of `options` from an MPI communicator (a pointer to an MPI_Comm, valid during init),
 * by the functions of Open MPI, MPICH or an MPI with the ABI of MPICH that this process has loaded. Returns -ENOENT if
 * it has loaded none. */
int gdrkit_shmem_use_mpi(struct gdrkit_shmem_options* options, void* communicator);
int gdrkit_shmem_current(gdrkit_shmem_pe_t* pe); /* the calling thread's */
int gdrkit_shmem_use(gdrkit_shmem_pe_t pe);      /* from now on the calling thread's */
/* -EINVAL where the thread has no PE; these two leave gdrkit_shmem_last_error() alone. */
int gdrkit_shmem_my_pe(void);
int gdrkit_shmem_n_pes(void);
int gdrkit_shmem_get_info(struct gdrkit_shmem_info* info);
/* For GPU kernels on this PE's GPU. limit_ns is the PE's limit, or a minute where it has none: no GPU kernel waits for
 * ever. */
int gdrkit_shmem_get_device_state(struct gdrkit_shmem_device_state* state);
/* The same for a CUmodule on this PE's GPU, compiled with GDRKIT_SHMEM_MODULE. Once, after the module was loaded. */
int gdrkit_shmem_module_init(void* module);
/* The same for a CUlibrary. -ENOSYS: the driver is older than CUDA 12. */
int gdrkit_shmem_library_init(void* library);
/* Launches a CUfunction whose blocks all run at once, as blocks that wait for each other or for other PEs must
 * (cuLaunchCooperativeKernel). To be called by all PEs. -EINVAL: so many blocks do not fit on this GPU. */
int gdrkit_shmem_collective_launch(void* function, const unsigned grid[3], const unsigned block[3], size_t shared_bytes,
                                   void* stream, void** parameters);
/* How many blocks of so many threads do. */
int gdrkit_shmem_collective_grid(void* function, unsigned threads, size_t shared_bytes);
/* A local buffer outside the heap, host memory or the PE's GPU's: transfers from and to it need not ask the driver what
 * it is. Registered until it is unregistered, which comes before it
 * is freed. -EEXIST: it overlaps another. */
int gdrkit_shmem_buffer_register(const void* address, size_t size_bytes);
int gdrkit_shmem_buffer_unregister(const void* address);
int gdrkit_shmem_buffer_unregister_all(void);
/* Limit of later collectives and waits of this PE, in milliseconds; 0: none (a dead PE still ends them). */
int gdrkit_shmem_set_timeout(uint32_t timeout_ms);
/* For people: one line for each transport, in the order in which they are tried: what it carries between the caller and
 * PE `pe`, or why it carries nothing. Writes at most `size_bytes` with the ending zero; returns the length of the whole
 * text without it. Not collective. */
int gdrkit_shmem_describe(int pe, char* text, size_t size_bytes);
/* What the calling thread's last failed call says; "" if none failed. Valid until its next failing call. */
const char* gdrkit_shmem_last_error(void);

/* Symmetric memory. Collective; each ends with a barrier. *address is set on success only. */

/* All PEs pass the same size, at least 1: -EPROTO else. The address is aligned to 256 bytes. -ENOMEM when the heap
 * cannot grow any more; then nothing is lost. What the memory holds is not defined. */
int gdrkit_shmem_malloc(size_t size_bytes, void** address);
int gdrkit_shmem_calloc(size_t count, size_t size_bytes, void** address);    /* zeroed */
int gdrkit_shmem_align(size_t alignment, size_t size_bytes, void** address); /* a power of two up to 1 GiB */
int gdrkit_shmem_free(void* address); /* as malloc returned it; NULL does nothing */
/* Where this process's GPU reaches PE `pe`'s copy of `address` by loads and stores; -EOPNOTSUPP where it cannot. Not
 * collective. */
int gdrkit_shmem_ptr(const void* address, int pe, void** pointer);
/* Makes a buffer of the caller's symmetric, without a copy: each PE passes one of its own, of the same size (-EPROTO
 * else), and *address is an address in its symmetric heap's range that stands for it in all calls, also in GPU
 * kernels. Memory of the PE's GPU that cuMemCreate made with a POSIX file descriptor as its handle type, from the start
 * of the allocation on; what lies behind size_bytes is mapped too, but refused. No other memory can be shared
 * (cudaMalloc, host memory): -EOPNOTSUPP on all PEs, and gdrkit_shmem_last_error() names the first one and its cause.
 * It takes its room from heap_max_bytes. The memory lives on until it is unregistered or the PE finalizes, also where
 * the caller frees its own mapping. */
int gdrkit_shmem_buffer_register_symmetric(void* buffer, size_t size_bytes, void** address);
/* `address`: what the registration answered. Completes what was put before; nobody may use it any more. */
int gdrkit_shmem_buffer_unregister_symmetric(void* address);

/* Puts and gets. Any alignment; size 0 does nothing. */

int gdrkit_shmem_put(void* target, const void* source, size_t size_bytes, int pe);
int gdrkit_shmem_get(void* target, const void* source, size_t size_bytes, int pe);
/* May return before the source may be written again (put) or the target holds the data (get): after quiet. */
int gdrkit_shmem_put_nbi(void* target, const void* source, size_t size_bytes, int pe);
int gdrkit_shmem_get_nbi(void* target, const void* source, size_t size_bytes, int pe);
/* A put, then an update of the 64-bit word `signal` at the same PE: whoever sees the word sees the data. */
int gdrkit_shmem_put_signal(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
                            enum gdrkit_shmem_signal operation, int pe);
int gdrkit_shmem_put_signal_nbi(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
                                enum gdrkit_shmem_signal operation, int pe);
int gdrkit_shmem_signal_op(uint64_t* signal, uint64_t value, enum gdrkit_shmem_signal operation, int pe);
/* The caller's own signal word. */
int gdrkit_shmem_signal_fetch(const uint64_t* signal, uint64_t* value);
/* Waits until the caller's own word compares as asked; *seen (may be NULL) is what it held then. */
int gdrkit_shmem_signal_wait_until(const uint64_t* signal, enum gdrkit_shmem_comparison comparison, uint64_t value,
                                   uint64_t* seen);

/* On a naturally aligned word of 4 or 8 bytes. `compare` counts for COMPARE_SWAP alone; *fetched (may be NULL, and then
 * the call need not wait for the answer) is the word's value before. Atomic with respect to each other and to GPU
 * kernels' system-scope atomics, not to puts. FETCH and SET are a load and a store; all others run on the GPU. */
int gdrkit_shmem_atomic(void* target, size_t size_bytes, enum gdrkit_shmem_atomic_operation operation, uint64_t operand,
                        uint64_t compare, uint64_t* fetched, int pe);

/* Waits until the caller's own word compares as asked, as signed or unsigned. */
int gdrkit_shmem_wait_until(const void* address, enum gdrkit_shmem_word word, enum gdrkit_shmem_comparison comparison,
                            uint64_t value);
/* 1 when it does, 0 when not. */
int gdrkit_shmem_test(const void* address, enum gdrkit_shmem_word word, enum gdrkit_shmem_comparison comparison,
                      uint64_t value);

/* Many words of the caller's own. */
struct gdrkit_shmem_words {
  const void* address; /* of the first; they follow each other */
  size_t count;
  enum gdrkit_shmem_word word;
  enum gdrkit_shmem_comparison comparison;
  const uint64_t* values; /* to compare with */
  size_t n_values;        /* 1: the same for all; `count`: one for each */
  const int* skip;        /* NULL, or one for each word: where it is not 0, nothing is asked of that word */
};
/* Wait until each word has compared as asked, at whatever time; until one does, *index; until some do: their indices,
 * in rising order, in indices[count], and how many in *n_found. Where all words are left out, wait_until_any is
 * -ENODATA, and wait_until_some finds 0 at once. If several words compare as asked, wait_until_any and test_any return
 * any of them. */
int gdrkit_shmem_wait_until_all(const struct gdrkit_shmem_words* words);
int gdrkit_shmem_wait_until_any(const struct gdrkit_shmem_words* words, size_t* index);
int gdrkit_shmem_wait_until_some(const struct gdrkit_shmem_words* words, size_t* indices, size_t* n_found);
/* The same at one look: 1 when all do (or all are left out); 1 when one does; 0, and how many do in *n_found. */
int gdrkit_shmem_test_all(const struct gdrkit_shmem_words* words);
int gdrkit_shmem_test_any(const struct gdrkit_shmem_words* words, size_t* index);
int gdrkit_shmem_test_some(const struct gdrkit_shmem_words* words, size_t* indices, size_t* n_found);

/* Ordering. */

int gdrkit_shmem_fence(void); /* earlier puts of this PE reach each PE before later ones */
int gdrkit_shmem_quiet(void); /* earlier puts, gets and atomics of this PE are complete, visible to every PE */

/* On streams. `stream` is a stream of the PE's GPU (a CUstream or cudaStream_t; NULL: CUDA's default stream). Each call
 * adds work to it and returns: what is wrong with the arguments is refused at once, and the rest happens when the
 * stream comes to it. Work of one stream is done in its order; a signal is seen behind all work before it. Until the
 * stream has passed a put its source must stay as it is, and so long a get's target holds nothing; a source in host
 * memory that is not pinned may be read during the call. Works under stream capture. To PEs that this GPU does not
 * reach (other machines) the CPU does it during the call, after it has waited for the stream. gdrkit_shmem_fence and
 * quiet of the CPU have nothing to do with streams. */

int gdrkit_shmem_put_on_stream(void* target, const void* source, size_t size_bytes, int pe, void* stream);
int gdrkit_shmem_get_on_stream(void* target, const void* source, size_t size_bytes, int pe, void* stream);
/* Reads the value, of at most 1024 bytes in host memory, during the call. */
int gdrkit_shmem_put_value_on_stream(void* target, const void* value, size_t size_bytes, int pe, void* stream);
int gdrkit_shmem_put_signal_on_stream(void* target, const void* source, size_t size_bytes, uint64_t* signal,
                                      uint64_t value, enum gdrkit_shmem_signal operation, int pe, void* stream);
int gdrkit_shmem_signal_op_on_stream(uint64_t* signal, uint64_t value, enum gdrkit_shmem_signal operation, int pe,
                                     void* stream);
/* Holds the stream until the caller's own word compares as asked, at most as long as the PE's limit (a minute where it
 * has none) or until a PE has ended; then the stream goes on, and the next quiet, barrier_all or stream_synchronize
 * returns -ETIMEDOUT or -ECONNRESET. The wait occupies one thread of the GPU: streams that wait for each other need
 * room to run at the same time. */
int gdrkit_shmem_wait_until_on_stream(const void* address, enum gdrkit_shmem_word word,
                                      enum gdrkit_shmem_comparison comparison, uint64_t value, void* stream);
int gdrkit_shmem_signal_wait_until_on_stream(const uint64_t* signal, enum gdrkit_shmem_comparison comparison,
                                             uint64_t value, void* stream);
/* When the stream has passed it, its earlier puts, gets and signals are complete, and so is what quiet of the CPU
 * completes: the call may wait for that part. */
int gdrkit_shmem_quiet_on_stream(void* stream);
/* For programs without CUDA code, and for the emulated device, which has no other streams: a stream that waits for no
 * other one, its end, and a wait for all work that it was given (also of NULL and CUDA's streams). */
int gdrkit_shmem_stream_create(void** stream);
int gdrkit_shmem_stream_destroy(void* stream);
int gdrkit_shmem_stream_synchronize(void* stream);

/* Collective over all PEs. */

int gdrkit_shmem_sync_all(void);    /* all PEs have come here; completes nothing */
int gdrkit_shmem_barrier_all(void); /* quiet, then sync_all */

/* Typed functions, made from one list: gdrkit_shmem_<name>_calloc(count, &address), _put(target, source, count, pe),
 * _get, _put_nbi, _get_nbi, _p(target, value, pe), _g(source, &value, pe), _put_on_stream, _get_on_stream and
 * _p_on_stream. */

/* clang-format off */
#define GDRKIT_SHMEM_FOR_EACH_TYPE(X)                                                                            \
  X(float, float) X(double, double) X(char, char) X(schar, signed char) X(uchar, unsigned char)                  \
  X(short, short) X(ushort, unsigned short) X(int, int) X(uint, unsigned) X(long, long) X(ulong, unsigned long)  \
  X(longlong, long long) X(ulonglong, unsigned long long) X(int8, int8_t) X(uint8, uint8_t)                      \
  X(int16, int16_t) X(uint16, uint16_t) X(int32, int32_t) X(uint32, uint32_t) X(int64, int64_t)                  \
  X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* clang-format on */

#define GDRKIT_SHMEM_DEFINE_TYPED(name, type)                                                                          \
  static inline int gdrkit_shmem_##name##_calloc(size_t count, type** address) {                                       \
    void* memory = NULL;                                                                                               \
    const int result = gdrkit_shmem_calloc(count, sizeof(type), address == NULL ? NULL : &memory);                     \
    if (result == 0) *address = GDRKIT_SHMEM_CAST(type*, memory);                                                      \
    return result;                                                                                                     \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_put(type* target, const type* source, size_t count, int pe) {                \
    return count > SIZE_MAX / sizeof(type) ? -EINVAL : gdrkit_shmem_put(target, source, count * sizeof(type), pe);     \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_get(type* target, const type* source, size_t count, int pe) {                \
    return count > SIZE_MAX / sizeof(type) ? -EINVAL : gdrkit_shmem_get(target, source, count * sizeof(type), pe);     \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_put_nbi(type* target, const type* source, size_t count, int pe) {            \
    return count > SIZE_MAX / sizeof(type) ? -EINVAL : gdrkit_shmem_put_nbi(target, source, count * sizeof(type), pe); \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_get_nbi(type* target, const type* source, size_t count, int pe) {            \
    return count > SIZE_MAX / sizeof(type) ? -EINVAL : gdrkit_shmem_get_nbi(target, source, count * sizeof(type), pe); \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_p(type* target, type value, int pe) {                                        \
    return gdrkit_shmem_put(target, &value, sizeof value, pe);                                                         \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_g(const type* source, type* value, int pe) {                                 \
    return gdrkit_shmem_get(value, source, sizeof *value, pe);                                                         \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_put_on_stream(type* target, const type* source, size_t count, int pe,        \
                                                        void* stream) {                                                \
    return count > SIZE_MAX / sizeof(type)                                                                             \
               ? -EINVAL                                                                                               \
               : gdrkit_shmem_put_on_stream(target, source, count * sizeof(type), pe, stream);                         \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_get_on_stream(type* target, const type* source, size_t count, int pe,        \
                                                        void* stream) {                                                \
    return count > SIZE_MAX / sizeof(type)                                                                             \
               ? -EINVAL                                                                                               \
               : gdrkit_shmem_get_on_stream(target, source, count * sizeof(type), pe, stream);                         \
  }                                                                                                                    \
  static inline int gdrkit_shmem_##name##_p_on_stream(type* target, type value, int pe, void* stream) {                \
    return gdrkit_shmem_put_value_on_stream(target, &value, sizeof value, pe, stream);                                 \
  }
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_SHMEM_DEFINE_TYPED)
#undef GDRKIT_SHMEM_DEFINE_TYPED

#ifdef __cplusplus
}
#endif

#include <gdrkit/shmem_collectives.h>
#endif
