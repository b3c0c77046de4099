// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/calibration.hpp"

#include <cstring>

#include "backend/pointer_check.hpp"
#include "backend/verifier.hpp"
#include "cpu/ordering.hpp"

namespace gdrkit::backend {
namespace {

constexpr std::uint32_t page_size = 65536;
constexpr std::size_t pattern_words = 512;

/// Fills in distinct words (an odd multiplier permutes the integers). Every calibration uses the same words. The second
/// pattern is written through the tested mapping, so memory of an earlier calibration cannot be mistaken for this one.
void fill(std::uint64_t (&pattern)[pattern_words], std::uint64_t seed) noexcept {
  for (std::size_t i = 0; i < pattern_words; ++i) pattern[i] = (seed + i) * 0x9e3779b97f4a7c15u;
}

/// One page or more of the GPU's memory, by the virtual memory calls: the first allocation of the stream-ordered
/// allocator takes 8 ms in a process, and cuMemFree waits for running GPU kernels.
class Scratch {
 public:
  explicit Scratch(const driver::CudaCalls& cuda) noexcept : cuda_(cuda) {}
  ~Scratch() {
    if (address_ == 0) return;
    if (stream_ != nullptr) (void)cuda_.stream_synchronize(stream_);
    if (is_mapped_) (void)cuda_.mem_unmap(address_, size_bytes_);
    (void)cuda_.mem_address_free(address_, size_bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Returns false if CUDA fails.
  bool allocate(int cuda_ordinal) noexcept {
    driver::CudaMemAllocationProp properties;
    properties.type = driver::cuda_mem_allocation_type_pinned;
    properties.location.type = driver::cuda_mem_location_type_device;
    properties.flags.gpu_direct_rdma_capable = 1;
    if (cuda_.device_get(&properties.location.id, cuda_ordinal) != 0) return false;
    if (cuda_.mem_get_granularity(&size_bytes_, &properties, driver::cuda_mem_granularity_recommended) != 0)
      return false;
    if (size_bytes_ < page_size) size_bytes_ = page_size;  // both are powers of two
    std::uint64_t address = 0;
    if (cuda_.mem_address_reserve(&address, size_bytes_, 0, 0, 0) != 0) return false;
    address_ = address;
    std::uint64_t handle = 0;
    if (cuda_.mem_create(&handle, size_bytes_, &properties, 0) != 0) return false;
    is_mapped_ = cuda_.mem_map(address_, size_bytes_, 0, handle, 0) == 0;
    (void)cuda_.mem_release(handle);  // the mapping keeps the memory
    const driver::CudaMemAccessDesc access{properties.location, driver::cuda_mem_access_read_write};
    return is_mapped_ && cuda_.mem_set_access(address_, size_bytes_, &access, 1) == 0;
  }
  /// The stream of the later copies. It must outlive this object.
  void use(void* stream) noexcept { stream_ = stream; }
  bool write(const std::uint64_t (&pattern)[pattern_words]) noexcept {
    const int result = cuda_.memcpy_host_to_device_async(address_, pattern, sizeof pattern, stream_);
    return result == 0 && cuda_.stream_synchronize(stream_) == 0;
  }
  bool read(std::uint64_t (&pattern)[pattern_words]) noexcept {
    const int result = driver::gather_async(cuda_, pattern, address_, sizeof pattern, sizeof pattern, 1, stream_);
    return result == 0 && cuda_.stream_synchronize(stream_) == 0;
  }
  void abandon() noexcept { address_ = 0; }  ///< the memory is never freed
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }

 private:
  const driver::CudaCalls& cuda_;
  void* stream_ = nullptr;
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
  bool is_mapped_ = false;
};

/// Creates the stream only now: on most drivers the dmabuf backend cannot map scratch memory, and a process's first
/// stream takes 0.1 ms.
Calibration test_both_directions(Scratch& scratch, Verifier& verifier, std::uint8_t* mapped) noexcept {
  auto stream = verifier.stream();
  if (!stream) return Calibration::impossible;
  scratch.use(*stream);
  std::uint64_t pattern[pattern_words];
  fill(pattern, 1);
  if (!scratch.write(pattern)) return Calibration::impossible;
  if (auto compared = verifier.compare(scratch.address(), scratch.address() + sizeof pattern, mapped); !compared) {
    const bool did_cuda_fail = compared.error().vendor_code != 0;
    return did_cuda_fail ? Calibration::impossible : Calibration::contradicted;
  }
  if (!verifier.has_proof()) return Calibration::contradicted;
  fill(pattern, 1 + pattern_words);
  auto* words = reinterpret_cast<volatile std::uint64_t*>(mapped);
  for (std::size_t i = 0; i < pattern_words; ++i) words[i] = pattern[i];
  cpu::flush_write_combining();
  std::uint64_t seen[pattern_words];
  if (!scratch.read(seen)) return Calibration::impossible;
  return std::memcmp(seen, pattern, sizeof seen) == 0 ? Calibration::proved : Calibration::contradicted;
}

/// Allocates a scratch block on the device and maps it. Copies a pattern in each direction: written by CUDA and read
/// through the mapping, then written through the mapping and read by CUDA. Does not wait for other work of the device.
/// The caller holds a CudaScope.
Calibration calibrate(const driver::CudaCalls& cuda, int cuda_ordinal, ScratchMap& map) noexcept {
  Verifier verifier(cuda);
  Scratch scratch(cuda);
  if (!scratch.allocate(cuda_ordinal)) return Calibration::impossible;
  auto range = check_pointer(cuda, {scratch.address(), page_size, false, true}, page_size);
  if (!range || range->attributes.device_ordinal != cuda_ordinal) return Calibration::impossible;
  std::uint8_t* const mapped = map.map(*range);
  // No early return from here on: even a failed map may leave pages mapped.
  const Calibration calibration =
      mapped != nullptr ? test_both_directions(scratch, verifier, mapped + (scratch.address() - range->page_address))
                        : Calibration::impossible;
  // Pages may still be mapped to this memory, so CUDA must never reuse it.
  if (!map.unmap()) scratch.abandon();
  return calibration;
}

}  // namespace

Calibration Calibrations::of(const driver::CudaCalls& cuda, int cuda_ordinal, ScratchMap& map) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_ordinal_.find(cuda_ordinal); known != by_ordinal_.end()) return known->second;
  const Calibration calibration = calibrate(cuda, cuda_ordinal, map);
  // A test that failed because of missing descriptors or memory may succeed later.
  if (calibration == Calibration::impossible) return calibration;
  try {
    by_ordinal_[cuda_ordinal] = calibration;
  } catch (...) {
    // Not cached: the next pin tests again.
  }
  return calibration;
}

Calibration Calibrations::known(int cuda_ordinal) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = by_ordinal_.find(cuda_ordinal);
  return known != by_ordinal_.end() ? known->second : Calibration::impossible;
}

}  // namespace gdrkit::backend
