// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions that buffers call: memory that the code under test allocates.
#include <cstring>

#include "fakes/fake_cuda.hpp"

namespace gdrkit::fakes {
namespace {

constexpr int success = 0, invalid_value = 1, out_of_memory = 2, invalid_handle = 400, capture_unsupported = 900;
constexpr std::size_t memory_of_a_gpu = std::size_t{80} << 30;

}  // namespace

int FakeCuda::current_ordinal() const {
  for (std::size_t i = 0; i < primaries_.size(); ++i) {
    if (primaries_[i].handle == threads_.current()) return static_cast<int>(i);
  }
  return 0;
}

int FakeCuda::init(unsigned) noexcept {
  const std::lock_guard lock(mutex_);
  options_.is_initialised = true;
  return success;
}

int FakeCuda::mem_alloc(std::uint64_t* address, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  if (unsafe_during_capture("cuMemAlloc") != success) return capture_unsupported;
  if (size == 0) return invalid_value;
  if (size > memory_of_a_gpu) return out_of_memory;
  *address = malloc(size, current_ordinal());
  CudaAllocation allocation = *map_.allocation_at(*address);
  allocation.is_scratch = true;
  map_.add_allocation(allocation);
  ++buffers_;
  return success;
}

int FakeCuda::mem_free(std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  if (unsafe_during_capture("cuMemFree") != success) return capture_unsupported;
  const CudaAllocation* allocation = map_.allocation_at(address);
  if (allocation == nullptr || allocation->start != address) return invalid_value;
  if (!allocation->is_scratch) rm_.violations().add("cuMemFree of the user's memory");
  free(address);
  --buffers_;
  return success;
}

int FakeCuda::memcpy_device_to_host_async(void* target, std::uint64_t source, std::size_t size, void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  Stream* found = private_stream(stream, "cuMemcpyDtoHAsync");
  if (found == nullptr) return invalid_handle;
  const CudaAllocation* allocation = map_.allocation_at(source);
  if (allocation == nullptr || size > allocation->start + allocation->size_bytes - source) return invalid_value;
  const auto memory = map_.block_at(source)->memory;
  const std::uint64_t offset = source - map_.block_at(source)->base;
  found->pending.push_back(
      [memory, offset, target, size] { std::memcpy(target, memory->bytes().data() + offset, size); });
  return success;
}

}  // namespace gdrkit::fakes
