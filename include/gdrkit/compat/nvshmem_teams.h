/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's teams, barriers and collectives. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_TEAMS_H
#define GDRKIT_COMPAT_NVSHMEM_TEAMS_H

#include "nvshmem_base.h"
#include "nvshmem_rma.h"

typedef uint64_t nvshmemx_team_uniqueid_t;
/* The layout is NVSHMEM's. gdrkit has no contexts; only nvshmemx_team_init uses a value, `uniqueid`. */
typedef struct {
  int version;
  int num_contexts;
  nvshmemx_team_uniqueid_t uniqueid;
  char padding[48];
} nvshmem_team_config_t;
#define GDRKIT_NVSHMEM_TEAM_CONFIG_VERSION GDRKIT_SHMEM_CAST(int, (2 << 16) + sizeof(nvshmem_team_config_t))
#define NVSHMEM_TEAM_CONFIG_INITIALIZER                      \
  {                                                          \
    GDRKIT_NVSHMEM_TEAM_CONFIG_VERSION, 0, UINT64_MAX, { 0 } \
  }
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS 1L
#define NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID 2L

/* These functions return -1 for NVSHMEM_TEAM_INVALID, and if a PE is not in the other team. */
GDRKIT_NVSHMEM_BOTH int nvshmem_team_my_pe(nvshmem_team_t team) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_or_invalid(gdrkit_shmem_team_my_pe(team)),
                              ::gdrkit::shmem::detail::my_pe_of(GDRKIT_NVSHMEM_STATE, team));
}
GDRKIT_NVSHMEM_BOTH int nvshmem_team_n_pes(nvshmem_team_t team) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_or_invalid(gdrkit_shmem_team_n_pes(team)),
                              ::gdrkit::shmem::detail::n_pes_of(GDRKIT_NVSHMEM_STATE, team));
}
GDRKIT_NVSHMEM_BOTH int nvshmem_team_translate_pe(nvshmem_team_t team, int pe, nvshmem_team_t other) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_or_invalid(gdrkit_shmem_team_translate_pe(team, pe, other)),
                              ::gdrkit::shmem::detail::translate_pe(GDRKIT_NVSHMEM_STATE, team, pe, other));
}
GDRKIT_NVSHMEM_HOST void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
  const nvshmem_team_config_t same_for_all = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  (void)team;
  *config = same_for_all;
}
GDRKIT_NVSHMEM_HOST int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                                                   const nvshmem_team_config_t* config, long mask,
                                                   nvshmem_team_t* team) {
  (void)config, (void)mask;
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_team_split_strided(parent, start, stride, size, team));
}
GDRKIT_NVSHMEM_HOST int nvshmem_team_split_2d(nvshmem_team_t parent, int x_range, const nvshmem_team_config_t* x_config,
                                              long x_mask, nvshmem_team_t* x_team,
                                              const nvshmem_team_config_t* y_config, long y_mask,
                                              nvshmem_team_t* y_team) {
  (void)x_config, (void)x_mask, (void)y_config, (void)y_mask;
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_team_split_2d(parent, x_range, x_team, y_team));
}
GDRKIT_NVSHMEM_HOST int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid) {
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_team_get_unique_id(uniqueid));
}
GDRKIT_NVSHMEM_HOST int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes,
                                           int pe) {
  if (team != NULL) *team = NVSHMEM_TEAM_INVALID;
  if (config == NULL || (mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) == 0) {
    fputs(
        "nvshmemx_team_init: the unique id is missing; pass a config with it and "
        "NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID\n",
        stderr);
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  return gdrkit_nvshmem_report(gdrkit_shmem_team_init(config->uniqueid, n_pes, pe, team), "nvshmemx_team_init");
}
GDRKIT_NVSHMEM_HOST void nvshmem_team_destroy(nvshmem_team_t team) {
  /* Does not abort: nvshmem4py destroys any team that its caller names. */
  gdrkit_nvshmem_report(gdrkit_shmem_team_destroy(team), "nvshmem_team_destroy");
}

/* Barriers. In GPU kernels, one thread, one warp or one block of each PE takes part. */

#define GDRKIT_NVSHMEM_SYNCHRONIZE(verb)                                                                          \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##verb(nvshmem_team_t team) {                                                   \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                  \
        GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_team_##verb(team)),                                                    \
        ::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, team, ::gdrkit::shmem::thread()) ? 0 : 1);             \
  }                                                                                                               \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##verb##_all(void) {                                                           \
    GDRKIT_NVSHMEM_SPLIT(                                                                                         \
        gdrkit_nvshmem_check(gdrkit_shmem_##verb##_all(), "nvshmem_" #verb "_all"),                               \
        (void)::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, NVSHMEM_TEAM_WORLD, ::gdrkit::shmem::thread())); \
  }                                                                                                               \
  GDRKIT_NVSHMEM_HOST int nvshmemx_##verb##_on_stream(nvshmem_team_t team, cudaStream_t stream) {                 \
    return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_##verb##_on_stream(team, stream));                                  \
  }                                                                                                               \
  GDRKIT_NVSHMEM_HOST void nvshmemx_##verb##_all_on_stream(cudaStream_t stream) {                                 \
    gdrkit_nvshmem_check(gdrkit_shmem_##verb##_all_on_stream(stream), "nvshmemx_" #verb "_all_on_stream");        \
  }                                                                                                               \
  GDRKIT_NVSHMEM_SYNCHRONIZE_BY(verb, warp)                                                                       \
  GDRKIT_NVSHMEM_SYNCHRONIZE_BY(verb, block)
#define GDRKIT_NVSHMEM_SYNCHRONIZE_BY(verb, group)                                                          \
  GDRKIT_NVSHMEM_GPU(int nvshmemx_##verb##_##group(nvshmem_team_t team) {                                   \
    return ::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, team, ::gdrkit::shmem::group()) ? 0 : 1;      \
  })                                                                                                        \
  GDRKIT_NVSHMEM_GPU(void nvshmemx_##verb##_all_##group() {                                                 \
    (void)::gdrkit::shmem::team_##verb(GDRKIT_NVSHMEM_STATE, NVSHMEM_TEAM_WORLD, ::gdrkit::shmem::group()); \
  })
GDRKIT_NVSHMEM_SYNCHRONIZE(barrier)
GDRKIT_NVSHMEM_SYNCHRONIZE(sync)
#undef GDRKIT_NVSHMEM_SYNCHRONIZE_BY
#undef GDRKIT_NVSHMEM_SYNCHRONIZE
GDRKIT_NVSHMEM_BOTH int nvshmem_team_sync(nvshmem_team_t team) { return nvshmem_sync(team); }
GDRKIT_NVSHMEM_GPU(int nvshmemx_team_sync_warp(nvshmem_team_t team) { return nvshmemx_sync_warp(team); })
GDRKIT_NVSHMEM_GPU(int nvshmemx_team_sync_block(nvshmem_team_t team) { return nvshmemx_sync_block(team); })
GDRKIT_NVSHMEM_GPU(int nvshmemx_barrier_warpgroup(nvshmem_team_t team) {
  return ::gdrkit::shmem::team_barrier(GDRKIT_NVSHMEM_STATE, team, ::gdrkit::shmem::detail::warpgroup()) ? 0 : 1;
})
GDRKIT_NVSHMEM_HOST int nvshmemx_team_sync_on_stream(nvshmem_team_t team, cudaStream_t stream) {
  return nvshmemx_sync_on_stream(team, stream);
}

/* Collectives return 0 on success. One macro defines those that move data; broadcast has a root after the count. */

#define GDRKIT_NVSHMEM_PARAMETER_broadcast , int root
#define GDRKIT_NVSHMEM_ARGUMENT_broadcast , root
#define GDRKIT_NVSHMEM_PARAMETER_fcollect
#define GDRKIT_NVSHMEM_ARGUMENT_fcollect
#define GDRKIT_NVSHMEM_PARAMETER_alltoall
#define GDRKIT_NVSHMEM_ARGUMENT_alltoall
#define GDRKIT_NVSHMEM_COLLECT(verb, N, X, S, type, bytes)                                                             \
  GDRKIT_NVSHMEM_BOTH int N##verb##S(nvshmem_team_t team, type* target, const type* source,                            \
                                     size_t count GDRKIT_NVSHMEM_PARAMETER_##verb) {                                   \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                       \
        GDRKIT_NVSHMEM_RESULT(                                                                                         \
            gdrkit_shmem_##verb(team, target, source, count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb)),                 \
        ::gdrkit::shmem::verb(GDRKIT_NVSHMEM_STATE, team, target, source,                                              \
                              count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb, ::gdrkit::shmem::thread())                \
            ? 0                                                                                                        \
            : 1);                                                                                                      \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_HOST int X##verb##S##_on_stream(nvshmem_team_t team, type* target, const type* source,                \
                                                 size_t count GDRKIT_NVSHMEM_PARAMETER_##verb, cudaStream_t stream) {  \
    return GDRKIT_NVSHMEM_RESULT(                                                                                      \
        gdrkit_shmem_##verb##_on_stream(team, target, source, count * (bytes)GDRKIT_NVSHMEM_ARGUMENT_##verb, stream)); \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_COLLECT_BY(verb, X, S, type, bytes, warp)                                                             \
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

/* enum gdrkit_shmem_type of a C or C++ type. */
#if defined(GDRKIT_NVSHMEM_HAS_HALF)
template <class Type>
constexpr enum gdrkit_shmem_type gdrkit_nvshmem_type_of() {
  return GDRKIT_SHMEM_TYPE_OF(Type);
}
template <>
constexpr enum gdrkit_shmem_type gdrkit_nvshmem_type_of<__half>() {
  return GDRKIT_SHMEM_TYPE_HALF;
}
template <>
constexpr enum gdrkit_shmem_type gdrkit_nvshmem_type_of<__nv_bfloat16>() {
  return GDRKIT_SHMEM_TYPE_BFLOAT16;
}
#define GDRKIT_NVSHMEM_TYPE_OF(type) gdrkit_nvshmem_type_of<type>()
#else
#define GDRKIT_NVSHMEM_TYPE_OF(type) GDRKIT_SHMEM_TYPE_OF(type)
#endif

#define GDRKIT_NVSHMEM_REDUCTION(name, type, reduction, REDUCTION) \
  GDRKIT_NVSHMEM_REDUCE(reduce, name, type, reduction, REDUCTION)  \
  GDRKIT_NVSHMEM_REDUCE(reducescatter, name, type, reduction, REDUCTION)
#define GDRKIT_NVSHMEM_REDUCE(verb, name, type, reduction, REDUCTION)                                                  \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##name##_##reduction##_##verb(nvshmem_team_t team, type* target, const type* source, \
                                                                size_t count) {                                        \
    return GDRKIT_NVSHMEM_SPLIT(GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_##verb(team, GDRKIT_NVSHMEM_TYPE_OF(type),          \
                                                                          REDUCTION, target, source, count)),          \
                                GDRKIT_NVSHMEM_REDUCE_BY(verb, type, REDUCTION, thread));                              \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_HOST int nvshmemx_##name##_##reduction##_##verb##_on_stream(                                          \
      nvshmem_team_t team, type* target, const type* source, size_t count, cudaStream_t stream) {                      \
    return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_##verb##_on_stream(team, GDRKIT_NVSHMEM_TYPE_OF(type), REDUCTION,        \
                                                                 target, source, count, stream));                      \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_GPU(int nvshmemx_##name##_##reduction##_##verb##_warp(nvshmem_team_t team, type* target,              \
                                                                       const type* source, size_t count) {             \
    return GDRKIT_NVSHMEM_REDUCE_BY(verb, type, REDUCTION, warp);                                                      \
  })                                                                                                                   \
  GDRKIT_NVSHMEM_GPU(int nvshmemx_##name##_##reduction##_##verb##_block(nvshmem_team_t team, type* target,             \
                                                                        const type* source, size_t count) {            \
    return GDRKIT_NVSHMEM_REDUCE_BY(verb, type, REDUCTION, block);                                                     \
  })
#define GDRKIT_NVSHMEM_ELEMENT(type) ::gdrkit::shmem::detail::ElementOf<type>::Type
#define GDRKIT_NVSHMEM_REDUCE_BY(verb, type, REDUCTION, group)                                         \
  (::gdrkit::shmem::verb<REDUCTION>(                                                                   \
       GDRKIT_NVSHMEM_STATE, team, reinterpret_cast<GDRKIT_NVSHMEM_ELEMENT(type)*>(target),            \
       reinterpret_cast<const GDRKIT_NVSHMEM_ELEMENT(type)*>(source), count, ::gdrkit::shmem::group()) \
       ? 0                                                                                             \
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
GDRKIT_NVSHMEM_FOR_EACH_TYPE(GDRKIT_NVSHMEM_TYPED_COLLECTIVES)
GDRKIT_NVSHMEM_FOR_EACH_WORD(GDRKIT_NVSHMEM_INTEGER_REDUCTIONS)
GDRKIT_NVSHMEM_FOR_EACH_NARROW(GDRKIT_NVSHMEM_INTEGER_REDUCTIONS)
GDRKIT_NVSHMEM_MOVING(nvshmem_, nvshmemx_, mem, void, 1)

/* Alltoall of strided elements, for the CPU: one transfer per element, unless the elements are contiguous. */
static inline int gdrkit_nvshmem_alltoalls(nvshmem_team_t team, void* target, const void* source,
                                           ptrdiff_t target_stride, ptrdiff_t source_stride, size_t count,
                                           size_t bytes) {
  const ptrdiff_t part = GDRKIT_SHMEM_CAST(ptrdiff_t, count * bytes);
  const int me = gdrkit_shmem_team_my_pe(team);
  const int n = gdrkit_shmem_team_n_pes(team);
  int result = n < 0 ? n : 0;
  if (result == 0 && target_stride == 1 && source_stride == 1) {
    return gdrkit_shmem_alltoall(team, target, source, count * bytes);
  }
  if (result == 0) result = gdrkit_shmem_team_sync(team); /* all targets may be written */
  for (int i = 0; i < n && result == 0; ++i) {
    const int pe = gdrkit_shmem_team_translate_pe(team, i, GDRKIT_SHMEM_TEAM_WORLD);
    result = gdrkit_nvshmem_iput(GDRKIT_SHMEM_CAST(char*, target) + me * part * target_stride,
                                 GDRKIT_SHMEM_CAST(const char*, source) + i * part * source_stride, target_stride,
                                 source_stride, count, bytes, pe);
  }
  return result != 0 ? result : gdrkit_shmem_team_barrier(team);
}
#define GDRKIT_NVSHMEM_ALLTOALLS(name, type)                                                                           \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##name##_alltoalls(nvshmem_team_t team, type* target, const type* source,            \
                                                     ptrdiff_t target_stride, ptrdiff_t source_stride, size_t count) { \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                       \
        gdrkit_nvshmem_alltoalls(team, target, source, target_stride, source_stride, count, sizeof(type)),             \
        ::gdrkit::shmem::detail::alltoalls<sizeof(type)>(GDRKIT_NVSHMEM_STATE, team, target, source, target_stride,    \
                                                         source_stride, count, ::gdrkit::shmem::thread())              \
            ? 0                                                                                                        \
            : 1);                                                                                                      \
  }
GDRKIT_NVSHMEM_FOR_EACH_TYPE(GDRKIT_NVSHMEM_ALLTOALLS)

/* The pair with the greatest x. */
GDRKIT_NVSHMEM_GPU(int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2* target, const double2* source,
                                                            size_t count) {
  return ::gdrkit::shmem::detail::reduce_maximum_with_location(GDRKIT_NVSHMEM_STATE, team, target, source, count,
                                                               ::gdrkit::shmem::block())
             ? 0
             : 1;
})

#undef GDRKIT_NVSHMEM_ALLTOALLS
#undef GDRKIT_NVSHMEM_TYPED_COLLECTIVES
#undef GDRKIT_NVSHMEM_INTEGER_REDUCTIONS
#undef GDRKIT_NVSHMEM_REDUCE_BY
#undef GDRKIT_NVSHMEM_ELEMENT
#undef GDRKIT_NVSHMEM_REDUCE
#undef GDRKIT_NVSHMEM_REDUCTION
#undef GDRKIT_NVSHMEM_TYPE_OF
#undef GDRKIT_NVSHMEM_MOVING
#undef GDRKIT_NVSHMEM_COLLECT_BY
#undef GDRKIT_NVSHMEM_COLLECT

#endif
