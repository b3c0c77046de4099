// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated driver's streams, events, copies in streams, and GPU kernels.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fakes/emulated_cuda.hpp"
#include "fakes/emulated_cuda_parts.hpp"

namespace gdrkit::fakes {
namespace {

using namespace driver;  // the constants

/// One thread that executes work in the order of submission.
class Stream {
 public:
  Stream() : thread_([this] { run(); }) {}
  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// Returns the number of the work.
  std::uint64_t enqueue(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    changed_.notify_all();
    return ++enqueued_;
  }
  void wait(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= number; });
  }
  [[nodiscard]] std::uint64_t enqueued() {
    const std::lock_guard lock(mutex_);
    return enqueued_;
  }
  [[nodiscard]] bool is_idle() {
    const std::lock_guard lock(mutex_);
    return done_ == enqueued_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return is_closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t enqueued_ = 0;
  std::uint64_t done_ = 0;
  bool is_closing_ = false;
  std::thread thread_;  // last: it uses the other members
};

struct Event {
  Stream* stream = nullptr;  ///< null: the default stream, whose work is executed immediately
  std::uint64_t number = 0;
  std::shared_ptr<std::atomic<double>> time_ms;  ///< null: not recorded; 0: not reached

  void wait() const {
    if (stream != nullptr) stream->wait(number);
  }
};

/// All streams. Never destroyed: threads may call while the process exits.
std::mutex streams_mutex;
std::set<Stream*>& streams() {
  static auto* const all = new std::set<Stream*>;
  return *all;
}

/// The default stream executes work immediately.
int enqueue(void* stream, const std::function<void()>& work) noexcept {
  return guarded([&] {
    if (stream == nullptr) return work(), success;
    enqueue_in_stream(stream, work);
    return success;
  });
}

int copy_in_stream(std::uint64_t target, std::uint64_t source, std::size_t size, void* stream) noexcept {
  return enqueue(stream, [=] {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), size);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

int launch_blocks(unsigned blocks, void** parameters, void* stream) noexcept {
  return guarded([&] {
    const auto* const bytes = static_cast<const char*>(parameters[0]);
    const std::vector<char> parameter(bytes, bytes + mover_parameter_bytes);
    return enqueue(stream, [=] { play_mover_blocks(blocks, parameter.data()); });
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuMemcpyHtoDAsync_v2(std::uint64_t target, const void* source, std::size_t size, void* stream) {
  return copy_in_stream(target, reinterpret_cast<std::uint64_t>(source), size, stream);
}
int cuMemcpyDtoHAsync_v2(void* target, std::uint64_t source, std::size_t size, void* stream) {
  return copy_in_stream(reinterpret_cast<std::uint64_t>(target), source, size, stream);
}
int cuMemcpyDtoDAsync_v2(std::uint64_t target, std::uint64_t source, std::size_t size, void* stream) {
  return copy_in_stream(target, source, size, stream);
}

int cuCtxSynchronize() {
  const std::lock_guard lock(streams_mutex);
  for (Stream* stream : streams()) stream->wait(stream->enqueued());
  return success;
}

int cuStreamCreate(void** stream, unsigned flags) {
  if (flags != cuda_stream_non_blocking) return invalid_value;
  if (current_context() == nullptr) return invalid_context;
  return count_taken(guarded([&] {
    const std::lock_guard lock(streams_mutex);
    *stream = *streams().insert(new Stream).first;
    return success;
  }));
}
int cuStreamDestroy_v2(void* stream) {
  const std::lock_guard lock(streams_mutex);
  streams().erase(static_cast<Stream*>(stream));
  delete static_cast<Stream*>(stream);
  return count_released(success);
}
int cuStreamSynchronize(void* stream) {
  if (auto* const own = static_cast<Stream*>(stream)) own->wait(own->enqueued());
  return success;
}
int cuStreamQuery(void* stream) {
  return stream == nullptr || static_cast<Stream*>(stream)->is_idle() ? success : cuda_error_not_ready;
}
int cuStreamIsCapturing(void*, int* status) {
  *status = 0;
  return success;
}
int cuEventCreate(void** event, unsigned) {
  return count_taken(guarded([&] { return *event = new Event, success; }));
}
int cuEventDestroy_v2(void* event) {
  if (event == nullptr) return invalid_handle;
  delete static_cast<Event*>(event);
  return count_released(success);
}
int cuEventRecord(void* event, void* stream) {
  if (event == nullptr) return invalid_handle;
  auto* const on = static_cast<Stream*>(stream);
  return guarded([&] {
    auto time_ms = std::make_shared<std::atomic<double>>(0.0);
    const auto note = [time_ms] {
      *time_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    if (on == nullptr) note();
    *static_cast<Event*>(event) = {on, on == nullptr ? 0 : on->enqueue(note), time_ms};
    return success;
  });
}
int cuEventSynchronize(void* event) {
  if (event == nullptr) return invalid_handle;
  static_cast<Event*>(event)->wait();
  return success;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  if (event == nullptr || flags != 0) return invalid_handle;
  return enqueue(stream, [recorded = *static_cast<Event*>(event)] { recorded.wait(); });
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  if (begin == nullptr || end == nullptr) return invalid_handle;
  const Event &first = *static_cast<Event*>(begin), &last = *static_cast<Event*>(end);
  if (first.time_ms == nullptr || last.time_ms == nullptr) return invalid_handle;
  if (*first.time_ms == 0 || *last.time_ms == 0) return cuda_error_not_ready;
  *milliseconds = static_cast<float>(*last.time_ms - *first.time_ms);
  return success;
}
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return enqueue(stream, [=] { function(argument); });
}

int cuModuleLoadData(void** module, const void* image) {
  if (std::strstr(static_cast<const char*>(image), ".entry ") == nullptr) return no_binary_for_gpu;
  *module = const_cast<void*>(image);
  return count_taken(success);
}
int cuModuleUnload(void* module) { return module != nullptr ? count_released(success) : invalid_handle; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return guarded([&] {
    const std::string entry = std::string(".entry ") + name + "(";
    if (module == nullptr) return invalid_handle;
    if (std::strstr(static_cast<const char*>(module), entry.c_str()) == nullptr) return not_found;
    return *function = module, success;
  });
}
int cuFuncLoad(void*) { return success; }
int cuLaunchKernel(void*, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                   void** parameters, void**) {
  return launch_blocks(blocks, parameters, stream);
}

}  // extern "C"
#pragma GCC visibility pop

void enqueue_in_stream(void* stream, std::function<void()> work) {
  (void)static_cast<Stream*>(stream)->enqueue(std::move(work));
}

}  // namespace gdrkit::fakes
