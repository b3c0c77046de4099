// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives called inside GPU kernels, by a thread, a warp and a block of each PE.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "collective_side.hpp"
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "platform/gpu_code/team_params.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using platform::LaunchShape;
using platform::ShmemScope;
using platform::TeamParameters;
using platform::TeamResult;
using tests::CollectiveSide;
using tests::little_scratch;
using tests::run_shmem_job;
using tests::succeeded;
using DeviceOperation = platform::CollectiveOperation;

constexpr std::pair<ShmemScope, LaunchShape> call_scopes[] = {
    {ShmemScope::thread, {1, 1}}, {ShmemScope::warp, {1, 32}}, {ShmemScope::block, {1, 256}}};
constexpr DeviceOperation device_operations[] = {
    DeviceOperation::sync,     DeviceOperation::barrier, DeviceOperation::broadcast,    DeviceOperation::fcollect,
    DeviceOperation::alltoall, DeviceOperation::reduce,  DeviceOperation::reducescatter};

float number_of(int pe, std::size_t index) {
  return static_cast<float>((index * 7 + static_cast<std::size_t>(pe) * 3) % 100);
}

/// What element `index` of the target of PE `pe` of the team becomes; each part has `count`.
float expected_number(DeviceOperation operation, int pe, int n_pes, int root, std::size_t count, std::size_t index) {
  const auto own = static_cast<std::size_t>(pe);
  const auto sum_at = [&](std::size_t at) {
    float sum = 0;
    for (int from = 0; from < n_pes; ++from) sum += number_of(from, at);
    return sum;
  };
  switch (operation) {
    case DeviceOperation::broadcast: return number_of(root, index);
    case DeviceOperation::fcollect: return number_of(static_cast<int>(index / count), index % count);
    case DeviceOperation::alltoall: return number_of(static_cast<int>(index / count), own * count + index % count);
    case DeviceOperation::reduce: return sum_at(index);
    default: return sum_at(own * count + index);
  }
}

void run_device_call(core::Pe& pe, CollectiveSide& side, TeamParameters parameters, LaunchShape shape) {
  const std::size_t count = parameters.size_bytes / sizeof(float);
  const int n_pes = pe.n_pes(), own = *pe.collectives().my_pe(parameters.team);
  const auto parts = static_cast<std::size_t>(n_pes);
  std::vector<float> mine(parts * count);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = number_of(own, i);
  side.write(side.source, mine.data(), mine.size() * sizeof(float));
  side.write(side.target, std::vector<std::uint8_t>(side.room_bytes, 0));
  const platform::DeviceScope scope(pe.device());
  ASSERT_TRUE(succeeded(pe.connections().gpu_kernels().launch(parameters, shape, side.stream())));
  ASSERT_TRUE(succeeded(pe.device().synchronize(side.stream())));
  TeamResult result{};
  ASSERT_TRUE(succeeded(pe.device().copy_to_host(&result, parameters.result, sizeof result)));
  ASSERT_EQ(result.has_failed, 0U);
  if (parameters.operation <= DeviceOperation::barrier) return;
  const bool has_parts =
      parameters.operation == DeviceOperation::fcollect || parameters.operation == DeviceOperation::alltoall;
  std::vector<float> expected(has_parts ? parts * count : count);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = expected_number(parameters.operation, own, n_pes, static_cast<int>(parameters.root), count, i);
  }
  const auto bytes = side.read(side.target, expected.size() * sizeof(float));
  std::vector<float> seen(expected.size());
  std::memcpy(seen.data(), bytes.data(), bytes.size());
  ASSERT_EQ(seen, expected);
}

void run_device_calls(core::Pe& pe) {
  CollectiveSide side(pe, 600'000);
  ASSERT_TRUE(succeeded(pe.gpu_code().watch()));
  {
    const platform::DeviceScope scope(pe.device());  // before any PE waits in one
    ASSERT_TRUE(succeeded(pe.connections().gpu_kernels().prepare<platform::GpuKernel::team>()));
  }
  auto* const made = tests::zeroed<char>(pe, 256);
  for (const Team of : {tests::world, tests::shuffled_team(pe)}) {
    for (const auto& [scope, shape] : call_scopes) {
      for (const DeviceOperation operation : device_operations) {
        for (const std::size_t size : {4U, 1000U, 60'000U}) {
          SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + ", scope " +
                       std::to_string(static_cast<int>(scope)) + ", " + std::to_string(size) + " bytes");
          TeamParameters parameters{};
          parameters.state = pe.gpu_code().state();
          parameters.team = of;
          parameters.target = reinterpret_cast<std::uint64_t>(side.target);
          parameters.source = reinterpret_cast<std::uint64_t>(side.source);
          parameters.size_bytes = size;
          parameters.result = reinterpret_cast<std::uint64_t>(made);
          parameters.operation = operation;
          parameters.scope = scope;
          parameters.rounds = 3;
          parameters.root = static_cast<std::uint32_t>(pe.n_pes() - 1);
          run_device_call(pe, side, parameters, shape);
        }
      }
    }
  }
}

/// In a team without a stride, GPU kernels and collectives on streams use different formats. The data of the former are
/// the numbers of the turns, by which the latter recognise their data.
TEST(ShmemDeviceCall, AlternatesWithCollectivesOnStreams) {
  run_shmem_job(little_scratch(4), [](core::Pe& pe) {
    CollectiveSide side(pe, 8192);
    ASSERT_TRUE(succeeded(pe.gpu_code().watch()));
    {
      const platform::DeviceScope scope(pe.device());
      ASSERT_TRUE(succeeded(pe.connections().gpu_kernels().prepare<platform::GpuKernel::team>()));
    }
    auto* const made = tests::zeroed<char>(pe, 256);
    const Team team = tests::shuffled_team(pe);
    const int own = *pe.collectives().my_pe(team);
    TeamParameters parameters{};
    parameters.state = pe.gpu_code().state();
    parameters.team = team;
    parameters.target = reinterpret_cast<std::uint64_t>(side.target);
    parameters.source = reinterpret_cast<std::uint64_t>(side.source);
    parameters.size_bytes = 1000;
    parameters.result = reinterpret_cast<std::uint64_t>(made);
    parameters.operation = DeviceOperation::fcollect;
    parameters.scope = ShmemScope::block;
    parameters.rounds = 1;
    for (std::uint32_t round = 1; round <= 40; ++round) {
      const std::vector<std::uint32_t> turns(250, round + 1), data(250, 1000 + round);
      side.write(side.source, turns.data(), 1000);
      {
        const platform::DeviceScope scope(pe.device());
        ASSERT_TRUE(succeeded(pe.connections().gpu_kernels().launch(parameters, {1, 256}, side.stream())));
        ASSERT_TRUE(succeeded(pe.device().synchronize(side.stream())));
      }
      for (std::size_t part = 0; part < 4; ++part) {
        const auto bytes = side.read(side.target + part * 1000, 1000);
        ASSERT_EQ(std::memcmp(bytes.data(), turns.data(), 1000), 0) << "round " << round << ", part " << part;
      }
      const int root = static_cast<int>(round % 4);
      side.write(side.source, data.data(), 1000);
      if (own == root) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_TRUE(succeeded(
          side.call({CollectiveOperation::broadcast, team, side.target, side.source, 1000, root}, tests::Way::stream)));
      const auto bytes = side.read(side.target, 1000);
      ASSERT_EQ(std::memcmp(bytes.data(), data.data(), 1000), 0) << "round " << round;
    }
  });
}

TEST(ShmemDeviceCall, RunsEveryOperationAndScopeOnTwoPes) { run_shmem_job(little_scratch(2), run_device_calls); }
TEST(ShmemDeviceCall, RunsEveryOperationAndScopeOnFourPes) { run_shmem_job(little_scratch(4), run_device_calls); }

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
