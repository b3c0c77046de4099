// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// nccl_loops: a baseline for the times of `gdrkit nccl`. It measures collectives of an installed NCCL with the launch
// pattern that nccl-tests documents: one thread for all GPUs of a process, one group call per operation, and a host
// clock from before the first call to the end of all streams.
//
// nccl_loops [--nccl FILE] [--gpus N] [--cycles N] [--iterations N] [--warmup N] [--sizes N,N] [--tests NAME,NAME]
//   [--page FILE]
// Prints a line for each measurement: test, bytes, place, us. --page: a file of 4096 zero bytes through which the
// processes of `gdrkit run` synchronize.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nccl_library.hpp"

namespace gdrkit::platform {
namespace {

constexpr int float32 = static_cast<int>(NcclType::float32);
constexpr std::size_t element_bytes = 4;

[[noreturn]] void fail(const char* what, int result) {
  std::fprintf(stderr, "nccl_loops: %s failed with %d\n", what, result);
  std::exit(1);
}
void require(int result, const char* what) {
  if (result != 0) fail(what, result);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

/// What the processes share.
struct Page {
  std::atomic<std::uint64_t> arrived;
  std::atomic<int> has_id;
  NcclUniqueId id;
  double seconds[64];
};

struct Gpu {
  void* context = nullptr;
  void* stream = nullptr;
  NcclComm* communicator = nullptr;
  std::uint64_t buffers[2] = {};  // source and target
};

class Loops {
 public:
  explicit Loops(std::map<std::string, std::string> options) : options_(std::move(options)) {
    const auto cuda = cuda_calls();
    const std::string file = text("nccl", "");
    const auto nccl = nccl_calls(file.empty() ? nullptr : file.c_str());
    if (!cuda || !nccl) {
      std::fprintf(stderr, "nccl_loops: %s\n", !cuda ? cuda.error().text() : nccl.error().text());
      std::exit(77);
    }
    cuda_ = *cuda;
    nccl_ = *nccl;
    for (const std::string& size : split(text("sizes", "8")))
      sizes_.push_back(std::strtoull(size.c_str(), nullptr, 10));
    largest_ = *std::max_element(sizes_.begin(), sizes_.end());
    connect();
    require(cuda_->init(0), "cuInit");
    open();
  }

  void run() {
    const int cycles = number("cycles", 1);
    for (const std::string& test : split(text("tests", "all_reduce"))) {
      warm_up(test);
      for (int cycle = 0; cycle < cycles; ++cycle) {
        for (const std::size_t size : sizes_) {
          for (const bool is_in_place : {false, true}) print(test, size, is_in_place);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::string text(const char* name, const char* otherwise) const {
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : found->second;
  }
  [[nodiscard]] int number(const char* name, int otherwise) const {
    return std::atoi(text(name, std::to_string(otherwise).c_str()).c_str());
  }
  [[nodiscard]] static const char* environment(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : value;
  }

  void connect() {
    process_ = std::atoi(environment("GDRKIT_SHMEM_PE", "0"));
    n_processes_ = std::atoi(environment("GDRKIT_SHMEM_NPES", "1"));
    const std::string file = text("page", "");
    const int descriptor = file.empty() ? -1 : ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    const int flags = file.empty() ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (page == MAP_FAILED || (file.empty() && n_processes_ > 1)) fail("--page", 0);
    page_ = static_cast<Page*>(page);
  }

  void barrier() {
    ++rounds_;
    page_->arrived.fetch_add(1);
    while (page_->arrived.load() < rounds_ * static_cast<std::uint64_t>(n_processes_)) ::sched_yield();
  }

  /// The average of all processes.
  double averaged(double seconds) {
    page_->seconds[process_] = seconds;
    barrier();
    double sum = 0;
    for (int i = 0; i < n_processes_; ++i) sum += page_->seconds[i];
    barrier();
    return sum / n_processes_;
  }

  void open() {
    gpus_.resize(static_cast<std::size_t>(number("gpus", 1)));
    n_ranks_ = n_processes_ * static_cast<int>(gpus_.size());
    const std::size_t bytes = std::max<std::size_t>(largest_, 16);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      Gpu& gpu = gpus_[i];
      int device = 0;
      require(cuda_->device_get(&device, rank_of(i)), "cuDeviceGet");
      require(cuda_->primary_ctx_retain(&gpu.context, device), "cuDevicePrimaryCtxRetain");
      make_current(gpu);
      for (std::uint64_t& buffer : gpu.buffers) {
        void* memory = nullptr;
        require(nccl_->mem_alloc(&memory, bytes), "ncclMemAlloc");
        buffer = reinterpret_cast<std::uint64_t>(memory);
      }
      require(cuda_->stream_create(&gpu.stream, cuda_stream_non_blocking), "cuStreamCreate");
    }
    if (process_ == 0) {
      require(nccl_->get_unique_id(&page_->id), "ncclGetUniqueId");
      page_->has_id.store(1);
    }
    while (page_->has_id.load() == 0) ::usleep(100);
    require(nccl_->group_start(), "ncclGroupStart");
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      make_current(gpus_[i]);
      require(nccl_->comm_init_rank(&gpus_[i].communicator, n_ranks_, page_->id, rank_of(i)), "ncclCommInitRank");
    }
    require(nccl_->group_end(), "ncclGroupEnd");
  }

  void make_current(const Gpu& gpu) const { require(cuda_->ctx_set_current(gpu.context), "cuCtxSetCurrent"); }
  [[nodiscard]] int rank_of(std::size_t gpu) const {
    return process_ * static_cast<int>(gpus_.size()) + static_cast<int>(gpu);
  }

  /// Elements of a rank's part: whole blocks of 16 bytes if the buffer is divided among the ranks.
  [[nodiscard]] std::size_t part_of(const std::string& test, std::size_t size) const {
    const std::size_t count = size / element_bytes;
    if (test == "all_reduce" || test == "broadcast") return count;
    return count / static_cast<std::size_t>(n_ranks_) / 4 * 4;
  }
  [[nodiscard]] std::size_t table_bytes(const std::string& test, std::size_t size) const {
    const std::size_t part_bytes = part_of(test, size) * element_bytes;
    return test == "all_reduce" || test == "broadcast" ? part_bytes : part_bytes * static_cast<std::size_t>(n_ranks_);
  }

  void call(const std::string& test, std::size_t size, std::size_t index, std::size_t shift, bool is_in_place) const {
    const Gpu& gpu = gpus_[index];
    const std::size_t part = part_of(test, size);
    auto* const target = reinterpret_cast<char*>(gpu.buffers[1]) + shift;
    const char* source = is_in_place ? target : reinterpret_cast<char*>(gpu.buffers[0]) + shift;
    if (test == "all_reduce") {
      require(nccl_->all_reduce(source, target, part, float32, 0, gpu.communicator, gpu.stream), "ncclAllReduce");
    } else if (test == "all_gather") {
      if (is_in_place) source += part * element_bytes * static_cast<std::size_t>(rank_of(index));
      require(nccl_->all_gather(source, target, part, float32, gpu.communicator, gpu.stream), "ncclAllGather");
    } else if (test == "broadcast") {
      require(nccl_->broadcast(source, target, part, float32, 0, gpu.communicator, gpu.stream), "ncclBroadcast");
    } else if (test == "alltoall" && nccl_->alltoall != nullptr) {
      require(nccl_->alltoall(source, target, part, float32, gpu.communicator, gpu.stream), "ncclAlltoAll");
    } else {
      fail(test.c_str(), 0);
    }
  }

  void start(const std::string& test, std::size_t size, bool is_in_place, int iteration) {
    const std::size_t total = table_bytes(test, size);
    const std::size_t steps = total != 0 ? largest_ / total : 1;
    const std::size_t shift = total * (static_cast<std::size_t>(iteration) % steps);
    if (gpus_.size() > 1) require(nccl_->group_start(), "ncclGroupStart");
    for (std::size_t i = 0; i < gpus_.size(); ++i) call(test, size, i, shift, is_in_place);
    if (gpus_.size() > 1) require(nccl_->group_end(), "ncclGroupEnd");
  }

  [[nodiscard]] bool is_finished(const Gpu& gpu) const {
    const int result = cuda_->stream_query(gpu.stream);
    if (result == 0) return true;
    if (result != cuda_error_not_ready) fail("cuStreamQuery", result);
    int error = 0;
    require(nccl_->comm_get_async_error(gpu.communicator, &error), "ncclCommGetAsyncError");
    if (error != nccl_in_progress) require(error, "an operation");
    return false;
  }

  void complete() const {
    std::vector<bool> done(gpus_.size());
    for (std::size_t remaining = gpus_.size(); remaining != 0;) {
      bool is_idle = true;
      for (std::size_t i = 0; i < gpus_.size(); ++i) {
        if (done[i] || !is_finished(gpus_[i])) continue;
        done[i] = true;
        --remaining;
        is_idle = false;
      }
      if (is_idle) ::sched_yield();
    }
  }

  void warm_up(const std::string& test) {
    for (const std::size_t size : sizes_) {
      for (int i = 0; i < number("warmup", 1); ++i) start(test, size, false, i);
      complete();
    }
  }

  /// nccl-tests writes the data before each measurement.
  void fill() const {
    for (const Gpu& gpu : gpus_) {
      make_current(gpu);
      for (const std::uint64_t buffer : gpu.buffers) require(cuda_->memset_d8(buffer, 0, largest_), "cuMemsetD8");
      require(cuda_->ctx_synchronize(), "cuCtxSynchronize");
    }
  }

  /// Microseconds of one operation.
  double measure(const std::string& test, std::size_t size, bool is_in_place) {
    using Clock = std::chrono::steady_clock;
    const int iterations = number("iterations", 20);
    fill();
    start(test, size, is_in_place, 0);
    complete();
    barrier();
    const auto begin = Clock::now();
    for (int i = 0; i < iterations; ++i) start(test, size, is_in_place, i);
    complete();
    return averaged(std::chrono::duration<double>(Clock::now() - begin).count()) * 1e6 / iterations;
  }

  void print(const std::string& test, std::size_t size, bool is_in_place) {
    const double us = measure(test, size, is_in_place);
    if (process_ != 0) return;
    std::printf("%s %zu %s %.3f\n", test.c_str(), size, is_in_place ? "in_place" : "out_of_place", us);
  }

  std::map<std::string, std::string> options_;
  const CudaCalls* cuda_ = nullptr;
  const NcclCalls* nccl_ = nullptr;
  std::vector<std::size_t> sizes_;
  std::size_t largest_ = 0;
  std::vector<Gpu> gpus_;
  Page* page_ = nullptr;
  int process_ = 0;
  int n_processes_ = 1;
  int n_ranks_ = 1;
  std::uint64_t rounds_ = 0;
};

}  // namespace
}  // namespace gdrkit::platform

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i] + 2] = argv[i + 1];
  gdrkit::platform::Loops(options).run();
  std::fflush(nullptr);
  ::_exit(0);  // communicators are not destroyed
}
