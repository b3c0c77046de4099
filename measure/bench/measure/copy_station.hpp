// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyStation: buffers of one size on both sides, and all methods of copying between them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/interface/size.hpp"
#include "measure/bench/measure/copy_method.hpp"
#include "measure/harness/host_buffer.hpp"

namespace gdrkit::measure::bench {

class CopyStation {
 public:
  /// Allocates, pins and maps; throws CannotMeasure if that fails. Small sizes get all the lines through which their
  /// loads rotate. `device` may be another than the session's; it must be current on the calling thread.
  CopyStation(Session* session, platform::Device* device, std::size_t size_bytes);
  ~CopyStation();
  CopyStation(const CopyStation&) = delete;
  CopyStation& operator=(const CopyStation&) = delete;

  [[nodiscard]] bool has(const CopyMethod& method) const;
  /// Returns the contender of a copy method. It throws Failure if a copy fails, and must not outlive the station.
  [[nodiscard]] Contender contender(const CopyMethod& method, Direction direction);
  /// Runs one copy of the method and compares the result: all of it up to 16 MiB, otherwise three stretches. Not timed.
  /// Throws Failure.
  void verify(const CopyMethod& method, Direction direction, const Contender& contender);

  [[nodiscard]] const MappedBuffer& buffer() const { return *buffer_; }

 private:
  void verify_to_device(const CopyMethod& method, const Contender& contender);
  void verify_from_device(const CopyMethod& method, const Contender& contender);
  [[nodiscard]] std::uint8_t* host_of(const CopyMethod& method) const;

  Session* session_;
  platform::Device* device_;
  std::size_t size_bytes_;
  std::unique_ptr<AlignedAllocation> memory_;
  std::unique_ptr<HostBuffer> pageable_;
  platform::Allocation pinned_;
  platform::Stream stream_;
  std::unique_ptr<MappedBuffer> buffer_;
};

/// Maximum nanoseconds of one copy, by the slowest method (loads through BAR1, 1 GB/s); used to choose the effort.
[[nodiscard]] inline double slow_copy_ns(std::size_t size_bytes) { return 2000.0 + static_cast<double>(size_bytes); }

/// Work that disturbs the measured copies during the object's lifetime. The constructor throws CannotMeasure.
class Disturbance {
 public:
  virtual ~Disturbance() = default;
  /// Returns a sentence if the work did not run all the time, otherwise "".
  [[nodiscard]] virtual std::string complaint() const { return ""; }
};

/// Copies under certain conditions as cells, one per direction and size.
struct CopyScene {
  std::string section;    ///< prefix of the series' ids
  std::string title_end;  ///< ", with a busy bus"
  std::map<std::string, std::string> conditions;
  std::vector<const CopyMethod*> methods;
  std::function<std::unique_ptr<Disturbance>()> disturb;  ///< empty: no disturbance
};

/// The cells of a section with a disturbance: a few sizes, both directions, the mapping, the raw loop and the driver's
/// asynchronous copy. Sets the scene's methods.
[[nodiscard]] std::vector<Cell> busy_cells(Session* session, CopyScene scene);

[[nodiscard]] Cell copy_cell(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes);

}  // namespace gdrkit::measure::bench
