// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A live allocation consists of two adjacent mappings of one memory file. The first is an inaccessible head guard (file
// offset past the data), the second is the data from file offset 0. Other mappings of the same file never follow a head
// guard, so they are not mistaken for allocations at any address. The file's name contains kind and size; its inode is
// the identity.
#include "driver/emulated_memory.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>
#include <system_error>

#include "base/memory_file.hpp"
#include "base/number.hpp"
#include "driver/process_maps.hpp"

namespace gdrkit::driver {
namespace {

constexpr std::uint64_t page_mask = emulated_page_bytes - 1;

/// Emulated memory takes pages on first access, when an allocation can no longer fail. A copy into memory that does not
/// fit would make Linux kill processes. Larger allocations are therefore rejected, as on a GPU. The limit also stays
/// below the 2^47 bytes of the x86-64 user address space.
std::size_t largest_size() noexcept {
  constexpr std::size_t address_space = std::size_t{1} << 46;
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return address_space;
  return std::min(address_space, (std::size_t{info.totalram} + info.totalswap) * info.mem_unit);
}

constexpr std::size_t round_up(std::size_t size) noexcept { return (size + page_mask) & ~page_mask; }
void* as_pointer(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }
std::uint64_t as_address(const void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

// If two threads free one address, the second must see that it is gone, or it would unmap unrelated memory there.
std::mutex free_mutex;

constexpr const char* name_format = "gdrkit-emulated:%u:%zu";  // kind, exact size

bool parse_name(std::string_view name, EmulatedAllocation* allocation) noexcept {
  if (!name.starts_with(emulated_file_prefix)) return false;
  name.remove_prefix(emulated_file_prefix.size());
  const char* end = name.data() + name.size();
  unsigned kind = 0;
  auto [kind_end, kind_error] = std::from_chars(name.data(), end, kind);
  if (kind_error != std::errc() || kind_end == end || *kind_end != ':') return false;
  if (kind > static_cast<unsigned>(EmulatedKind::host)) return false;
  allocation->kind = static_cast<EmulatedKind>(kind);
  auto [size_end, size_error] = std::from_chars(kind_end + 1, end, allocation->size_bytes);
  return size_error == std::errc() && size_end == end && allocation->size_bytes != 0;
}

/// Reserves inaccessible address space: [64 KiB guard][data_bytes][64 KiB guard]. Returns the address of the data.
base::Result<std::uint64_t> reserve(std::size_t data_bytes) noexcept {
  const std::size_t used = data_bytes + 2 * emulated_page_bytes;
  const std::size_t length = used + emulated_page_bytes;  // room to align
  void* base = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return base::fail(ENOMEM, "cannot reserve address space for %zu bytes of emulated memory: %s", data_bytes,
                      std::strerror(errno));
  }
  const std::uint64_t first = as_address(base);
  const std::uint64_t kept = (first + page_mask) & ~page_mask;
  if (kept > first) ::munmap(base, kept - first);
  if (first + length > kept + used) ::munmap(as_pointer(kept + used), first + length - kept - used);
  return kept + emulated_page_bytes;
}

int release(std::uint64_t start, std::size_t data_bytes) noexcept {
  return ::munmap(as_pointer(start - emulated_page_bytes), data_bytes + 2 * emulated_page_bytes);
}

/// The file offset of the head guard, with a gap after the data. Without the gap, Linux could merge the guard with a
/// second mapping of the data that lies right before it. The guard would then not be found.
constexpr std::uint64_t guard_offset(std::size_t data_bytes) noexcept { return data_bytes + emulated_page_bytes; }

/// Maps the head guard last, because it makes the whole allocation visible to emulated_find. MADV_DONTFORK of the data
/// precedes it, so that a forked child never finds an allocation. The guards get MADV_DONTFORK afterwards, only to save
/// address space.
bool map_file(int fd, std::uint64_t start, std::size_t data_bytes) noexcept {
  constexpr int flags = MAP_SHARED | MAP_FIXED;
  const std::uint64_t head = start - emulated_page_bytes;
  return ::mmap(as_pointer(start), data_bytes, PROT_READ | PROT_WRITE, flags, fd, 0) != MAP_FAILED &&
         ::madvise(as_pointer(start), data_bytes, MADV_DONTFORK) == 0 &&
         ::mmap(as_pointer(head), emulated_page_bytes, PROT_NONE, flags, fd,
                static_cast<off_t>(guard_offset(data_bytes))) != MAP_FAILED &&
         ::madvise(as_pointer(head), data_bytes + 2 * emulated_page_bytes, MADV_DONTFORK) == 0;
}

/// Finds the data of live allocations among the mappings, which must be passed in address order.
class LiveAllocations {
 public:
  /// Returns true if `mapping` belongs to the data of a live allocation, which current() then describes.
  bool see(const ProcessMapping& mapping) noexcept {
    const bool is_ours = mapping.is_shared && parse_name(mapping.name, &named_);
    const bool follows_guard =
        is_ours && guard_end_ == mapping.start && guard_inode_ == mapping.inode && mapping.offset == 0;
    // The data consists of several mappings if the protection of a part was changed.
    const bool continues = is_ours && current_.buffer_id == mapping.inode && data_end_ == mapping.start &&
                           mapping.offset == mapping.start - current_.start;
    const bool is_guard =
        is_ours && !mapping.is_readable && mapping.offset == guard_offset(round_up(named_.size_bytes));
    guard_end_ = is_guard ? mapping.end : 0;
    guard_inode_ = is_guard ? mapping.inode : 0;
    if (follows_guard) {
      current_ = {mapping.start, named_.size_bytes, mapping.inode, named_.kind};
    } else if (!continues) {
      current_ = {};
      return false;
    }
    data_end_ = mapping.end;
    return true;
  }
  [[nodiscard]] const EmulatedAllocation& current() const noexcept { return current_; }

 private:
  EmulatedAllocation named_;
  EmulatedAllocation current_;
  std::uint64_t data_end_ = 0;
  std::uint64_t guard_end_ = 0;
  std::uint64_t guard_inode_ = 0;
};

/// Duplicates the shared mapping at `source`: old size 0, see mremap(2). The duplicate inherits MADV_DONTFORK from the
/// source, so a fork can never inherit it.
base::Result<void*> duplicate(std::uint64_t source, std::size_t size_bytes, int protection) noexcept {
  void* mapping = ::mremap(as_pointer(source), 0, size_bytes, MREMAP_MAYMOVE);
  if (mapping == MAP_FAILED) {
    const int error = errno == ENOMEM ? ENOMEM : EINVAL;
    return base::fail(error, "cannot map %zu bytes of emulated memory at 0x%" PRIx64 ": %s", size_bytes, source,
                      std::strerror(errno));
  }
  if (::mprotect(mapping, size_bytes, protection) != 0) {
    const int error = errno;
    ::munmap(mapping, size_bytes);
    return base::fail(error, "cannot make emulated memory at 0x%" PRIx64 " accessible: %s", source,
                      std::strerror(error));
  }
  return mapping;
}

}  // namespace

base::Result<int> emulated_device_count(std::string_view setting) noexcept {
  if (setting.empty()) return 1;
  int count = 0;
  if (base::parse_number(setting, &count) && count >= 1 && count <= most_emulated_devices) return count;
  return base::fail(EINVAL, "invalid GDRKIT_EMULATED_DEVICES \"%.*s\"; set a number from 1 to %d",
                    static_cast<int>(setting.size() > 40 ? 40 : setting.size()), setting.data(), most_emulated_devices);
}

base::Result<int> emulated_create_file(std::size_t size_bytes, EmulatedKind kind) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, name_format, static_cast<unsigned>(kind), size_bytes);
  return base::make_memory_file(name, round_up(size_bytes));
}

base::Result<std::uint64_t> emulated_allocate(std::size_t size_bytes, EmulatedKind kind, int* fd) noexcept {
  if (size_bytes == 0) return base::fail(EINVAL, "cannot allocate emulated memory: the size is 0 bytes");
  if (size_bytes > largest_size()) {
    return base::fail(
        ENOMEM,
        "cannot allocate %zu bytes of emulated memory: the limit is %zu bytes (memory and swap of this machine); "
        "allocate less",
        size_bytes, largest_size());
  }
  auto created = emulated_create_file(size_bytes, kind);
  if (!created) return base::pass(created);
  const std::size_t data_bytes = round_up(size_bytes);
  auto start = reserve(data_bytes);
  if (start && !map_file(*created, *start, data_bytes)) {
    const int error = errno;
    release(*start, data_bytes);
    start = base::fail(ENOMEM, "cannot map %zu bytes of emulated memory: %s", size_bytes, std::strerror(error));
  }
  if (start && fd != nullptr) {
    *fd = *created;
  } else {
    ::close(*created);
  }
  return start;
}

base::Status emulated_adopt(int fd, std::uint64_t address, std::size_t size_bytes) noexcept {
  if (map_file(fd, address, size_bytes)) return {};
  return base::fail(ENOMEM, "cannot map %zu bytes of shared emulated memory at 0x%" PRIx64 ": %s", size_bytes, address,
                    std::strerror(errno));
}

base::Status emulated_free(std::uint64_t address) noexcept {
  const std::lock_guard lock(free_mutex);
  auto allocation = emulated_find(address);
  if (!allocation) return base::pass(allocation);
  if (allocation->start != address) {
    return base::fail(EINVAL,
                      "cannot free 0x%" PRIx64 ": it is inside an emulated allocation that starts at 0x%" PRIx64,
                      address, allocation->start);
  }
  if (release(address, round_up(allocation->size_bytes)) != 0) {
    return base::fail(errno, "cannot unmap emulated memory at 0x%" PRIx64 ": %s", address, std::strerror(errno));
  }
  return {};
}

base::Result<EmulatedAllocation> emulated_find(std::uint64_t address) noexcept {
  ProcessMaps maps;
  if (auto opened = maps.open(); !opened) return base::pass(opened);
  LiveAllocations live;
  ProcessMapping mapping;
  for (;;) {
    auto more = maps.next(&mapping);
    if (!more) return base::pass(more);
    if (!*more || mapping.start > address) break;
    if (live.see(mapping) && address < mapping.end) return live.current();
  }
  return base::fail(EINVAL,
                    "cannot find an emulated allocation at 0x%" PRIx64
                    ": the memory was freed, was never allocated, or is host memory",
                    address);
}

base::Result<void*> emulated_hold(std::uint64_t page_address, std::size_t size_bytes) noexcept {
  auto allocation = emulated_find(page_address);
  if (!allocation) return base::pass(allocation);
  const std::size_t room = allocation->start + round_up(allocation->size_bytes) - page_address;
  if ((page_address & page_mask) != 0 || size_bytes == 0 || size_bytes > room) {
    return base::fail(EINVAL,
                      "cannot map 0x%" PRIx64
                      " + %zu bytes: the range does not consist of whole pages of one emulated allocation",
                      page_address, size_bytes);
  }
  auto mapping = duplicate(page_address, size_bytes, PROT_NONE);
  if (!mapping) return mapping;
  // If another thread has freed the allocation since emulated_find, the duplicate may refer to a new allocation.
  auto again = emulated_find(page_address);
  if (again && again->buffer_id == allocation->buffer_id) return mapping;
  ::munmap(*mapping, size_bytes);
  return base::fail(EINVAL, "cannot map emulated memory at 0x%" PRIx64 ": the memory was freed during the mapping",
                    page_address);
}

base::Result<void*> emulated_map_held(void* held, std::size_t size_bytes) noexcept {
  return duplicate(as_address(held), size_bytes, PROT_READ | PROT_WRITE);
}

base::Status emulated_unmap(void* mapping, std::size_t size_bytes) noexcept {
  if (::munmap(mapping, size_bytes) != 0) {
    return base::fail(errno, "cannot unmap emulated memory: %s", std::strerror(errno));
  }
  return {};
}

}  // namespace gdrkit::driver
