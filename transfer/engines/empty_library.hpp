// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmptyLibrary: all operations that the loops of shmem bench call, as unsupported. A library derives from it and
// defines the operations that it supports.
#pragma once

#include <cerrno>

namespace gdrkit::transfer::engines {

struct EmptyLibrary {
#define GDRKIT_NO_OPERATION(name)       \
  template <class... Arguments>         \
  int name(const Arguments&...) const { \
    return -EOPNOTSUPP;                 \
  }
  // clang-format off
  GDRKIT_NO_OPERATION(put) GDRKIT_NO_OPERATION(get) GDRKIT_NO_OPERATION(p)
  GDRKIT_NO_OPERATION(g) GDRKIT_NO_OPERATION(quiet)
  GDRKIT_NO_OPERATION(put_signal) GDRKIT_NO_OPERATION(signal_set)
  GDRKIT_NO_OPERATION(send_then_wait) GDRKIT_NO_OPERATION(wait_then_send)
  GDRKIT_NO_OPERATION(barrier_all) GDRKIT_NO_OPERATION(sync_all)
  GDRKIT_NO_OPERATION(atomic_fetch) GDRKIT_NO_OPERATION(atomic_set) GDRKIT_NO_OPERATION(atomic_add)
  GDRKIT_NO_OPERATION(atomic_fetch_add) GDRKIT_NO_OPERATION(atomic_swap)
  GDRKIT_NO_OPERATION(atomic_compare_swap)
  GDRKIT_NO_OPERATION(p_on_stream) GDRKIT_NO_OPERATION(put_on_stream)
  GDRKIT_NO_OPERATION(get_on_stream) GDRKIT_NO_OPERATION(put_signal_on_stream)
  GDRKIT_NO_OPERATION(wait_on_stream) GDRKIT_NO_OPERATION(quiet_on_stream)
  GDRKIT_NO_OPERATION(barrier_all_on_stream) GDRKIT_NO_OPERATION(sync_all_on_stream)
  GDRKIT_NO_OPERATION(synchronize)
  GDRKIT_NO_OPERATION(broadcast) GDRKIT_NO_OPERATION(broadcast_on_stream)
  GDRKIT_NO_OPERATION(fcollect) GDRKIT_NO_OPERATION(fcollect_on_stream)
  GDRKIT_NO_OPERATION(alltoall) GDRKIT_NO_OPERATION(alltoall_on_stream)
  GDRKIT_NO_OPERATION(reduce) GDRKIT_NO_OPERATION(reduce_on_stream)
  GDRKIT_NO_OPERATION(reducescatter) GDRKIT_NO_OPERATION(reducescatter_on_stream)
  // clang-format on
#undef GDRKIT_NO_OPERATION
};

}  // namespace gdrkit::transfer::engines
