// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `atomic`.
#include <atomic>

#include "platform/gpu_code/atomic_params.hpp"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

base::Status check(const AtomicParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (parameters.size_bytes != 4 && parameters.size_bytes != 8) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'atomic': invalid word size %u; use 4 or 8 bytes",
                      parameters.size_bytes);
  }
  if (parameters.target == 0 || parameters.target % parameters.size_bytes != 0) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'atomic': invalid address 0x%llx; use a nonzero multiple of %u bytes",
                      static_cast<unsigned long long>(parameters.target), parameters.size_bytes);
  }
  if (parameters.update > AtomicUpdate::bit_xor)
    return base::fail(EINVAL, "cannot launch GPU kernel 'atomic': unknown operation");
  if (shape.blocks * shape.threads != 1)
    return base::fail(EINVAL, "cannot launch GPU kernel 'atomic': %u blocks of %u threads are too many; use one thread",
                      shape.blocks, shape.threads);
  return {};
}

template <class Word>
static std::uint64_t update_word(const AtomicParameters& parameters) noexcept {
  const std::atomic_ref word(*reinterpret_cast<Word*>(parameters.target));
  const auto operand = static_cast<Word>(parameters.operand);
  auto compare = static_cast<Word>(parameters.compare);
  switch (parameters.update) {
    case AtomicUpdate::add: return word.fetch_add(operand);
    case AtomicUpdate::swap: return word.exchange(operand);
    case AtomicUpdate::compare_swap: word.compare_exchange_strong(compare, operand); return compare;
    case AtomicUpdate::bit_and: return word.fetch_and(operand);
    case AtomicUpdate::bit_or: return word.fetch_or(operand);
    default: return word.fetch_xor(operand);
  }
}

void play(const AtomicParameters& parameters, LaunchShape) noexcept {
  const std::uint64_t before =
      parameters.size_bytes == 4 ? update_word<std::uint32_t>(parameters) : update_word<std::uint64_t>(parameters);
  if (parameters.fetched != 0) *reinterpret_cast<volatile std::uint64_t*>(parameters.fetched) = before;
}

}  // namespace

base::Status GpuKernels::launch(const AtomicParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::atomic>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
