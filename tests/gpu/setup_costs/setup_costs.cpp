// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Where the time of open, pin, map, unmap, unpin and close goes: system calls and CUDA calls of each, by name. The
// program defines the C library's functions itself, so it sees the system calls of libcuda too.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "driver/cuda_calls.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/device/device.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::tests {
namespace {

using platform::now_ns;

/// One call of the current phase. `label` is static or in `text`.
struct Event {
  const char* name;
  unsigned long detail;  ///< of an ioctl: number << 32 | command or class
  const char* inside;    ///< the CUDA function that made the system call, or nullptr
  std::int64_t ns;
};

constexpr std::size_t most_events = 4096;
thread_local Event events[most_events];
thread_local std::size_t event_count = 0;
thread_local bool is_recording = false;
thread_local const char* current_cuda_call = nullptr;

void record(const char* name, unsigned long detail, const char* inside, std::int64_t begin) {
  if (!is_recording || event_count == most_events) return;
  events[event_count++] = {name, detail, inside, now_ns() - begin};
}

/// Makes a system call, and records it.
template <class... Arguments>
long timed_call(const char* name, unsigned long detail, long number, Arguments... arguments) {
  if (!is_recording) return ::syscall(number, arguments...);
  const std::int64_t begin = now_ns();
  const long result = ::syscall(number, arguments...);
  record(name, detail, current_cuda_call, begin);
  return result;
}

/// The number of an ioctl of NVIDIA's driver, and the command of RM_CONTROL or the class of RM_ALLOC.
unsigned long detail_of(unsigned long request, const void* argument) {
  const unsigned long number = request & 0xff;
  std::uint32_t word = 0;
  if (argument != nullptr && number == 0x2a) std::memcpy(&word, static_cast<const char*>(argument) + 8, sizeof word);
  if (argument != nullptr && number == 0x2b) std::memcpy(&word, static_cast<const char*>(argument) + 12, sizeof word);
  return number << 32 | word;
}

}  // namespace
}  // namespace gdrkit::tests

// The C library's functions, exported by the program. noexcept as the C library's headers declare them.
extern "C" {
#pragma GCC visibility push(default)
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return static_cast<int>(gdrkit::tests::timed_call("open", 0, SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return static_cast<int>(gdrkit::tests::timed_call("open", 0, SYS_openat, AT_FDCWD, path, flags, mode));
}
int close(int fd) { return static_cast<int>(gdrkit::tests::timed_call("close", 0, SYS_close, fd)); }
int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return static_cast<int>(gdrkit::tests::timed_call("ioctl", gdrkit::tests::detail_of(request, argument), SYS_ioctl, fd,
                                                    request, argument));
}
void* mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(
      gdrkit::tests::timed_call("mmap", 0, SYS_mmap, hint, length, protection, flags, fd, offset));
}
void* mmap64(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  return mmap(hint, length, protection, flags, fd, offset);
}
int munmap(void* address, std::size_t length) noexcept {
  return static_cast<int>(gdrkit::tests::timed_call("munmap", 0, SYS_munmap, address, length));
}
int madvise(void* address, std::size_t length, int advice) noexcept {
  return static_cast<int>(gdrkit::tests::timed_call("madvise", 0, SYS_madvise, address, length, advice));
}
int access(const char* path, int mode) noexcept {
  return static_cast<int>(gdrkit::tests::timed_call("access", 0, SYS_access, path, mode));
}
ssize_t read(int fd, void* buffer, std::size_t count) {
  return gdrkit::tests::timed_call("read", 0, SYS_read, fd, buffer, count);
}
#pragma GCC visibility pop
}

namespace gdrkit::tests {
namespace {

// A wrapper of each CUDA function, which records its time.

driver::CudaCalls original;

template <class Function, class... Parameters>
int timed_cuda_call(const char* name, Function* function, Parameters... parameters) {
  const char* const outer = current_cuda_call;
  current_cuda_call = name;
  const std::int64_t begin = now_ns();
  const int result = function(parameters...);
  current_cuda_call = outer;
  record(name, 0, outer, begin);
  return result;
}

#define GDRKIT_CUDA_CALL(member, symbol, ...)                                                                        \
  template <class... Parameters>                                                                                     \
  int (*wrap_##member(int (*)(Parameters...)))(Parameters...) {                                                      \
    return [](Parameters... parameters) -> int { return timed_cuda_call(#symbol, original.member, parameters...); }; \
  }
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL

int timed_export(std::uint64_t address, std::size_t size, unsigned long long flags, driver::ObservedExport* observed) {
  return timed_cuda_call("export_dmabuf", original.export_dmabuf, address, size, flags, observed);
}

void wrap_cuda() {
  const auto calls = driver::cuda_calls();
  if (!calls) return;
  original = **calls;
  auto& table = const_cast<driver::CudaCalls&>(**calls);  // the table is not a constant object
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  if (table.member != nullptr) table.member = wrap_##member(table.member);
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
  table.export_dmabuf = timed_export;
}

std::string label_of(const Event& event) {
  char text[128];
  const unsigned number = static_cast<unsigned>(event.detail >> 32);
  const auto word = static_cast<unsigned>(event.detail);
  if (event.detail == 0) {
    std::snprintf(text, sizeof text, "%s", event.name);
  } else if (word != 0) {
    std::snprintf(text, sizeof text, "%s 0x%x(0x%x)", event.name, number, word);
  } else {
    std::snprintf(text, sizeof text, "%s 0x%x", event.name, number);
  }
  return event.inside != nullptr ? std::string(event.inside) + "/" + text : text;
}

/// The times of one phase over all repeats.
struct Phase {
  std::vector<double> total_us;
  std::vector<std::string> order;                               ///< labels as they occur first
  std::map<std::string, std::pair<std::size_t, double>> calls;  ///< count and sum of us
  double direct_us = 0;                                         ///< of calls that are not inside CUDA calls
};

class Phases {
 public:
  template <class Call>
  void time(const std::string& name, bool counts, Call&& call) {
    event_count = 0;
    is_recording = true;
    const std::int64_t begin = now_ns();
    const int result = call();
    const std::int64_t end = now_ns();
    is_recording = false;
    if (result != 0) throw cli::Failure(cli::ExitCode::failed, name + ": " + measure::errno_text(result));
    if (!counts) return;
    if (phases_.find(name) == phases_.end()) order_.push_back(name);
    Phase& phase = phases_[name];
    phase.total_us.push_back(static_cast<double>(end - begin) / 1000);
    for (std::size_t i = 0; i < event_count; ++i) {
      const std::string label = label_of(events[i]);
      auto& [count, us] = phase.calls[label];
      if (count++ == 0) phase.order.push_back(label);
      us += static_cast<double>(events[i].ns) / 1000;
      if (events[i].inside == nullptr) phase.direct_us += static_cast<double>(events[i].ns) / 1000;
    }
  }

  void print() const {
    for (const std::string& name : order_) {
      const Phase& phase = phases_.at(name);
      const auto repeats = static_cast<double>(phase.total_us.size());
      double mean = 0;
      for (const double us : phase.total_us) mean += us / repeats;
      std::printf("%-36s median %8.2f us, mean %8.2f, outside calls %7.2f:", name.c_str(),
                  measure::median(phase.total_us), mean, mean - phase.direct_us / repeats);
      for (const std::string& label : phase.order) {
        const auto& [count, us] = phase.calls.at(label);
        std::printf(" [%s] %.3gx %.2f", label.c_str(), static_cast<double>(count) / repeats, us / repeats);
      }
      std::printf("\n");
    }
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, Phase> phases_;
};

void live(Phases* phases, gdr_t context, const measure::AlignedAllocation& memory, const std::string& prefix,
          bool counts) {
  gdr_mh_t handle{};
  void* mapping = nullptr;
  const std::size_t size = memory.rounded_bytes();
  phases->time(prefix + " pin", counts, [&] { return gdr_pin_buffer(context, memory.address(), size, 0, 0, &handle); });
  phases->time(prefix + " map", counts, [&] { return gdr_map(context, handle, &mapping, size); });
  phases->time(prefix + " unmap", counts, [&] { return gdr_unmap(context, handle, mapping, size); });
  phases->time(prefix + " map again", counts, [&] { return gdr_map(context, handle, &mapping, size); });
  phases->time(prefix + " unmap again", counts, [&] { return gdr_unmap(context, handle, mapping, size); });
  phases->time(prefix + " unpin", counts, [&] { return gdr_unpin_buffer(context, handle); });
}

/// Zeros do not prove that a mapping refers to the right memory, so the library calibrates.
void measure_size(platform::Device* device, std::size_t size, bool is_zero, int repeats, Phases* phases) {
  const measure::AlignedAllocation memory(device, platform::AllocationKind::cuda_malloc, size);
  std::vector<std::uint8_t> content(size);
  for (std::size_t at = 0; at < size && !is_zero; ++at)
    content[at] = static_cast<std::uint8_t>(at * 131 + (at >> 8) * 29);
  if (auto copied = device->copy_to_device(memory.address(), content.data(), size); !copied)
    throw cli::Failure(cli::ExitCode::failed, copied.error().text());
  const std::string text = std::to_string(size >> 10) + (is_zero ? " KiB of zeros" : " KiB");
  static bool is_first_of_process = true;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    gdr_t context = nullptr;
    const bool is_first = repeat < 0;
    const std::string prefix = text + (is_first_of_process ? ", process's first"
                                       : is_first          ? ", size's first"
                                                           : ", context's first");
    is_first_of_process = false;
    phases->time(prefix + " open", true, [&] { return (context = gdr_open()) != nullptr ? 0 : ENODEV; });
    live(phases, context, memory, prefix, true);
    for (int later = 0; later < (is_first ? repeats + 10 : 1); ++later) {
      live(phases, context, memory, text + ", later", is_first && later >= 10);
    }
    phases->time(prefix + " close", true, [&] { return gdr_close(context); });
  }
}

void measure_get_info(platform::Device* device) {
  const measure::AlignedAllocation memory(device, platform::AllocationKind::cuda_malloc, 65536);
  const measure::MappedBuffer buffer(memory, GDR_MAP_FLAG_DEFAULT);
  std::vector<double> each;
  gdr_info_t info{};
  for (int round = 0; round < 15; ++round) {
    each.push_back(platform::time_batch(
        10000, [&](std::size_t) { (void)gdr_get_info(buffer.context(), buffer.handle(), &info); }));
  }
  std::printf("get_info: median %.1f ns of 15 batches of 10000 calls\n", measure::median(each));
}

int run() try {
  wrap_cuda();
  const char* const backend = std::getenv("GDRKIT_BACKEND");
  const bool is_emulated = backend != nullptr && std::strcmp(backend, "emulated") == 0;
  auto opened = is_emulated ? platform::open_emulated_device(0) : platform::open_cuda_device(0);
  if (!opened) throw cli::Failure(cli::ExitCode::cannot_run, opened.error().text());
  (void)platform::stay_on_this_cpu();
  Phases phases;
  measure_size(opened->get(), 65536, true, 200, &phases);
  measure_size(opened->get(), 65536, false, 200, &phases);
  measure_size(opened->get(), std::size_t{256} << 20, false, 20, &phases);
  measure_get_info(opened->get());
  std::puts("each phase: [call] number of calls, us in total; A/B: system call B inside CUDA function A");
  phases.print();
  return 0;
} catch (const cli::Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return static_cast<int>(failure.code());
}

}  // namespace
}  // namespace gdrkit::tests

int main() { return gdrkit::tests::run(); }
