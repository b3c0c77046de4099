// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmState: the resource manager's clients, objects and mappings, and its rules. Every call returns
// the status word. Not thread safe: FakeRm holds its lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fakes/bar1_heap.hpp"
#include "fakes/driver_model.hpp"
#include "fakes/fake_gpu.hpp"
#include "fakes/physical_memory.hpp"
#include "fakes/violations.hpp"

namespace gdrkit::fakes {

using Handle = std::uint32_t;
using FileId = std::uint64_t;  ///< an open file description

/// One RM_MAP_MEMORY. A device file keeps it for its lifetime, mapped or not; `vmas` counts the addresses in the
/// process at which it is mapped.
struct RmMapping {
  Handle client = 0;
  Handle memory_handle = 0;
  unsigned gpu = 0;
  std::uint64_t linear_address = 0;
  std::uint64_t first = 0;   ///< of the memory, rounded out to host pages
  std::uint64_t length = 0;  ///< the only length that mmap accepts
  std::shared_ptr<PhysicalMemory> memory;
  std::vector<Bar1Heap::Piece> bar1;
  int vmas = 0;
  bool is_live = true;
};

struct RmObject {
  Handle parent = 0;
  std::uint32_t object_class = 0;
  unsigned gpu = 0;
  std::shared_ptr<PhysicalMemory> memory;
};

class RmState {
 public:
  RmState(const DriverModel& model, const std::vector<FakeGpu>& gpus, Violations& violations);

  /// A client belongs to the control file that created it, and ends with it.
  Handle add_client(FileId control_file, int pid);
  void close_control_file(FileId control_file);
  [[nodiscard]] bool is_reachable(Handle client, FileId control_file) const;

  /// `new_handle` 0: chosen here. `parameters` may be null.
  std::uint32_t allocate(Handle client, Handle parent, std::uint32_t object_class, const void* parameters,
                         const std::vector<unsigned>& gpus_open_in_process, Handle* new_handle);
  std::uint32_t free(Handle client, Handle object);
  std::uint32_t duplicate(Handle client, Handle parent, Handle source_client, Handle source, Handle* new_handle);
  /// Duplicates an exported file, without a permission check.
  std::uint32_t import(Handle client, Handle parent, const std::shared_ptr<PhysicalMemory>& memory, Handle* new_handle);
  std::uint32_t map(Handle client, Handle device, Handle memory, std::uint64_t offset, std::uint64_t length,
                    unsigned file_gpu, std::shared_ptr<RmMapping>* mapping);
  std::uint32_t unmap(Handle client, Handle device, Handle memory, std::uint64_t linear_address);

  [[nodiscard]] const RmObject* find(Handle client, Handle object) const;  ///< nullptr: no such client or object
  [[nodiscard]] Bar1Heap& bar1(unsigned gpu) { return bar1_[gpu]; }
  /// Adds CUDA's memory to CUDA's own client, as cuMemAlloc does.
  void place(Handle client, Handle object, const std::shared_ptr<PhysicalMemory>& memory);

  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }
  [[nodiscard]] std::size_t objects() const noexcept;  ///< of all clients, not counting the clients themselves
  [[nodiscard]] std::size_t mappings() const noexcept { return mappings_.size(); }

  bool table_is_full = false;  ///< RM_MAP_MEMORY returns INSUFFICIENT_RESOURCES

 private:
  struct Client {
    FileId control_file = 0;
    int pid = 0;
    std::map<Handle, RmObject> objects;
  };
  std::uint32_t add(Handle client, const RmObject& object, Handle* new_handle);
  std::uint32_t add_memory(Handle client, Handle parent, const std::shared_ptr<PhysicalMemory>& memory,
                           Handle* new_handle);
  /// Ends a mapping, which the caller removes from the list. `by`: the call that does it.
  void end(RmMapping& mapping, const std::string& by);
  void free_tree(Handle client_handle, Client& client, Handle object);

  DriverModel model_;
  const std::vector<FakeGpu>& gpus_;
  Violations& violations_;
  std::map<Handle, Client> clients_;
  std::vector<std::shared_ptr<RmMapping>> mappings_;
  std::vector<Bar1Heap> bar1_;
  Handle next_client_ = 0xc1d0001d;
  Handle next_object_ = 0xcaf00001;
};

}  // namespace gdrkit::fakes
