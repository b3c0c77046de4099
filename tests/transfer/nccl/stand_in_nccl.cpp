// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A library with the functions that gdrkit loads from NCCL. It performs the collectives on emulated devices, whose
// memory the CPU addresses: between ranks of one process and of several, through files in /dev/shm. Like NCCL it waits
// for other ranks without a limit.
//
// STAND_IN_NCCL_SPOILS=r: one bit of each result of rank r is wrong. STAND_IN_NCCL_FAILS=name: that function fails.
// STAND_IN_NCCL_ASYNC_ERROR=1: operations fail after they were enqueued. STAND_IN_NCCL_DIES=r, _HANGS=r: in the tenth
// operation of rank r. STAND_IN_NCCL_VERSION=n. STAND_IN_NCCL_USES_CUDA=1: ncclMemAlloc allocates through libcuda.
// Compiled with STAND_IN_NCCL_IS_2_18 it lacks the functions of newer versions.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nccl_library.hpp"

namespace gdrkit::platform {

/// One rank's connection to the others: a counter that all have mapped, and a file of each rank with the data that it
/// sends.
struct NcclComm {
  std::string path;
  int rank = 0;
  int n_ranks = 1;
  std::atomic<std::uint64_t>* arrived = nullptr;
  std::uint64_t rounds = 0;
  std::vector<int> files;
  int operations = 0;
  int registrations = 0;  // not deregistered yet
};

namespace {

constexpr int internal_error = 3;
constexpr int remote_error = 6;
constexpr int all_ranks = -1;

struct Transfer {
  int peer = all_ranks;
  void* address = nullptr;
  std::size_t size_bytes = 0;
};

/// The work of one rank between two synchronizations of all ranks.
struct Operation {
  NcclComm* comm = nullptr;
  bool is_point_to_point = false;
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;           // of point to point
  std::function<void(NcclComm&)> complete;  // of collectives, once all have published
};

thread_local int group_depth = 0;
thread_local std::vector<Operation> queued;
thread_local std::vector<NcclComm*> starting;
std::string last_error;

const char* setting(const char* name) { return std::getenv((std::string("STAND_IN_NCCL_") + name).c_str()); }
bool names_rank(const char* name, const NcclComm& comm) {
  const char* const value = setting(name);
  return value != nullptr && std::atoi(value) == comm.rank;
}
bool fails(const char* function) {
  const char* const value = setting("FAILS");
  if (value == nullptr || std::strcmp(value, function) != 0) return false;
  last_error = std::string("the test lets ") + function + " fail";
  return true;
}

void arrive(NcclComm& comm) {
  ++comm.rounds;
  comm.arrived->fetch_add(1);
}
void wait_for_all(const NcclComm& comm) {
  const auto ranks = static_cast<std::uint64_t>(comm.n_ranks);
  while (comm.arrived->load() < comm.rounds * ranks) ::usleep(10);
}

std::size_t read_at(int file, void* target, std::size_t size_bytes, std::size_t offset) {
  std::size_t done = 0;
  while (done < size_bytes) {
    const ssize_t got =
        ::pread(file, static_cast<char*>(target) + done, size_bytes - done, static_cast<off_t>(offset + done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}
void write_at(int file, const void* source, std::size_t size_bytes, std::size_t offset) {
  for (std::size_t done = 0; done < size_bytes;) {
    const ssize_t put =
        ::pwrite(file, static_cast<const char*>(source) + done, size_bytes - done, static_cast<off_t>(offset + done));
    if (put <= 0) std::abort();
    done += static_cast<std::size_t>(put);
  }
}

/// A file contains for each transfer its peer, its size and its bytes, and ends with a peer of -2.
void publish(const Operation& operation) {
  NcclComm& comm = *operation.comm;
  if (++comm.operations == 10) {
    if (names_rank("DIES", comm)) ::_exit(9);
    while (names_rank("HANGS", comm)) ::sleep(1);
  }
  const int file = comm.files[static_cast<std::size_t>(comm.rank)];
  std::size_t at = 0;
  for (const Transfer& send : operation.sends) {
    const std::int64_t head[] = {send.peer, static_cast<std::int64_t>(send.size_bytes)};
    write_at(file, head, sizeof head, at);
    write_at(file, send.address, send.size_bytes, at + sizeof head);
    at += sizeof head + send.size_bytes;
  }
  const std::int64_t end[] = {-2, 0};
  write_at(file, end, sizeof end, at);
}

/// The `number`th transfer that `source` published for `peer`, from byte `skip` of it on.
void fetch(const NcclComm& comm, int source, int peer, int number, void* target, std::size_t size_bytes,
           std::size_t skip = 0) {
  const int file = comm.files[static_cast<std::size_t>(source)];
  std::size_t at = 0;
  for (;;) {
    std::int64_t head[2] = {};
    if (read_at(file, head, sizeof head, at) != sizeof head || head[0] == -2) std::abort();
    if (head[0] == peer && number-- == 0) break;
    at += sizeof head + static_cast<std::size_t>(head[1]);
  }
  if (read_at(file, target, size_bytes, at + 16 + skip) != size_bytes) std::abort();
}

void spoil(const NcclComm& comm, void* result, std::size_t size_bytes) {
  if (size_bytes != 0 && names_rank("SPOILS", comm)) static_cast<unsigned char*>(result)[size_bytes / 2] ^= 0x08;
}

void receive_all(Operation& operation) {
  NcclComm& comm = *operation.comm;
  std::vector<int> numbers(static_cast<std::size_t>(comm.n_ranks));
  for (const Transfer& receive : operation.receives) {
    int& number = numbers[static_cast<std::size_t>(receive.peer)];
    fetch(comm, receive.peer, comm.rank, number++, receive.address, receive.size_bytes);
    spoil(comm, receive.address, receive.size_bytes);
  }
}

/// All ranks of this thread take part in each step before it waits for the others.
void run_queued() {
  std::vector<Operation> left;
  left.swap(queued);
  while (!left.empty()) {
    std::vector<Operation> now;
    std::vector<Operation> later;
    for (Operation& operation : left) {
      bool is_first = true;
      for (const Operation& other : now) is_first = is_first && other.comm != operation.comm;
      (is_first ? now : later).push_back(std::move(operation));
    }
    for (Operation& operation : now) publish(operation);
    for (Operation& operation : now) arrive(*operation.comm);
    for (Operation& operation : now) wait_for_all(*operation.comm);
    for (Operation& operation : now) {
      if (operation.is_point_to_point) receive_all(operation);
      if (operation.complete) operation.complete(*operation.comm);
    }
    for (Operation& operation : now) arrive(*operation.comm);
    for (Operation& operation : now) wait_for_all(*operation.comm);
    left.swap(later);
  }
}

void write_log(const NcclComm& comm) {
  const char* const path = std::getenv("NCCL_DEBUG_FILE");
  std::FILE* const log = path == nullptr ? nullptr : std::fopen(path, "a");
  if (log == nullptr) return;
  for (int channel = 0; channel < 2; ++channel) {
    std::fprintf(log, "host:1:1 [0] NCCL INFO Channel %02d/0 : %d[0] -> %d[0] via SHM/direct/direct\n", channel,
                 comm.rank, (comm.rank + 1) % comm.n_ranks);
  }
  std::fclose(log);
}

void connect_all() {
  std::vector<NcclComm*> comms;
  comms.swap(starting);
  for (NcclComm* comm : comms) {
    const std::string own = comm->path + "." + std::to_string(comm->rank);
    ::close(::open(own.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    arrive(*comm);
  }
  for (NcclComm* comm : comms) {
    wait_for_all(*comm);
    for (int rank = 0; rank < comm->n_ranks; ++rank) {
      comm->files.push_back(::open((comm->path + "." + std::to_string(rank)).c_str(), O_RDWR | O_CLOEXEC));
    }
    arrive(*comm);
  }
  for (NcclComm* comm : comms) {
    wait_for_all(*comm);
    ::unlink((comm->path + "." + std::to_string(comm->rank)).c_str());
    if (comm->rank == 0) ::unlink(comm->path.c_str());
    write_log(*comm);
  }
}

int end_of_call() {
  if (group_depth == 0) {
    connect_all();
    run_queued();
  }
  return nccl_success;
}

struct Format {
  std::size_t size_bytes;
  bool is_signed;
  int mantissa_bits;  // 0: an integer type
  int bias;
};
Format format_of(int type) {
  constexpr Format formats[] = {{1, true, 0, 0},     {1, false, 0, 0},  {4, true, 0, 0},   {4, false, 0, 0},
                                {8, true, 0, 0},     {8, false, 0, 0},  {2, true, 10, 15}, {4, true, 23, 127},
                                {8, true, 52, 1023}, {2, true, 7, 127}, {1, true, 3, 7},   {1, true, 2, 15}};
  return formats[type];
}

double decode(const Format& format, const unsigned char* bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, format.size_bytes);
  if (format.mantissa_bits == 0) return static_cast<double>(bits);  // the tests' numbers are not negative
  const double fraction =
      std::ldexp(static_cast<double>(bits & ((std::uint64_t{1} << format.mantissa_bits) - 1)), -format.mantissa_bits);
  const int exponent = static_cast<int>(bits >> format.mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - format.bias) : std::ldexp(1 + fraction, exponent - format.bias);
}

void encode(const Format& format, double value, unsigned char* bytes) {
  std::uint64_t bits = 0;
  if (format.mantissa_bits == 0) {
    bits = static_cast<std::uint64_t>(value);
  } else if (value != 0) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // from 0.5 to 1
    const auto mantissa = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(fraction, format.mantissa_bits + 1)));
    bits = (static_cast<std::uint64_t>(exponent - 2 + format.bias) << format.mantissa_bits) + mantissa;
  }
  std::memcpy(bytes, &bits, format.size_bytes);
}

double combined(NcclReduction reduction, double left, double right) {
  switch (reduction) {
    case NcclReduction::product: return left * right;
    case NcclReduction::maximum: return left > right ? left : right;
    case NcclReduction::minimum: return left < right ? left : right;
    default: return left + right;
  }
}

/// Elements of all ranks' inputs, from element `first` on, combined.
void reduce_into(NcclComm& comm, void* target, std::size_t first, std::size_t count, int type, int reduction) {
  const Format format = format_of(type);
  std::vector<unsigned char> other(count * format.size_bytes);
  std::vector<double> values(count);
  for (int rank = 0; rank < comm.n_ranks; ++rank) {
    fetch(comm, rank, all_ranks, 0, other.data(), other.size(), first * format.size_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = decode(format, &other[i * format.size_bytes]);
      values[i] = rank == 0 ? value : combined(static_cast<NcclReduction>(reduction), values[i], value);
    }
  }
  const bool is_average = static_cast<NcclReduction>(reduction) == NcclReduction::average;
  for (std::size_t i = 0; i < count; ++i) {
    encode(format, is_average ? values[i] / comm.n_ranks : values[i], &other[i * format.size_bytes]);
  }
  std::memcpy(target, other.data(), other.size());
  spoil(comm, target, other.size());
}

int submit(NcclComm* comm, const void* input, std::size_t input_bytes, std::function<void(NcclComm&)> complete) {
  Operation operation;
  operation.comm = comm;
  operation.sends.push_back({all_ranks, const_cast<void*>(input), input_bytes});
  operation.complete = std::move(complete);
  queued.push_back(std::move(operation));
  return end_of_call();
}

/// Sends and receives of one group are one operation of the rank.
Operation& point_to_point_of(NcclComm* comm) {
  for (Operation& operation : queued) {
    if (operation.comm == comm && operation.is_point_to_point) return operation;
  }
  queued.emplace_back();
  queued.back().comm = comm;
  queued.back().is_point_to_point = true;
  return queued.back();
}

}  // namespace
}  // namespace gdrkit::platform

using namespace gdrkit::platform;  // NOLINT(google-build-using-namespace)

#pragma GCC visibility push(default)
extern "C" {

int ncclGetVersion(int* version) {
  const char* const value = setting("VERSION");
  *version = value == nullptr ? 22809 : std::atoi(value);
  return fails("ncclGetVersion") ? internal_error : nccl_success;
}
int ncclGetUniqueId(NcclUniqueId* id) {
  if (fails("ncclGetUniqueId")) return internal_error;
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return internal_error;
  std::snprintf(id->bytes, sizeof id->bytes, "/dev/shm/stand_in_nccl.%016llx", static_cast<unsigned long long>(random));
  const int file = ::open(id->bytes, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const bool is_made = ::ftruncate(file, 4096) == 0;
  ::close(file);
  return is_made ? nccl_success : internal_error;
}
int ncclCommInitRank(NcclComm** comm, int n_ranks, NcclUniqueId id, int rank) {
  if (fails("ncclCommInitRank")) return internal_error;
  const int file = ::open(id.bytes, O_RDWR | O_CLOEXEC);
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (page == MAP_FAILED) return internal_error;
  auto made = std::make_unique<NcclComm>();
  made->path = id.bytes;
  made->rank = rank;
  made->n_ranks = n_ranks;
  made->arrived = static_cast<std::atomic<std::uint64_t>*>(page);
  *comm = made.release();
  starting.push_back(*comm);
  return end_of_call();
}
int ncclCommDestroy(NcclComm* comm) {
  if (fails("ncclCommDestroy")) return internal_error;
  if (comm->registrations != 0) {
    std::fprintf(stderr, "stand_in_nccl: rank %d has %d buffers registered at its end\n", comm->rank,
                 comm->registrations);
    std::abort();
  }
  for (const int file : comm->files) ::close(file);
  ::munmap(comm->arrived, 4096);
  delete comm;
  return nccl_success;
}
int ncclCommAbort(NcclComm* comm) { return ncclCommDestroy(comm); }
int ncclCommGetAsyncError(NcclComm*, int* error) {
  const bool has_failed = setting("ASYNC_ERROR") != nullptr;
  if (has_failed) last_error = "the test lets operations fail";
  *error = has_failed ? remote_error : nccl_success;
  return nccl_success;
}
const char* ncclGetErrorString(int result) {
  return result == internal_error ? "internal error" : result == remote_error ? "remote process exited" : "unknown";
}
const char* ncclGetLastError(NcclComm*) { return last_error.c_str(); }
int ncclGroupStart() {
  ++group_depth;
  return fails("ncclGroupStart") ? internal_error : nccl_success;
}
int ncclGroupEnd() {
  --group_depth;
  return fails("ncclGroupEnd") ? internal_error : end_of_call();
}

int ncclAllReduce(const void* input, void* output, std::size_t count, int type, int reduction, NcclComm* comm, void*) {
  if (fails("ncclAllReduce")) return internal_error;
  return submit(comm, input, count * format_of(type).size_bytes,
                [=](NcclComm& own) { reduce_into(own, output, 0, count, type, reduction); });
}
int ncclReduce(const void* input, void* output, std::size_t count, int type, int reduction, int root, NcclComm* comm,
               void*) {
  if (fails("ncclReduce")) return internal_error;
  return submit(comm, input, count * format_of(type).size_bytes, [=](NcclComm& own) {
    if (own.rank == root) reduce_into(own, output, 0, count, type, reduction);
  });
}
int ncclReduceScatter(const void* input, void* output, std::size_t count, int type, int reduction, NcclComm* comm,
                      void*) {
  if (fails("ncclReduceScatter")) return internal_error;
  const auto ranks = static_cast<std::size_t>(comm->n_ranks);
  return submit(comm, input, ranks * count * format_of(type).size_bytes, [=](NcclComm& own) {
    reduce_into(own, output, count * static_cast<std::size_t>(own.rank), count, type, reduction);
  });
}
int ncclAllGather(const void* input, void* output, std::size_t count, int type, NcclComm* comm, void*) {
  if (fails("ncclAllGather")) return internal_error;
  const std::size_t part = count * format_of(type).size_bytes;
  return submit(comm, input, part, [=](NcclComm& own) {
    for (int rank = 0; rank < own.n_ranks; ++rank) {
      fetch(own, rank, all_ranks, 0, static_cast<char*>(output) + part * static_cast<std::size_t>(rank), part);
    }
    spoil(own, output, part);
  });
}
int ncclBroadcast(const void* input, void* output, std::size_t count, int type, int root, NcclComm* comm, void*) {
  if (fails("ncclBroadcast")) return internal_error;
  const std::size_t size_bytes = count * format_of(type).size_bytes;
  return submit(comm, input, size_bytes, [=](NcclComm& own) {
    fetch(own, root, all_ranks, 0, output, size_bytes);
    spoil(own, output, size_bytes);
  });
}
#ifndef STAND_IN_NCCL_IS_2_18
int ncclGather(const void* input, void* output, std::size_t count, int type, int root, NcclComm* comm, void*) {
  if (fails("ncclGather")) return internal_error;
  const std::size_t part = count * format_of(type).size_bytes;
  return submit(comm, input, part, [=](NcclComm& own) {
    for (int rank = 0; own.rank == root && rank < own.n_ranks; ++rank) {
      fetch(own, rank, all_ranks, 0, static_cast<char*>(output) + part * static_cast<std::size_t>(rank), part);
    }
    if (own.rank == root) spoil(own, output, part);
  });
}
int ncclScatter(const void* input, void* output, std::size_t count, int type, int root, NcclComm* comm, void*) {
  if (fails("ncclScatter")) return internal_error;
  const std::size_t part = count * format_of(type).size_bytes;
  const std::size_t sent = comm->rank == root ? part * static_cast<std::size_t>(comm->n_ranks) : 0;
  return submit(comm, input, sent, [=](NcclComm& own) {
    fetch(own, root, all_ranks, 0, output, part, part * static_cast<std::size_t>(own.rank));
    spoil(own, output, part);
  });
}
int ncclAlltoAll(const void* input, void* output, std::size_t count, int type, NcclComm* comm, void*) {
  if (fails("ncclAlltoAll")) return internal_error;
  const std::size_t part = count * format_of(type).size_bytes;
  return submit(comm, input, part * static_cast<std::size_t>(comm->n_ranks), [=](NcclComm& own) {
    for (int rank = 0; rank < own.n_ranks; ++rank) {
      char* const target = static_cast<char*>(output) + part * static_cast<std::size_t>(rank);
      fetch(own, rank, all_ranks, 0, target, part, part * static_cast<std::size_t>(own.rank));
      spoil(own, target, part);
    }
  });
}
int ncclMemAlloc(void** memory, std::size_t size_bytes) {
  if (setting("USES_CUDA") != nullptr)
    return (*cuda_calls())->mem_alloc(reinterpret_cast<std::uint64_t*>(memory), size_bytes);
  *memory = std::aligned_alloc(4096, (size_bytes + 4095) / 4096 * 4096);
  return fails("ncclMemAlloc") || *memory == nullptr ? internal_error : nccl_success;
}
int ncclMemFree(void* memory) {
  std::free(memory);
  return fails("ncclMemFree") ? internal_error : nccl_success;
}
int ncclCommRegister(NcclComm* comm, void* buffer, std::size_t size_bytes, void** handle) {
  if (fails("ncclCommRegister") || size_bytes == 0) return internal_error;
  ++comm->registrations;
  *handle = buffer;
  return nccl_success;
}
int ncclCommDeregister(NcclComm* comm, void*) {
  --comm->registrations;
  return fails("ncclCommDeregister") ? internal_error : nccl_success;
}
int ncclCommWindowRegister(NcclComm* comm, void* buffer, std::size_t size_bytes, void** window, int flags) {
  if (fails("ncclCommWindowRegister") || flags != nccl_window_symmetric) return internal_error;
  return ncclCommRegister(comm, buffer, size_bytes, window);
}
int ncclCommWindowDeregister(NcclComm* comm, void* window) {
  return fails("ncclCommWindowDeregister") ? internal_error : ncclCommDeregister(comm, window);
}
#endif
int ncclSend(const void* input, std::size_t count, int type, int peer, NcclComm* comm, void*) {
  if (fails("ncclSend")) return internal_error;
  point_to_point_of(comm).sends.push_back({peer, const_cast<void*>(input), count * format_of(type).size_bytes});
  return end_of_call();
}
int ncclRecv(void* output, std::size_t count, int type, int peer, NcclComm* comm, void*) {
  if (fails("ncclRecv")) return internal_error;
  point_to_point_of(comm).receives.push_back({peer, output, count * format_of(type).size_bytes});
  return end_of_call();
}

}  // extern "C"
#pragma GCC visibility pop
