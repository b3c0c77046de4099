/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Teams of PEs, and operations in which all PEs of a team take part: from the CPU, and in the order of a stream.
 * Included by gdrkit/shmem.h; for GPU kernels there is gdrkit/shmem_collectives.cuh. */
#ifndef GDRKIT_SHMEM_COLLECTIVES_H
#define GDRKIT_SHMEM_COLLECTIVES_H

#include <gdrkit/shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle of the calling thread's PE; other PEs may have another number for the same team. */
typedef int32_t gdrkit_shmem_team_t;

#define GDRKIT_SHMEM_TEAM_INVALID GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, -1)
#define GDRKIT_SHMEM_TEAM_WORLD GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, 0)  /* all PEs of the job */
#define GDRKIT_SHMEM_TEAM_SHARED GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, 1) /* PEs whose memory this GPU reaches */
#define GDRKIT_SHMEM_TEAM_NODE GDRKIT_SHMEM_CAST(gdrkit_shmem_team_t, 2)   /* PEs of this machine */
#define GDRKIT_SHMEM_TEAMS_MAX 32                                          /* per PE, including these three */

/* Errors are as in gdrkit/shmem.h. -EINVAL: no such team (destroyed, of another PE, INVALID), a target or source that
 * is no symmetric object or too small, a root outside the team; nothing is written then, and the PE has taken no part.
 */

int gdrkit_shmem_team_my_pe(gdrkit_shmem_team_t team); /* the caller's number in the team, from 0 */
int gdrkit_shmem_team_n_pes(gdrkit_shmem_team_t team);
/* The number in `other` of the PE that is `pe` in `team`; -ENOENT when it is not in `other`. */
int gdrkit_shmem_team_translate_pe(gdrkit_shmem_team_t team, int pe, gdrkit_shmem_team_t other);
/* Collective over `parent`: a team of its PEs start, start + stride, ... (size of them; the stride may be negative).
 * All pass the same numbers: -EPROTO else. *team is GDRKIT_SHMEM_TEAM_INVALID on PEs outside. -ENOSPC: some PE of the
 * parent is in as many teams as there can be. */
int gdrkit_shmem_team_split_strided(gdrkit_shmem_team_t parent, int start, int stride, int size,
                                    gdrkit_shmem_team_t* team);
/* Collective over `parent`, as rows of x_range PEs: *x_team is the caller's row, *y_team its column. */
int gdrkit_shmem_team_split_2d(gdrkit_shmem_team_t parent, int x_range, gdrkit_shmem_team_t* x_team,
                               gdrkit_shmem_team_t* y_team);
/* Collective over `team`, once its operations on streams are over. Handles of it are refused from then on. The three
 * teams above stay: -EINVAL. INVALID does nothing. */
int gdrkit_shmem_team_destroy(gdrkit_shmem_team_t team);
int gdrkit_shmem_team_sync(gdrkit_shmem_team_t team);    /* all of its PEs have come here; completes nothing */
int gdrkit_shmem_team_barrier(gdrkit_shmem_team_t team); /* quiet, then team_sync */

/* Collectives. All PEs of the team call the same one with the same sizes, and with `target` and `source` at the same
 * place of the symmetric heap. A PE's source and target are used by nobody before it calls and after its call is over,
 * so that calls may follow each other without a barrier between them.
 *
 * A call is over when it returns; `_on_stream`, when the stream (a CUstream or cudaStream_t, NULL for the default one)
 * has come past it. At most one collective of a team is under way on a PE at a time, and all PEs begin them in the same
 * order: those of several streams are ordered by the caller, as by events.
 *
 * Calls that differ between PEs are refused everywhere with -EPROTO. On streams they are compared with
 * GDRKIT_SHMEM_CHECK_COLLECTIVES=1 only (each call then waits for the CPUs of the team); without it they end at the
 * limit. No GPU kernel waits for longer than the PE's limit. A collective that ended so leaves its team broken: later
 * calls with the team return -ETIMEDOUT and say who waited for whom, as the next barrier_all, quiet or
 * stream_synchronize does.
 *
 * target and source may be the same in reduce and broadcast, and in fcollect the source may be its own part of the
 * target; else they must not overlap. Size 0 does nothing. */

/* The root's source to everyone's target, the root's too. */
int gdrkit_shmem_broadcast(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes, int root);
int gdrkit_shmem_broadcast_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                     int root, void* stream);
/* Everyone's source, one after the other by PE, to everyone's target. */
int gdrkit_shmem_fcollect(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes);
int gdrkit_shmem_fcollect_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                    void* stream);
/* Part i of PE j's source becomes part j of PE i's target; size_bytes is a part's. */
int gdrkit_shmem_alltoall(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes);
int gdrkit_shmem_alltoall_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                    void* stream);

/* An element: its size in bytes, plus 16 for signed and 32 for floating-point types, 64 for bfloat16. */
enum gdrkit_shmem_type GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_TYPE_UINT8 = 1,
  GDRKIT_SHMEM_TYPE_UINT16 = 2,
  GDRKIT_SHMEM_TYPE_UINT32 = 4,
  GDRKIT_SHMEM_TYPE_UINT64 = 8,
  GDRKIT_SHMEM_TYPE_INT8 = 16 + 1,
  GDRKIT_SHMEM_TYPE_INT16 = 16 + 2,
  GDRKIT_SHMEM_TYPE_INT32 = 16 + 4,
  GDRKIT_SHMEM_TYPE_INT64 = 16 + 8,
  GDRKIT_SHMEM_TYPE_HALF = 32 + 16 + 2,
  GDRKIT_SHMEM_TYPE_FLOAT = 32 + 16 + 4,
  GDRKIT_SHMEM_TYPE_DOUBLE = 32 + 16 + 8,
  GDRKIT_SHMEM_TYPE_BFLOAT16 = 64 + 32 + 16 + 2
};
/* AND, OR and XOR are for integers: -EINVAL else. */
enum gdrkit_shmem_reduction GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_SUM = 0,
  GDRKIT_SHMEM_PROD = 1,
  GDRKIT_SHMEM_MIN = 2,
  GDRKIT_SHMEM_MAX = 3,
  GDRKIT_SHMEM_AND = 4,
  GDRKIT_SHMEM_OR = 5,
  GDRKIT_SHMEM_XOR = 6
};
/* Element i of everyone's target is the reduction of element i of all sources: the same bits on all PEs. */
int gdrkit_shmem_reduce(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type, enum gdrkit_shmem_reduction reduction,
                        void* target, const void* source, size_t count);
int gdrkit_shmem_reduce_on_stream(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type,
                                  enum gdrkit_shmem_reduction reduction, void* target, const void* source, size_t count,
                                  void* stream);
/* PE i's target becomes part i of the reduction; count is a part's, a source has one part for each PE. */
int gdrkit_shmem_reducescatter(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type,
                               enum gdrkit_shmem_reduction reduction, void* target, const void* source, size_t count);
int gdrkit_shmem_reducescatter_on_stream(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type,
                                         enum gdrkit_shmem_reduction reduction, void* target, const void* source,
                                         size_t count, void* stream);

/* All PEs of the team have come here. A barrier also makes visible to all of them what the GPU wrote before it in the
 * stream's order. */
int gdrkit_shmem_sync_on_stream(gdrkit_shmem_team_t team, void* stream);
int gdrkit_shmem_barrier_on_stream(gdrkit_shmem_team_t team, void* stream);
int gdrkit_shmem_sync_all_on_stream(void* stream);
int gdrkit_shmem_barrier_all_on_stream(void* stream);

/* Typed functions, made from the list of gdrkit/shmem.h: gdrkit_shmem_<name>_broadcast(team, target, source, count,
 * root), _fcollect, _alltoall, and _<reduction>_reduce and _<reduction>_reducescatter(team, target, source, count),
 * with sum, prod, min, max, and, or, xor; each also with _on_stream and a stream at the end. */

/* clang-format off */
#define GDRKIT_SHMEM_FOR_EACH_REDUCTION(X, name, type)                                                        \
  X(name, type, sum, GDRKIT_SHMEM_SUM) X(name, type, prod, GDRKIT_SHMEM_PROD) X(name, type, min, GDRKIT_SHMEM_MIN) \
  X(name, type, max, GDRKIT_SHMEM_MAX) X(name, type, and, GDRKIT_SHMEM_AND) X(name, type, or, GDRKIT_SHMEM_OR)     \
  X(name, type, xor, GDRKIT_SHMEM_XOR)
/* clang-format on */

/* enum gdrkit_shmem_type of a C type. */
#define GDRKIT_SHMEM_TYPE_OF(type)                                                                         \
  GDRKIT_SHMEM_CAST(enum gdrkit_shmem_type,                                                                \
                    sizeof(type) | (GDRKIT_SHMEM_CAST(type, -1) > GDRKIT_SHMEM_CAST(type, 0) ? 0U : 16U) | \
                        (GDRKIT_SHMEM_CAST(type, 0.5) > GDRKIT_SHMEM_CAST(type, 0) ? 32U : 0U))

#define GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, operation, parameter, argument)                                \
  static inline int gdrkit_shmem_##name##_##operation(gdrkit_shmem_team_t team, type* target, const type* source, \
                                                      size_t count parameter) {                                   \
    return count > SIZE_MAX / sizeof(type)                                                                        \
               ? -EINVAL                                                                                          \
               : gdrkit_shmem_##operation(team, target, source, count * sizeof(type) argument);                   \
  }
#define GDRKIT_SHMEM_COMMA ,
#define GDRKIT_SHMEM_DEFINE_REDUCTION(name, type, reduction, number)                                               \
  static inline int gdrkit_shmem_##name##_##reduction##_reduce(gdrkit_shmem_team_t team, type* target,             \
                                                               const type* source, size_t count) {                 \
    return gdrkit_shmem_reduce(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count);                   \
  }                                                                                                                \
  static inline int gdrkit_shmem_##name##_##reduction##_reduce_on_stream(                                          \
      gdrkit_shmem_team_t team, type* target, const type* source, size_t count, void* stream) {                    \
    return gdrkit_shmem_reduce_on_stream(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count, stream); \
  }                                                                                                                \
  static inline int gdrkit_shmem_##name##_##reduction##_reducescatter(gdrkit_shmem_team_t team, type* target,      \
                                                                      const type* source, size_t count) {          \
    return gdrkit_shmem_reducescatter(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count);            \
  }                                                                                                                \
  static inline int gdrkit_shmem_##name##_##reduction##_reducescatter_on_stream(                                   \
      gdrkit_shmem_team_t team, type* target, const type* source, size_t count, void* stream) {                    \
    return gdrkit_shmem_reducescatter_on_stream(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count,   \
                                                stream);                                                           \
  }
#define GDRKIT_SHMEM_DEFINE_COLLECTIVES(name, type)                                                           \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, broadcast, GDRKIT_SHMEM_COMMA int root, GDRKIT_SHMEM_COMMA root) \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, fcollect, , )                                                    \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, alltoall, , )                                                    \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, broadcast_on_stream,                                             \
                                 GDRKIT_SHMEM_COMMA int root GDRKIT_SHMEM_COMMA void* stream,                 \
                                 GDRKIT_SHMEM_COMMA root GDRKIT_SHMEM_COMMA stream)                           \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, fcollect_on_stream, GDRKIT_SHMEM_COMMA void* stream,             \
                                 GDRKIT_SHMEM_COMMA stream)                                                   \
  GDRKIT_SHMEM_DEFINE_COLLECTIVE(name, type, alltoall_on_stream, GDRKIT_SHMEM_COMMA void* stream,             \
                                 GDRKIT_SHMEM_COMMA stream)                                                   \
  GDRKIT_SHMEM_FOR_EACH_REDUCTION(GDRKIT_SHMEM_DEFINE_REDUCTION, name, type)
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_SHMEM_DEFINE_COLLECTIVES)
#undef GDRKIT_SHMEM_DEFINE_COLLECTIVES
#undef GDRKIT_SHMEM_DEFINE_REDUCTION
#undef GDRKIT_SHMEM_COMMA
#undef GDRKIT_SHMEM_DEFINE_COLLECTIVE

#ifdef __cplusplus
}
#endif
#endif
