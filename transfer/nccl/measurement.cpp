// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/measurement.hpp"

#include <algorithm>
#include <numeric>

#include "cli/interface/size.hpp"

namespace gdrkit::transfer::nccl {
namespace {

constexpr double giga = 1e9;

std::uint64_t moved(std::uint64_t address, std::size_t elements, const engines::ElementType& type) {
  return address + elements * type.size_bytes;
}

}  // namespace

Measurement::Measurement(const Options& options, const Parties& parties)
    : options_(options),
      collective_(chosen_collective(options)),
      parties_(parties),
      n_ranks_(parties.processes->n_processes() * options.gpus) {
  const std::size_t size_bytes = std::max<std::size_t>(options.largest_bytes, 16);
  for (int local = 0; local < options.gpus; ++local) {
    Buffers buffers;
    buffers.separate_input = parties_.engine->allocate(local, size_bytes);
    buffers.output = parties_.engine->allocate(local, size_bytes);
    buffers_.push_back(buffers);
  }
  parties_.engine->register_buffers();
}

DataPlan Measurement::plan_for(std::size_t size_bytes, const engines::ElementType& type,
                               const engines::Reduction& reduction) {
  const std::size_t part = collective_.part_count(size_bytes, type.size_bytes, n_ranks_);
  // Data of an earlier measurement count as wrong in this one.
  return {&collective_, &type, &reduction, part, n_ranks_, options_.root, ++seed_};
}

std::vector<engines::Call> Measurement::calls_for(const DataPlan& plan, bool is_in_place) const {
  std::vector<engines::Call> calls;
  for (std::size_t local = 0; local < buffers_.size(); ++local) {
    const int rank = (*parties_.gpus)[local].rank();
    engines::Call call{
        &collective_, buffers_[local].separate_input, buffers_[local].output, plan.part, plan.type, plan.reduction,
        plan.root};
    if (is_in_place) {
      call.input = moved(buffers_[local].output, collective_.input_offset(plan.part, rank), *plan.type);
      call.output = moved(buffers_[local].output, collective_.output_offset(plan.part, rank), *plan.type);
    }
    calls.push_back(call);
  }
  return calls;
}

std::size_t Measurement::table_bytes(const DataPlan& plan) const {
  return collective_.table_count(plan.part, n_ranks_) * plan.type->size_bytes;
}

void Measurement::enqueue_once(const std::vector<engines::Call>& calls, std::size_t shift) {
  for (int step = 0; step < collective_.steps(n_ranks_); ++step) {
    if (calls.size() > 1) parties_.engine->begin_group();
    for (std::size_t local = 0; local < calls.size(); ++local) {
      engines::Call call = calls[local];
      call.input += shift;
      call.output += shift;
      call.step = step;
      parties_.engine->enqueue(static_cast<int>(local), call);
    }
    if (calls.size() > 1) parties_.engine->end_group();
  }
}

void Measurement::enqueue(const DataPlan& plan, const std::vector<engines::Call>& calls, int iteration) {
  // Like nccl-tests, operations move through the buffer if the size leaves room.
  const std::size_t size_bytes = table_bytes(plan);
  const std::size_t places = size_bytes == 0 ? 1 : std::max<std::size_t>(options_.largest_bytes / size_bytes, 1);
  const auto first = static_cast<std::size_t>(iteration) * static_cast<std::size_t>(options_.aggregated);
  // Steps in one group would not wait for each other.
  const bool is_grouped = options_.aggregated > 1 && collective_.steps(n_ranks_) == 1;
  if (is_grouped) parties_.engine->begin_group();
  for (int repeat = 0; repeat < options_.aggregated; ++repeat) {
    enqueue_once(calls, size_bytes * ((first + static_cast<std::size_t>(repeat)) % places));
  }
  if (is_grouped) parties_.engine->end_group();
}

double Measurement::time_loop(const DataPlan& plan, const std::vector<engines::Call>& calls) {
  using Clock = std::chrono::steady_clock;
  enqueue(plan, calls, 0);
  parties_.engine->wait();
  parties_.processes->barrier();
  if (!parties_.processes->is_on_one_machine()) {
    // The processes leave this barrier one after the other, which would count; most operations end closer together.
    enqueue(plan, calls, 0);
    parties_.engine->wait();
  }
  const auto begin = Clock::now();
  for (int i = 0; i < options_.iterations; ++i) {
    enqueue(plan, calls, i);
    if (options_.blocking == 0) continue;
    parties_.engine->wait();
    parties_.processes->barrier();
  }
  const auto enqueued = Clock::now();
  parties_.engine->wait();
  const auto end = options_.cpu_time != 0 ? enqueued : Clock::now();
  return std::chrono::duration<double>(end - begin).count() / options_.iterations / options_.aggregated;
}

double Measurement::averaged(double seconds) {
  const std::vector<double> all = parties_.processes->gather(seconds);
  switch (options_.average) {
    case 0: return all.front();
    case 2: return *std::ranges::min_element(all);
    case 3: return *std::ranges::max_element(all);
    default: return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  }
}

std::uint64_t Measurement::check_data(const DataPlan& plan, const std::vector<engines::Call>& calls, bool is_in_place) {
  std::vector<RankGpu>& gpus = *parties_.gpus;
  const std::size_t elements =
      is_in_place ? collective_.table_count(plan.part, n_ranks_) : collective_.receive_count(plan.part, n_ranks_);
  for (std::size_t local = 0; local < gpus.size(); ++local) {
    gpus[local].write_input(plan, calls[local].input, buffers_[local].output, elements * plan.type->size_bytes);
  }
  for (RankGpu& gpu : gpus) gpu.wait();
  parties_.processes->barrier();
  enqueue_once(calls, 0);
  parties_.engine->wait();
  double wrong = 0;
  for (std::size_t local = 0; local < gpus.size(); ++local) {
    wrong += static_cast<double>(gpus[local].count_wrong(plan, calls[local].output));
  }
  const std::vector<double> all = parties_.processes->gather(wrong);
  return static_cast<std::uint64_t>(std::accumulate(all.begin(), all.end(), 0.0));
}

Timing Measurement::measure_one(const DataPlan& plan, bool is_in_place) {
  const std::size_t size_bytes = table_bytes(plan);
  parties_.watchdog->begin(
      cli::format("%s of %s%s", collective_.name, cli::size_text(size_bytes).c_str(), is_in_place ? ", in place" : ""));
  const std::vector<engines::Call> calls = calls_for(plan, is_in_place);
  const double seconds = averaged(time_loop(plan, calls));
  Timing timing;
  timing.time_us = seconds * 1e6;
  timing.algorithm_gbps = static_cast<double>(size_bytes) * collective_.algorithm_share(n_ranks_) / seconds / giga;
  timing.bus_gbps = timing.algorithm_gbps * collective_.bus_share(n_ranks_);
  const bool is_defined = !is_in_place || collective_.is_checked_in_place;
  if (options_.check != 0 && is_defined) timing.wrong = check_data(plan, calls, is_in_place);
  parties_.watchdog->end();
  return timing;
}

void Measurement::warm_up(const engines::ElementType& type, const engines::Reduction& reduction) {
  parties_.watchdog->begin(cli::format("warm-up of %s", collective_.name));
  for (std::size_t size_bytes = options_.smallest_bytes; size_bytes <= options_.largest_bytes;) {
    const DataPlan plan = plan_for(size_bytes, type, reduction);
    const std::vector<engines::Call> calls = calls_for(plan, false);
    for (int i = 0; i < options_.warmup; ++i) enqueue(plan, calls, i);
    parties_.engine->wait();
    if (size_bytes > options_.largest_bytes / 2) break;
    size_bytes = std::max<std::size_t>(2 * size_bytes, 1);
  }
  parties_.watchdog->end();
}

Row Measurement::measure(std::size_t size_bytes, const engines::ElementType& type,
                         const engines::Reduction& reduction) {
  Row row;
  const DataPlan plan = plan_for(size_bytes, type, reduction);
  row.size_bytes = table_bytes(plan);
  row.count = plan.part;
  row.type = type.name;
  row.reduction = reduction.name;
  row.root = collective_.has_root ? options_.root : -1;
  row.out_of_place = measure_one(plan, false);
  if (parties_.engine->runs_in_place(collective_)) {
    row.in_place = measure_one(plan_for(size_bytes, type, reduction), true);
  }
  return row;
}

}  // namespace gdrkit::transfer::nccl
