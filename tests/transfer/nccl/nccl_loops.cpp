// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// nccl_loops: a baseline for the times of `gdrkit nccl`. It measures collectives of an installed NCCL as nccl-tests
// documents it: one thread for all GPUs of a process, one group call per operation, and a host clock from before the
// first call to the end of all streams.
//
// nccl_loops [--nccl FILE] [--gpus N] [--cycles N] [--iterations N] [--warmup N] [--sizes N,N] [--tests NAME,NAME]
//   [--patterns NAME,NAME] [--job LIBRARY] [--page FILE --rank R --ranks N]
// Prints a line for each measurement: pattern, test, bytes, place, us, us to enqueue, CPU at the end.
// --page: a file of 4096 zero bytes through which the processes synchronize. --rank and --ranks count processes; their
// defaults are those of `gdrkit run`.
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

#include <dlfcn.h>

#include "gdrkit/shmem.h"
#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nccl_library.hpp"

namespace gdrkit::platform {
namespace {

constexpr int float32 = static_cast<int>(NcclType::float32);
constexpr std::size_t element_bytes = 4;

/// How operations are launched. The first one is nccl-tests'; each of the others differs in one point.
struct Pattern {
  const char* name;
  bool has_nccl_memory = true;  // ncclMemAlloc instead of cuMemAlloc
  bool moves = true;            // through the buffer
  bool sets_device = false;     // before each call
  bool has_alltoall = true;     // ncclAlltoAll instead of sends and receives
  bool synchronizes = false;    // cuStreamSynchronize instead of polls
  bool polls_in_order = false;  // one stream after the other, instead of all in turns
  bool is_reversed = false;     // the last GPU first
};
constexpr Pattern patterns[] = {{.name = "original"},
                                {.name = "memory", .has_nccl_memory = false},
                                {.name = "fixed", .moves = false},
                                {.name = "device", .sets_device = true},
                                {.name = "sendrecv", .has_alltoall = false},
                                {.name = "blocking", .synchronizes = true},
                                {.name = "in_order", .polls_in_order = true},
                                {.name = "reversed", .is_reversed = true},
                                {.name = "before",
                                 .has_nccl_memory = false,
                                 .moves = false,
                                 .sets_device = true,
                                 .has_alltoall = false,
                                 .polls_in_order = true}};

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
  std::uint64_t of_cuda[2] = {};  // source and target
  std::uint64_t of_nccl[2] = {};
};

struct Measured {
  double us;
  double enqueue_us;
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
    start_job();
    open();
  }

  void run() {
    const int cycles = number("cycles", 1);
    std::vector<const Pattern*> chosen;
    for (const std::string& name : split(text("patterns", "original"))) {
      for (const Pattern& pattern : patterns) {
        if (name == pattern.name) chosen.push_back(&pattern);
      }
    }
    for (const std::string& test : split(text("tests", "all_reduce"))) {
      for (const Pattern* pattern : chosen) warm_up(*pattern, test);
      for (int cycle = 0; cycle < cycles; ++cycle) {
        for (const std::size_t size : sizes_) {
          for (const Pattern* pattern : chosen) {
            for (const bool is_in_place : {false, true}) print(*pattern, test, size, is_in_place);
          }
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
    process_ = std::atoi(text("rank", environment("GDRKIT_SHMEM_PE", "0")).c_str());
    n_processes_ = std::atoi(text("ranks", environment("GDRKIT_SHMEM_NPES", "1")).c_str());
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

  /// A job of libgdrkit_shmem in the process, as `gdrkit nccl` had one.
  void start_job() {
    const std::string file = text("job", "");
    if (file.empty()) return;
    void* const library = ::dlopen(file.c_str(), RTLD_NOW);
    if (library == nullptr) fail(::dlerror(), 0);
    gdrkit_shmem_options options{};
    options.struct_size = sizeof options;
    using Init = int(const gdrkit_shmem_options*);
    using Malloc = int(std::size_t, void**);
    require(reinterpret_cast<Init*>(::dlsym(library, "gdrkit_shmem_init"))(&options), "gdrkit_shmem_init");
    void* memory = nullptr;
    require(reinterpret_cast<Malloc*>(::dlsym(library, "gdrkit_shmem_malloc"))(4096, &memory), "gdrkit_shmem_malloc");
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
      for (int side = 0; side < 2; ++side) {
        void* memory = nullptr;
        require(cuda_->mem_alloc(&gpu.of_cuda[side], bytes), "cuMemAlloc");
        require(nccl_->mem_alloc(&memory, bytes), "ncclMemAlloc");
        gpu.of_nccl[side] = reinterpret_cast<std::uint64_t>(memory);
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

  void send_and_receive(const Gpu& gpu, const char* source, char* target, std::size_t part) const {
    require(nccl_->group_start(), "ncclGroupStart");
    for (int rank = 0; rank < n_ranks_; ++rank) {
      const std::size_t offset = part * element_bytes * static_cast<std::size_t>(rank);
      require(nccl_->send(source + offset, part, float32, rank, gpu.communicator, gpu.stream), "ncclSend");
      require(nccl_->recv(target + offset, part, float32, rank, gpu.communicator, gpu.stream), "ncclRecv");
    }
    require(nccl_->group_end(), "ncclGroupEnd");
  }

  void call(const Pattern& pattern, const std::string& test, std::size_t size, std::size_t index, std::size_t shift,
            bool is_in_place) const {
    const Gpu& gpu = gpus_[index];
    const std::uint64_t* const buffers = pattern.has_nccl_memory ? gpu.of_nccl : gpu.of_cuda;
    const std::size_t part = part_of(test, size);
    auto* const target = reinterpret_cast<char*>(buffers[1]) + shift;
    const char* source = is_in_place ? target : reinterpret_cast<char*>(buffers[0]) + shift;
    if (test == "all_reduce") {
      require(nccl_->all_reduce(source, target, part, float32, 0, gpu.communicator, gpu.stream), "ncclAllReduce");
    } else if (test == "all_gather") {
      if (is_in_place) source += part * element_bytes * static_cast<std::size_t>(rank_of(index));
      require(nccl_->all_gather(source, target, part, float32, gpu.communicator, gpu.stream), "ncclAllGather");
    } else if (test == "broadcast") {
      require(nccl_->broadcast(source, target, part, float32, 0, gpu.communicator, gpu.stream), "ncclBroadcast");
    } else if (pattern.has_alltoall && nccl_->alltoall != nullptr) {
      require(nccl_->alltoall(source, target, part, float32, gpu.communicator, gpu.stream), "ncclAlltoAll");
    } else {
      send_and_receive(gpu, source, target, part);
    }
  }

  void start(const Pattern& pattern, const std::string& test, std::size_t size, bool is_in_place, int iteration) {
    const std::size_t total = table_bytes(test, size);
    const std::size_t steps = total != 0 && pattern.moves ? largest_ / total : 1;
    const std::size_t shift = total * (static_cast<std::size_t>(iteration) % steps);
    if (gpus_.size() > 1) require(nccl_->group_start(), "ncclGroupStart");
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::size_t index = pattern.is_reversed ? gpus_.size() - 1 - i : i;
      if (pattern.sets_device && gpus_.size() > 1) make_current(gpus_[index]);
      call(pattern, test, size, index, shift, is_in_place);
    }
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

  void complete(const Pattern& pattern) const {
    if (pattern.synchronizes || pattern.polls_in_order) {
      for (const Gpu& gpu : gpus_) {
        if (pattern.synchronizes) require(cuda_->stream_synchronize(gpu.stream), "cuStreamSynchronize");
        while (!is_finished(gpu)) ::sched_yield();
      }
      return;
    }
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

  void warm_up(const Pattern& pattern, const std::string& test) {
    for (const std::size_t size : sizes_) {
      for (int i = 0; i < number("warmup", 1); ++i) start(pattern, test, size, false, i);
      complete(pattern);
    }
  }

  /// nccl-tests writes the data before each measurement.
  void fill(const Pattern& pattern) const {
    for (const Gpu& gpu : gpus_) {
      make_current(gpu);
      for (const std::uint64_t buffer : pattern.has_nccl_memory ? gpu.of_nccl : gpu.of_cuda) {
        require(cuda_->memset_d8(buffer, 0, largest_), "cuMemsetD8");
      }
      require(cuda_->ctx_synchronize(), "cuCtxSynchronize");
    }
  }

  Measured measure(const Pattern& pattern, const std::string& test, std::size_t size, bool is_in_place) {
    using Clock = std::chrono::steady_clock;
    const int iterations = number("iterations", 20);
    fill(pattern);
    start(pattern, test, size, is_in_place, 0);
    complete(pattern);
    barrier();
    const auto begin = Clock::now();
    for (int i = 0; i < iterations; ++i) start(pattern, test, size, is_in_place, i);
    const auto enqueued = Clock::now();
    complete(pattern);
    const auto end = Clock::now();
    const double scale = 1e6 / iterations;
    return {averaged(std::chrono::duration<double>(end - begin).count()) * scale,
            averaged(std::chrono::duration<double>(enqueued - begin).count()) * scale};
  }

  void print(const Pattern& pattern, const std::string& test, std::size_t size, bool is_in_place) {
    const Measured measured = measure(pattern, test, size, is_in_place);
    if (process_ != 0) return;
    std::printf("%s %s %zu %s %.3f %.3f %d\n", pattern.name, test.c_str(), size,
                is_in_place ? "in_place" : "out_of_place", measured.us, measured.enqueue_us, ::sched_getcpu());
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
  ::_exit(0);  // without the end of a job that other processes may have left
}
