// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Regions: the elements of two tiles that one operation reads and writes, and how the threads of a group share them.
// Included by nvshmem_tile.cuh. An ordinary C++ compiler also compiles this file.
#ifndef GDRKIT_COMPAT_NVSHMEM_REGION_CUH
#define GDRKIT_COMPAT_NVSHMEM_REGION_CUH

#include <limits.h>

#include "nvshmem_gpu.cuh"

namespace gdrkit::shmem::detail {

/// Number of elements of a tuple of the C++ library, CUDA or CuTe. 0 for other types.
template <class Type>
struct TupleSize : std::integral_constant<int, 0> {};
template <template <class...> class Tuple, class... Elements>
struct TupleSize<Tuple<Elements...>> : std::integral_constant<int, int{sizeof...(Elements)}> {};

/// Returns element `index` of a tuple, or `otherwise` if the tuple has fewer elements.
template <int index, class Number, class Tuple>
GDRKIT_SHMEM_FUNCTION Number element_or(const Tuple& tuple, Number otherwise) {
  if constexpr (index < TupleSize<Tuple>::value) {
    // Lookup finds gdrkit::shmem::get, so C++17 parses a template argument list; argument-dependent lookup adds the
    // tuple's get.
    return static_cast<Number>(get<index>(tuple));
  } else {
    return otherwise;
  }
}

/// A tile of at most two dimensions: element (i, j) is at data + i * strides[0] + j * strides[1].
template <class T>
struct Tile {
  T* data;
  int sizes[2];
  int strides[2];

  // No variable index: a GPU would keep the array in local memory.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION int size(int dimension) const { return dimension == 0 ? sizes[0] : sizes[1]; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION int stride(int dimension) const {
    return dimension == 0 ? strides[0] : strides[1];
  }
};
/// `Tensor`: nvshmemx::Tensor, or a class with the same members.
template <class Tensor>
GDRKIT_SHMEM_FUNCTION auto tile_of(Tensor tensor) {
  const auto shape = tensor.shape();
  const auto stride = tensor.stride();
  constexpr int dimensions = TupleSize<std::remove_cv_t<decltype(shape)>>::value;
  static_assert(dimensions == 1 || dimensions == 2, "tile functions: a shape must be a tuple of 1 or 2 sizes");
  static_assert(TupleSize<std::remove_cv_t<decltype(stride)>>::value == dimensions,
                "tile functions: the strides must be a tuple with as many elements as the shape");
  static_assert(std::is_pointer_v<decltype(tensor.data())>, "tile functions: data() must return a pointer");
  return Tile<std::remove_pointer_t<decltype(tensor.data())>>{tensor.data(),
                                                              {element_or<0>(shape, 1), element_or<1>(shape, 1)},
                                                              {element_or<0>(stride, 0), element_or<1>(stride, 0)}};
}
/// Returns the dimension in which the elements of both tiles are contiguous; 0 if there is none.
template <class T, class Source>
GDRKIT_SHMEM_FUNCTION int contiguous_dimension(const Tile<T>& target, const Tile<Source>& source) {
  return target.strides[1] == 1 && source.strides[1] == 1 ? 1 : 0;
}

/// Returns the number of elements in [start, start + size) below `boundary`. A tuple type without data members sets no
/// boundary, as in NVSHMEM. Dimensions missing from the tuples are not limited.
template <int dimension, class Tuple>
GDRKIT_SHMEM_FUNCTION int size_inside(int size, const Tuple& start, const Tuple& boundary) {
  if constexpr (std::is_empty_v<Tuple>) {
    (void)start;
    (void)boundary;
    return size < 0 ? 0 : size;
  } else {
    static_assert(TupleSize<Tuple>::value > 0, "tile functions: start_coord and boundary must be tuples");
    const std::int64_t left = std::int64_t{element_or<dimension>(boundary, INT_MAX)} - element_or<dimension>(start, 0);
    const int inside = left < size ? static_cast<int>(left < 0 ? 0 : left) : size;
    return inside < 0 ? 0 : inside;
  }
}

/// Elements that an operation reads and writes: `rows` rows of `columns` elements. Steps are in elements.
struct Region {
  unsigned columns;
  unsigned rows;
  int to_column;
  int to_row;
  int from_column;
  int from_row;

  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool is_dense() const { return to_column == 1 && from_column == 1; }
};
/// Returns the elements of the source's shape that are inside the boundary. Merges rows without gaps into one row.
template <class T, class Source, class Tuple>
GDRKIT_SHMEM_FUNCTION Region region_of(const Tile<T>& target, const Tile<Source>& source, const Tuple& start,
                                       const Tuple& boundary) {
  const int column = contiguous_dimension(target, source), row = 1 - column;
  const auto first = static_cast<unsigned>(size_inside<0>(source.sizes[0], start, boundary));
  const auto second = static_cast<unsigned>(size_inside<1>(source.sizes[1], start, boundary));
  Region region{column == 0 ? first : second, column == 0 ? second : first, target.stride(column),
                target.stride(row),           source.stride(column),        source.stride(row)};
  if (region.columns == 0) region.rows = 0;
  const bool can_merge = std::uint64_t{region.columns} * region.rows <= UINT_MAX;
  if (can_merge && region.is_dense() && region.to_row == region.from_row &&
      static_cast<unsigned>(region.to_row) == region.columns) {
    region.columns *= region.rows;
    region.rows = region.rows == 0 ? 0 : 1;
  }
  return region;
}

/// Threads that share a region, and the number of the calling one.
struct Share {
  unsigned number;
  unsigned count;
};

/// The words of one thread: each `share.count`-th of a grid, row by row. It divides only in the constructor, because
/// integer division takes many instructions on a GPU.
struct Walk {
  unsigned columns;
  unsigned rows;
  unsigned column_step;
  unsigned row_step;
  unsigned column;
  unsigned row;

  GDRKIT_SHMEM_FUNCTION Walk(unsigned columns_of_grid, unsigned rows_of_grid, Share share)
      : columns(columns_of_grid),
        rows(columns == 0 ? 0 : rows_of_grid),
        column_step(columns == 0 ? 0 : share.count % columns),
        row_step(columns == 0 ? 0 : share.count / columns),
        column(columns == 0 ? 0 : share.number % columns),
        row(columns == 0 ? 0 : share.number / columns) {}

  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool is_inside() const { return row < rows; }
  GDRKIT_SHMEM_FUNCTION void advance() {
    row += row_step;
    column += column_step;
    if (column < columns) return;
    column -= columns;
    ++row;
  }
};

GDRKIT_SHMEM_FUNCTION std::int64_t offset_of(unsigned column, int column_step, unsigned row, int row_step) {
  return std::int64_t{column_step} * column + std::int64_t{row_step} * row;
}
/// Performs load(words, offsets) and store(words, offsets) on the next `count` words, whose first columns of the region
/// are `begin + walk.column * elements`. Offsets are in elements.
template <class Word, unsigned count, unsigned elements, class Load, class Store>
GDRKIT_SHMEM_FUNCTION void transform_next(const Region& region, unsigned begin, Walk& walk, const Load& load,
                                          const Store& store) {
  Word words[count];
  std::int64_t from[count], to[count];
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) {
    const unsigned column = begin + walk.column * elements;
    from[i] = offset_of(column, region.from_column, walk.row, region.from_row);
    to[i] = offset_of(column, region.to_column, walk.row, region.to_row);
    walk.advance();
  }
  load(words, from);
  store(words, to);
}
/// Performs load and store on the columns from `begin` on: `batch` words at a time unless there are enough threads,
/// then one at a time. Most tiles have few words for each thread. An element has `element_bytes` bytes. Skips columns
/// that are not part of a whole word.
template <class Word, unsigned batch, std::size_t element_bytes, class Load, class Store>
GDRKIT_SHMEM_FUNCTION void transform_words(const Region& region, unsigned begin, Share share, const Load& load,
                                           const Store& store) {
  constexpr auto elements = static_cast<unsigned>(sizeof(Word) / element_bytes);
  const unsigned words_per_row = (region.columns - begin) / elements;
  Walk walk(words_per_row, region.rows, share);
  const std::uint64_t words = std::uint64_t{words_per_row} * region.rows, step = share.count;
  if (share.count < Load::enough_threads) {
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t last = share.number + (batch - 1) * step; last < words; last += batch * step)
      transform_next<Word, batch, elements>(region, begin, walk, load, store);
  }
  GDRKIT_SHMEM_ROLLED
  while (walk.is_inside()) transform_next<Word, 1, elements>(region, begin, walk, load, store);
}
/// Performs load and store on all elements of a region, in the widest words for which all rows are aligned.
/// `addresses`: the addresses of both tiles, combined by OR. All PEs with the same region and alignment assign the same
/// words to the same thread.
template <unsigned batch, std::size_t element_bytes, class Load, class Store>
GDRKIT_SHMEM_FUNCTION void transform(const Region& region, std::uintptr_t addresses, Share share, const Load& load,
                                     const Store& store) {
  unsigned done = 0;
  if (region.is_dense()) {
    const auto steps = static_cast<std::uintptr_t>(std::int64_t{region.to_row | region.from_row}) * element_bytes;
    const std::uintptr_t all = addresses | (region.rows > 1 ? steps : 0);
    if (all % sizeof(Words16) == 0) {
      constexpr unsigned elements = sizeof(Words16) / element_bytes;
      transform_words<Words16, batch, element_bytes>(region, 0, share, load, store);
      done = region.columns / elements * elements;
      if (done == region.columns) return;
    } else if constexpr (element_bytes < sizeof(std::uint32_t)) {
      if (all % sizeof(std::uint32_t) == 0) {
        constexpr unsigned elements = sizeof(std::uint32_t) / element_bytes;
        transform_words<std::uint32_t, batch, element_bytes>(region, 0, share, load, store);
        done = region.columns / elements * elements;
        if (done == region.columns) return;
      }
    }
  }
  transform_words<WordOf<element_bytes>, batch, element_bytes>(region, done, share, load, store);
}

}  // namespace gdrkit::shmem::detail

#endif
