// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tiles for the tests of gdrkit/compat/nvshmem_tile.cuh: layouts, symmetric memory, and groups of three host threads of
// a PE in place of GPU threads.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <gdrkit/compat/nvshmem_tile.cuh>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/results.hpp"
#include "support/run_together.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem::tiles {

using shmem_impl::core::Pe;
using tests::run_shmem_job;

constexpr int room = 4096;  // elements of the source and of the target
constexpr unsigned group_threads = 3;
using Pair = std::tuple<int, int>;
template <int number>
using Int = std::integral_constant<int, number>;
struct Whole {};  // without a boundary

/// Threads of one PE, as a group for the functions of GPU kernels.
class Threads {
 public:
  struct Shared {
    std::barrier<> barrier{group_threads};
    std::atomic<unsigned> false_conditions{0};
  };
  Threads(Shared* shared, unsigned number) : shared_(shared), number_(number) {}
  [[nodiscard]] unsigned rank() const { return number_; }
  [[nodiscard]] unsigned size() const { return group_threads; }
  void sync() const { shared_->barrier.arrive_and_wait(); }
  [[nodiscard]] bool all(bool condition) const {
    if (!condition) ++shared_->false_conditions;
    sync();
    const bool are_all = shared_->false_conditions == 0;
    sync();
    if (number_ == 0) shared_->false_conditions = 0;
    sync();
    return are_all;
  }

 private:
  Shared* shared_;
  unsigned number_;
};
/// Runs body(group) in each thread of a group. Returns the status, which must be the same in all threads.
template <class Body>
int in_group(const Body& body) {
  Threads::Shared shared;
  int statuses[group_threads];
  tests::run_together(group_threads, [&](unsigned i) { statuses[i] = body(Threads(&shared, i)); });
  for (const int status : statuses) EXPECT_EQ(status, statuses[0]);
  return statuses[0];
}

template <class T, class Shape, class Stride>
struct Tensor {
  using value_type = T;
  [[nodiscard]] T* data() const { return address; }
  [[nodiscard]] Shape shape() const { return sizes; }
  [[nodiscard]] Stride stride() const { return distances; }
  T* address;
  Shape sizes;
  Stride distances;
};
template <class T, class Shape, class Stride>
auto tile(T* data, Shape shape, Stride stride) {
  return detail::tile_of(Tensor<T, Shape, Stride>{data, shape, stride});
}

template <class T>
T number(int value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    T made;
    detail::narrow(static_cast<float>(value), &made);
    return made;
  }
}
/// Element `i` of PE `pe`'s source: small, so that sums are exact in all types.
inline int value_of(int pe, int i) { return (pe * 37 + i * 11) % 61; }

template <class T>
struct Memory {
  explicit Memory(Pe& pe) : target(tests::zeroed<T>(pe, room)), source(tests::zeroed<T>(pe, room)) {}
  void fill(int pe) const {
    for (int i = 0; i < room; ++i) {
      target[i] = number<T>(99);
      source[i] = number<T>(value_of(pe, i));
    }
  }
  T* target;
  T* source;
};
template <class T>
void expect_equal(const T* seen, const std::vector<T>& expected, const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::memcmp(seen + i, &expected[i], sizeof(T)), 0) << what << ", element " << i;
  }
}

/// A tile of `sizes`, at `start` of a larger tensor of size `boundary`. Offsets and strides are in elements.
struct Shape {
  const char* name;
  int sizes[2];
  int to[2];
  int from[2];
  int to_offset = 0;
  int from_offset = 0;
  Pair start = {0, 0};
  Pair boundary = {1000, 1000};

  [[nodiscard]] bool has(int i, int j) const {
    return std::get<0>(start) + i < std::get<0>(boundary) && std::get<1>(start) + j < std::get<1>(boundary);
  }
  [[nodiscard]] int to_at(int i, int j) const { return to_offset + i * to[0] + j * to[1]; }
  [[nodiscard]] int from_at(int i, int j) const { return from_offset + i * from[0] + j * from[1]; }
  template <class T>
  [[nodiscard]] auto target(T* data) const {
    return tile(data + to_offset, Pair(sizes[0], sizes[1]), Pair(to[0], to[1]));
  }
  template <class T>
  [[nodiscard]] auto source(T* data) const {
    return tile(data + from_offset, Pair(sizes[0], sizes[1]), Pair(from[0], from[1]));
  }
  /// Calls use(target index, source index) for each element inside the boundary.
  template <class Use>
  void for_each(const Use& use) const {
    for (int i = 0; i < sizes[0]; ++i) {
      for (int j = 0; j < sizes[1]; ++j) {
        if (has(i, j)) use(to_at(i, j), from_at(i, j));
      }
    }
  }
};
inline const Shape shapes[] = {
    {"row major", {8, 16}, {64, 1}, {32, 1}},
    {"row major, 16 bytes and a rest", {5, 37}, {64, 1}, {48, 1}},
    {"column major", {19, 6}, {1, 32}, {1, 48}},
    {"column major, odd strides", {19, 6}, {1, 21}, {1, 35}},
    {"without gaps", {7, 9}, {9, 1}, {9, 1}},
    {"without gaps, column major", {7, 9}, {1, 7}, {1, 7}},
    {"without gaps in the source", {7, 9}, {16, 1}, {9, 1}},
    {"unaligned", {6, 24}, {40, 1}, {56, 1}, 1, 3},
    {"pairs", {6, 24}, {42, 1}, {58, 1}, 2, 6},
    {"row to column", {9, 13}, {1, 20}, {17, 1}},
    {"without a contiguous dimension", {6, 11}, {70, 3}, {5, 40}, 4, 1},
    {"one row", {1, 45}, {1, 1}, {1, 1}},
    {"one column", {45, 1}, {3, 1}, {5, 1}},
    {"cut at the end of rows", {8, 16}, {64, 1}, {32, 1}, 0, 0, {16, 32}, {100, 43}},
    {"cut at the end of columns", {19, 8}, {1, 32}, {1, 48}, 0, 0, {32, 5}, {45, 100}},
    {"cut in both", {8, 16}, {64, 1}, {16, 1}, 0, 0, {3, 7}, {9, 12}},
    {"cut without gaps", {8, 16}, {16, 1}, {16, 1}, 0, 0, {3, 7}, {9, 30}},
    {"outside", {8, 16}, {64, 1}, {32, 1}, 0, 0, {3, 16}, {9, 16}},
    {"far outside", {8, 16}, {64, 1}, {32, 1}, 0, 0, {30, 0}, {9, 16}},
};

/// Runs `body` as four PEs on two nodes. Each PE accesses one peer by stores and two through the proxy.
inline void run_on_two_nodes(const std::function<void(Pe&, std::span<const Shape>)>& body) {
  tests::ShmemJobOptions job;
  job.n_pes = 4;
  job.is_p2p_disabled = true;
  job.machine_of = [](int pe) { return pe % 2; };
  run_shmem_job(job, [&](Pe& pe) {
    ASSERT_TRUE(tests::succeeded(pe.gpu_code().watch()));
    const Shape cases[] = {{"cut rows", {3, 8}, {16, 1}, {8, 1}, 0, 0, {0, 1}, {2, 6}},
                           {"columns", {5, 2}, {1, 7}, {1, 9}, 1, 2},
                           {"without a contiguous dimension", {3, 2}, {2, 9}, {1, 5}}};
    body(pe, cases);
  });
}

}  // namespace gdrkit::shmem::tiles
