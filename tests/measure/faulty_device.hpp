// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FaultyDevice: an emulated device that fails, returns wrong data or is slow on demand.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "platform/device/device.hpp"

namespace gdrkit::measure {

inline constexpr std::chrono::milliseconds delay(20);

/// The faults of one or several devices. Shared, so that they can change during the devices' lifetime.
struct Faults {
  const char* failing = "";      ///< the call that fails ...
  int calls_before_failure = 0;  ///< ... after this many successful calls
  bool is_failing_once = false;
  bool is_copy_wrong = false;  ///< one byte of each asynchronous copy to the host is another
  bool has_gpu_code = false;   ///< otherwise loading modules fails, as on a GPU for which the image has no code
  bool is_slow = false;        ///< recording an event takes 250 ms, so that other threads run even on a busy machine
  std::function<bool(int, int)> reaches = [](int, int) { return true; };
  int slow_copier = -1;              ///< number of the device whose copies on devices take 20 ms longer
  bool is_slow_to_take = false;      ///< enqueuing a copy to the device takes the CPU 20 ms
  std::optional<double> elapsed_ms;  ///< between any two events
  int failures = 0;                  ///< that happened
  int streams = 0;                   ///< created and not destroyed
  int current = -1;                  ///< number of the device whose context is current; the tests have one thread
};

class FaultyDevice final : public platform::Device {
 public:
  FaultyDevice(std::unique_ptr<platform::Device> inner, Faults* faults) : inner_(std::move(inner)), faults_(*faults) {
    identity_ = inner_->identity();
  }

  [[nodiscard]] bool is_emulated() const noexcept override { return faults_.has_gpu_code; }
  base::Status make_current() noexcept override {
    faults_.current = identity().ordinal;
    return guard("make_current", [&] { return inner_->make_current(); });
  }
  base::Result<platform::Allocation> allocate(platform::AllocationKind kind, std::size_t size) noexcept override {
    return guard("allocate", [&] { return inner_->allocate(kind, size); });
  }
  base::Result<platform::DeviceMemory> memory() noexcept override { return inner_->memory(); }
  base::Status set_sync_memops(std::uint64_t address) noexcept override { return inner_->set_sync_memops(address); }
  base::Status copy_to_device(std::uint64_t target, const void* source, std::size_t size) noexcept override {
    return guard("copy_to_device", [&] { return inner_->copy_to_device(target, source, size); });
  }
  base::Status copy_to_host(void* target, std::uint64_t source, std::size_t size) noexcept override {
    return guard("copy_to_host", [&] { return inner_->copy_to_host(target, source, size); });
  }
  base::Status fill(std::uint64_t target, std::uint8_t value, std::size_t size) noexcept override {
    return guard("fill", [&] { return inner_->fill(target, value, size); });
  }
  base::Status driver_copy_to_device(std::uint64_t target, const void* source, std::size_t size) noexcept override {
    return inner_->driver_copy_to_device(target, source, size);
  }
  base::Result<platform::Stream> create_stream() noexcept override {
    if (is_failing("create_stream")) return failure("create_stream");
    auto created = inner_->create_stream();
    if (created) ++faults_.streams;
    return created;
  }
  base::Status destroy_stream(platform::Stream stream) noexcept override {
    auto destroyed = inner_->destroy_stream(stream);
    if (destroyed) --faults_.streams;
    return destroyed;
  }
  base::Status copy_to_device_async(std::uint64_t target, const void* source, std::size_t size,
                                    platform::Stream stream) noexcept override {
    if (faults_.is_slow_to_take) std::this_thread::sleep_for(delay);
    return guard("copy_to_device_async", [&] { return inner_->copy_to_device_async(target, source, size, stream); });
  }
  base::Status copy_to_host_async(void* target, std::uint64_t source, std::size_t size,
                                  platform::Stream stream) noexcept override {
    return guard("copy_to_host_async", [&] {
      // One byte short: the last one keeps its old value.
      return inner_->copy_to_host_async(target, source, faults_.is_copy_wrong ? size - 1 : size, stream);
    });
  }
  base::Status copy_device_to_device_async(std::uint64_t target, std::uint64_t source, std::size_t size,
                                           platform::Stream stream) noexcept override {
    if (faults_.slow_copier == identity().ordinal) {
      (void)inner_->launch_host_function(
          stream, [](void*) { std::this_thread::sleep_for(delay); }, nullptr);
    }
    return guard("copy_device_to_device_async",
                 [&] { return inner_->copy_device_to_device_async(target, source, size, stream); });
  }
  base::Status synchronize(platform::Stream stream) noexcept override {
    return guard("synchronize", [&] { return inner_->synchronize(stream); });
  }
  base::Result<bool> is_finished(platform::Stream stream) noexcept override { return inner_->is_finished(stream); }
  base::Status synchronize_all() noexcept override { return inner_->synchronize_all(); }
  base::Result<platform::Event> create_event() noexcept override {
    return guard("create_event", [&] { return inner_->create_event(); });
  }
  base::Status destroy_event(platform::Event event) noexcept override { return inner_->destroy_event(event); }
  base::Status record(platform::Event event, platform::Stream stream) noexcept override {
    if (faults_.is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    return guard("record", [&] { return inner_->record(event, stream); });
  }
  base::Status synchronize(platform::Event event) noexcept override { return inner_->synchronize(event); }
  base::Status wait(platform::Stream stream, platform::Event event) noexcept override {
    return guard("wait", [&] { return inner_->wait(stream, event); });
  }
  base::Result<double> elapsed_ms(platform::Event begin, platform::Event end) noexcept override {
    if (is_failing("elapsed_ms")) return failure("elapsed_ms");
    if (faults_.elapsed_ms) return *faults_.elapsed_ms;
    return inner_->elapsed_ms(begin, end);
  }
  base::Result<platform::Module> load_module(const void*) noexcept override {
    return base::fail(ENOEXEC, "no GPU code for this GPU, on purpose");
  }
  base::Status unload_module(platform::Module module) noexcept override { return inner_->unload_module(module); }
  base::Result<platform::Function> get_function(platform::Module module, const char* name) noexcept override {
    return inner_->get_function(module, name);
  }
  base::Status launch(platform::Function function, platform::LaunchShape shape, platform::Stream stream,
                      void** parameters) noexcept override {
    return inner_->launch(function, shape, stream, parameters);
  }
  base::Status launch_host_function(platform::Stream stream, void (*function)(void*),
                                    void* argument) noexcept override {
    return guard("launch", [&] { return inner_->launch_host_function(stream, function, argument); });
  }
  base::Result<std::uint64_t> device_address(const void* host) noexcept override {
    return guard("device_address", [&] { return inner_->device_address(host); });
  }
  base::Result<int> attribute(platform::DeviceAttribute attribute) noexcept override {
    return inner_->attribute(attribute);
  }
  base::Result<bool> can_access_peer(platform::Device& peer) noexcept override {
    return faults_.reaches(identity().ordinal, peer.identity().ordinal);
  }
  base::Status enable_peer_access(platform::Device& peer) noexcept override {
    return guard("enable_peer_access",
                 [&] { return inner_->enable_peer_access(*static_cast<FaultyDevice&>(peer).inner_); });
  }

 protected:
  // The inner device allocated the freed memory, and frees it itself.
  base::Status free(std::uint64_t, std::size_t, platform::AllocationKind) noexcept override { return {}; }

 private:
  bool is_failing(const char* call) {
    // CUDA would run it in another GPU's context, or reject it.
    if (faults_.current != identity().ordinal) return is_without_context_ = true;
    if (std::strcmp(call, faults_.failing) != 0) return false;
    if (faults_.is_failing_once && faults_.failures > 0) return false;
    if (faults_.calls_before_failure-- > 0) return false;
    ++faults_.failures;
    return true;
  }
  tl::unexpected<base::Error> failure(const char* call) {
    const bool is_without_context = std::exchange(is_without_context_, false);
    return base::fail(EIO, "%s failed, %s", call, is_without_context ? "another device is current" : "on purpose");
  }
  template <class Function>
  std::invoke_result_t<Function> guard(const char* call, Function&& function) {
    if (is_failing(call)) return failure(call);
    return function();
  }

  std::unique_ptr<platform::Device> inner_;
  Faults& faults_;
  bool is_without_context_ = false;
};

}  // namespace gdrkit::measure
