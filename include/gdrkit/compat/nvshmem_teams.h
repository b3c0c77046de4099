/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's teams, barriers and collectives. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_TEAMS_H
#define GDRKIT_COMPAT_NVSHMEM_TEAMS_H

#include "nvshmem_base.h"

/* Nothing in it counts. */
typedef struct {
  int version;
  int num_contexts;
} nvshmem_team_config_t;
#define NVSHMEM_TEAM_CONFIG_INITIALIZER \
  { 0, 0 }

GDRKIT_NVSHMEM_BOTH int nvshmem_team_my_pe(nvshmem_team_t team) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_shmem_team_my_pe(team), ::gdrkit::shmem::team_my_pe(GDRKIT_NVSHMEM_STATE, team));
}
GDRKIT_NVSHMEM_BOTH int nvshmem_team_n_pes(nvshmem_team_t team) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_shmem_team_n_pes(team), ::gdrkit::shmem::team_n_pes(GDRKIT_NVSHMEM_STATE, team));
}
/* -1: the PE is not in the other team. */
GDRKIT_NVSHMEM_BOTH int nvshmem_team_translate_pe(nvshmem_team_t team, int pe, nvshmem_team_t other) {
  GDRKIT_NVSHMEM_SPLIT(const int translated = gdrkit_shmem_team_translate_pe(team, pe, other);
                       return translated < 0 ? -1 : translated,
                              return ::gdrkit::shmem::team_translate_pe(GDRKIT_NVSHMEM_STATE, team, pe, other));
}
static inline int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                                             const nvshmem_team_config_t* config, long mask, nvshmem_team_t* team) {
  (void)config, (void)mask;
  return gdrkit_shmem_team_split_strided(parent, start, stride, size, team);
}
static inline int nvshmem_team_split_2d(nvshmem_team_t parent, int x_range, const nvshmem_team_config_t* x_config,
                                        long x_mask, nvshmem_team_t* x_team, const nvshmem_team_config_t* y_config,
                                        long y_mask, nvshmem_team_t* y_team) {
  (void)x_config, (void)x_mask, (void)y_config, (void)y_mask;
  return gdrkit_shmem_team_split_2d(parent, x_range, x_team, y_team);
}
static inline void nvshmem_team_destroy(nvshmem_team_t team) {
  gdrkit_nvshmem_check(gdrkit_shmem_team_destroy(team), "nvshmem_team_destroy");
}

/* Barriers. In GPU kernels, by one thread, a warp or a block of each PE. */

#define GDRKIT_NVSHMEM_MEET(verb)                                                                                 \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##verb(nvshmem_team_t team) {                                                   \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                  \
        gdrkit_shmem_team_##verb(team),                                                                           \
        ::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, team, ::gdrkit::shmem::thread()) ? 0 : 1);             \
  }                                                                                                               \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##verb##_all(void) {                                                           \
    GDRKIT_NVSHMEM_SPLIT(                                                                                         \
        gdrkit_nvshmem_check(gdrkit_shmem_##verb##_all(), "nvshmem_" #verb "_all"),                               \
        (void)::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, NVSHMEM_TEAM_WORLD, ::gdrkit::shmem::thread())); \
  }                                                                                                               \
  static inline int nvshmemx_##verb##_on_stream(nvshmem_team_t team, cudaStream_t stream) {                       \
    return gdrkit_shmem_##verb##_on_stream(team, stream);                                                         \
  }                                                                                                               \
  static inline void nvshmemx_##verb##_all_on_stream(cudaStream_t stream) {                                       \
    gdrkit_nvshmem_check(gdrkit_shmem_##verb##_all_on_stream(stream), "nvshmemx_" #verb "_all_on_stream");        \
  }                                                                                                               \
  GDRKIT_NVSHMEM_MEET_BY(verb, warp)                                                                              \
  GDRKIT_NVSHMEM_MEET_BY(verb, block)
#define GDRKIT_NVSHMEM_MEET_BY(verb, group)                                                                 \
  GDRKIT_NVSHMEM_GPU(int nvshmemx_##verb##_##group(nvshmem_team_t team) {                                   \
    return ::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, team, ::gdrkit::shmem::group()) ? 0 : 1;      \
  })                                                                                                        \
  GDRKIT_NVSHMEM_GPU(void nvshmemx_##verb##_all_##group() {                                                 \
    (void)::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, NVSHMEM_TEAM_WORLD, ::gdrkit::shmem::group()); \
  })
GDRKIT_NVSHMEM_MEET(barrier)
GDRKIT_NVSHMEM_MEET(sync)
#undef GDRKIT_NVSHMEM_MEET_BY
#undef GDRKIT_NVSHMEM_MEET
GDRKIT_NVSHMEM_BOTH int nvshmem_team_sync(nvshmem_team_t team) { return nvshmem_sync(team); }
static inline int nvshmemx_team_sync_on_stream(nvshmem_team_t team, cudaStream_t stream) {
  return nvshmemx_sync_on_stream(team, stream);
}

/* Collectives: 0 on success. One macro for those that move data; broadcast has a root behind the count. */

#define GDRKIT_NVSHMEM_PARAMETER_broadcast , int root
#define GDRKIT_NVSHMEM_ARGUMENT_broadcast , root
#define GDRKIT_NVSHMEM_PARAMETER_fcollect
#define GDRKIT_NVSHMEM_ARGUMENT_fcollect
#define GDRKIT_NVSHMEM_PARAMETER_alltoall
#define GDRKIT_NVSHMEM_ARGUMENT_alltoall
#define GDRKIT_NVSHMEM_COLLECT(verb, N, X, S, type, bytes)                                                      \
  GDRKIT_NVSHMEM_BOTH int N##verb##S(nvshmem_team_t team, type* target, const type* source,                     \
                                     size_t count GDRKIT_NVSHMEM_PARAMETER_##verb) {                            \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                \
        gdrkit_shmem_##verb(team, target, source, count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb),               \
        ::gdrkit::shmem::verb(GDRKIT_NVSHMEM_STATE, team, target, source,                                       \
                              count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb, ::gdrkit::shmem::thread())         \
            ? 0                                                                                                 \
            : 1);                                                                                               \
  }                                                                                                             \
  static inline int X##verb##S##_on_stream(nvshmem_team_t team, type* target, const type* source,               \
                                           size_t count GDRKIT_NVSHMEM_PARAMETER_##verb, cudaStream_t stream) { \
    return gdrkit_shmem_##verb##_on_stream(team, target, source, count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb, \
                                           stream);                                                             \
  }                                                                                                             \
  GDRKIT_NVSHMEM_COLLECT_BY(verb, X, S, type, bytes, warp)                                                      \
  GDRKIT_NVSHMEM_COLLECT_BY(verb, X, S, type, bytes, block)
#define GDRKIT_NVSHMEM_COLLECT_BY(verb, X, S, type, bytes, group)                                         \
  GDRKIT_NVSHMEM_GPU(int X##verb##S##_##group(nvshmem_team_t team, type* target, const type* source,      \
                                              size_t count GDRKIT_NVSHMEM_PARAMETER_##verb) {             \
    return ::gdrkit::shmem::verb(GDRKIT_NVSHMEM_STATE, team, target, source,                              \
                                 count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb, ::gdrkit::shmem::group()) \
               ? 0                                                                                        \
               : 1;                                                                                       \
  })
#define GDRKIT_NVSHMEM_MOVING(N, X, S, type, bytes)       \
  GDRKIT_NVSHMEM_COLLECT(broadcast, N, X, S, type, bytes) \
  GDRKIT_NVSHMEM_COLLECT(fcollect, N, X, S, type, bytes)  \
  GDRKIT_NVSHMEM_COLLECT(alltoall, N, X, S, type, bytes)

#define GDRKIT_NVSHMEM_REDUCTION(name, type, reduction, REDUCTION) \
  GDRKIT_NVSHMEM_REDUCE(reduce, name, type, reduction, REDUCTION)  \
  GDRKIT_NVSHMEM_REDUCE(reducescatter, name, type, reduction, REDUCTION)
#define GDRKIT_NVSHMEM_REDUCE(verb, name, type, reduction, REDUCTION)                                                  \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##name##_##reduction##_##verb(nvshmem_team_t team, type* target, const type* source, \
                                                                size_t count) {                                        \
    return GDRKIT_NVSHMEM_SPLIT(gdrkit_shmem_##name##_##reduction##_##verb(team, target, source, count),               \
                                GDRKIT_NVSHMEM_REDUCE_BY(verb, REDUCTION, thread));                                    \
  }                                                                                                                    \
  static inline int nvshmemx_##name##_##reduction##_##verb##_on_stream(                                                \
      nvshmem_team_t team, type* target, const type* source, size_t count, cudaStream_t stream) {                      \
    return gdrkit_shmem_##name##_##reduction##_##verb##_on_stream(team, target, source, count, stream);                \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_GPU(int nvshmemx_##name##_##reduction##_##verb##_warp(nvshmem_team_t team, type* target,              \
                                                                       const type* source, size_t count) {             \
    return GDRKIT_NVSHMEM_REDUCE_BY(verb, REDUCTION, warp);                                                            \
  })                                                                                                                   \
  GDRKIT_NVSHMEM_GPU(int nvshmemx_##name##_##reduction##_##verb##_block(nvshmem_team_t team, type* target,             \
                                                                        const type* source, size_t count) {            \
    return GDRKIT_NVSHMEM_REDUCE_BY(verb, REDUCTION, block);                                                           \
  })
#define GDRKIT_NVSHMEM_REDUCE_BY(verb, REDUCTION, group)                                                             \
  (::gdrkit::shmem::verb<REDUCTION>(GDRKIT_NVSHMEM_STATE, team, target, source, count, ::gdrkit::shmem::group()) ? 0 \
                                                                                                                 : 1)

#define GDRKIT_NVSHMEM_INTEGER_REDUCTIONS(name, type)         \
  GDRKIT_NVSHMEM_REDUCTION(name, type, and, GDRKIT_SHMEM_AND) \
  GDRKIT_NVSHMEM_REDUCTION(name, type, or, GDRKIT_SHMEM_OR)   \
  GDRKIT_NVSHMEM_REDUCTION(name, type, xor, GDRKIT_SHMEM_XOR)
#define GDRKIT_NVSHMEM_TYPED_COLLECTIVES(name, type)                                 \
  GDRKIT_NVSHMEM_MOVING(nvshmem_##name##_, nvshmemx_##name##_, , type, sizeof(type)) \
  GDRKIT_NVSHMEM_REDUCTION(name, type, sum, GDRKIT_SHMEM_SUM)                        \
  GDRKIT_NVSHMEM_REDUCTION(name, type, prod, GDRKIT_SHMEM_PROD)                      \
  GDRKIT_NVSHMEM_REDUCTION(name, type, min, GDRKIT_SHMEM_MIN)                        \
  GDRKIT_NVSHMEM_REDUCTION(name, type, max, GDRKIT_SHMEM_MAX)
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_NVSHMEM_TYPED_COLLECTIVES)
GDRKIT_NVSHMEM_FOR_EACH_WORD(GDRKIT_NVSHMEM_INTEGER_REDUCTIONS)
GDRKIT_NVSHMEM_MOVING(nvshmem_, nvshmemx_, mem, void, 1)

#undef GDRKIT_NVSHMEM_TYPED_COLLECTIVES
#undef GDRKIT_NVSHMEM_INTEGER_REDUCTIONS
#undef GDRKIT_NVSHMEM_REDUCE
#undef GDRKIT_NVSHMEM_REDUCTION
#undef GDRKIT_NVSHMEM_MOVING
#undef GDRKIT_NVSHMEM_COLLECT_BY
#undef GDRKIT_NVSHMEM_COLLECT

#endif
