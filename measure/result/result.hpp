// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Result: the measurements of one run, in one schema for all tools; docs/result-schema.md explains each field.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/document_head.hpp"
#include "measure/harness/clock.hpp"
#include "measure/harness/rounds.hpp"

namespace gdrkit::measure {

/// Statistics of operations that were timed one by one, in the series' unit, including the clock's overhead.
struct Single {
  std::size_t count = 0;
  double minimum = 0;
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double maximum = 0;
};

struct Point {
  double x = 0;
  std::optional<double> y;  ///< the second index of a matrix
  double value = 0;         ///< median of `rounds`
  double noise = 0;         ///< relative standard error of `value`
  double minimum = 0;       ///< of `rounds`
  std::size_t operations_per_round = 0;
  std::vector<double> rounds;  ///< one value per round, in the series' unit
  std::optional<Single> single;
};

struct Series {
  std::string id;     ///< unique in a document and the same in every run with the same options: comparisons match by it
  std::string group;  ///< series of one group belong in one chart
  std::string title;  ///< human-readable
  std::string operation;                          ///< "copy", "pin", "map", "ping_pong", ...
  std::string direction;                          ///< "to_device", "from_device", "device_to_device" or ""
  std::string method;                             ///< "mapping", "raw", "memcpy_pageable", ...
  std::map<std::string, std::string> conditions;  ///< differences from a plain run: "threads": "4", "gpu": "busy"
  std::string x_name;                             ///< "size_bytes", "threads", "source_gpu"
  std::string y_name;                             ///< "" unless the points have y
  std::string unit;                               ///< "ns", "us", "GB/s", "MiB/s"
  bool is_lower_better = true;
  std::string
      control;  ///< id of the series measured in the same rounds, which machine noise affects equally; "" if none
  std::vector<Point> points;
};

struct ClockDescription {
  std::string name;
  std::string why;
  double ns_per_tick = 0;
  double overhead_ns = 0;
};

struct Result : cli::DocumentHead {
  std::optional<ClockDescription> clock;
  std::optional<MachineNoise> noise;
  std::map<std::string, std::string> settings;  ///< copy kernels, mapping type, allocation, options that matter
  std::vector<std::string> notes;               ///< sentences for the reader: omissions and their reasons
  std::vector<Series> series;
  bool is_ok = true;
};

[[nodiscard]] ClockDescription describe(const Clock& clock);
[[nodiscard]] Single single_of(const std::vector<double>& values);
/// A point of a series in `unit_ns` nanoseconds ("us": 1000).
[[nodiscard]] Point make_point(double x, const Measured& measured, double unit_ns);
/// A point from one value per round.
[[nodiscard]] Point make_point(double x, std::vector<double> rounds, std::size_t operations_per_round);
/// Two measurements of one point as one: the rounds of both, and the single operations of the first.
[[nodiscard]] Point merged(const Point& first, const Point& second);
[[nodiscard]] const Series* find_series(const Result& result, const std::string& id);
[[nodiscard]] const Point* find_point(const Series& series, double x, std::optional<double> y = std::nullopt);

}  // namespace gdrkit::measure
