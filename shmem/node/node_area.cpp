// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/node/node_area.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/memory_file.hpp"

namespace gdrkit::shmem_impl::node {
namespace {

static_assert(std::atomic<unsigned char>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free,
              "they lie in memory that processes share");

std::size_t in_pages(std::size_t size_bytes) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (size_bytes + page - 1) / page * page;
}

/// The first lost PE (1 + its number; 0: none), then one byte per PE: whether it has left.
constexpr std::size_t lost_bytes = sizeof(std::int32_t);
std::size_t head_bytes_of(std::size_t n_pes) noexcept { return in_pages(lost_bytes + n_pes); }

struct flock lock_of(std::size_t index) noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(index);
  lock.l_len = 1;
  return lock;
}

}  // namespace

base::Result<base::UniqueFd> NodeArea::create(std::size_t n_pes, std::size_t size_bytes) {
  if (size_bytes > SIZE_MAX / 4)
    return base::fail(EINVAL, "cannot create %zu bytes of memory for the PEs of this node: the size is too large",
                      size_bytes);
  const std::size_t total = head_bytes_of(n_pes) + in_pages(size_bytes);
  auto made = base::make_memory_file("gdrkit-shmem", total, MFD_ALLOW_SEALING);
  if (!made) return base::pass(made);
  base::UniqueFd file(*made);
  // No PE can then shrink the area while others use it.
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return base::fail(errno, "cannot seal %zu bytes of memory for the PEs of this node: %s", total,
                      std::strerror(errno));
  }
  return file;
}

base::Result<std::unique_ptr<NodeArea>> NodeArea::open(int file, std::size_t index, std::size_t n_pes,
                                                       std::size_t size_bytes) {
  std::unique_ptr<NodeArea> area(new NodeArea);
  area->index_ = index;
  area->head_bytes_ = head_bytes_of(n_pes);
  const std::size_t total = area->head_bytes_ + in_pages(size_bytes);
  void* const start = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) {
    return base::fail(errno, "cannot map %zu bytes of memory for the PEs of this node: %s", total,
                      std::strerror(errno));
  }
  area->start_ = start;
  area->mapped_bytes_ = total;
  // Locks belong to an open file description, and the received descriptor shares its description with all PEs. So open
  // the file again.
  char path[40];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  area->lock_ = bootstrap::PrivateFd(base::UniqueFd(::open(path, O_RDWR | O_CLOEXEC)));
  struct flock lock = lock_of(index);
  if (!area->lock_ || ::fcntl(area->lock_.get(), F_OFD_SETLK, &lock) != 0) {
    return base::fail(errno, "cannot mark this PE as alive: locking %s failed: %s", path, std::strerror(errno));
  }
  return area;
}

NodeArea::~NodeArea() {
  if (start_ != nullptr) ::munmap(start_, mapped_bytes_);
}

void* NodeArea::memory() const noexcept { return static_cast<char*>(start_) + head_bytes_; }

bool NodeArea::is_locked(std::size_t index) const noexcept {
  if (index == index_) return true;
  struct flock lock = lock_of(index);
  // If the system call fails, the PE counts as alive.
  if (::fcntl(lock_.get(), F_OFD_GETLK, &lock) != 0) return true;
  return lock.l_type != F_UNLCK;
}

std::atomic<std::int32_t>& NodeArea::lost() const noexcept { return *static_cast<std::atomic<std::int32_t>*>(start_); }

int NodeArea::first_lost() const noexcept { return lost().load(std::memory_order_acquire) - 1; }

int NodeArea::note_lost(int pe) noexcept {
  std::int32_t noted = 0;
  const std::int32_t mine = pe + 1;
  return lost().compare_exchange_strong(noted, mine, std::memory_order_acq_rel) ? mine - 1 : noted - 1;
}

std::atomic<unsigned char>& NodeArea::left(std::size_t index) const noexcept {
  return reinterpret_cast<std::atomic<unsigned char>*>(static_cast<char*>(start_) + lost_bytes)[index];
}

// Pairs with the release of set_left: a PE that finds the lock released (a later system call) also sees this.
bool NodeArea::has_left(std::size_t index) const noexcept { return left(index).load(std::memory_order_acquire) != 0; }

void NodeArea::set_left() noexcept { left(index_).store(1, std::memory_order_release); }

}  // namespace gdrkit::shmem_impl::node
