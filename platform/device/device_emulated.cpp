// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Device on emulated memory. While a host thread that replaces a GPU kernel occupies a stream, later work of the stream
// waits in order.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "base/cpu_set.hpp"
#include "base/settings.hpp"
#include "driver/emulated_memory.hpp"
#include "platform/device/device.hpp"
#include "platform/device/emulated_memory.hpp"
#include "platform/device/emulated_stream.hpp"
#include "platform/device/host_memory.hpp"

namespace gdrkit::platform {
namespace {

/// The value of cuMemGetAllocationGranularity on current GPUs.
constexpr std::size_t vmm_granularity = std::size_t{2} << 20;

/// Streams of other devices wait for events too, so events do not belong to one device.
std::mutex events_mutex;
std::map<std::uint64_t, std::shared_ptr<EmulatedEvent>> events;
std::uint64_t last_event = 0;

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(int ordinal)
      : cpus_(present_cpus()), default_stream_(std::make_shared<EmulatedStream>(cpus_)) {
    identity_.ordinal = ordinal;
    std::snprintf(identity_.name, sizeof identity_.name, "%s", driver::emulated_device_name);
    std::sscanf(driver::emulated_pci_bus_id, "%x:%x:%x", &identity_.pci_domain, &identity_.pci_bus,
                &identity_.pci_device);
    identity_.pci_device -= static_cast<unsigned>(ordinal);  // downwards from the last: there are 16 at most
    std::snprintf(identity_.pci_bus_id, sizeof identity_.pci_bus_id, "%04x:%02x:%02x.0", identity_.pci_domain,
                  identity_.pci_bus, identity_.pci_device);
    std::memcpy(identity_.uuid.data(), "gdrkit emulated", 16);
    identity_.uuid[15] = static_cast<std::uint8_t>(ordinal);
    std::snprintf(identity_.driver_version, sizeof identity_.driver_version, "none (emulated)");
  }

  [[nodiscard]] bool is_emulated() const noexcept override { return true; }
  base::Status make_current() noexcept override { return {}; }

  base::Result<Allocation> allocate(AllocationKind kind, std::size_t size_bytes) noexcept override {
    const bool is_vmm = kind == AllocationKind::vmm || kind == AllocationKind::vmm_exportable;
    const bool can_round =
        size_bytes <= SIZE_MAX - vmm_granularity;  // otherwise too large in any case: must not wrap to 0
    const std::size_t extent =
        is_vmm && can_round ? (size_bytes + vmm_granularity - 1) & ~(vmm_granularity - 1) : size_bytes;
    if (kind == AllocationKind::vmm_exportable) return allocate_exportable(size_bytes, extent);
    auto address = driver::emulated_allocate(extent, emulated_kind(kind));
    if (!address) return base::pass(address);
    return Allocation(this, *address, size_bytes, extent, kind);
  }

  base::Result<DeviceMemory> memory() noexcept override {
    return DeviceMemory{available_host_bytes(), total_host_bytes()};
  }
  base::Status set_sync_memops(std::uint64_t address) noexcept override { return check(address, 1); }

  base::Status copy_to_device(std::uint64_t target, const void* source, std::size_t size_bytes) noexcept override {
    if (auto copied = copy_to_device_async(target, source, size_bytes, Stream{}); !copied) return copied;
    return synchronize(Stream{});
  }
  base::Status copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept override {
    if (auto copied = copy_to_host_async(target, source, size_bytes, Stream{}); !copied) return copied;
    return synchronize(Stream{});
  }
  base::Status fill(std::uint64_t target, std::uint8_t value, std::size_t size_bytes) noexcept override {
    if (auto checked = check(target, size_bytes); !checked || size_bytes == 0) return checked;
    auto filled = submit(Stream{}, [=] {
      std::memset(reinterpret_cast<void*>(target), value, size_bytes);
      order_copies();
    });
    return filled ? synchronize(Stream{}) : filled;
  }
  base::Status driver_copy_to_device(std::uint64_t target, const void* source,
                                     std::size_t size_bytes) noexcept override {
    return copy_to_device(target, source, size_bytes);
  }

  base::Result<Stream> create_stream() noexcept override;
  base::Status destroy_stream(Stream stream) noexcept override;
  base::Status copy_to_device_async(std::uint64_t target, const void* source, std::size_t size_bytes,
                                    Stream stream) noexcept override {
    if (auto checked = check(target, size_bytes); !checked) return checked;
    return submit_copy(stream, reinterpret_cast<void*>(target), source, size_bytes);
  }
  base::Status copy_to_host_async(void* target, std::uint64_t source, std::size_t size_bytes,
                                  Stream stream) noexcept override {
    if (auto checked = check(source, size_bytes); !checked) return checked;
    return submit_copy(stream, target, reinterpret_cast<const void*>(source), size_bytes);
  }
  base::Status copy_device_to_device_async(std::uint64_t target, std::uint64_t source, std::size_t size_bytes,
                                           Stream stream) noexcept override {
    if (auto checked = check(source, size_bytes); !checked) return checked;
    return copy_to_device_async(target, reinterpret_cast<const void*>(source), size_bytes, stream);
  }
  base::Status store_word_async(std::uint64_t target, std::uint64_t value, std::size_t size_bytes,
                                Stream stream) noexcept override {
    if (auto checked = check(target, size_bytes); !checked) return checked;
    return submit(stream, [=] {
      order_copies();
      if (size_bytes == sizeof value) {
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(target), value, __ATOMIC_RELEASE);
      } else {
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(target), static_cast<std::uint32_t>(value), __ATOMIC_RELEASE);
      }
    });
  }
  base::Status synchronize(Stream stream) noexcept override;
  base::Status synchronize_all() noexcept override;
  base::Result<bool> is_finished(Stream stream) noexcept override;

  base::Result<Event> create_event() noexcept override;
  base::Status destroy_event(Event event) noexcept override;
  base::Status record(Event event, Stream stream) noexcept override;
  base::Status synchronize(Event event) noexcept override;
  base::Status wait(Stream stream, Event event) noexcept override;
  base::Result<double> elapsed_ms(Event begin, Event end) noexcept override;

  base::Result<Module> load_module(const void*) noexcept override { return refuse_gpu_code(); }
  base::Status unload_module(Module) noexcept override { return refuse_gpu_code(); }
  base::Result<Function> get_function(Module, const char*) noexcept override { return refuse_gpu_code(); }
  base::Status launch(Function, LaunchShape, Stream, void**) noexcept override { return refuse_gpu_code(); }
  base::Status launch_host_function(Stream stream, void (*function)(void*), void* argument) noexcept override;

  base::Result<std::uint64_t> device_address(const void* host) noexcept override {
    return reinterpret_cast<std::uint64_t>(host);
  }

  base::Result<int> attribute(DeviceAttribute attribute) noexcept override {
    switch (attribute) {
      case DeviceAttribute::multiprocessor_count:
        return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
      case DeviceAttribute::copy_engine_count: return 2;
      default: return 0;  // not supported
    }
  }
  base::Result<bool> can_access_peer(Device& peer) noexcept override { return peer.is_emulated() && &peer != this; }
  base::Status enable_peer_access(Device& peer) noexcept override {
    if (peer.is_emulated() && &peer != this) return {};
    return base::fail(EINVAL, "an emulated device can only have emulated peers");
  }

 protected:
  base::Status free(std::uint64_t address, std::size_t, AllocationKind) noexcept override {
    // Held over both: otherwise another thread may get the same address in between.
    const std::lock_guard lock(exportable_mutex_);
    auto freed = driver::emulated_free(address);
    if (const auto file = exportable_.find(address); freed && file != exportable_.end()) {
      ::close(file->second);
      exportable_.erase(file);
    }
    return freed;
  }

 private:
  /// Its memory file stays open, because a handle of the driver can be obtained during the whole lifetime of the
  /// memory.
  base::Result<Allocation> allocate_exportable(std::size_t size_bytes, std::size_t extent) noexcept {
    const std::lock_guard lock(exportable_mutex_);
    int fd = -1;
    auto address = emulated_allocate_exportable(extent, &fd);
    if (!address) return base::pass(address);
    try {
      exportable_.emplace(*address, fd);
    } catch (const std::bad_alloc&) {
      ::close(fd);
      (void)driver::emulated_free(*address);
      return base::fail_literal(ENOMEM, "out of memory while allocating exportable memory");
    }
    return Allocation(this, *address, size_bytes, extent, AllocationKind::vmm_exportable);
  }

  static driver::EmulatedKind emulated_kind(AllocationKind kind) noexcept {
    if (kind == AllocationKind::managed) return driver::EmulatedKind::managed;
    return kind == AllocationKind::host ? driver::EmulatedKind::host : driver::EmulatedKind::device;
  }

  /// The range must be within one live allocation: a device copy past its end fails without crashing the process.
  static base::Status check(std::uint64_t address, std::size_t size_bytes) noexcept {
    if (size_bytes == 0) return {};
    auto allocation = driver::emulated_find(address);
    if (!allocation) return base::pass(allocation);
    const std::uint64_t offset = address - allocation->start;
    if (offset <= allocation->size_bytes && size_bytes <= allocation->size_bytes - offset) return {};
    return base::fail(
        EINVAL, "cannot access %zu bytes at 0x%" PRIx64 ": the range exceeds the emulated allocation of %zu bytes",
        size_bytes, address, allocation->size_bytes);
  }

  static tl::unexpected<base::Error> refuse_gpu_code() noexcept {
    return base::fail(EOPNOTSUPP, "the emulated device does not run GPU code; launch a host function instead");
  }

  base::Result<std::shared_ptr<EmulatedStream>> find(Stream stream) noexcept {
    if (stream.handle == 0) return default_stream_;
    const std::lock_guard lock(streams_mutex_);
    const auto found = streams_.find(stream.handle);
    if (found != streams_.end()) return found->second;
    return base::fail(EINVAL, "unknown stream handle %" PRIu64 ": the emulated device has no such stream",
                      stream.handle);
  }

  base::Status submit(Stream stream, std::function<void()> work) noexcept {
    const auto found = find(stream);
    if (!found) return base::pass(found);
    return guarded([&] { (*found)->submit(std::move(work)); });
  }

  base::Status submit_copy(Stream stream, void* target, const void* source, std::size_t size_bytes) noexcept {
    return submit(stream, [=] {
      if (size_bytes == 0) return;
      order_copies();
      std::memcpy(target, source, size_bytes);
      order_copies();
    });
  }

  /// Runs what may lack memory or threads.
  template <class Function>
  static base::Status guarded(Function&& function) noexcept {
    try {
      function();
      return {};
    } catch (const std::bad_alloc&) {
      return base::fail(ENOMEM, "out of memory while starting work on the emulated device");
    } catch (const std::exception& error) {
      return base::fail(EAGAIN, "cannot start a thread for work on the emulated device: %s", error.what());
    }
  }

  static base::Result<std::shared_ptr<EmulatedEvent>> find(Event event) noexcept {
    const std::lock_guard lock(events_mutex);
    const auto found = events.find(event.handle);
    if (found != events.end()) return found->second;
    return base::fail(EINVAL, "unknown event handle %" PRIu64 ": the emulated device has no such event", event.handle);
  }

  /// A copy is seen by accesses through the second mapping that follow it in another thread's program once that thread
  /// learnt of its end; the fence also stands for the driver's between the CPU's earlier stores and the device's read.
  static void order_copies() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

  /// A device is not a thread of the application, so an application that binds itself later does not bind the device.
  static base::CpuSet present_cpus() noexcept {
    base::CpuSet cpus;
    (void)cpus.read();
    return cpus;
  }

  const base::CpuSet cpus_;
  const std::shared_ptr<EmulatedStream> default_stream_;
  std::mutex streams_mutex_;
  std::map<std::uint64_t, std::shared_ptr<EmulatedStream>> streams_;
  std::uint64_t last_stream_ = 0;
  std::mutex exportable_mutex_;
  std::map<std::uint64_t, int> exportable_;  // by address: the memory file's descriptor
};

base::Result<Stream> EmulatedDevice::create_stream() noexcept {
  Stream made;
  auto created = guarded([&] {
    const std::lock_guard lock(streams_mutex_);
    streams_.emplace(last_stream_ + 1, std::make_shared<EmulatedStream>(cpus_));
    made.handle = ++last_stream_;
  });
  if (!created) return base::pass(created);
  return made;
}

base::Status EmulatedDevice::destroy_stream(Stream stream) noexcept {
  if (stream.handle == 0) return base::fail(EINVAL, "cannot destroy the default stream");
  const auto found = find(stream);  // ends, with its work, when this returns
  if (!found) return base::pass(found);
  const std::lock_guard lock(streams_mutex_);
  streams_.erase(stream.handle);
  return {};
}

base::Status EmulatedDevice::synchronize(Stream stream) noexcept {
  const auto found = find(stream);
  if (!found) return base::pass(found);
  (*found)->synchronize();
  return {};
}

base::Status EmulatedDevice::synchronize_all() noexcept {
  std::map<std::uint64_t, std::shared_ptr<EmulatedStream>> all;
  auto copied = guarded([&] {
    const std::lock_guard lock(streams_mutex_);
    all = streams_;
  });
  if (!copied) return copied;
  default_stream_->synchronize();
  for (const auto& [handle, stream] : all) stream->synchronize();
  return {};
}

base::Result<bool> EmulatedDevice::is_finished(Stream stream) noexcept {
  const auto found = find(stream);
  if (!found) return base::pass(found);
  return (*found)->is_finished();
}

base::Result<Event> EmulatedDevice::create_event() noexcept {
  Event made;
  auto created = guarded([&] {
    const std::lock_guard lock(events_mutex);
    events.emplace(last_event + 1, std::make_shared<EmulatedEvent>());
    made.handle = ++last_event;
  });
  if (!created) return base::pass(created);
  return made;
}

base::Status EmulatedDevice::destroy_event(Event event) noexcept {
  if (const auto found = find(event); !found) return base::pass(found);
  const std::lock_guard lock(events_mutex);
  events.erase(event.handle);
  return {};
}

base::Status EmulatedDevice::record(Event event, Stream stream) noexcept {
  const auto found = find(event);
  if (!found) return base::pass(found);
  if (const auto known = find(stream); !known) return base::pass(known);
  return submit(stream, [event = *found, number = (*found)->begin_record()] { event->reach(number); });
}

base::Status EmulatedDevice::synchronize(Event event) noexcept {
  const auto found = find(event);
  if (!found) return base::pass(found);
  return guarded([&] { (*found)->wait_for((*found)->last_record()); });
}

base::Status EmulatedDevice::wait(Stream stream, Event event) noexcept {
  const auto found = find(event);
  if (!found) return base::pass(found);
  const auto waiting = find(stream);
  if (!waiting) return base::pass(waiting);
  return guarded([&] {
    (*waiting)->submit_to_thread([event = *found, number = (*found)->last_record()] { event->wait_for(number); });
  });
}

base::Result<double> EmulatedDevice::elapsed_ms(Event begin, Event end) noexcept {
  const auto first = find(begin);
  if (!first) return base::pass(first);
  const auto last = find(end);
  if (!last) return base::pass(last);
  const std::int64_t begin_ns = (*first)->reached_ns();
  const std::int64_t end_ns = (*last)->reached_ns();
  if (begin_ns < 0 || end_ns < 0)
    return base::fail(EAGAIN,
                      "cannot measure the time between two events: an event was not recorded, or has not completed; "
                      "synchronize with both events first");
  return static_cast<double>(end_ns - begin_ns) / 1e6;
}

base::Status EmulatedDevice::launch_host_function(Stream stream, void (*function)(void*), void* argument) noexcept {
  const auto found = find(stream);
  if (!found) return base::pass(found);
  return guarded([&] { (*found)->submit_to_thread([=] { function(argument); }); });
}

}  // namespace

base::Result<int> emulated_device_count() noexcept {
  return driver::emulated_device_count(base::read_settings().emulated_devices);
}

base::Result<std::unique_ptr<Device>> open_emulated_device(int ordinal) noexcept {
  const auto count = emulated_device_count();
  if (!count) return base::pass(count);
  if (ordinal < 0 || ordinal >= *count) {
    return base::fail(
        ENODEV,
        "cannot open emulated device %d: the number of emulated devices is %d; increase GDRKIT_EMULATED_DEVICES",
        ordinal, *count);
  }
  try {
    return std::unique_ptr<Device>(std::make_unique<EmulatedDevice>(ordinal));
  } catch (const std::exception&) {
    return base::fail(ENOMEM, "out of memory while creating the emulated device");
  }
}

}  // namespace gdrkit::platform
