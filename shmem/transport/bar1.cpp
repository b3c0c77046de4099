// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// bar1: the CPU's own stores and loads, through mappings of the other PEs' memory by the copy library. A mapping of one
// chunk of a PE's heap is a window, made at the first transfer.
//
// Ordering: stores through BAR1 are posted writes. Those of one CPU thread reach a GPU in the order of the calls of
// gdrkit_write. When a call returns, its stores have left the core. A load from the same GPU does not pass posted
// writes on its way there. So when the load returns, all stores that had left their core before the load have arrived.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gdrkit/gdrkit.h"
#include "platform/device/device.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::transport {
namespace {

/// Maximum number of mapped chunks per slot, and of registered buffers. Other transports serve later chunks.
constexpr std::size_t largest_chunk_count = 256;
/// Replaces a pin if the buffer cannot be mapped.
constexpr std::uint64_t refused_window = ~std::uint64_t{0};
/// Up to this size the CPU copies memory of this PE's heap: a load and a store take less time than a copy engine.
constexpr std::size_t small = 1024;
// The limits by LocalMemory, measured on an H200. The driver copies pinned memory directly and is faster above 256 KiB:
// 512 KiB take 20.7 us, and 28.8 us by the CPU's stores (docs/results/2026-11-23-h200-engines-3/measure_engines.txt).
// It copies ordinary memory in two steps. So stores are faster up to 256 KiB, and as fast above
// (docs/results/2026-11-22-h200-x2-shmem). Loads reach 1 GB/s, and a staged copy by the driver takes 10 us
// (docs/results/2026-11-28-h200-x2/host_and_stream.txt).
constexpr std::size_t largest_store[] = {/*host*/ SIZE_MAX, /*pinned*/ 256 << 10, /*heap*/ small, /*device*/ 0};
constexpr std::size_t largest_load[] = {/*host*/ 4 << 10, /*pinned*/ 4 << 10, /*heap*/ small, /*device*/ 0};
/// With a configured engine (GDRKIT_ENGINE) the CPU performs gets up to largest_cpu_get(), and the engine larger ones
/// up to this size.
constexpr std::size_t largest_engine_get[] = {/*host*/ 64 << 10, /*pinned*/ 256 << 10, /*heap*/ 0, /*device*/ 0};
/// largest_cpu_get() for the engine `automatic`, which queries the kind of memory: below these sizes the query takes
/// longer than the loads that it saves.
constexpr std::size_t largest_cpu_get_with_automatic[] = {/*host*/ 4 << 10, /*pinned*/ 3 << 10, /*heap*/ small,
                                                          /*device*/ small};

constexpr std::size_t at(LocalMemory memory) noexcept { return static_cast<std::size_t>(memory); }

base::Status failure(int result, const char* what, int pe) noexcept {
  return base::fail(-result, "cannot %s the memory of PE %d through BAR1: %s", what, pe, gdrkit_last_error());
}

std::optional<int> engine_of_name(const std::string& name) noexcept {
  for (int engine = GDRKIT_ENGINE_CPU; const char* const known = gdrkit_engine_name(engine); ++engine) {
    if (name == known) return engine;
  }
  return std::nullopt;
}

class Bar1 final : public Transport {
 public:
  explicit Bar1(const TransportSetting& setting)
      : device_(*setting.device),
        heap_(*setting.heap),
        engine_(std::string_view(setting.reading_engine) == "cpu" ? "" : setting.reading_engine),
        slots_(static_cast<std::size_t>(setting.node_pes)) {
    for (Slot& slot : slots_) slot.windows = std::make_unique<std::atomic<std::uint64_t>[]>(4 * largest_chunk_count);
    for (std::size_t memory = 0; memory < local_memory_count; ++memory) {
      limits_.put[memory] = largest_store[memory];
      limits_.get[memory] = std::max(largest_load[memory], engine_.empty() ? 0 : largest_engine_get[memory]);
    }
    gdrkit_open_options options{};
    options.struct_size = sizeof options;
    if (setting.device->is_emulated()) options.backend = "emulated";
    const int result = gdrkit_open(&options, &context_);
    if (result < 0) opened_ = base::fail(-result, "cannot map memory through BAR1: %s", gdrkit_last_error());
  }
  ~Bar1() override {
    if (opened_) (void)gdrkit_close(context_);  // with all pins
  }

  /// Fails if GDRKIT_BACKEND or GDRKIT_COPY_KERNEL has an unknown name.
  [[nodiscard]] base::Status check_choice() const noexcept {
    return !opened_ && opened_.error().errno_value == EINVAL ? opened_ : base::Status();
  }
  [[nodiscard]] const char* name() const noexcept override { return "bar1"; }
  [[nodiscard]] const TransportLimits& limits() const noexcept override { return limits_; }

  base::Status serves(int slot) noexcept override {
    if (!opened_) return opened_;
    if (static_cast<std::size_t>(slot) >= slots_.size()) {
      return check_on_this_node(slot, static_cast<int>(slots_.size()));
    }
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    if (!state.is_refused.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(mutex_);
    return state.mappable;
  }

  base::Status put(int slot, const heap::HeapPosition& target, const void* source, std::size_t size_bytes,
                   LocalMemory memory, bool) noexcept override {
    if (memory == LocalMemory::heap) return put_from_heap(slot, target, source, size_bytes);
    const auto write = [&](gdrkit_pin_t pin, std::size_t offset, std::size_t from, std::size_t n) {
      return gdrkit_write(pin, offset, static_cast<const char*>(source) + from, n);
    };
    auto done = by_chunk(slot, target, size_bytes, By::cpu, write);
    // After the stores, so that a completion of all issued operations includes them.
    if (done) slots_[static_cast<std::size_t>(slot)].issued.fetch_add(1, std::memory_order_release);
    return done;
  }

  base::Status get(int slot, const heap::HeapPosition& source, void* target, std::size_t size_bytes, LocalMemory memory,
                   bool) noexcept override {
    if (memory == LocalMemory::heap) return get_to_heap(slot, source, target, size_bytes);
    const auto read = [&](gdrkit_pin_t pin, std::size_t offset, std::size_t from, std::size_t n) {
      return gdrkit_read(pin, offset, static_cast<char*>(target) + from, n);
    };
    if (!engine_.empty() && size_bytes > largest_cpu_get(memory)) {
      auto done = by_chunk(slot, source, size_bytes, By::engine, read);
      if (done || done.error().errno_value != EOPNOTSUPP || size_bytes > largest_load[at(memory)]) return done;
    }
    return by_chunk(slot, source, size_bytes, By::cpu, read);
  }

  void forget(const heap::HeapChunk& chunk) noexcept override {
    if (chunk.number >= largest_chunk_count) return;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      for (const By by : {By::cpu, By::engine}) {
        const std::uint64_t pin = window_at(static_cast<int>(slot), chunk, by).exchange(0, std::memory_order_acq_rel);
        if (pin != 0 && pin != refused_window) (void)gdrkit_unpin(gdrkit_pin_t{pin});
      }
    }
  }

  [[nodiscard]] bool is_pending(int slot) const noexcept override {
    if (static_cast<std::size_t>(slot) >= slots_.size()) return false;
    const Slot& state = slots_[static_cast<std::size_t>(slot)];
    return state.completed.load(std::memory_order_acquire) < state.issued.load(std::memory_order_acquire);
  }

  base::Status complete(int slot) noexcept override {
    if (static_cast<std::size_t>(slot) >= slots_.size()) return {};
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    const std::uint64_t issued = state.issued.load(std::memory_order_acquire);
    if (state.completed.load(std::memory_order_acquire) >= issued) return {};
    auto window = any_window_of(slot);
    if (!window) return base::pass(window);
    std::uint32_t word = 0;
    if (const int read = gdrkit_read(*window, 0, &word, sizeof word); read < 0)
      return failure(read, "read", heap_.pe_of(slot));
    // The number only grows: another thread may have completed more.
    std::uint64_t completed = state.completed.load(std::memory_order_relaxed);
    while (completed < issued && !state.completed.compare_exchange_weak(completed, issued, std::memory_order_release)) {
    }
    return {};
  }

 private:
  [[nodiscard]] std::size_t largest_cpu_get(LocalMemory memory) const noexcept {
    return engine_ == "automatic" ? largest_cpu_get_with_automatic[at(memory)] : small;
  }

  /// What performs the copies of a mapping. The CPU performs all puts: those of an engine would overtake posted stores.
  enum class By : std::uint8_t { cpu, engine };

  struct Slot {
    std::unique_ptr<std::atomic<std::uint64_t>[]> windows;  // pins by chunk, then by buffer, for each By; 0: not mapped
    std::atomic<std::uint64_t> issued{0};                   // puts whose stores have left the core
    std::atomic<std::uint64_t> completed{0};                // of these, known to have arrived
    std::atomic<bool> is_refused{false};
    base::Status mappable;  // if not: the reason; guarded by mutex_
  };

  template <class Copy>
  base::Status by_chunk(int slot, const heap::HeapPosition& start, std::size_t size_bytes, By by, Copy copy) noexcept {
    heap::HeapChunk chunk = start.chunk;
    std::uint64_t offset = start.offset;
    for (std::size_t done = 0; done < size_bytes;) {
      if (done != 0) chunk = heap_.chunk_at(offset);
      auto window = window_of(slot, chunk, by);
      if (!window) return base::pass(window);
      const std::size_t piece = std::min<std::size_t>(size_bytes - done, chunk.end() - offset);
      if (const int copied = copy(*window, offset - chunk.offset, done, piece); copied < 0) {
        return base::fail(-copied, "cannot copy %zu bytes between this PE and PE %d through BAR1: %s", piece,
                          heap_.pe_of(slot), gdrkit_strerror(copied));
      }
      done += piece;
      offset += piece;
    }
    return {};
  }

  base::Result<gdrkit_pin_t> window_of(int slot, const heap::HeapChunk& chunk, By by) noexcept {
    if (chunk.number >= largest_chunk_count) {
      return base::fail(
          EOPNOTSUPP,
          "cannot map the memory through BAR1: the symmetric heap grew more than %zu times; increase GDRKIT_SHMEM_HEAP",
          largest_chunk_count);
    }
    auto& window = window_at(slot, chunk, by);
    const std::uint64_t pin = window.load(std::memory_order_acquire);
    return pin != 0 ? made_window(pin, by) : open_window(slot, chunk, by, window);
  }

  static base::Result<gdrkit_pin_t> made_window(std::uint64_t pin, By by) noexcept {
    if (pin != refused_window) return gdrkit_pin_t{pin};
    return base::fail(EOPNOTSUPP, by == By::cpu ? "this registered buffer cannot be mapped through BAR1"
                                                : "the engine set by GDRKIT_ENGINE cannot read this memory");
  }

  /// Returns any window of the slot: all of its memory is on one GPU. The heap's first chunk may have no window,
  /// because BAR1 had no room for it.
  base::Result<gdrkit_pin_t> any_window_of(int slot) noexcept {
    for (std::size_t each = 0; each < 2 * largest_chunk_count; ++each) {
      const std::uint64_t pin = slots_[static_cast<std::size_t>(slot)].windows[each].load(std::memory_order_acquire);
      if (pin != 0 && pin != refused_window) return gdrkit_pin_t{pin};
    }
    return window_of(slot, heap_.chunk_at(0), By::cpu);
  }

  [[nodiscard]] std::atomic<std::uint64_t>& window_at(int slot, const heap::HeapChunk& chunk, By by) const noexcept {
    const std::size_t first =
        (chunk.is_buffer ? largest_chunk_count : 0) + (by == By::cpu ? 0 : 2 * largest_chunk_count);
    return slots_[static_cast<std::size_t>(slot)].windows[first + chunk.number];
  }

  base::Result<gdrkit_pin_t> open_window(int slot, const heap::HeapChunk& chunk, By by,
                                         std::atomic<std::uint64_t>& window) noexcept {
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    const std::lock_guard lock(mutex_);
    if (const std::uint64_t made = window.load(std::memory_order_relaxed); made != 0) return made_window(made, by);
    if (!opened_) return base::pass(opened_);
    if (!state.mappable) return base::pass(state.mappable);
    const std::optional<int> engine = engine_of_name(engine_);
    if (by == By::engine && !engine)
      return base::fail(EINVAL, "unknown copy engine '%s' (GDRKIT_ENGINE)", engine_.c_str());
    // While the device's primary context is current, the verification of the mapping creates no other context.
    const platform::DeviceScope scope(device_);
    gdrkit_pin_t pin{};
    if (const int made = gdrkit_pin(context_, heap_.address(slot, chunk.offset), chunk.size_bytes, &pin); made < 0) {
      return refuse(state, chunk, by, window, failure(made, "pin", heap_.pe_of(slot)));
    }
    gdrkit_map_options options{};
    options.struct_size = sizeof options;
    options.engine = by == By::cpu ? GDRKIT_ENGINE_CPU : *engine;
    void* address = nullptr;
    if (const int mapped = gdrkit_map(pin, &options, &address); mapped < 0) {
      auto refused = failure(mapped, "map", heap_.pe_of(slot));
      (void)gdrkit_unpin(pin);
      return refuse(state, chunk, by, window, std::move(refused));
    }
    window.store(pin.value, std::memory_order_release);
    return pin;
  }

  /// If a heap cannot be mapped, its PE is excluded; if a buffer cannot, only the buffer is. Other transports serve
  /// memory that the engine cannot read. An unknown engine name makes every call fail.
  static tl::unexpected<base::Error> refuse(Slot& state, const heap::HeapChunk& chunk, By by,
                                            std::atomic<std::uint64_t>& window, base::Status why) noexcept {
    if (by == By::engine && why.error().errno_value == EINVAL) return base::pass(why);
    if (chunk.is_buffer || by == By::engine) {
      window.store(refused_window, std::memory_order_release);
      return base::fail_vendor(EOPNOTSUPP, why.error().vendor_code, "%s", why.error().text());
    }
    state.mappable = std::move(why);
    state.is_refused.store(true, std::memory_order_release);
    return base::pass(state.mappable);
  }

  base::Status put_from_heap(int slot, const heap::HeapPosition& target, const void* source,
                             std::size_t size_bytes) noexcept {
    char bytes[small];
    auto own = heap_.find(source, size_bytes);
    if (!own) return base::pass(own);
    if (auto read = get(own_slot(), *own, bytes, size_bytes, LocalMemory::host, false); !read) return of_own(read);
    return put(slot, target, bytes, size_bytes, LocalMemory::host, false);
  }
  base::Status get_to_heap(int slot, const heap::HeapPosition& source, void* target, std::size_t size_bytes) noexcept {
    char bytes[small];
    auto own = heap_.find(target, size_bytes);
    if (!own) return base::pass(own);
    if (auto read = get(slot, source, bytes, size_bytes, LocalMemory::host, false); !read) return read;
    auto written = put(own_slot(), *own, bytes, size_bytes, LocalMemory::host, false);
    return written ? complete(own_slot()) : of_own(written);
  }
  /// If this PE's heap cannot be mapped, other transports perform the transfer. serves() of the other slot does not
  /// include this.
  base::Status of_own(const base::Status& failed) noexcept {
    if (serves(own_slot())) return failed;
    return base::fail_vendor(EOPNOTSUPP, failed.error().vendor_code, "%s", failed.error().text());
  }
  [[nodiscard]] int own_slot() const noexcept { return heap_.own_slot(); }

  platform::Device& device_;
  const heap::SymmetricHeap& heap_;
  const std::string engine_;  // of gets; "": the CPU
  TransportLimits limits_;
  gdrkit_context_t context_{};
  base::Status opened_;
  std::mutex mutex_;  // held while a window is made
  std::vector<Slot> slots_;
};

}  // namespace

base::Result<std::unique_ptr<Transport>> make_bar1(const TransportSetting& setting) noexcept try {
  auto bar1 = std::make_unique<Bar1>(setting);
  // An unknown backend or copy kernel is an error: do not fall back to the driver's copies.
  if (auto choice = bar1->check_choice(); !choice) return base::pass(choice);
  return bar1;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating transport 'bar1'");
}

}  // namespace gdrkit::shmem_impl::transport
