// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/gpu_threads.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "driver/emulated_memory.hpp"

namespace gdrkit::fakes {
namespace {

using namespace driver;  // the types in the list

std::atomic<int> held{0};

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int out_of_memory = 2;
constexpr int not_found = 500;

int the_context = 0;  // its address is the one context's name
thread_local std::vector<void*> contexts_of_thread;
thread_local int capture_mode_of_thread = 0;

/// Work in the order in which it was given, done by one thread.
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
  /// The number of the work.
  std::uint64_t give(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    changed_.notify_all();
    return ++given_;
  }
  void wait(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= number; });
  }
  [[nodiscard]] std::uint64_t given() {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  [[nodiscard]] bool is_idle() {
    const std::lock_guard lock(mutex_);
    return done_ == given_;
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
  std::uint64_t given_ = 0;
  std::uint64_t done_ = 0;
  bool is_closing_ = false;
  std::thread thread_;  // last: it uses the others
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t number = 0;
};

/// The streams there are. Like the ranges below never destroyed: threads may call while the process exits.
std::mutex streams_mutex;
std::set<Stream*>& streams() {
  static auto* const all = new std::set<Stream*>;
  return *all;
}

/// Host memory that was page-locked, by its first byte.
std::mutex registered_mutex;
struct Registered {
  std::size_t size_bytes = 0;
  std::uint64_t buffer_id = 0;  ///< never used twice
};
std::map<std::uint64_t, Registered>& registered() {
  static auto* const ranges = new std::map<std::uint64_t, Registered>;
  return *ranges;
}

template <class Work>
int guarded(Work work) noexcept {
  try {
    return work();
  } catch (...) {
    return out_of_memory;
  }
}

template <class Work>
int give(void* stream, Work work) noexcept {
  return guarded([&] {
    (void)static_cast<Stream*>(stream)->give(work);
    return success;
  });
}

int copy_bytes(std::uint64_t target, std::uint64_t source, std::size_t size, void* stream) noexcept {
  return give(stream, [=] {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), size);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

struct Facts {
  std::uint64_t context = 0, device_address = 0, buffer_id = 0, range_start = 0, range_bytes = 0;
  std::uint32_t memory_type = 0;
};

Facts facts_of(std::uint64_t address) {
  Facts facts;
  {
    const std::lock_guard lock(registered_mutex);
    auto after = registered().upper_bound(address);
    if (after != registered().begin() && address - std::prev(after)->first < std::prev(after)->second.size_bytes) {
      facts = {reinterpret_cast<std::uint64_t>(&the_context),
               address,
               std::prev(after)->second.buffer_id,
               std::prev(after)->first,
               std::prev(after)->second.size_bytes,
               cuda_memory_type_host};
      return facts;
    }
  }
  const auto found = emulated_find(address);
  if (!found) return facts;
  const bool is_host = found->kind == EmulatedKind::host;
  facts = {reinterpret_cast<std::uint64_t>(&the_context),
           address,
           found->buffer_id,
           found->start,
           found->size_bytes,
           static_cast<std::uint32_t>(is_host ? cuda_memory_type_host : cuda_memory_type_device)};
  return facts;
}

template <class T>
void put(void* target, T value) noexcept {
  std::memcpy(target, &value, sizeof value);
}

int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
  return guarded([&] {
    Facts facts = facts_of(address);
    if (contexts_of_thread.empty()) facts.device_address = 0;  // as CUDA answers on a thread without a current context
    for (unsigned at = 0; at < count; ++at) {
      switch (numbers[at]) {
        case 1: put(targets[at], facts.context); break;
        case 2: put(targets[at], facts.memory_type); break;
        case 3: put(targets[at], facts.device_address); break;
        case 7: put(targets[at], facts.buffer_id); break;
        case 8: put(targets[at], std::uint32_t{0}); break;
        case 9: put(targets[at], std::int32_t{facts.context != 0 ? 0 : -2}); break;
        case 11: put(targets[at], facts.range_start); break;
        case 12: put(targets[at], facts.range_bytes); break;
        default: return invalid_value;
      }
    }
    return success;
  });
}

int launch_blocks(unsigned blocks, void** parameters, void* stream) noexcept {
  return guarded([&] {
    const auto* const bytes = static_cast<const char*>(parameters[0]);
    const std::vector<char> parameter(bytes, bytes + mover_parameter_bytes);
    give_to_stream(stream, [=] {
      std::vector<std::thread> others;
      for (unsigned block = 1; block < blocks; ++block) {
        others.emplace_back([block, blocks, &parameter] { play_mover(block, blocks, parameter.data()); });
      }
      play_mover(0, blocks, parameter.data());
      for (std::thread& other : others) other.join();
    });
    return success;
  });
}

int taken(int result) noexcept {
  if (result == success) ++held;
  return result;
}
int given_back(int result) noexcept {
  if (result == success) --held;
  return result;
}

void set_contexts(CudaCalls& calls) noexcept {
  calls.init = [](unsigned) { return success; };
  calls.driver_get_version = [](int* version) { return *version = 13000, success; };
  calls.device_get_uuid = [](void* uuid, int) {
    return std::memcpy(uuid, "\x01\x23\x45\x67gdrkit thread", 16), success;
  };
  calls.device_get = [](int* handle, int device) { return *handle = device, success; };
  calls.device_get_attribute = [](int* value, int attribute, int) {
    constexpr int unified_addressing = 41;
    return *value = attribute == unified_addressing ? 1 : 0, success;
  };
  calls.primary_ctx_retain = [](void** context, int) { return *context = &the_context, taken(success); };
  calls.primary_ctx_release = [](int) { return given_back(success); };
  calls.ctx_get_current = [](void** context) {
    return *context = contexts_of_thread.empty() ? nullptr : contexts_of_thread.back(), success;
  };
  calls.ctx_push_current = [](void* context) {
    return taken(guarded([&] { return contexts_of_thread.push_back(context), success; }));
  };
  calls.ctx_pop_current = [](void** context) {
    if (contexts_of_thread.empty()) return invalid_value;
    *context = contexts_of_thread.back();
    contexts_of_thread.pop_back();
    return given_back(success);
  };
  calls.exchange_stream_capture_mode = [](int* mode) { return std::swap(*mode, capture_mode_of_thread), success; };
}

void set_streams(CudaCalls& calls) noexcept {
  calls.stream_create = [](void** stream, unsigned) {
    return taken(guarded([&] {
      const std::lock_guard lock(streams_mutex);
      *stream = *streams().insert(new Stream).first;
      return success;
    }));
  };
  calls.stream_destroy = [](void* stream) {
    const std::lock_guard lock(streams_mutex);
    streams().erase(static_cast<Stream*>(stream));
    return delete static_cast<Stream*>(stream), given_back(success);
  };
  calls.ctx_synchronize = [] {
    const std::lock_guard lock(streams_mutex);
    for (Stream* stream : streams()) stream->wait(stream->given());
    return success;
  };
  calls.stream_synchronize = [](void* stream) {
    auto* const given = static_cast<Stream*>(stream);
    return given->wait(given->given()), success;
  };
  calls.stream_query = [](void* stream) {
    return static_cast<Stream*>(stream)->is_idle() ? success : cuda_error_not_ready;
  };
  calls.stream_is_capturing = [](void*, int* status) { return *status = 0, success; };
  calls.event_create = [](void** event, unsigned) {
    return taken(guarded([&] { return *event = new Event, success; }));
  };
  calls.event_destroy = [](void* event) { return delete static_cast<Event*>(event), given_back(success); };
  calls.event_record = [](void* event, void* stream) {
    auto* const on = static_cast<Stream*>(stream);
    return *static_cast<Event*>(event) = {on, on->given()}, success;
  };
  calls.event_synchronize = [](void* event) {
    const Event& recorded = *static_cast<Event*>(event);
    if (recorded.stream != nullptr) recorded.stream->wait(recorded.number);
    return success;
  };
}

void set_memory(CudaCalls& calls) noexcept {
  calls.pointer_get_attributes = &pointer_get_attributes;
  calls.memcpy_host_to_device_async = [](std::uint64_t target, const void* source, std::size_t size, void* stream) {
    return copy_bytes(target, reinterpret_cast<std::uint64_t>(source), size, stream);
  };
  calls.memcpy_device_to_host_async = [](void* target, std::uint64_t source, std::size_t size, void* stream) {
    return copy_bytes(reinterpret_cast<std::uint64_t>(target), source, size, stream);
  };
  calls.memcpy_device_to_device_async = &copy_bytes;
  calls.mem_host_register = [](void* address, std::size_t size, unsigned) {
    return taken(guarded([&] {
      const std::lock_guard lock(registered_mutex);
      static std::uint64_t next_id = std::uint64_t{1} << 40;  // beyond those of device memory
      registered()[reinterpret_cast<std::uint64_t>(address)] = {size, next_id++};
      return success;
    }));
  };
  calls.mem_host_unregister = [](void* address) {
    const std::lock_guard lock(registered_mutex);
    return given_back(registered().erase(reinterpret_cast<std::uint64_t>(address)) == 1 ? success : invalid_value);
  };
  calls.mem_host_get_device_pointer = [](std::uint64_t* device, void* host, unsigned) {
    return *device = reinterpret_cast<std::uint64_t>(host), success;
  };
}

void set_launches(CudaCalls& calls) noexcept {
  calls.module_load_data = [](void** module, const void* image) {
    return *module = const_cast<void*>(image), taken(success);
  };
  calls.module_unload = [](void*) { return given_back(success); };
  calls.module_get_function = [](void** function, void* module, const char* name) {
    return guarded([&] {
      const std::string entry = std::string(".entry ") + name + "(";
      if (std::strstr(static_cast<const char*>(module), entry.c_str()) == nullptr) return not_found;
      return *function = module, success;
    });
  };
  calls.launch_kernel = [](void*, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           void* stream, void** parameters,
                           void**) { return launch_blocks(blocks, parameters, stream); };
}

// One wrapper for each function of the list: its name, and whether it waits or gives back.
template <auto member>
struct Faulty;
template <class... Arguments, int (*CudaCalls::*member)(Arguments...)>
struct Faulty<member> {
  static inline const char* name = "";
  static inline bool is_made_anyway = false;
  static int call(Arguments... arguments) {
    CallFault& fault = call_fault();
    const bool is_struck = fault.calls++ == fault.number;
    if (is_struck) fault.failed = name;
    if (is_struck && !is_made_anyway) return fault.result;
    const int result = (gpu_threads().*member)(arguments...);
    return is_struck ? fault.result : result;
  }
  static void put(CudaCalls& calls, const char* given_name) {
    if (gpu_threads().*member == nullptr) return;
    name = given_name;
    for (const char* word : {"synchronize", "destroy", "release", "unregister", "unload", "pop"}) {
      is_made_anyway = is_made_anyway || std::strstr(given_name, word) != nullptr;
    }
    calls.*member = &call;
  }
};

}  // namespace

const CudaCalls& gpu_threads() noexcept {
  static const CudaCalls calls = [] {
    CudaCalls made;
    set_contexts(made);
    set_streams(made);
    set_memory(made);
    set_launches(made);
    return made;
  }();
  return calls;
}

int held_by_gpu_threads() noexcept { return held; }

void give_to_stream(void* stream, std::function<void()> work) {
  (void)static_cast<Stream*>(stream)->give(std::move(work));
}

CallFault& call_fault() noexcept {
  static CallFault fault;
  return fault;
}

const CudaCalls& faulty_gpu_threads() noexcept {
  static const CudaCalls calls = [] {
    CudaCalls made;
#define GDRKIT_CUDA_CALL(member, symbol, ...) Faulty<&CudaCalls::member>::put(made, #member);
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
    return made;
  }();
  return calls;
}

}  // namespace gdrkit::fakes
