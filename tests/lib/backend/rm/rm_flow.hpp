// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmFlow: open, pin, map, unmap, unpin, close on one kind of memory, for tests that disturb it on the way.
#pragma once

#include <ostream>

#include "fakes/allocation_faults.hpp"
#include "lib/backend/rm/rm_machine.hpp"

namespace gdrkit::backend::rm {

/// Sets up the scene on a machine and returns the range to pin. Together the flows cover every call of the backend.
struct RmFlow {
  const char* name;
  void (*prepare)(RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes);
};
inline std::ostream& operator<<(std::ostream& out, const RmFlow& flow) { return out << flow.name; }

inline const RmFlow rm_flows[] = {
    {"ObservedExport",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       *size_bytes = 300000;
       *address = machine.cuda.malloc(*size_bytes);
       machine.cuda.fill_pattern(*address, *size_bytes);
     }},
    {"PlainContentThatNeedsCalibration",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       *size_bytes = 100000;
       *address = machine.cuda.malloc(*size_bytes);
     }},
    {"ThreeHandlesByExportedFiles",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       *size_bytes = 192 * kib;
       *address = machine.cuda.vmm({64 * kib, 64 * kib, 64 * kib}, true, 2 * mib);
       machine.cuda.fill_pattern(*address, *size_bytes);
       machine.cuda.is_hook_installable = false;
     }},
    {"InsideAPoolsBlock",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       (void)machine.cuda.pool_malloc(3 * mib);
       *size_bytes = 64 * kib;
       *address = machine.cuda.pool_malloc(*size_bytes);
       machine.cuda.fill_pattern(*address, *size_bytes);
     }},
    {"UnderASubdevice",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       machine.cuda.is_memory_under_subdevice = true;
       *size_bytes = 128 * kib;
       *address = machine.cuda.malloc(*size_bytes);
       machine.cuda.fill_pattern(*address, *size_bytes);
     }},
    {"IpcHandle",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       *size_bytes = 100000;
       *address = machine.cuda.malloc(*size_bytes);
       machine.cuda.fill_pattern(*address, *size_bytes);
       machine.cuda.is_hook_installable = false;
       machine.settings.allow_ipc_handle = true;
     }},
    {"NoContextOnThisThread",
     [](RmMachine& machine, std::uint64_t* address, std::size_t* size_bytes) {
       *size_bytes = 128 * kib;
       *address = machine.cuda.vmm({128 * kib}, false);
       machine.cuda.fill_pattern(*address, *size_bytes);
       (void)machine.cuda.threads().pop();
       machine.cuda.threads().push(machine.cuda.make_context(0));
     }},
};

struct FlowEnd {
  const char* failed_step = nullptr;  ///< nullptr: all went well
  base::Error error;
  bool shows_the_memory = false;  ///< while it was mapped
};

/// Runs to its end in spite of failures. Allocates nothing after `open` unless the library does.
inline FlowEnd run_flow(driver::System& system, const driver::CudaCalls& cuda, const base::Settings& settings,
                        std::uint64_t address, std::size_t size_bytes, const std::vector<std::uint8_t>& expected) {
  FlowEnd end;
  const auto note = [&end](const char* step, const base::Error& error) {
    if (end.failed_step != nullptr) return;
    end.failed_step = step;
    end.error = error;
  };
  auto backend = open_rm_on(system, cuda, settings);
  if (!backend) {
    note("open", backend.error());
    return end;
  }
  auto pin = (*backend)->pin({address, size_bytes, false, true});
  if (!pin) {
    note("pin", pin.error());
    return end;
  }
  auto mapped = (*pin)->map((*pin)->page_bytes(), MappingType::none);
  if (!mapped) {
    note("map", mapped.error());
    return end;
  }
  end.shows_the_memory = std::memcmp(own_byte(**pin, *mapped, address), expected.data(), size_bytes) == 0;
  if (auto unmapped = (*pin)->unmap(); !unmapped) note("unmap", unmapped.error());
  if (auto unpinned = (*pin)->unpin(); !unpinned) note("unpin", unpinned.error());
  return end;
}

}  // namespace gdrkit::backend::rm
