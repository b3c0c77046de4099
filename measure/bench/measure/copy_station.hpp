// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyStation: buffers of one size on both sides, and every way to copy between them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/interface/size.hpp"
#include "measure/bench/measure/copy_method.hpp"
#include "measure/harness/host_buffer.hpp"

namespace gdrkit::measure::bench {

class CopyStation {
 public:
  /// Allocates, pins and maps. Throws CannotMeasure where that is not to be had. Small sizes get all the lines that
  /// their loads go round in. `device` may be another than the session's; it must be current on the calling thread.
  CopyStation(Session* session, platform::Device* device, std::size_t size_bytes);
  ~CopyStation();
  CopyStation(const CopyStation&) = delete;
  CopyStation& operator=(const CopyStation&) = delete;

  [[nodiscard]] bool has(const CopyMethod& method) const;
  /// Returns a copy method, which lives as long as the station. It throws Failure if a copy fails.
  [[nodiscard]] Contender contender(const CopyMethod& method, Direction direction);
  /// Has `contender` copy once and compares what arrived, all of it up to 16 MiB, else three stretches. Not timed.
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

/// Nanoseconds that one copy may take on the slowest way there is (loads through BAR1, 1 GB/s): to fit efforts.
[[nodiscard]] inline double slow_copy_ns(std::size_t size_bytes) { return 2000.0 + static_cast<double>(size_bytes); }

}  // namespace gdrkit::measure::bench
