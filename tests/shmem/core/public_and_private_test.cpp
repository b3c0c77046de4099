// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Public and private headers have different names, so one source can include both.
#include <gtest/gtest.h>
#include <gdrkit/shmem.hpp>
#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device_words.cuh>

#include <type_traits>

#include "shmem/core/pe.hpp"

namespace gdrkit {
namespace {

TEST(PublicAndPrivate, SymmetricBufferTypesDiffer) {
  EXPECT_FALSE((std::is_same_v<shmem::SymmetricBuffer<int>, shmem_impl::heap::SymmetricBuffer>));
}

}  // namespace
}  // namespace gdrkit
