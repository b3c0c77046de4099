// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Session: one run of the benchmark: the device, the clock, the place, and the cells that were measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/interface/device_choice.hpp"
#include "measure/baseline/raw_loops.hpp"
#include "measure/bench/options.hpp"
#include "measure/bench/output/progress.hpp"
#include "measure/bench/section.hpp"
#include "measure/compare/retrial.hpp"
#include "measure/harness/clock.hpp"
#include "measure/result/result.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::measure::bench {

class Session {
 public:
  /// Opens the device and prints the note on an emulated one. Throws Failure. `options` must outlive the session.
  explicit Session(const BenchOptions& options);

  /// Measures all chosen sections, and shares the rounds with other processes. Cells that cannot be measured are left
  /// out with a note; failures make the result not ok. Throws Failure(failed) if no cell at all could be measured.
  void measure_all();
  /// Measures the cells of these points again in another process. Returns no point if the cell is unknown or failed
  /// now.
  [[nodiscard]] std::vector<measure::Again> measure_again(const std::vector<const measure::ComparedPoint*>& points);

  void end_progress() { progress_.end(); }

  /// Before measuring: only the head.
  [[nodiscard]] Result result() const;

  // For the sections:
  [[nodiscard]] const BenchOptions& options() const noexcept { return options_; }
  [[nodiscard]] platform::Device* device() const noexcept { return device_.get(); }
  [[nodiscard]] bool is_emulated() const noexcept { return choice_.is_emulated; }
  [[nodiscard]] const cli::DeviceChoice& choice() const noexcept { return choice_; }
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] bool has_raw() const noexcept { return has_raw_; }
  [[nodiscard]] measure::RawKind raw_kind() const noexcept { return raw_kind_; }
  /// CPUs that this process could use before it was bound; the chosen one is first.
  [[nodiscard]] const std::vector<int>& cpus() const noexcept { return cpus_; }
  void note(const std::string& sentence) { collected_.note(sentence); }
  void set_mapping_type(const std::string& name) { mapping_type_ = name; }
  /// The sizes of --sizes if given, otherwise `sizes`.
  [[nodiscard]] std::vector<std::size_t> sizes_or(std::vector<std::size_t> sizes) const;

 private:
  struct Source {
    std::string series_id;
    double x = 0;
    std::size_t cell = 0;
  };
  void measure_section(const Section& section);
  void measure_in_other_processes();
  [[nodiscard]] Effort effort() const;
  /// The label of the cell of a point; "": none.
  [[nodiscard]] std::string label_of(const std::string& series_id, double x) const;
  void measure_cell(std::size_t number);

  const BenchOptions& options_;
  cli::DeviceChoice choice_;
  std::unique_ptr<platform::Device> device_;
  platform::Placement placement_;
  platform::Placed placed_;
  std::vector<int> cpus_;
  Clock clock_;
  MachineNoise noise_;
  Progress progress_;
  bool has_raw_ = false;
  measure::RawKind raw_kind_{};
  std::string mapping_type_;
  std::vector<Cell> cells_;
  std::vector<Source> sources_;
  Collector collected_;
  bool is_ok_ = true;
};

}  // namespace gdrkit::measure::bench
