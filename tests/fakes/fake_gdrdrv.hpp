// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeGdrdrv: the operating system with a gdrdrv kernel module, simulated in this process on the emulated device's
// memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/system.hpp"
#include "fakes/violations.hpp"

namespace gdrkit::fakes {

/// Differences between versions, flavours and platforms of the module.
struct GdrdrvModel {
  std::uint32_t version = 0x0002'0006;
  std::uint32_t minimum_api = 0x0002'0000;
  bool is_persistent = true;  ///< pins keep the memory after its owner frees it; otherwise they are invalidated
  bool can_force_pcie = true;
  std::set<std::uint32_t> types = {1};  ///< the supported types of a mapping; the default is the first
  std::uint64_t first_handle = 0;
  /// The default type of a mapping is cached unless its pin forces PCIe; `types` contains both 1 and 2.
  bool is_coherent = false;
};

struct GdrdrvCensus {
  std::size_t descriptors = 0;
  std::size_t pins = 0;
  std::size_t vmas = 0;

  bool operator==(const GdrdrvCensus&) const = default;
};

/// Descriptors are real ones (of /dev/null), mappings are real mappings, so that leaks are visible in /proc too.
class FakeGdrdrv : public driver::System {
 public:
  explicit FakeGdrdrv(GdrdrvModel model = {}) : model_(std::move(model)) {}
  ~FakeGdrdrv() override;

  int open(const char* path, int flags) noexcept override;
  int close(int fd) noexcept override;
  int ioctl(int fd, unsigned long request, void* argument) noexcept override;
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override;
  int munmap(void* address, std::size_t length) noexcept override;
  int access(const char*, int) noexcept override { return -ENOENT; }
  int madvise(void* address, std::size_t length, int advice) noexcept override;
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override;
  int node_numbers(const char* path, unsigned* major, unsigned* minor) noexcept override;

  [[nodiscard]] GdrdrvModel& model() noexcept { return model_; }
  std::optional<std::pair<unsigned, unsigned>> node;  ///< the numbers of /dev/gdrdrv, if a test makes them visible
  std::map<std::string, std::string> files;           ///< small text files, such as /proc/devices
  int open_error = 0;                                 ///< result of opening the node; 0: success
  int pin_error = 0;  ///< result of the NVIDIA driver for the module's request for pages
  int map_error = 0;  ///< result of mmap after all checks
  /// Corrupts results: called with every result before it is returned, by ioctl number.
  std::function<void(unsigned number, void* argument)> bend;

  [[nodiscard]] GdrdrvCensus census() const;
  /// Mappings that a forked child would inherit, because the library did not pass MADV_DONTFORK to madvise. The real
  /// module prevents this itself; an older one may not.
  [[nodiscard]] std::size_t vmas_inherited_by_fork() const;
  [[nodiscard]] Violations& violations() noexcept { return violations_; }
  /// Every ioctl and mmap so far as text, with its result. Addresses are relative to `base`.
  [[nodiscard]] std::vector<std::string> log() const;
  void set_log_base(std::uint64_t base) { log_base_ = base; }
  /// Simulates the callback of the NVIDIA driver for every pin whose memory was freed. Each ioctl and mmap also does
  /// this first.
  void notice_frees();

 private:
  struct Region {
    std::uint64_t address = 0;  ///< as requested
    std::uint64_t page_address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t owner_id = 0;  ///< of the allocation that contains it
    void* held = nullptr;
    bool is_freed = false;
    std::uint32_t requested_type = 0;
    bool can_cache = false;
    std::uint32_t type = 0;  ///< 0: not mapped
  };
  struct Open {
    pid_t owner = 0;
    bool has_descriptor = true;
    std::uint64_t next_handle = 0;
    std::map<std::uint64_t, Region> regions;  ///< by handle
  };
  struct Vma {
    std::size_t length = 0;
    int open = 0;
    std::uint64_t handle = 0;
    bool is_zapped = false;
    bool is_kept_from_fork = false;
  };

  Open* open_of(int fd, int* number);
  Region* region_of(Open& open, std::uint64_t handle);
  int dispatch(Open& open, unsigned number, void* argument);
  int pin(Open& open, std::uint64_t address, std::uint64_t bytes, std::uint32_t flags, std::uint64_t* handle);
  int unpin(Open& open, std::uint64_t handle);
  int get_info(Open& open, void* argument, bool has_types);
  int get_attribute(void* argument) const;
  int request_type(Open& open, void* argument);
  int check_map(const Open& open, const Region* region, std::size_t length) const;
  void zap(const Open& open, std::uint64_t handle);
  void release_if_unused(int number);
  void note(const std::string& text) { log_.push_back(text); }
  [[nodiscard]] std::string relative(std::uint64_t address) const;

  mutable std::recursive_mutex mutex_;
  GdrdrvModel model_;
  Violations violations_;
  std::map<int, int> numbers_;  ///< descriptor -> number of its open
  std::map<int, Open> opens_;   ///< by number
  std::map<std::uintptr_t, Vma> vmas_;
  int next_open_ = 1;
  std::vector<std::string> log_;
  std::uint64_t log_base_ = 0;
};

}  // namespace gdrkit::fakes
