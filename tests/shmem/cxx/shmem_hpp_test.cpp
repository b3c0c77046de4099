// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <gdrkit/shmem.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/run_together.hpp"

namespace gdrkit::shmem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;
using ::testing::ThrowsMessage;

/// PEs as threads of this process.
void run_job(int n_pes, const std::function<void(Job&)>& body) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  const auto id = make_unique_id();
  tests::run_together(n_pes, [&](int pe) {
    try {
      JobOptions options;
      options.n_pes = n_pes;
      options.pe = pe;
      options.unique_id = id;
      options.timeout = std::chrono::seconds(30);
      options.heap_bytes = 1 << 20;
      Job job(options);
      EXPECT_EQ(job.pe(), pe);
      EXPECT_EQ(job.n_pes(), n_pes);
      body(job);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  });
}

TEST(ShmemHpp, TransfersDataAndSignals) {
  run_job(2, [](Job& job) {
    const int other = 1 - job.pe();
    auto data = job.allocate<int>(100);
    auto word = job.allocate<std::uint64_t>(1);
    const std::vector<int> numbers = {job.pe() * 10, job.pe() * 10 + 1, job.pe() * 10 + 2};
    data.span().subspan(50, 3).put_signal(numbers, word[0], 5, other);
    word[0].wait_until(Comparison::greater_equal, 5);
    EXPECT_TRUE(word[0].test(Comparison::equal, 5));
    EXPECT_FALSE(word[0].test(Comparison::less, 5));
    std::vector<int> seen(3);
    data.span().subspan(50, 3).get(seen, job.pe());
    EXPECT_THAT(seen, ::testing::ElementsAre(other * 10, other * 10 + 1, other * 10 + 2));
    job.barrier();
    data[99].store(-7 - job.pe(), other);
    job.barrier();
    EXPECT_EQ(data[99].load(job.pe()), -7 - other);
    data.span().put_on_stream(numbers, other, nullptr);
    hpp_detail::check(gdrkit_shmem_stream_synchronize(nullptr));
    job.barrier();
    data.span().get_on_stream(seen, job.pe(), nullptr);
    hpp_detail::check(gdrkit_shmem_stream_synchronize(nullptr));
    EXPECT_EQ(seen[2], other * 10 + 2);
    EXPECT_EQ(data.span().at_pe(job.pe()), data.data());
    job.barrier();
  });
}

TEST(ShmemHpp, AtomicsUpdateWords) {
  run_job(3, [](Job& job) {
    auto words = job.allocate<std::int64_t>(2);
    words[0].fetch_add(-2, 0);
    job.barrier();
    EXPECT_EQ(words[0].load(0), -6);
    job.barrier();
    if (job.pe() == 1) {
      EXPECT_EQ(words[0].swap(9, 0), -6);
      EXPECT_EQ(words[0].compare_swap(9, -1, 0), 9);
      EXPECT_EQ(words[0].compare_swap(9, 4, 0), -1);
    }
    job.barrier();
    EXPECT_EQ(words[0].load(0), -1);
    job.barrier();
  });
}

TEST(ShmemHpp, InvalidArgumentsThrowWithoutWriting) {
  run_job(1, [](Job& job) {
    auto data = job.allocate<int>(4);
    const std::vector<int> numbers(5, 1);
    const auto span = data.span();
    EXPECT_THROW(span.put(numbers, 0), std::out_of_range);
    EXPECT_THROW((void)span.subspan(2, 3), std::out_of_range);
    EXPECT_THROW((void)span[4], std::out_of_range);
    EXPECT_THROW((void)span.load(0), std::length_error);
    EXPECT_THROW(span.wait_until(Comparison::equal, 1), std::length_error);
    EXPECT_THAT([&] { span[0].store(1, 7); },
                Throws<Error>(AllOf(Property(&Error::code, std::errc::invalid_argument),
                                    Property(&Error::what, HasSubstr("PE 7 is out of range")))));
    job.set_timeout(std::chrono::milliseconds(20));
    EXPECT_THROW(span[0].wait_until(Comparison::equal, 1), Error);
    const std::uint64_t one = 1;
    const gdrkit_shmem_words words{span.data(), 1, GDRKIT_SHMEM_INT32, GDRKIT_SHMEM_EQ, &one, 1, nullptr};
    std::size_t index = 0;
    EXPECT_EQ(gdrkit_shmem_wait_until_some(&words, &index, nullptr), -EINVAL) << "before it waits";
    job.set_timeout(std::chrono::seconds(30));
    EXPECT_EQ(span[0].load(0), 0);
    EXPECT_THROW((void)job.allocate<int>(std::size_t{1} << 60), Error);
  });
}

/// Returns the errno of the gdrkit::Error that `call` throws, or 0 if it throws none.
int errno_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.code().value();
  }
  return 0;
}

TEST(ShmemHpp, FailedAllocationReportsTheCauseAsErrno) {
  run_job(2, [](Job& job) {
    const auto allocate = [&](std::size_t count) { (void)job.allocate<char>(count); };
    EXPECT_EQ(errno_of([&] { allocate(0); }), EINVAL);
    EXPECT_EQ(errno_of([&] { allocate(std::size_t{1} << 60); }), ENOMEM);
    EXPECT_EQ(errno_of([&] { allocate(100 + static_cast<std::size_t>(job.pe())); }), EPROTO) << "different sizes";
    std::vector<char> host(4096);
    EXPECT_EQ(errno_of([&] { (void)job.register_symmetric(host.data(), host.size()); }), EOPNOTSUPP);
    job.barrier();
    if (job.pe() == 0) {
      job.set_timeout(std::chrono::milliseconds(100));
      EXPECT_EQ(errno_of([&] { allocate(100); }), ETIMEDOUT) << "PE 1 does not take part";
    }
  });
}

TEST(ShmemHpp, APointerToAnUnknownPeThrows) {
  run_job(2, [](Job& job) {
    const auto data = job.allocate<int>(1);
    EXPECT_EQ(errno_of([&] { (void)data.span().at_pe(2); }), EINVAL);
    EXPECT_EQ(errno_of([&] { (void)SymmetricSpan<int>(nullptr, 1).at_pe(0); }), EINVAL);
    EXPECT_NE(data.span().at_pe(1 - job.pe()), nullptr);
    job.barrier();
  });
}

TEST(ShmemHpp, RejectsRegistrationOfUnshareableMemory) {
  run_job(2, [](Job& job) {
    std::vector<int> host(1000);
    EXPECT_THAT([&] { (void)job.register_symmetric(host.data(), host.size()); },
                ThrowsMessage<Error>(HasSubstr("gdrkit_shmem_malloc")));
    EXPECT_THROW((void)job.register_symmetric(host.data(), SIZE_MAX), std::length_error);
    EXPECT_EQ(gdrkit_shmem_buffer_unregister_symmetric(host.data()), -EPROTO) << "the PEs' differ";
    job.barrier();
  });
}

TEST(ShmemHpp, BuffersFreeTheirMemoryOnce) {
  run_job(2, [](Job& job) {
    EXPECT_EQ(job.info().heap_used_bytes, 0U);
    {
      auto first = job.allocate<double>(1000);
      const auto used = job.info().heap_used_bytes;
      EXPECT_GE(used, 8000U);
      auto second = std::move(first);
      EXPECT_EQ(first.size(), 0U);  // NOLINT: moved from
      EXPECT_EQ(second.size(), 1000U);
      first = job.allocate<double>(10);
      second = std::move(first);
      EXPECT_LT(job.info().heap_used_bytes, used);
      second.free();
      EXPECT_EQ(job.info().heap_used_bytes, 0U);
    }
    EXPECT_EQ(job.info().heap_used_bytes, 0U);
    EXPECT_EQ(job.device_state().pe, job.pe());
    job.finalize();
    EXPECT_THROW(job.use(), Error);
  });
}

/// Calls a function in its destructor.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> call) : call_(std::move(call)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { call_(); }

 private:
  std::function<void()> call_;
};

TEST(ShmemHpp, ABufferThatAnExceptionDestroysIsNotFreed) {
  run_job(1, [](Job& job) {
    try {
      const auto kept = job.allocate<char>(1000);
      throw std::runtime_error("unwinds");
    } catch (const std::runtime_error&) {
      EXPECT_GE(job.info().heap_used_bytes, 1000U);
    }
  });
}

TEST(ShmemHpp, ABufferThatIsMadeAndDestroyedDuringUnwindingIsFreed) {
  run_job(2, [](Job& job) {
    try {
      const AtEnd cleanup([&] {
        { const auto buffer = job.allocate<char>(1000); }
        auto first = job.allocate<char>(1000);
        const auto moved = std::move(first);
      });
      throw std::runtime_error("unwinds");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(job.info().heap_used_bytes, 0U);
    }
  });
}

TEST(ShmemHpp, AJobThatIsMadeAndDestroyedDuringUnwindingIsFinalized) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  JobOptions options;
  options.n_pes = 1;
  options.heap_bytes = 1 << 20;
  try {
    const AtEnd cleanup([&] {
      const Job job(options);
      EXPECT_EQ(gdrkit_shmem_my_pe(), 0);
    });
    throw std::runtime_error("unwinds");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(gdrkit_shmem_my_pe(), -EINVAL);
  }
}

TEST(ShmemHpp, ATimeoutOutsideItsRangeIsRejected) {
  JobOptions options;
  options.timeout = std::chrono::milliseconds(-1);
  EXPECT_EQ(errno_of([&] { const Job job(options); }), EINVAL);
  options.timeout = std::chrono::hours(24 * 60);
  EXPECT_EQ(errno_of([&] { const Job job(options); }), EINVAL);
}

}  // namespace
}  // namespace gdrkit::shmem
