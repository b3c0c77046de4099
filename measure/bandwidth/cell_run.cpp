// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/cell_run.hpp"

#include <algorithm>
#include <cmath>

#include "cli/interface/demand.hpp"
#include "platform/gpu_code/chase_params.hpp"
#include "platform/gpu_code/copy_params.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

constexpr unsigned threads_per_block = 512;
/// 1024 threads with 64 bytes in flight each: more than any bus holds, and few enough registers that all blocks run at
/// once on every GPU.
constexpr unsigned blocks_per_multiprocessor = 2;

double gb_per_s(double bytes, double milliseconds) { return bytes / milliseconds / 1e6; }

std::string place_name(int place) { return place == host ? "the host" : cli::format("GPU %d", place); }

}  // namespace

struct CellRun::Job {
  JobPlan plan;
  Mover mover = Mover::copy_engine;
  std::size_t size_bytes = 0;
  std::size_t source = 0;  // in the pool
  std::size_t target = 0;
  unsigned blocks = 1;
  platform::Stream stream;
  platform::Event begin;
  platform::Event end;
};

/// The cell's streams and events. Destroyed last: work in a stream must end first, so the gate opens before.
class CellRun::Jobs {
 public:
  Jobs(Gpus* gpus, Gate* gate) : gpus_(*gpus), gate_(*gate) {}
  ~Jobs() {
    gate_.open();
    for (const Job& job : all) {
      platform::Device& device = *gpus_[job.plan.runner].device;
      // Continues after failures: a copy that is still running would use buffers that the next cell fills or frees.
      (void)device.make_current();
      if (job.stream.handle == 0) continue;  // its creation failed
      (void)device.synchronize(job.stream);
      (void)device.destroy_event(job.begin);
      (void)device.destroy_event(job.end);
      (void)device.destroy_stream(job.stream);
    }
    if (!has_total_end_) return;
    (void)gpus_[all.front().plan.runner].device->make_current();
    (void)gpus_[all.front().plan.runner].device->destroy_event(total_end_);
  }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  void add(const Job& job) {
    platform::Device& device = gpus_.current(job.plan.runner);
    all.push_back(job);  // first, so that the destructor releases it if a step fails
    all.back().stream = cli::demand(device.create_stream());
    all.back().begin = cli::demand(device.create_event());
    all.back().end = cli::demand(device.create_event());
  }
  /// Records an end event for all jobs together, on the first one's GPU.
  void add_total_end() {
    total_end_ = cli::demand(gpus_.current(all.front().plan.runner).create_event());
    has_total_end_ = true;
  }
  [[nodiscard]] platform::Event total_end() const { return total_end_; }

  std::vector<Job> all;

 private:
  Gpus& gpus_;
  Gate& gate_;
  bool has_total_end_ = false;
  platform::Event total_end_;
};

void CellRun::prepare(const TestCase& test, const CellPlan& cell, Jobs* jobs) {
  for (const JobPlan& plan : cell.jobs) {
    Job job;
    job.plan = plan;
    job.mover = test.mover;
    job.size_bytes = static_cast<std::size_t>(static_cast<double>(options_.buffer_bytes) * plan.size_share);
    job.source = pool_.take(plan.source, plan.runner, job.size_bytes);
    job.target = pool_.take(plan.target, plan.runner, job.size_bytes);
    const int multiprocessors =
        cli::demand(gpus_.current(plan.runner).attribute(platform::DeviceAttribute::multiprocessor_count));
    job.blocks = std::max(1u, static_cast<unsigned>(multiprocessors * plan.gpu_share * blocks_per_multiprocessor));
    jobs->add(job);
    if (!options_.is_verified) continue;
    pattern_.fill(&pool_[job.source], job.source + 1);  // the numbers of the pool are distinct seeds for the buffers
    pattern_.clear(&pool_[job.target]);
  }
}

void CellRun::enqueue(const Job& job, int loops) {
  platform::Device& device = gpus_.current(job.plan.runner);
  const std::uint64_t source = pool_[job.source].allocation.address();
  const std::uint64_t target = pool_[job.target].allocation.address();
  if (job.mover == Mover::gpu_kernel) {
    platform::CopyParameters parameters{};
    const auto address = [&](int place, std::uint64_t address_of_allocation) {
      return place == host ? cli::demand(device.device_address(reinterpret_cast<void*>(address_of_allocation)))
                           : address_of_allocation;
    };
    parameters.source = address(job.plan.source, source);
    parameters.target = address(job.plan.target, target);
    parameters.size_bytes = job.size_bytes;
    parameters.loops = static_cast<std::uint32_t>(loops);
    cli::demand(gpus_.kernels(job.plan.runner).launch(parameters, {job.blocks, threads_per_block}, job.stream));
    return;
  }
  for (int loop = 0; loop < loops; ++loop) {
    if (job.plan.source == host) {
      cli::demand(device.copy_to_device_async(target, reinterpret_cast<void*>(source), job.size_bytes, job.stream));
    } else if (job.plan.target == host) {
      cli::demand(device.copy_to_host_async(reinterpret_cast<void*>(target), source, job.size_bytes, job.stream));
    } else {
      cli::demand(device.copy_device_to_device_async(target, source, job.size_bytes, job.stream));
    }
  }
}

std::vector<double> CellRun::sample(const CellPlan& cell, Jobs* jobs) {
  const Job& first = jobs->all.front();
  gate_.reset();
  for (const Job& job : jobs->all) {
    gate_.hold(job.plan.runner, job.stream);
    enqueue(job, warm_up_copies);
  }
  for (const Job& job : jobs->all) {
    platform::Device& device = gpus_.current(job.plan.runner);
    // All jobs begin when the first one does.
    if (&job != &first) cli::demand(device.wait(job.stream, first.begin));
    cli::demand(device.record(job.begin, job.stream));
  }
  for (const Job& job : jobs->all) {
    enqueue(job, options_.loops);
    cli::demand(gpus_.current(job.plan.runner).record(job.end, job.stream));
  }
  if (cell.count == Count::total) {
    platform::Device& device = gpus_.current(first.plan.runner);
    for (const Job& job : jobs->all) {
      if (&job != &first) cli::demand(device.wait(first.stream, job.end));
    }
    cli::demand(device.record(jobs->total_end(), first.stream));
  }
  gate_.open();
  for (const Job& job : jobs->all) cli::demand(gpus_.current(job.plan.runner).synchronize(job.stream));
  gate_.check();

  const auto rate = [&](const Job& job) {
    const double milliseconds = cli::demand(gpus_.current(job.plan.runner).elapsed_ms(job.begin, job.end));
    return gb_per_s(static_cast<double>(job.size_bytes) * options_.loops, milliseconds);
  };
  if (cell.count == Count::first) return {rate(first)};
  if (cell.count == Count::each) {
    const double one = rate(first);
    const double other = rate(jobs->all.back());
    return {one, other, one + other};
  }
  double bytes = 0;
  for (const Job& job : jobs->all) bytes += static_cast<double>(job.size_bytes) * options_.loops;
  return {gb_per_s(bytes, cli::demand(gpus_.current(first.plan.runner).elapsed_ms(first.begin, jobs->total_end())))};
}

void CellRun::verify(Jobs* jobs) {
  for (const Job& job : jobs->all) {
    const auto wrong = pattern_.first_wrong(pool_[job.target], job.source + 1, job.size_bytes);
    if (!wrong.has_value()) continue;
    cli::fail(cli::format("the copy from %s to %s wrote wrong data at offset %zu of %zu bytes",
                          place_name(job.plan.source).c_str(), place_name(job.plan.target).c_str(), *wrong,
                          job.size_bytes));
  }
}

CellValues CellRun::run(const TestCase& test, const CellPlan& cell) {
  pool_.release_all();
  (void)gpus_.settle_near(cell.jobs.front().runner);
  if (test.is_latency()) return run_latency(cell);
  CellValues values{cell.row, cell.column, {}};
  Jobs jobs(&gpus_, &gate_);
  prepare(test, cell, &jobs);
  if (cell.count == Count::total) jobs.add_total_end();
  for (int number = 0; number < options_.samples; ++number) {
    const std::vector<double> sampled = sample(cell, &jobs);
    values.samples.resize(sampled.size());
    for (std::size_t index = 0; index < sampled.size(); ++index) values.samples[index].push_back(sampled[index]);
  }
  if (options_.is_verified) verify(&jobs);
  return values;
}

CellValues CellRun::run_latency(const CellPlan& cell) {
  const JobPlan& plan = cell.jobs.front();
  Buffer& data = pool_[pool_.take(plan.source, plan.runner, latency_buffer_bytes)];
  Buffer& state = pool_[pool_.take(plan.runner, plan.runner, sizeof(platform::ChaseState))];
  data.seed = 0;
  std::uint64_t start = data.allocation.address();
  if (plan.source == host) start = cli::demand(gpus_.current(plan.runner).device_address(data.host_bytes()));
  // The first word of each line is the address of the next line; the last line points to the first.
  std::vector<std::uint64_t> words(latency_buffer_bytes / sizeof(std::uint64_t));
  for (std::size_t offset = 0; offset < latency_buffer_bytes; offset += latency_stride_bytes) {
    words[offset / sizeof(std::uint64_t)] = start + (offset + latency_stride_bytes) % latency_buffer_bytes;
  }
  if (plan.source == host) {
    std::ranges::copy(words, reinterpret_cast<std::uint64_t*>(data.host_bytes()));
  } else {
    cli::demand(gpus_.current(plan.source).copy_to_device(start, words.data(), latency_buffer_bytes));
  }
  CellValues values{cell.row, cell.column, {{}}};
  platform::Device& device = gpus_.current(plan.runner);
  platform::ChaseParameters parameters{start, options_.chase_steps, state.allocation.address()};
  const std::uint64_t lines = latency_buffer_bytes / latency_stride_bytes;
  const std::uint64_t last = start + options_.chase_steps % lines * latency_stride_bytes;
  for (int number = -1; number < options_.samples; ++number) {  // -1: warms up
    platform::ChaseState found{};
    cli::demand(device.copy_to_device(parameters.state, &found, sizeof(found)));
    cli::demand(gpus_.kernels(plan.runner).launch(parameters, {1, 1}, {}));
    cli::demand(device.synchronize(platform::Stream{}));
    cli::demand(device.copy_to_host(&found, parameters.state, sizeof(found)));
    if (found.last != last) cli::fail("the measurement is invalid: the GPU kernel read a wrong pointer");
    if (number >= 0) {
      values.samples[0].push_back(static_cast<double>(found.elapsed_ns) / static_cast<double>(options_.chase_steps));
    }
  }
  return values;
}

}  // namespace gdrkit::measure::bandwidth
