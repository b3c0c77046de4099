// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What bench and its workers send each other: one request, one reply, over a socket that keeps messages whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/result/result.hpp"

namespace gdrkit::transfer::shmem {

inline constexpr std::size_t id_bytes = 128;  // of gdrkit's unique ids and of NVSHMEM's

enum class RequestKind : std::uint32_t {
  make_id,  ///< before start: returns `id`; with the sizes of start, which a library may read in its first call
  start,    ///< init with `id`, `pe`, `n_pes`, a heap for operations of up to `size_bytes`, and the first put
  prepare,  ///< memory for operations of up to `size_bytes`
  batch,    ///< `count` operations of `case_number`, back to back
  singles,  ///< `count` operations, timed one by one
  end,      ///< finalize
};

struct Request {
  RequestKind kind = RequestKind::end;
  std::uint32_t case_number = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t scratch_bytes = 0;  ///< of start: what the library reserves for reductions; 0: its own choice
  std::int32_t pe = 0;
  std::int32_t n_pes = 0;
  unsigned char id[id_bytes] = {};
};

struct Reply {
  std::int32_t code = 0;  ///< 0 or a negative errno, then with `text`
  std::int32_t device = 0;
  double ns = 0;  ///< for one operation, or one round of all groups
  unsigned char id[id_bytes] = {};
  measure::Single single;  ///< nanoseconds
  char text[256] = "";     ///< after start: the library's version
};

}  // namespace gdrkit::transfer::shmem
