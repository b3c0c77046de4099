// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeRm: the operating system and NVIDIA's kernel driver as a process uses them, simulated in this process: device
// nodes, descriptors, RM ioctls, and mappings, which are real mappings of memory files.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "driver/system.hpp"
#include "fakes/driver_model.hpp"
#include "fakes/fake_gpu.hpp"
#include "fakes/process_memory.hpp"
#include "fakes/rm_state.hpp"
#include "fakes/violations.hpp"

namespace gdrkit::fakes {

/// What a mapping contains instead of the requested memory.
enum class MappingShows { memory, other_memory, all_ones };

/// How a dma-buf of GPU memory behaves when a process maps it.
struct DmabufModel {
  int mmap_error = 524;          ///< ENOTSUPP: drivers up to 575, later ones for discrete GPUs; 0: it can be mapped
  bool maps_first_only = false;  ///< pages after the first object are missing, as in some drivers
  bool maps_nothing = false;     ///< mmap succeeds, and every access ends in SIGBUS
};

/// A part of the memory of a dma-buf.
struct DmabufPiece {
  std::shared_ptr<PhysicalMemory> memory;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// What the code under test currently holds. CUDA's own resources do not count.
struct Census {
  std::size_t descriptors = 0;
  std::size_t rm_clients = 0;
  std::size_t rm_objects = 0;
  std::size_t rm_mappings = 0;
  std::size_t vmas = 0;

  bool operator==(const Census&) const = default;
};

class FakeRm final : public driver::System {
 public:
  FakeRm(const DriverModel& model, std::vector<FakeGpu> gpus);
  ~FakeRm() override = default;

  int open(const char* path, int flags) noexcept override;
  int close(int fd) noexcept override;
  int ioctl(int fd, unsigned long request, void* argument) noexcept override;
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override;
  int munmap(void* address, std::size_t length) noexcept override;
  int access(const char* path, int mode) noexcept override;
  int madvise(void* address, std::size_t length, int advice) noexcept override;
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override;

  /// Makes opening, checking or reading `path` fail from now on; 0 undoes it.
  void fail_path(const std::string& path, int errno_value);
  void set_version_text(std::string text) { version_text_ = std::move(text); }
  void set_module_version(std::string text) { module_version_ = std::move(text); }  ///< result of CHECK_VERSION_STR
  void set_descriptor_limit(std::size_t most) { descriptor_limit_ = most; }
  /// For later device mappings, except the first `after` of them.
  void set_mapping_shows(MappingShows shows, unsigned after = 0) {
    shows_ = shows;
    shows_after_ = after;
  }
  void set_caching(std::uint32_t caching) { caching_ = caching; }  ///< bits 25:23 of RM_MAP_MEMORY's flags
  void set_fb_info_works(bool works) { fb_info_works_ = works; }
  void set_dmabuf(const DmabufModel& model) { dmabuf_ = model; }
  /// Not thread safe: for setup.
  [[nodiscard]] RmState& state() noexcept { return state_; }
  [[nodiscard]] const std::vector<FakeGpu>& gpus() const noexcept { return gpus_; }
  [[nodiscard]] const DriverModel& model() const noexcept { return model_; }
  [[nodiscard]] Violations& violations() noexcept { return violations_; }

  [[nodiscard]] Census census() const;
  /// Mappings of device memory that a forked child would inherit.
  [[nodiscard]] std::size_t vmas_inherited_by_fork() const;
  /// dma-bufs that another program, started by this process, would inherit.
  [[nodiscard]] std::size_t dmabufs_inherited_by_exec() const;
  /// Returns whether one mapping of the process still maps all of these bytes of `memory`.
  [[nodiscard]] bool is_mmapped(const PhysicalMemory& memory, std::uint64_t offset, std::uint64_t size) const;
  /// Returns the number of ioctls with this number.
  [[nodiscard]] unsigned count_of(unsigned command_number) const;

  // For CUDA, which also uses the driver.
  Handle add_cuda_client(int pid);
  void place(Handle client, Handle object, const std::shared_ptr<PhysicalMemory>& memory);
  void remove(Handle client, Handle object);
  int add_dmabuf(std::vector<DmabufPiece> pieces);  ///< returns a descriptor of the process
  int add_exported_file(const std::shared_ptr<PhysicalMemory>& memory);

  static constexpr int process_id = 4242;

 private:
  struct OpenFile {
    enum class Kind { control, device, dmabuf, exported };
    Kind kind = Kind::control;
    FileId id = 0;
    unsigned gpu = 0;
    FileId linked_control = 0;               ///< device: 0 until REGISTER_FD
    std::shared_ptr<RmMapping> mapping;      ///< device: its only mapping
    std::shared_ptr<PhysicalMemory> memory;  ///< exported
    std::vector<DmabufPiece> pieces;         ///< dmabuf
    bool is_closed_by_exec = false;          ///< dmabuf
  };

  int path_failure(const std::string& path) const;
  int add_file(OpenFile file);
  OpenFile* file_of(int fd);
  [[nodiscard]] bool is_reachable(const OpenFile& file, Handle client) const;
  std::vector<unsigned> gpus_open_in_process() const;
  [[nodiscard]] bool has_size(unsigned long request, std::size_t bytes) const;

  int map_shown(void* hint, std::size_t length, int protection, int flags, const std::shared_ptr<RmMapping>& mapping,
                void** mapped);
  int map_dmabuf(const OpenFile& file, std::size_t length, int protection, off_t offset, void** mapped);
  int dispatch(OpenFile& file, unsigned long request, void* argument);
  int card_info(unsigned long request, void* argument);
  int register_fd(OpenFile& file, void* argument);
  int check_version(void* argument);
  int rm_alloc(const OpenFile& file, void* argument, bool is_long);
  int rm_free(const OpenFile& file, void* argument);
  int rm_control(const OpenFile& file, void* argument);
  int rm_dup(const OpenFile& file, void* argument);
  int rm_map(const OpenFile& file, void* argument);
  int rm_unmap(const OpenFile& file, void* argument);

  std::uint32_t control(Handle client, Handle object, std::uint32_t command, void* parameters, std::uint32_t bytes);
  std::uint32_t client_control(Handle client, std::uint32_t command, void* parameters, std::uint32_t bytes);
  std::uint32_t subdevice_control(const RmObject& subdevice, std::uint32_t command, void* parameters,
                                  std::uint32_t bytes);
  std::uint32_t import_objects(Handle client, std::uint32_t command, void* parameters);
  std::uint32_t fb_info(unsigned gpu, void* parameters);
  [[nodiscard]] int gpu_with_id(std::uint32_t gpu_id) const;

  mutable std::recursive_mutex mutex_;
  DriverModel model_;
  std::vector<FakeGpu> gpus_;
  Violations violations_;
  RmState state_;
  ProcessMemory memory_;
  std::map<int, OpenFile> files_;
  std::map<std::string, int> failing_paths_;
  std::map<unsigned, unsigned> counts_;
  std::string version_text_;
  std::string module_version_;
  std::size_t descriptor_limit_ = 1024;
  MappingShows shows_ = MappingShows::memory;
  unsigned shows_after_ = 0;
  std::uint32_t caching_ = 2;
  bool fb_info_works_ = true;
  DmabufModel dmabuf_;
  // Never reused, so that a use after close is detected.
  int next_fd_ = 50;
  FileId next_file_ = 1;
  FileId cuda_file_ = 0;
  std::size_t cuda_objects_ = 0;
};

}  // namespace gdrkit::fakes
