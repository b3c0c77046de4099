// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `collective`.
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/collective_work.cuh"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

static_assert(static_cast<int>(CollectiveRoute::small) == static_cast<int>(shmem::detail::Route::small) &&
              static_cast<int>(CollectiveRoute::large) == static_cast<int>(shmem::detail::Route::large) &&
              static_cast<int>(CollectiveRoute::parts) == static_cast<int>(shmem::detail::Route::parts) &&
              static_cast<int>(CollectiveRoute::shares) == static_cast<int>(shmem::detail::Route::shares));

base::Status check(const CollectiveParameters& parameters, LaunchShape shape, unsigned) noexcept {
  constexpr unsigned most_threads_of_a_block = 512;
  const auto n_pes = static_cast<unsigned>(parameters.team.n_pes);
  if (parameters.operation > CollectiveOperation::reducescatter || parameters.route > CollectiveRoute::shares) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'collective': unknown operation or algorithm");
  }
  if (parameters.team.n_pes < 1 || parameters.team.pe < 0 || parameters.team.pe >= parameters.team.n_pes ||
      parameters.root >= n_pes) {
    return base::fail(
        EINVAL, "cannot launch GPU kernel 'collective': PE %d or root PE %u is out of range; use numbers below %d",
        parameters.team.pe, parameters.root, parameters.team.n_pes);
  }
  if (shape.threads > most_threads_of_a_block || shape.blocks > static_cast<unsigned>(parameters.team.lanes)) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'collective': invalid shape of %u blocks of %u threads; use at most %d "
                      "blocks of at most %u threads",
                      shape.blocks, shape.threads, parameters.team.lanes, most_threads_of_a_block);
  }
  const bool is_broadcast = parameters.operation == CollectiveOperation::broadcast;
  const std::size_t most = shmem::detail::small_bytes(parameters.team.scratch_bytes, is_broadcast ? 1 : n_pes - 1);
  if (parameters.route == CollectiveRoute::small && parameters.size_bytes > most) {
    return base::fail(
        EINVAL, "cannot launch GPU kernel 'collective': %llu bytes exceed the scratch memory; use at most %zu bytes",
        static_cast<unsigned long long>(parameters.size_bytes), most);
  }
  const bool is_by_shares = parameters.route == CollectiveRoute::shares;
  const bool is_by_parts = parameters.route == CollectiveRoute::parts;
  if (is_by_shares && !is_broadcast && parameters.operation != CollectiveOperation::reduce) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'collective': algorithm 'shares' supports only broadcast and reduce");
  }
  if (is_by_parts && !is_broadcast)
    return base::fail(EINVAL, "cannot launch GPU kernel 'collective': algorithm 'parts' supports only broadcast");
  if ((is_by_shares || is_by_parts) && n_pes < 3) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'collective': algorithm '%s' requires at least 3 PEs",
                      is_by_shares ? "shares" : "parts");
  }
  if (is_by_shares &&
      !shmem::detail::shares_fit(parameters.team.scratch_bytes, parameters.size_bytes, n_pes, is_broadcast)) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'collective': %llu bytes exceed the scratch memory for algorithm "
                      "'shares'; reduce the size",
                      static_cast<unsigned long long>(parameters.size_bytes));
  }
  if (is_by_parts && (parameters.piece_bytes == 0 || parameters.piece_bytes % 16 != 0)) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'collective': invalid part size of %u bytes; use a nonzero multiple "
                      "of 16 bytes",
                      parameters.piece_bytes);
  }
  return {};
}

/// One lane after the other: a lane waits only for the same lane of other PEs, and for other lanes only until they have
/// begun.
void play(const CollectiveParameters& parameters, LaunchShape shape) noexcept {
  for (unsigned lane = 0; lane < shape.blocks; ++lane) {
    if (!run_collective(parameters, shmem::thread(), {lane, shape.blocks})) return;
  }
}

}  // namespace

base::Status GpuKernels::launch(const CollectiveParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::collective>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
