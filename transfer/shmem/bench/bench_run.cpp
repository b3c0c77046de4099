// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_run.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/interface/device_choice.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "transfer/report/run_report.hpp"
#include "transfer/shmem/bench/bench_report.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr double batch_ns = 2e6;
/// Of one point and library; the largest sizes then have fewer rounds.
constexpr double budget_ns = 1e9;
constexpr std::size_t most_operations = 20000;
constexpr double us = 1000;

bool has_only_collectives(const std::string& library) { return library == "nccl"; }

}  // namespace

BenchRun::BenchRun(const BenchOptions& options) : options_(options) {
  const std::size_t largest = std::max(options.sizes.largest_bytes, options.sizes.largest_bulk_bytes);
  own_ = std::make_unique<WorkerJob>("gdrkit", PeerFiles(), options.n_pes, largest);
  const PeerFiles files = options.peers.empty() ? PeerFiles() : find_peer_files(options.files);
  for (const std::string& library : options.peers) {
    peers_.push_back(std::make_unique<WorkerJob>(library, files, options.n_pes, largest));
  }
  describe(cli::choose_device(cli::find_gpus()));
}

BenchReport BenchRun::run(const std::vector<std::size_t>& case_numbers) {
  steps_ = case_numbers.size() + 1;
  measure_starts();
  for (const std::size_t number : case_numbers) keep(measure_case(number));
  end_all();
  return report_;
}

void BenchRun::end_all() {
  own_->end();
  for (const auto& peer : peers_) with_peer("end", [&] { peer->end(); });
}

void BenchRun::progress(const std::string& text) {
  ++step_;
  if (!options_.is_quiet) std::fprintf(stderr, "[%zu/%zu] measuring %s\n", step_, steps_, text.c_str());
}

void BenchRun::describe(const cli::DeviceChoice& choice) {
  cli::print_note(choice, options_.json.is_on_stdout());
  measure::Result& result = report_.result;
  for (const std::string& library : options_.peers) {
    const std::string& file = library == "nccl" ? options_.files.nccl : options_.files.nvshmem;
    if (!choice.is_emulated || !file.empty()) continue;  // a stand-in runs on the emulated device
    cli::cannot_run("gdrkit shmem bench: --peer " + library + " requires GPUs, but none is available; omit it");
  }
  report::describe_run(&result, "shmem bench", choice.is_emulated, cli::open_device(choice, 0).get());
  result.clock = measure::describe(clock_);
  result.settings = {{"pes", std::to_string(options_.n_pes)},
                     {"rounds", std::to_string(options_.rounds)},
                     {"singles", std::to_string(options_.singles)}};
}

void BenchRun::note(const std::string& text) {
  std::vector<std::string>& notes = report_.result.notes;
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
}

template <class Function>
bool BenchRun::with_peer(const std::string& what, Function function) {
  try {
    function();
    return true;
  } catch (const WorkerFailure& failure) {
    note(what + ": " + failure.what());
    std::fprintf(stderr, "%s\n", cli::printable("NOTE: " + report_.result.notes.back()).c_str());
    return false;
  }
}

void BenchRun::start_peer(const std::string& library, std::vector<double>* start_us) {
  WorkerJob* const peer = job_of(library);
  const bool has_started = with_peer("start of " + library, [&] {
    peer->end();
    start_us->push_back(peer->start() / us);
  });
  if (!has_started) lose_peer(library);
}

void BenchRun::restart_peer(const std::string& library) {
  if (!with_peer("start of " + library, [&] { (void)job_of(library)->start(); })) lose_peer(library);
}

void BenchRun::lose_peer(const std::string& library) {
  std::erase_if(peers_, [&](const auto& one) { return one->library() == library; });
}

WorkerJob* BenchRun::job_of(const std::string& library) const {
  for (const auto& peer : peers_) {
    if (peer->library() == library) return peer.get();
  }
  return nullptr;
}

void BenchRun::keep(CaseResult result) {
  if (!options_.json.is_on_stdout()) {
    std::fputs(table_text(result, report_.peer_names).c_str(), stdout);
    std::fflush(stdout);
  }
  report_.cases.push_back(std::move(result));
}

std::vector<double> BenchRun::own_starts() {
  std::vector<double> times_us;
  for (int number = 0; number < options_.starts; ++number) {
    own_->end();
    times_us.push_back(own_->start() / us);
  }
  return times_us;
}

void BenchRun::measure_starts() {
  progress("start to first put");
  std::vector<double> own;
  std::map<std::string, std::vector<double>> others;
  const std::vector<std::string> libraries = options_.peers;
  for (int number = 0; number < options_.starts; ++number) {
    own_->end();
    own.push_back(own_->start() / us);
    for (const std::string& library : libraries) {
      if (job_of(library) != nullptr) start_peer(library, &others[library]);
    }
  }
  report_.result.settings["devices"] =
      cli::joined(own_->devices(), ",", [](int device) { return std::to_string(device); });
  CaseResult result;
  result.name = "start";
  result.title = "from the start of the processes to the end of the first put";
  result.scope = "host";
  result.own = start_series("gdrkit", options_.n_pes);
  result.own.points.push_back(measure::make_point(0, own, 1));
  for (const auto& peer : peers_) {
    report_.peer_names[peer->library()] = peer->library() + " " + peer->version();
    if (has_only_collectives(peer->library())) continue;
    result.peers.push_back(start_series(peer->library(), options_.n_pes));
    result.peers.back().points.push_back(measure::make_point(0, others[peer->library()], 1));
  }
  keep(std::move(result));
}

CaseResult BenchRun::case_without_points(std::size_t number) const {
  const Case& one = all_cases()[number];
  CaseResult result;
  result.name = one.name;
  result.title = one.title();
  result.scope = one.scope;
  result.quantity = one.quantity();
  result.has_size = one.has_size();
  result.own = case_series(one, "gdrkit", options_.n_pes);
  return result;
}

CaseResult BenchRun::measure_case(std::size_t number) {
  const Case& one = all_cases()[number];
  progress(one.title());
  CaseResult result = case_without_points(number);
  const std::vector<std::size_t> sizes = sizes_of(one, options_.sizes);
  if (sizes.empty()) return result;
  if (const std::string why = own_->why_not(number, sizes.front()); !why.empty()) {
    note("gdrkit: " + why);
    return result;
  }
  add_peers(number, sizes.front(), &result);
  for (const std::size_t size : sizes) measure_point(number, size, &result);
  if (!result.peers.empty()) result.own.control = result.peers.front().id;
  return result;
}

std::vector<measure::Again> BenchRun::measure_again(const std::vector<const measure::ComparedPoint*>& points) {
  if (!options_.is_quiet) std::fprintf(stderr, "measuring %zu points again\n", points.size());
  (void)own_->start();
  const std::vector<std::string> libraries = options_.peers;
  for (const std::string& library : libraries) {
    if (job_of(library) != nullptr) restart_peer(library);
  }
  std::vector<measure::Again> all;
  for (const measure::ComparedPoint* point : points) {
    measure::Again again;
    const std::vector<Case>& cases = all_cases();
    const auto found = std::ranges::find_if(cases, [&](const Case& one) { return one.name == point->series->group; });
    if (point->series->group == "start") {
      again.point = std::make_unique<measure::Point>(measure::make_point(0, own_starts(), 1));
    } else if (found != cases.end()) {
      const auto number = static_cast<std::size_t>(found - cases.begin());
      const auto size_bytes = static_cast<std::size_t>(point->new_observation.point->x);
      CaseResult result = case_without_points(number);
      add_peers(number, size_bytes, &result);
      measure_point(number, size_bytes, &result);
      again.point = std::make_unique<measure::Point>(result.own.points.front());
      if (!result.peers.empty()) again.control = std::make_unique<measure::Point>(result.peers[0].points.front());
    }
    all.push_back(std::move(again));
  }
  end_all();
  return all;
}

void BenchRun::add_peers(std::size_t number, std::size_t size_bytes, CaseResult* result) {
  const Case& one = all_cases()[number];
  for (const std::string& library : options_.peers) {
    WorkerJob* const peer = job_of(library);
    if (peer == nullptr || (has_only_collectives(library) && !one.is_collective())) continue;
    std::string why;
    const bool can_run = with_peer(one.title(), [&] {
      if (library == "nvshmem") peer->set_scratch(nvshmem_scratch_bytes(one, options_.sizes));
      why = peer->why_not(number, size_bytes);
    });
    if (!can_run) {
      restart_peer(library);
    } else if (why.empty()) {
      result->peers.push_back(case_series(one, library, options_.n_pes));
    } else {
      note(library + ": " + why);
    }
  }
}

void BenchRun::measure_point(std::size_t number, std::size_t size_bytes, CaseResult* result) {
  for (;;) {
    std::vector<WorkerJob*> jobs = {own_.get()};
    for (const measure::Series& peer : result->peers) jobs.push_back(job_of(peer.method));
    std::string failed;
    const auto measure = [&] {
      try {
        measure_point_of(jobs, number, size_bytes, result);
      } catch (const WorkerFailure& failure) {
        failed = failure.library();
        throw;
      }
    };
    if (jobs.size() == 1) return measure();
    if (with_peer(all_cases()[number].title(), measure)) return;
    // Should a peer end here, the point is measured again without it.
    const auto is_failed = [&](const measure::Series& peer) { return peer.method == failed; };
    if (std::erase_if(result->peers, is_failed) == 0) result->peers.clear();
    if (job_of(failed) != nullptr) restart_peer(failed);
  }
}

measure::RoundsRequest BenchRun::rounds_request(std::size_t libraries) const {
  measure::RoundsRequest request;
  request.rounds = options_.rounds;
  request.batch_ns = options_.iterations == 0 ? batch_ns : 1e15;
  request.most_operations = options_.iterations == 0 ? most_operations : static_cast<std::size_t>(options_.iterations);
  request.budget_ns = budget_ns * static_cast<double>(libraries);
  return request;
}

void BenchRun::measure_point_of(const std::vector<WorkerJob*>& jobs, std::size_t number, std::size_t size_bytes,
                                CaseResult* result) const {
  const Case& one = all_cases()[number];
  std::vector<measure::Contender> contenders;
  for (WorkerJob* job : jobs) {
    measure::Contender made;
    made.name = job->library();
    made.run_batch = [=](std::size_t count) { return job->run_batch(number, size_bytes, count); };
    contenders.push_back(std::move(made));
    if (options_.warmup != 0) (void)job->run_batch(number, size_bytes, static_cast<std::size_t>(options_.warmup));
  }
  const auto measured = measure::measure_rounds(contenders, rounds_request(jobs.size()), clock_);
  std::vector<measure::Single> singles;
  for (WorkerJob* job : jobs) singles.push_back(run_singles(job, number, size_bytes));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    (i == 0 ? result->own : result->peers[i - 1])
        .points.push_back(case_point(one, size_bytes, measured[i], singles[i]));
  }
}

/// Of latencies that the CPU sees alone; of large ones fewer.
measure::Single BenchRun::run_singles(WorkerJob* job, std::size_t number, std::size_t size_bytes) const {
  constexpr std::size_t largest_timed_bytes = 65536;
  if (options_.singles == 0 || size_bytes > largest_timed_bytes || all_cases()[number].device) return {};
  return job->run_singles(number, size_bytes, static_cast<std::size_t>(options_.singles));
}

}  // namespace gdrkit::transfer::shmem
