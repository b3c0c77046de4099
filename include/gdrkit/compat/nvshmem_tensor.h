/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's tensor types, and the algorithms of its tile functions. Empty before C++17, and if the headers of CUDA's
 * C++ library are not found. Included by nvshmem_tile.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_TENSOR_H
#define GDRKIT_COMPAT_NVSHMEM_TENSOR_H

#if defined(__cplusplus) && __cplusplus >= 201703L
#if __has_include(<cuda/std/tuple>)
#include <cuda/std/tuple>
#include <cuda/std/type_traits>

#if defined(__CUDACC__)
#define GDRKIT_NVSHMEM_TENSOR __host__ __device__ constexpr
#else
#define GDRKIT_NVSHMEM_TENSOR constexpr
#endif

/** @brief A compile-time int, for shapes and strides: `ConstInt<1>{}`. */
template <int number>
struct ConstInt : cuda::std::integral_constant<int, number> {
  /** @return `number`. */
  GDRKIT_NVSHMEM_TENSOR operator int() const { return number; }
};

namespace nvshmemx {

/** @brief Number of elements in each dimension, as int or ConstInt. Also the coordinates of an element. */
template <class... Sizes>
using shape = cuda::std::tuple<Sizes...>;
/** @brief Distance between adjacent elements in each dimension, in elements. */
template <class... Distances>
using stride = cuda::std::tuple<Distances...>;

/** @brief Makes a shape, or coordinates.
 *  @param[in] sizes One number for each dimension.
 *  @return The shape. */
template <class... Sizes>
GDRKIT_NVSHMEM_TENSOR shape<Sizes...> make_shape(const Sizes&... sizes) {
  return shape<Sizes...>(sizes...);
}
/** @brief Makes strides.
 *  @param[in] distances One number for each dimension, in elements.
 *  @return The strides. */
template <class... Distances>
GDRKIT_NVSHMEM_TENSOR stride<Distances...> make_stride(const Distances&... distances) {
  return stride<Distances...>(distances...);
}

/** @brief Shape and strides of a tensor. */
template <class Shape, class Stride>
class Layout {
 public:
  /** @param[in] sizes The shape.
   *  @param[in] distances The strides. */
  GDRKIT_NVSHMEM_TENSOR Layout(const Shape& sizes = {}, const Stride& distances = {})
      : shape_(sizes), stride_(distances) {}
  /** @return The shape. */
  GDRKIT_NVSHMEM_TENSOR Shape shape() const { return shape_; }
  /** @return The strides. */
  GDRKIT_NVSHMEM_TENSOR Stride stride() const { return stride_; }

 private:
  Shape shape_;
  Stride stride_;
};
/** @brief Makes a layout.
 *  @param[in] sizes The shape.
 *  @param[in] distances The strides.
 *  @return The layout. */
template <class Shape, class Stride>
GDRKIT_NVSHMEM_TENSOR Layout<Shape, Stride> make_layout(const Shape& sizes, const Stride& distances) {
  return Layout<Shape, Stride>(sizes, distances);
}

/** @brief A tile in memory: the address of its first element, and its layout. Does not own the memory. */
template <class T, class Layout>
class Tensor {
 public:
  using value_type = T;
  using layout_type = Layout;

  /** @param[in] data Address of the first element.
   *  @param[in] layout The layout. */
  GDRKIT_NVSHMEM_TENSOR Tensor(T* data, Layout layout) : data_(data), layout_(layout) {}
  /** @brief Makes a tensor with a null address.
   *  @param[in] layout The layout. */
  GDRKIT_NVSHMEM_TENSOR Tensor(Layout layout) : data_(nullptr), layout_(layout) {}
  /** @return Address of the first element. */
  GDRKIT_NVSHMEM_TENSOR T* data() const { return data_; }
  /** @return The layout. */
  GDRKIT_NVSHMEM_TENSOR Layout layout() const { return layout_; }
  /** @return The shape. */
  GDRKIT_NVSHMEM_TENSOR auto shape() const { return layout_.shape(); }
  /** @return The strides. */
  GDRKIT_NVSHMEM_TENSOR auto stride() const { return layout_.stride(); }

 private:
  T* data_;
  Layout layout_;
};

/** @brief Algorithms of tile collectives. PUSH stores to other PEs, PULL loads from them. gdrkit does not use NVLS
 *  (NVLink multicast): all use ordinary loads and stores, with the same results. */
typedef enum {
  NVLS_ONE_SHOT_PUSH_NBI = 0,
  NVLS_ONE_SHOT_PULL_NBI = 1,
  NVLS_TWO_SHOT_PUSH_NBI = 2,
  NVLS_TWO_SHOT_PULL_NBI = 3
} tile_coll_algo_t;
/** @brief Algorithms of tile_put (PUSH) and tile_get (PULL). The values of PUSH and PULL are equal, as in NVSHMEM.
 *  gdrkit selects the path according to the PE, not to the algorithm. */
typedef enum { PEER_PUSH_NBI = 0, PEER_PULL_NBI = 0, REMOTE_PUSH_NBI = 1, REMOTE_PULL_NBI = 1 } tile_algo_t;

}  // namespace nvshmemx

#undef GDRKIT_NVSHMEM_TENSOR
#endif
#endif

#endif
