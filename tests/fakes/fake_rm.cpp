// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The operating system's part: paths, descriptors, mappings. The ioctls are in fake_rm_ioctl.cpp.
#include "fakes/fake_rm.hpp"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

constexpr const char* version_path = "/proc/driver/nvidia/version";
constexpr const char* control_path = "/dev/nvidiactl";

std::string version_file_of(const std::string& version) {
  return "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " + version +
         "  Release Build  (dvs-builder@U22-I3-AM02-24-3)  Mon Oct  6 20:18:32 UTC 2025\n"
         "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04.1)\n";
}

}  // namespace

FakeRm::FakeRm(const DriverModel& model, std::vector<FakeGpu> gpus)
    : model_(model),
      gpus_(std::move(gpus)),
      state_(model_, gpus_, violations_),
      memory_(violations_),
      version_text_(version_file_of(model.version)),
      module_version_(model.version) {}

void FakeRm::fail_path(const std::string& path, int errno_value) {
  const std::lock_guard lock(mutex_);
  failing_paths_[path] = errno_value;
}

int FakeRm::path_failure(const std::string& path) const {
  const auto failing = failing_paths_.find(path);
  if (failing != failing_paths_.end() && failing->second != 0) return failing->second;
  if (path == control_path || path == version_path) return 0;
  const bool is_node = std::any_of(gpus_.begin(), gpus_.end(), [&](const FakeGpu& gpu) { return gpu.node() == path; });
  return is_node ? 0 : ENOENT;
}

int FakeRm::add_file(OpenFile file) {
  if (files_.size() >= descriptor_limit_) return -EMFILE;
  file.id = next_file_++;
  files_[next_fd_] = std::move(file);
  return next_fd_++;
}

int FakeRm::open(const char* path, int) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = path_failure(path); failure != 0) return -failure;
  OpenFile file;
  for (unsigned gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (gpus_[gpu].node() != path) continue;
    file.kind = OpenFile::Kind::device;
    file.gpu = gpu;
  }
  return add_file(std::move(file));
}

int FakeRm::close(int fd) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(fd);
  if (found == files_.end()) {
    violations_.add("close of descriptor " + std::to_string(fd) + ", which is not open");
    return -EBADF;
  }
  if (found->second.kind == OpenFile::Kind::control) state_.close_control_file(found->second.id);
  files_.erase(found);
  return 0;
}

FakeRm::OpenFile* FakeRm::file_of(int fd) {
  const auto found = files_.find(fd);
  if (found != files_.end()) return &found->second;
  violations_.add("use of descriptor " + std::to_string(fd) + ", which is not open");
  return nullptr;
}

int FakeRm::ioctl(int fd, unsigned long request, void* argument) noexcept {
  const std::lock_guard lock(mutex_);
  OpenFile* file = file_of(fd);
  if (file == nullptr) return -EBADF;
  if (request == FIOCLEX && file->kind == OpenFile::Kind::dmabuf) {
    file->is_closed_by_exec = true;
    return 0;
  }
  const bool is_node = file->kind == OpenFile::Kind::control || file->kind == OpenFile::Kind::device;
  if (!is_node || _IOC_TYPE(request) != 'F') return -ENOTTY;
  ++counts_[_IOC_NR(request)];
  return dispatch(*file, request, argument);
}

int FakeRm::mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
                 void** mapped) noexcept {
  const std::lock_guard lock(mutex_);
  if (fd < 0) return memory_.map_anonymous(hint, length, protection, flags, mapped);
  OpenFile* file = file_of(fd);
  if (file == nullptr) return -EBADF;
  if (file->kind == OpenFile::Kind::dmabuf) {
    const bool is_plain = hint == nullptr && flags == MAP_SHARED;
    return is_plain ? map_dmabuf(*file, length, protection, offset, mapped) : -EINVAL;
  }
  if (file->kind != OpenFile::Kind::device || file->mapping == nullptr) return -EINVAL;
  const std::shared_ptr<RmMapping> mapping = file->mapping;
  if (!mapping->is_live) return -EINVAL;
  if (offset != 0 || length != mapping->length) return -ENXIO;
  return map_shown(hint, length, protection, flags, mapping, mapped);
}

int FakeRm::map_shown(void* hint, std::size_t length, int protection, int flags,
                      const std::shared_ptr<RmMapping>& mapping, void** mapped) {
  const bool is_early = shows_after_ > 0;
  if (is_early) --shows_after_;
  if (is_early || shows_ == MappingShows::memory) {
    return memory_.map_device(hint, length, protection, flags, mapping->memory->file(),
                              static_cast<off_t>(mapping->first), mapping, mapped);
  }
  const PhysicalMemory decoy(mapping->gpu, length, host_page);
  std::uint8_t value = 0;
  for (std::uint8_t& byte : decoy.bytes())
    byte = shows_ == MappingShows::all_ones ? 0xff : static_cast<std::uint8_t>(value += 37);
  return memory_.map_device(hint, length, protection, flags, decoy.file(), 0, mapping, mapped);
}

int FakeRm::map_dmabuf(const OpenFile& file, std::size_t length, int protection, off_t offset, void** mapped) {
  if (dmabuf_.mmap_error != 0) return -dmabuf_.mmap_error;
  std::uint64_t skip = static_cast<std::uint64_t>(offset);
  void* base = nullptr;
  constexpr int reserving = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (const int reserved = memory_.map_anonymous(nullptr, length, PROT_NONE, reserving, &base); reserved != 0)
    return reserved;
  const int nothing = ::memfd_create("fake-hole", MFD_CLOEXEC);
  std::size_t at = 0;
  int result = 0;
  for (const DmabufPiece& piece : file.pieces) {
    const std::uint64_t cut = std::min(skip, piece.size_bytes);
    skip -= cut;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size_bytes - cut, length - at));
    if (size == 0) continue;
    auto mapping = std::make_shared<RmMapping>();
    mapping->memory = piece.memory;
    mapping->gpu = piece.memory->gpu();
    mapping->first = piece.offset + cut;
    mapping->length = size;
    void* part = static_cast<std::uint8_t*>(base) + at;
    constexpr int flags = MAP_SHARED | MAP_FIXED;
    const bool is_hole = dmabuf_.maps_nothing || (dmabuf_.maps_first_only && at > 0);
    result = is_hole ? memory_.map_device(part, size, protection, flags, nothing, 0, mapping, &part)
                     : map_shown(part, size, protection, flags, mapping, &part);
    if (result != 0) break;
    at += size;
  }
  ::close(nothing);
  if (result == 0 && at < length) result = -EINVAL;
  if (result != 0) (void)memory_.unmap(base, length);
  *mapped = base;
  return result;
}

int FakeRm::munmap(void* address, std::size_t length) noexcept {
  const std::lock_guard lock(mutex_);
  return memory_.unmap(address, length);
}

int FakeRm::access(const char* path, int) noexcept {
  const std::lock_guard lock(mutex_);
  return -path_failure(path);
}

int FakeRm::madvise(void* address, std::size_t length, int advice) noexcept {
  const std::lock_guard lock(mutex_);
  return memory_.advise(address, length, advice);
}

ssize_t FakeRm::read_text(const char* path, char* buffer, std::size_t capacity) noexcept {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const FakeGpu& gpu : gpus_) {
    if (path == "/sys/bus/pci/devices/" + gpu.pci() + "/resource") text = gpu.resource_file();
  }
  if (text.empty()) {
    if (const int failure = path_failure(path); failure != 0) return -failure;
    text = version_text_;
  }
  if ((std::string(path) != version_path && text == version_text_) || capacity == 0) return -EINVAL;
  const std::size_t size = std::min(capacity - 1, text.size());
  std::memcpy(buffer, text.data(), size);
  buffer[size] = '\0';
  return static_cast<ssize_t>(size);
}

Census FakeRm::census() const {
  const std::lock_guard lock(mutex_);
  const std::size_t cuda_clients = cuda_file_ != 0 ? 1 : 0;
  return {files_.size(), state_.clients() - cuda_clients, state_.objects() - cuda_objects_, state_.mappings(),
          memory_.count()};
}

std::size_t FakeRm::dmabufs_inherited_by_exec() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(files_.begin(), files_.end(), [](const auto& entry) {
    return entry.second.kind == OpenFile::Kind::dmabuf && !entry.second.is_closed_by_exec;
  }));
}

std::size_t FakeRm::vmas_inherited_by_fork() const {
  const std::lock_guard lock(mutex_);
  return memory_.inherited_by_fork();
}

bool FakeRm::is_mmapped(const PhysicalMemory& memory, std::uint64_t offset, std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  return memory_.shows(memory, offset, size);
}

unsigned FakeRm::count_of(unsigned command_number) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(command_number);
  return found == counts_.end() ? 0 : found->second;
}

Handle FakeRm::add_cuda_client(int pid) {
  const std::lock_guard lock(mutex_);
  cuda_file_ = next_file_++;
  return state_.add_client(cuda_file_, pid);
}

void FakeRm::place(Handle client, Handle object, const std::shared_ptr<PhysicalMemory>& memory) {
  const std::lock_guard lock(mutex_);
  state_.place(client, object, memory);
  ++cuda_objects_;
}

void FakeRm::remove(Handle client, Handle object) {
  const std::lock_guard lock(mutex_);
  state_.free(client, object);
  --cuda_objects_;
}

int FakeRm::add_dmabuf(std::vector<DmabufPiece> pieces) {
  const std::lock_guard lock(mutex_);
  OpenFile file;
  file.pieces = std::move(pieces);
  file.kind = OpenFile::Kind::dmabuf;
  return add_file(std::move(file));
}

int FakeRm::add_exported_file(const std::shared_ptr<PhysicalMemory>& memory) {
  const std::lock_guard lock(mutex_);
  OpenFile file;
  file.kind = OpenFile::Kind::exported;
  file.memory = memory;
  return add_file(std::move(file));
}

std::vector<unsigned> FakeRm::gpus_open_in_process() const {
  std::vector<unsigned> open;
  for (const auto& [fd, file] : files_) {
    if (file.kind == OpenFile::Kind::device) open.push_back(file.gpu);
  }
  return open;
}

}  // namespace gdrkit::fakes
