// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The application's use of CUDA: allocations of every kind, contexts, and the device's own view of memory.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "fakes/fake_cuda.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

constexpr std::uint64_t gpu_page = 2 * mib;
constexpr std::uint64_t pool_block = 32 * mib;
constexpr std::uint64_t where_its_memory_is = 0;  // as the base of a block
constexpr std::uint64_t small_limit = 1 * mib;    // larger allocations get their own blocks

}  // namespace

FakeCuda::FakeCuda(FakeRm& rm, Options options)
    : rm_(rm),
      options_(std::move(options)),
      client_(rm.add_cuda_client(options_.process_id)),
      test_thread_(std::this_thread::get_id()) {
  for (std::size_t ordinal = 0; ordinal < options_.gpus.size(); ++ordinal) {
    primaries_.push_back({next_context_, 0, 0});
    next_context_ += 0x1000;
  }
  if (!options_.is_initialised) return;
  activate_primary(0);
  threads_.push(primary(0));
  depth_of_test_ = 1;
}

FakeCuda::~FakeCuda() = default;

void FakeCuda::activate_primary(int ordinal) {
  const std::lock_guard lock(mutex_);
  ++primaries_[static_cast<std::size_t>(ordinal)].application;
  contexts_[primary(ordinal)] = true;
}

std::uint64_t FakeCuda::make_context(int ordinal) {
  const std::lock_guard lock(mutex_);
  (void)gpu_of(ordinal);
  contexts_[next_context_] = true;
  const std::uint64_t made = next_context_;
  next_context_ += 0x1000;
  return made;
}

void FakeCuda::destroy_context(std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  contexts_[context] = false;
}

std::uint64_t FakeCuda::take_addresses(std::uint64_t bytes) {
  const std::uint64_t taken = next_address_;
  // A hole after each block: adjacent blocks would make invalid ranges valid by chance.
  next_address_ += round_up(bytes, gpu_page) + gpu_page;
  return taken;
}

std::uint64_t FakeCuda::add_block(CudaKind kind, int ordinal, std::uint64_t base, std::uint64_t bytes,
                                  bool is_exportable) {
  CudaBlock block;
  block.base = base;
  block.size_bytes = bytes;
  block.kind = kind;
  block.ordinal = ordinal;
  block.is_exportable = is_exportable;
  if (kind != CudaKind::managed && kind != CudaKind::host) {
    block.memory =
        std::make_shared<PhysicalMemory>(options_.gpus.at(static_cast<std::size_t>(ordinal)), bytes, gpu_page);
    block.memory->needs_subdevice_parent = is_memory_under_subdevice;
  }
  if (base == where_its_memory_is) block.base = reinterpret_cast<std::uint64_t>(block.memory->bytes().data());
  if (block.memory != nullptr && kind != CudaKind::ipc_import) {
    block.object = next_object_;
    next_object_ += 2;
    rm_.place(client_, block.object, block.memory);
  }
  map_.add_block(block);
  return block.base;
}

void FakeCuda::drop_if_empty(std::uint64_t base) {
  const CudaBlock* block = map_.block_at(base);
  // Pools keep their blocks for the next allocation.
  if (block->kind == CudaKind::pool || map_.has_allocations_in(*block)) return;
  if (block->object != 0) rm_.remove(client_, block->object);
  for (auto small = small_blocks_.begin(); small != small_blocks_.end();) {
    small = small->second == base ? small_blocks_.erase(small) : std::next(small);
  }
  used_of_block_.erase(base);
  map_.remove_block(base);
}

std::uint64_t FakeCuda::malloc(std::size_t size_bytes, int ordinal) {
  const std::lock_guard lock(mutex_);
  if (size_bytes > small_limit) return allocate_block(CudaKind::malloc, size_bytes, ordinal);
  constexpr std::uint64_t granule = 512;
  const auto small = small_blocks_.find(ordinal);
  if (small == small_blocks_.end() || used_of_block_[small->second] + size_bytes > gpu_page) {
    const std::uint64_t address = malloc_at(gpu_page, 0, size_bytes, ordinal);
    small_blocks_[ordinal] = address;
    used_of_block_[address] = round_up(size_bytes, granule);
    return address;
  }
  std::uint64_t& used = used_of_block_[small->second];
  const std::uint64_t address = small->second + used;
  used += round_up(size_bytes, granule);
  map_.add_allocation({address, size_bytes, CudaKind::malloc, ordinal, primary(ordinal)});
  return address;
}

std::uint64_t FakeCuda::malloc_at(std::uint64_t block_bytes, std::uint64_t offset, std::size_t size_bytes,
                                  int ordinal) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t base = add_block(CudaKind::malloc, ordinal, take_addresses(block_bytes), block_bytes, false);
  map_.add_allocation({base + offset, size_bytes, CudaKind::malloc, ordinal, primary(ordinal)});
  return base + offset;
}

std::uint64_t FakeCuda::malloc_for_cpu(std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  constexpr std::uint64_t pin_page = 65536;
  const std::uint64_t base =
      add_block(CudaKind::malloc, 0, where_its_memory_is, round_up(size_bytes, pin_page) + pin_page, false);
  const std::uint64_t address = round_up(base, pin_page);
  map_.add_allocation({address, size_bytes, CudaKind::malloc, 0, primary(0)});
  return address;
}

std::uint64_t FakeCuda::vmm(const std::vector<std::uint64_t>& handle_bytes, bool is_exportable,
                            std::uint64_t reservation_bytes, int ordinal) {
  const std::lock_guard lock(mutex_);
  std::uint64_t total = 0;
  for (const std::uint64_t bytes : handle_bytes) total += bytes;
  const std::uint64_t reservation = std::max(reservation_bytes, total);
  const std::uint64_t base = take_addresses(reservation);
  std::uint64_t at = base;
  for (const std::uint64_t bytes : handle_bytes) {
    add_vmm_block(at, bytes, {base, reservation}, ordinal, is_exportable);
    map_.add_allocation({at, bytes, CudaKind::vmm, ordinal, 0});
    at += bytes;
  }
  return base;
}

void FakeCuda::add_vmm_block(std::uint64_t base, std::uint64_t bytes, std::pair<std::uint64_t, std::uint64_t> range,
                             int ordinal, bool is_exportable) {
  add_block(CudaKind::vmm, ordinal, base, bytes, is_exportable);
  CudaBlock block = *map_.block_at(base);
  block.range_start = range.first;
  block.range_bytes = range.second;
  map_.add_block(block);
}

std::uint64_t FakeCuda::pool_malloc(std::size_t size_bytes, bool is_exportable, int ordinal) {
  const std::lock_guard lock(mutex_);
  Pool& pool = pools_[{ordinal, is_exportable}];
  if (pool.next == 0) {
    pool.next = pool.end = next_pool_;
    next_pool_ += 4096 * mib;
  }
  const std::uint64_t address = pool.next;
  pool.next += round_up(size_bytes, 512);
  while (pool.end < pool.next) {
    add_block(CudaKind::pool, ordinal, pool.end, pool_block, is_exportable);
    pool.end += pool_block;
  }
  map_.add_allocation({address, size_bytes, CudaKind::pool, ordinal});
  return address;
}

std::uint64_t FakeCuda::allocate_block(CudaKind kind, std::size_t size_bytes, int ordinal) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t base =
      add_block(kind, ordinal, take_addresses(size_bytes), round_up(size_bytes, gpu_page), false);
  map_.add_allocation({base, size_bytes, kind, ordinal, primary(ordinal)});
  return base;
}

void FakeCuda::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const CudaAllocation* allocation = map_.allocation_at(address);
  if (allocation == nullptr) throw std::logic_error("the test freed unallocated memory");
  std::vector<std::uint64_t> bases;
  const std::uint64_t end = allocation->start + allocation->size_bytes;
  for (std::uint64_t at = allocation->start; at < end;) {
    const CudaBlock* block = map_.block_at(at);
    bases.push_back(block->base);
    at = block->base + block->size_bytes;
  }
  map_.remove_allocation(allocation->start);
  for (const std::uint64_t base : bases) drop_if_empty(base);
}

void FakeCuda::replace_allocation(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const CudaAllocation again = *map_.allocation_at(address);
  map_.remove_allocation(again.start);
  map_.add_allocation(again);
}

void FakeCuda::copy(std::uint64_t address, std::size_t size_bytes,
                    const std::function<void(std::uint8_t*, std::size_t, std::size_t)>& part) const {
  std::size_t done = 0;
  while (done < size_bytes) {
    const CudaBlock* block = map_.block_at(address + done);
    if (block == nullptr || block->memory == nullptr)
      throw std::logic_error("the test accesses memory that is not device memory");
    const std::uint64_t offset = address + done - block->base;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes - done, block->size_bytes - offset));
    part(block->memory->bytes().data() + offset, done, size);
    done += size;
  }
}

void FakeCuda::write(std::uint64_t address, const void* source, std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  copy(address, size_bytes, [&](std::uint8_t* memory, std::size_t done, std::size_t size) {
    std::memcpy(memory, static_cast<const std::uint8_t*>(source) + done, size);
  });
}

std::vector<std::uint8_t> FakeCuda::read(std::uint64_t address, std::size_t size_bytes) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint8_t> bytes(size_bytes);
  copy(address, size_bytes, [&](const std::uint8_t* memory, std::size_t done, std::size_t size) {
    std::memcpy(bytes.data() + done, memory, size);
  });
  return bytes;
}

std::vector<std::uint8_t> distinct_words(std::size_t size_bytes, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(round_up(size_bytes, 8));
  for (std::size_t i = 0; i < bytes.size() / 8; ++i)
    put(bytes.data(), 8 * i, (seed << 40 ^ i) * 0xff51afd7ed558ccdu + seed);
  bytes.resize(size_bytes);
  return bytes;
}

void FakeCuda::fill_pattern(std::uint64_t address, std::size_t size_bytes, std::uint64_t seed) {
  write(address, distinct_words(size_bytes, seed).data(), size_bytes);
}

std::weak_ptr<PhysicalMemory> FakeCuda::memory_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return map_.block_at(address)->memory;
}

CudaCensus FakeCuda::census() const {
  const std::lock_guard lock(mutex_);
  CudaCensus census;
  census.streams = streams_.size();
  for (const Primary& primary : primaries_) census.retained_contexts += static_cast<std::size_t>(primary.others);
  census.allocation_handles = allocation_handles_.size() + created_.size();
  census.scratch_allocations = reservations_.size();
  census.buffers = buffers_;
  census.context_depth = threads_.depth() - (std::this_thread::get_id() == test_thread_ ? depth_of_test_ : 0);
  census.is_capture_mode_changed = threads_.mode() != CaptureMode::global;
  return census;
}

}  // namespace gdrkit::fakes
