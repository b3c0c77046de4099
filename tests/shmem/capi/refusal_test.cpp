// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Calls of the C API with wrong arguments: each returns its errno, sets an error message and writes nothing.
#include <gdrkit/detail/shmem_private.h>
#include <gdrkit/shmem.h>
#include <gdrkit/shmem_kernel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/shmem/capi/one_pe.hpp"

namespace {

constexpr std::size_t object_bytes = 1000;
constexpr std::uint8_t object_byte = 0x5a;
constexpr std::uint8_t local_byte = 0x77;

class Refusal : public gdrkit::tests::OnePe {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OnePe::SetUp());
    ASSERT_EQ(gdrkit_shmem_uint8_calloc(object_bytes, &object_), 0) << gdrkit_shmem_last_error();
    ASSERT_EQ(gdrkit_shmem_uint64_calloc(1, &signal_), 0) << gdrkit_shmem_last_error();
    const std::vector<std::uint8_t> bytes(object_bytes, object_byte);
    ASSERT_EQ(gdrkit_shmem_put(object_, bytes.data(), object_bytes, 0), 0) << gdrkit_shmem_last_error();
    forget();
  }
  void TearDown() override {
    std::vector<std::uint8_t> bytes(object_bytes);
    std::uint64_t signal = 0;
    EXPECT_EQ(gdrkit_shmem_get(bytes.data(), object_, object_bytes, 0), 0) << gdrkit_shmem_last_error();
    EXPECT_EQ(gdrkit_shmem_get(&signal, signal_, sizeof signal, 0), 0) << gdrkit_shmem_last_error();
    EXPECT_THAT(bytes, ::testing::Each(object_byte)) << "a refused call wrote to the object";
    EXPECT_EQ(signal, 0U) << "a refused call wrote to the signal";
    EXPECT_THAT(local_, ::testing::Each(local_byte)) << "a refused get wrote to local memory";
    OnePe::TearDown();
  }

  /// The call that returned `code` must have replaced the message that `forget` left.
  void expect_refused(int code, int errno_value, const std::string& what) {
    EXPECT_EQ(code, -errno_value) << what;
    EXPECT_STRNE(gdrkit_shmem_last_error(), "") << what;
    EXPECT_NE(gdrkit_shmem_last_error(), forgotten_) << what;
    forget();
  }
  void forget() {
    EXPECT_EQ(gdrkit_shmem_get_info(nullptr), -EINVAL);
    forgotten_ = gdrkit_shmem_last_error();
  }

  std::string forgotten_;
  std::uint8_t* object_ = nullptr;
  std::uint64_t* signal_ = nullptr;
  std::vector<std::uint8_t> local_ = std::vector<std::uint8_t>(object_bytes, local_byte);
};

/// One remote range of `size_bytes` at PE `pe`, and local memory for it. To add an operation, add a row.
struct Access {
  std::uint8_t* remote;
  std::uint8_t* local;
  std::size_t size_bytes;
  std::uint64_t* signal;
  int pe;
};
struct Operation {
  const char* name;
  std::size_t fixed_bytes;  ///< 0: any size
  int (*call)(const Access& access);
};
constexpr Operation operations[] = {
    {"put", 0, [](const Access& a) { return gdrkit_shmem_put(a.remote, a.local, a.size_bytes, a.pe); }},
    {"get", 0, [](const Access& a) { return gdrkit_shmem_get(a.local, a.remote, a.size_bytes, a.pe); }},
    {"put_nbi", 0, [](const Access& a) { return gdrkit_shmem_put_nbi(a.remote, a.local, a.size_bytes, a.pe); }},
    {"get_nbi", 0, [](const Access& a) { return gdrkit_shmem_get_nbi(a.local, a.remote, a.size_bytes, a.pe); }},
    {"put_signal", 0,
     [](const Access& a) {
       return gdrkit_shmem_put_signal(a.remote, a.local, a.size_bytes, a.signal, 1, GDRKIT_SHMEM_SIGNAL_SET, a.pe);
     }},
    {"put_signal to a wrong signal", 8,
     [](const Access& a) {
       return gdrkit_shmem_put_signal(a.signal, a.local, 8, reinterpret_cast<std::uint64_t*>(a.remote), 1,
                                      GDRKIT_SHMEM_SIGNAL_SET, a.pe);
     }},
    {"signal_op", 8,
     [](const Access& a) {
       return gdrkit_shmem_signal_op(reinterpret_cast<std::uint64_t*>(a.remote), 1, GDRKIT_SHMEM_SIGNAL_SET, a.pe);
     }},
    {"atomic add", 8,
     [](const Access& a) { return gdrkit_shmem_atomic(a.remote, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, nullptr, a.pe); }},
    {"atomic fetch", 4,
     [](const Access& a) {
       std::uint64_t fetched = 0;
       return gdrkit_shmem_atomic(a.remote, 4, GDRKIT_SHMEM_ATOMIC_FETCH, 0, 0, &fetched, a.pe);
     }},
    {"put_on_stream", 0,
     [](const Access& a) { return gdrkit_shmem_put_on_stream(a.remote, a.local, a.size_bytes, a.pe, nullptr); }},
    {"get_on_stream", 0,
     [](const Access& a) { return gdrkit_shmem_get_on_stream(a.local, a.remote, a.size_bytes, a.pe, nullptr); }},
    {"put_value_on_stream", 8,
     [](const Access& a) { return gdrkit_shmem_put_value_on_stream(a.remote, a.local, 8, a.pe, nullptr); }},
    {"put_signal_on_stream to a wrong signal", 8,
     [](const Access& a) {
       return gdrkit_shmem_put_signal_on_stream(a.signal, a.local, 8, reinterpret_cast<std::uint64_t*>(a.remote), 1,
                                                GDRKIT_SHMEM_SIGNAL_SET, a.pe, nullptr);
     }},
    {"int_p", 4, [](const Access& a) { return gdrkit_shmem_int_p(reinterpret_cast<int*>(a.remote), 1, a.pe); }},
    {"double_put", 8,
     [](const Access& a) {
       return gdrkit_shmem_double_put(reinterpret_cast<double*>(a.remote), reinterpret_cast<double*>(a.local), 1, a.pe);
     }},
};

struct WrongPlace {
  const char* name;
  std::uint8_t* remote;
  std::size_t size_bytes;
  int pe;
};

TEST_F(Refusal, RejectsEveryTransferAtAnInvalidAddressOrPe) {
  gdrkit_shmem_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(gdrkit_shmem_get_info(&info), 0) << gdrkit_shmem_last_error();
  auto* const heap = reinterpret_cast<std::uint8_t*>(info.heap_address);
  std::uint64_t foreign = 0;
  const WrongPlace places[] = {
      {"PE -1", object_, 8, -1},
      {"PE n", object_, 8, 1},
      {"PE 2^31 - 1", object_, 8, INT_MAX},
      {"address NULL", nullptr, 8, 0},
      {"host memory", reinterpret_cast<std::uint8_t*>(&foreign), 8, 0},
      {"8 bytes before the heap", heap - 8, 8, 0},
      {"the end of the heap", heap + info.heap_max_bytes, 8, 0},
      {"no allocation of the heap", heap + info.heap_bytes - 8, 8, 0},
      {"one byte over the end", object_ + object_bytes - 7, 8, 0},
      {"far over the end", object_, std::size_t{1} << 50, 0},
      {"a size that wraps around", object_ + 8, SIZE_MAX - 7, 0},
  };
  for (const WrongPlace& place : places) {
    for (const Operation& operation : operations) {
      if (operation.fixed_bytes != 0 && place.size_bytes > operation.fixed_bytes) continue;
      // Smaller words must exceed the end too.
      const bool is_moved = operation.fixed_bytes == 4 && place.remote == object_ + object_bytes - 7;
      const Access access{is_moved ? place.remote + 4 : place.remote, local_.data(), place.size_bytes, signal_,
                          place.pe};
      expect_refused(operation.call(access), EINVAL, std::string(operation.name) + " at " + place.name);
    }
  }
  EXPECT_EQ(gdrkit_shmem_put(object_, local_.data(), 0, 0), 0) << "0 bytes";
  EXPECT_EQ(gdrkit_shmem_put(object_, local_.data(), 8, 1), -EINVAL);
  EXPECT_THAT(gdrkit_shmem_last_error(), ::testing::HasSubstr("the job has 1 PE; start more PEs with gdrkit run -n N"));
}

TEST_F(Refusal, RejectsInvalidWordsAndEnumerators) {
  const auto atomic = [&](std::size_t offset, std::size_t size, int operation) {
    return gdrkit_shmem_atomic(object_ + offset, size, static_cast<gdrkit_shmem_atomic_operation>(operation), 1, 0,
                               nullptr, 0);
  };
  auto* const word = reinterpret_cast<std::uint64_t*>(object_);
  const auto wrong_signal = static_cast<gdrkit_shmem_signal>(3);
  const auto wrong_word = static_cast<gdrkit_shmem_word>(3);
  const auto wrong_comparison = static_cast<gdrkit_shmem_comparison>(7);
  expect_refused(atomic(4, 8, GDRKIT_SHMEM_ATOMIC_ADD), EINVAL, "8 bytes, aligned to 4");
  expect_refused(atomic(2, 4, GDRKIT_SHMEM_ATOMIC_ADD), EINVAL, "4 bytes, aligned to 2");
  expect_refused(atomic(0, 2, GDRKIT_SHMEM_ATOMIC_ADD), EINVAL, "2 bytes");
  expect_refused(atomic(0, 8, 99), EINVAL, "atomic operation 99");
  expect_refused(gdrkit_shmem_signal_op(word, 1, wrong_signal, 0), EINVAL, "signal operation 3");
  expect_refused(gdrkit_shmem_test(word, wrong_word, GDRKIT_SHMEM_EQ, 0), EINVAL, "a word of 3 bytes");
  expect_refused(gdrkit_shmem_test(object_ + 1, GDRKIT_SHMEM_UINT32, GDRKIT_SHMEM_EQ, 0), EINVAL, "not aligned");
  expect_refused(gdrkit_shmem_wait_until(word, GDRKIT_SHMEM_UINT64, wrong_comparison, 0), EINVAL, "comparison 7");
  expect_refused(gdrkit_shmem_put(object_, nullptr, 8, 0), EINVAL, "put from NULL");
  expect_refused(gdrkit_shmem_get(nullptr, object_, 8, 0), EINVAL, "get to NULL");
}

TEST_F(Refusal, RejectsInvalidWordLists) {
  const std::uint64_t values[3] = {};
  const int skip_all[2] = {1, 1};
  std::size_t index = 0;
  gdrkit_shmem_words words{signal_, 1, GDRKIT_SHMEM_UINT64, GDRKIT_SHMEM_EQ, values, 1, skip_all};
  expect_refused(gdrkit_shmem_wait_until_any(&words, &index), ENODATA, "wait_until_any with all words skipped");
  EXPECT_EQ(gdrkit_shmem_test_all(&words), 1) << "with all words skipped";
  expect_refused(gdrkit_shmem_test_some(&words, nullptr, &index), EINVAL, "test_some without indices");
  expect_refused(gdrkit_shmem_wait_until_all(nullptr), EINVAL, "wait_until_all of no words");
  words.n_values = 3;
  expect_refused(gdrkit_shmem_test_any(&words, &index), EINVAL, "test_any of 1 word with 3 values");
}

TEST_F(Refusal, RejectsInvalidAllocations) {
  constexpr std::size_t two_gib = std::size_t{2} << 30;
  void* address = nullptr;
  expect_refused(gdrkit_shmem_malloc(0, &address), EINVAL, "0 bytes");
  expect_refused(gdrkit_shmem_malloc(100, nullptr), EINVAL, "no output");
  expect_refused(gdrkit_shmem_malloc(SIZE_MAX, &address), ENOMEM, "SIZE_MAX bytes");
  expect_refused(gdrkit_shmem_calloc(SIZE_MAX / 2, 4, &address), ENOMEM, "calloc of more than SIZE_MAX bytes");
  expect_refused(gdrkit_shmem_align(3, 100, &address), EINVAL, "align to 3");
  expect_refused(gdrkit_shmem_align(two_gib, 100, &address), EINVAL, "align to 2 GiB");
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(gdrkit_shmem_free(nullptr), 0);
  expect_refused(gdrkit_shmem_free(object_ + 8), EINVAL, "free of the middle of an object");
}

TEST_F(Refusal, RejectsNullOutputsAndFunctions) {
  expect_refused(gdrkit_shmem_stream_create(nullptr), EINVAL, "stream_create");
  expect_refused(gdrkit_shmem_register_state(nullptr), EINVAL, "register_state");
  expect_refused(gdrkit_shmem_module_init(nullptr), EINVAL, "module_init");
  void* address = nullptr;
  expect_refused(gdrkit_shmem_find_variable(nullptr, "name", &address, nullptr), EINVAL, "find_variable");
  expect_refused(gdrkit_shmem_module_of_library(nullptr, &address), EINVAL, "module_of_library");
  expect_refused(gdrkit_shmem_module_of_library(this, nullptr), EINVAL, "module_of_library without a result");
  EXPECT_EQ(address, nullptr);
}

TEST_F(Refusal, CopiesToAndFromTheGpuWithinItsMemoryOnly) {
  const std::uint64_t sent = 0x1234567890abcdef;
  std::uint64_t received = 0;
  int calls = 0;
  EXPECT_EQ(gdrkit_shmem_call_with_gpu([](void* argument) { ++*static_cast<int*>(argument); }, &calls), 0);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(gdrkit_shmem_copy_to_gpu(signal_, &sent, sizeof sent), 0) << gdrkit_shmem_last_error();
  EXPECT_EQ(gdrkit_shmem_copy_from_gpu(&received, signal_, sizeof received), 0) << gdrkit_shmem_last_error();
  EXPECT_EQ(received, sent);
  expect_refused(gdrkit_shmem_copy_to_gpu(local_.data(), &sent, sizeof sent), EINVAL, "copy_to_gpu to host memory");
  expect_refused(gdrkit_shmem_copy_from_gpu(&received, local_.data(), 8), EINVAL, "copy_from_gpu of host memory");
  const std::uint64_t zero = 0;
  EXPECT_EQ(gdrkit_shmem_copy_to_gpu(signal_, &zero, sizeof zero), 0) << gdrkit_shmem_last_error();
}

}  // namespace
