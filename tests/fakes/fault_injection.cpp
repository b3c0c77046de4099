// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/fault_injection.hpp"

#include <sys/ioctl.h>

#include <cstring>

#include "fakes/allocation_faults.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

struct IoctlName {
  unsigned number;
  const char* name;
  std::size_t status_at;  ///< 0: no status word
};

constexpr IoctlName ioctl_names[] = {
    {command::card_info, "CARD_INFO", 0},
    {command::register_fd, "REGISTER_FD", 0},
    {command::check_version, "CHECK_VERSION", 0},
    {command::wait_open, "WAIT_OPEN_COMPLETE", 0},
    {command::rm_free, "RM_FREE", 12},
    {command::rm_control, "RM_CONTROL", 28},
    {command::rm_alloc, "RM_ALLOC", 28},
    {command::rm_dup, "RM_DUP_OBJECT", 24},
    {command::rm_map, "RM_MAP_MEMORY", 40},
    {command::rm_unmap, "RM_UNMAP_MEMORY", 24},
    {0x51, "FIOCLEX", 0},
    // ioctls of the gdrdrv module; their numbers differ from RM's.
    {1, "PIN_BUFFER", 0},
    {2, "UNPIN_BUFFER", 0},
    {3, "GET_CB_FLAG", 0},
    {4, "GET_INFO", 0},
    {5, "GET_INFO_V2", 0},
    {6, "GET_ATTR", 0},
    {7, "PIN_BUFFER_V2", 0},
    {8, "REQ_MAPPING_TYPE", 0},
    {255, "GET_VERSION", 0},
};

const IoctlName* name_of(unsigned long request) {
  for (const IoctlName& entry : ioctl_names) {
    if (entry.number == _IOC_NR(request)) return &entry;
  }
  return nullptr;
}

}  // namespace

void FaultPlan::fail_call(int number, const Fault& fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  number_ = number;
  every_.clear();
  counted_.clear();
  log_.clear();
  was_reached_ = false;
}

void FaultPlan::fail_every(const std::string& name, const Fault& fault) {
  fail_call(never, fault);
  const std::lock_guard lock(mutex_);
  every_ = name;
}

void FaultPlan::fail_call_of(const std::string& name, int number, const Fault& fault) {
  fail_call(number, fault);
  const std::lock_guard lock(mutex_);
  counted_ = name;
}

void FaultPlan::stop() {
  const std::lock_guard lock(mutex_);
  number_ = never;
  every_.clear();
}

bool FaultPlan::was_reached() const {
  const std::lock_guard lock(mutex_);
  return was_reached_;
}

std::string FaultPlan::failed_call() const {
  const std::lock_guard lock(mutex_);
  return failed_call_;
}

int FaultPlan::calls() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(log_.size());
}

std::vector<std::string> FaultPlan::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

bool FaultPlan::strikes(const char* name, Fault* fault) {
  if (!counted_.empty() && counted_ != name) return false;
  log_.emplace_back(name);
  if (static_cast<int>(log_.size()) - 1 != number_ && every_ != name) return false;
  was_reached_ = true;
  failed_call_ = name;
  *fault = fault_;
  return true;
}

bool FaultPlan::strikes_system(const char* name, bool has_status, Fault* fault) {
  const std::lock_guard lock(mutex_);
  if (fault_.errno_value == 0 && (fault_.rm_status == 0 || !has_status)) return false;
  return strikes(name, fault);
}

bool FaultPlan::strikes_cuda(const char* name, Fault* fault) {
  const std::lock_guard lock(mutex_);
  return fault_.cuda_result != 0 && strikes(name, fault);
}

template <class Call>
auto FaultySystem::call_or_fail(const char* name, Call call) noexcept -> decltype(call()) {
  const SuspendAllocationFaults mine;
  Fault fault;
  return plan_.strikes_system(name, false, &fault) ? -fault.errno_value : call();
}

int FaultySystem::open(const char* path, int flags) noexcept {
  return call_or_fail("open", [&] { return inner_.open(path, flags); });
}

int FaultySystem::close(int fd) noexcept {
  const SuspendAllocationFaults mine;
  Fault fault;
  const bool is_struck = plan_.strikes_system("close", false, &fault);
  const int result = inner_.close(fd);
  return is_struck && result == 0 ? -fault.errno_value : result;
}

int FaultySystem::ioctl(int fd, unsigned long request, void* argument) noexcept {
  const SuspendAllocationFaults mine;
  const IoctlName* entry = name_of(request);
  Fault fault;
  const bool has_status = entry != nullptr && entry->status_at != 0;
  if (!plan_.strikes_system(entry != nullptr ? entry->name : "ioctl", has_status, &fault))
    return inner_.ioctl(fd, request, argument);
  if (!has_status || fault.rm_status == 0) return -fault.errno_value;
  put(argument, entry->number == command::rm_alloc ? plan_.alloc_status_at : entry->status_at, fault.rm_status);
  return 0;
}

int FaultySystem::mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
                       void** mapped) noexcept {
  return call_or_fail("mmap", [&] { return inner_.mmap(hint, length, protection, flags, fd, offset, mapped); });
}

int FaultySystem::munmap(void* address, std::size_t length) noexcept {
  return call_or_fail("munmap", [&] { return inner_.munmap(address, length); });
}

int FaultySystem::access(const char* path, int mode) noexcept {
  return call_or_fail("access", [&] { return inner_.access(path, mode); });
}

int FaultySystem::madvise(void* address, std::size_t length, int advice) noexcept {
  return call_or_fail("madvise", [&] { return inner_.madvise(address, length, advice); });
}

ssize_t FaultySystem::read_text(const char* path, char* buffer, std::size_t capacity) noexcept {
  return call_or_fail("read_text", [&] { return inner_.read_text(path, buffer, capacity); });
}

template <class Call>
int FaultyCuda::call_with_fault(const char* name, bool is_made_anyway, Call call) noexcept {
  const SuspendAllocationFaults mine;
  Fault fault;
  const bool is_struck = plan_.strikes_cuda(name, &fault);
  if (is_struck && !is_made_anyway) return fault.cuda_result;
  const int result = call();
  return is_struck && result == 0 ? fault.cuda_result : result;
}

template <class Call>
int FaultyCuda::around(const char* name, Call call) noexcept {
  bool waits_or_releases = false;
  for (const char* word : {"synchronize", "destroy", "release", "unregister", "unload", "unmap", "pop", "free"}) {
    waits_or_releases = waits_or_releases || std::strstr(name, word) != nullptr;
  }
  return call_with_fault(name, waits_or_releases, call);
}

int FaultyCuda::exchange_stream_capture_mode(int* mode) noexcept {
  constexpr int relaxed = 2;
  // Relaxing allocates, restoring releases.
  return call_with_fault("exchange_stream_capture_mode", *mode != relaxed,
                         [&] { return inner_->exchange_stream_capture_mode(mode); });
}

FaultyCuda::FaultyCuda(const driver::CudaCalls& inner, FaultPlan& plan) : CudaTable(inner), plan_(plan) {}

}  // namespace gdrkit::fakes
