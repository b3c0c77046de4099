// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tile functions by a block of 1024 threads, on matrices whose last tiles are cut. NVSHMEM's tile collectives need
// NVLink multicast, so they only run on gdrkit. Prints the times of a put and a get.
#include <algorithm>

#include "job.cuh"

constexpr int rows = 200, columns = 150;                 // of the matrix
constexpr int tile_rows = 64, tile_columns = 48;         // of a tile
constexpr int source_stride = 160, target_stride = 176;  // elements from a row to the next one
using nvshmemx::make_layout, nvshmemx::make_shape, nvshmemx::make_stride;
using Whole = cuda::std::tuple<>;

#if defined(GDRKIT_COMPAT_NVSHMEM_H)
constexpr bool has_collectives = true;
#else
constexpr bool has_collectives = false;
#endif

// Calls use(source tile, target tile, position of the tile, size of the matrix, number of the tile) for each tile.
template <class T, class Use>
__device__ void for_each_tile(T* target, T* source, const Use& use) {
  const auto sizes = make_shape(ConstInt<tile_rows>{}, ConstInt<tile_columns>{});
  const auto from = make_layout(sizes, make_stride(ConstInt<source_stride>{}, ConstInt<1>{}));
  const auto to = make_layout(sizes, make_stride(ConstInt<target_stride>{}, ConstInt<1>{}));
  int number = 0;
  for (int row = 0; row < rows; row += tile_rows) {
    for (int column = 0; column < columns; column += tile_columns, ++number) {
      use(nvshmemx::Tensor(source + row * source_stride + column, from),
          nvshmemx::Tensor(target + row * target_stride + column, to), make_shape(row, column),
          make_shape(rows, columns), number);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(1024) transfer(T* put_target, T* get_target, T* source, int next) {
  for_each_tile(put_target, source, [=](auto from, auto to, auto start, auto boundary, int) {
    CHECK(nvshmemx::tile_put_block<decltype(from), decltype(to), decltype(start), nvshmemx::PEER_PUSH_NBI>(
              from, to, start, boundary, next, 0) == 0);
  });
  for_each_tile(get_target, source, [=](auto from, auto to, auto start, auto boundary, int) {
    CHECK(nvshmemx::tile_get_block<decltype(from), decltype(to), decltype(start), nvshmemx::PEER_PULL_NBI>(
              from, to, start, boundary, next, 0) == 0);
  });
  nvshmemx_barrier_all_block();
}

__device__ uint64_t now_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Stores the nanoseconds of a put and of a get of a tile.
template <class T, int of_rows, int of_columns>
__global__ void __launch_bounds__(1024) time_tile(T* target, T* source, int next, uint64_t* ns) {
  constexpr int rounds = 1000;
  const auto sizes = make_shape(ConstInt<of_rows>{}, ConstInt<of_columns>{});
  nvshmemx::Tensor from(source, make_layout(sizes, make_stride(ConstInt<source_stride>{}, ConstInt<1>{})));
  nvshmemx::Tensor to(target, make_layout(sizes, make_stride(ConstInt<target_stride>{}, ConstInt<1>{})));
  const auto repeat = [](uint64_t* each, const auto& transfer) {
    __syncthreads();
    const uint64_t begin = now_ns();
    for (int round = 0; round < rounds; ++round) transfer();
    nvshmem_quiet();
    __syncthreads();
    if (threadIdx.x == 0) *each = (now_ns() - begin) / rounds;
  };
  repeat(ns, [&] {
    nvshmemx::tile_put_block<decltype(from), decltype(to), Whole, nvshmemx::PEER_PUSH_NBI>(from, to, {}, {}, next, 0);
  });
  repeat(ns + 1, [&] {
    nvshmemx::tile_get_block<decltype(from), decltype(to), Whole, nvshmemx::PEER_PULL_NBI>(from, to, {}, {}, next, 0);
  });
}

template <class T, int of_rows, int of_columns>
static void print_times(T* target, T* source, uint64_t* ns) {
  time_tile<T, of_rows, of_columns><<<1, 1024>>>(target, source, 1, ns);
  const auto each = on_host(ns, 2);
  std::printf("%d x %d elements of %d bytes: tile_put %d ns, tile_get %d ns\n", of_rows, of_columns,
              static_cast<int>(sizeof(T)), static_cast<int>(each[0]), static_cast<int>(each[1]));
}

// NVSHMEM does not support tile_max_reduce for float.
template <class T>
constexpr bool has_maximum = !std::is_same_v<T, float>;

// Tile i uses root i % n.
template <class T>
__global__ void __launch_bounds__(1024) reduce(T* two_shot, T* one_shot, T* source, int n) {
  using namespace nvshmemx;
  for_each_tile(two_shot, source, [=](auto from, auto to, auto start, auto boundary, int number) {
    CHECK(tile_sum_reduce_block<decltype(from), decltype(to), decltype(start), NVLS_TWO_SHOT_PUSH_NBI>(
              NVSHMEM_TEAM_WORLD, from, to, start, boundary, number % n, 0) == 0);
  });
  CHECK(tile_collective_wait_block<NVLS_TWO_SHOT_PUSH_NBI>(NVSHMEM_TEAM_WORLD, 0) == 0);
  for_each_tile(one_shot, source, [=](auto from, auto to, auto start, auto boundary, int) {
    if constexpr (has_maximum<T>) {
      CHECK(tile_max_reduce_block<decltype(from), decltype(to), decltype(start), NVLS_ONE_SHOT_PULL_NBI>(
                NVSHMEM_TEAM_WORLD, from, to, start, boundary, 0) == 0);
    } else {
      CHECK(tile_sum_reduce_block<decltype(from), decltype(to), decltype(start), NVLS_ONE_SHOT_PULL_NBI>(
                NVSHMEM_TEAM_WORLD, from, to, start, boundary, 0) == 0);
    }
  });
  CHECK(tile_collective_wait_block<NVLS_ONE_SHOT_PULL_NBI>(NVSHMEM_TEAM_WORLD, 0) == 0);
}

// The parts of the PEs are adjacent in each row.
template <class T>
__global__ void __launch_bounds__(1024) gather(T* target, T* source, int n) {
  nvshmemx::Tensor from(source, make_layout(make_shape(ConstInt<rows>{}, ConstInt<tile_columns>{}),
                                            make_stride(ConstInt<source_stride>{}, ConstInt<1>{})));
  nvshmemx::Tensor to(target, make_layout(make_shape(ConstInt<rows>{}, n * tile_columns),
                                          make_stride(n * target_stride, ConstInt<1>{})));
  CHECK(nvshmemx::tile_allgather_block<decltype(from), decltype(to), Whole, nvshmemx::NVLS_ONE_SHOT_PUSH_NBI>(
            NVSHMEM_TEAM_WORLD, from, to, {}, {}, 0) == 0);
  CHECK(nvshmemx::tile_collective_wait_block<nvshmemx::NVLS_ONE_SHOT_PUSH_NBI>(NVSHMEM_TEAM_WORLD, 0) == 0);
}

// Element `i` of PE `of`'s source: small, so that sums are exact.
static float value(int of, int i) { return static_cast<float>((of * 37 + i * 11) % 61); }

// Compares `width` columns of all rows with expected(row, column), and the gaps between the rows with 0.
template <class T, class Expected>
static void compare(const T* matrix, int width, int stride, const Expected& expected) {
  const auto seen = on_host(matrix, static_cast<size_t>(rows) * static_cast<size_t>(stride));
  for (int i = 0; i < rows * stride; ++i) {
    const int row = i / stride, column = i % stride;
    CHECK(static_cast<float>(seen[static_cast<size_t>(i)]) == (column < width ? expected(row, column) : 0.0F));
  }
}

template <class T>
static void run_with(int pe, int n) {
  std::vector<T> values;
  for (int i = 0; i < rows * source_stride; ++i) values.push_back(T(value(pe, i)));
  T* const source = symmetric(values);
  T* const first = symmetric<T>(rows * target_stride);
  T* const second = symmetric<T>(rows * target_stride);
  const auto of = [](int from) {
    return [=](int row, int column) { return value(from, row * source_stride + column); };
  };
  launch(transfer<T>, 1, 1024, first, second, source, (pe + 1) % n);
  nvshmem_barrier_all();
  compare(first, columns, target_stride, of((pe + n - 1) % n));
  compare(second, columns, target_stride, of((pe + 1) % n));
  auto* const ns = symmetric<uint64_t>(2);
  if (pe == 0) {
    print_times<T, tile_rows, tile_columns>(first, source, ns);
    print_times<T, 192, 144>(first, source, ns);
  }
  nvshmem_barrier_all();
  if (!has_collectives) return;
  launch(reduce<T>, 1, 1024, first, second, source, n);
  nvshmem_barrier_all();
  const auto reduced = [=](bool is_sum) {
    return [=](int row, int column) {
      float sum = 0, maximum = 0;
      for (int from = 0; from < n; ++from) {
        sum += of(from)(row, column);
        maximum = std::max(maximum, of(from)(row, column));
      }
      return is_sum ? sum : maximum;
    };
  };
  compare(first, columns, target_stride, reduced(true));
  compare(second, columns, target_stride, reduced(!has_maximum<T>));
  T* const all = symmetric<T>(static_cast<size_t>(rows * n * target_stride));
  launch(gather<T>, 1, 1024, all, source, n);
  nvshmem_barrier_all();
  compare(all, n * tile_columns, n * target_stride,
          [=](int row, int column) { return of(column / tile_columns)(row, column % tile_columns); });
}

void run(int pe, int n) {
  run_with<float>(pe, n);
  run_with<__half>(pe, n);
}
