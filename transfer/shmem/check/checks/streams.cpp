// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rings of PEs whose CPUs only fill streams: each stream waits for the previous PE and then forwards the data.
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t sizes[] = {8, 1000, 4096, 65536, 262144};
constexpr std::size_t largest = 262144;

class Ring {
 public:
  explicit Ring(Checker& checker) : checker_(checker), data_(checker, largest), words_(checker, word_bytes) {
    checker.fill(words_.data(), 0, word_bytes);
    checker.fill(data_.data(), 0, largest);
    checker.barrier();
    (void)checker.succeeds(gdrkit_shmem_stream_create(&stream_), "stream_create");
  }
  ~Ring() { (void)checker_.succeeds(gdrkit_shmem_stream_destroy(stream_), "stream_destroy"); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// PE 0's data passes all PEs and returns, without any CPU in between.
  void send_round(std::size_t size, std::uint64_t round) {
    const std::string what = cli::format("ring of %zu bytes, round %llu", size, static_cast<unsigned long long>(round));
    std::uint64_t* const arrived = words_.as<std::uint64_t>();
    const bool leads = checker_.pe() == 0;
    const std::vector<std::uint8_t> sent = pattern(size, round);
    const auto send = [&](const void* source) {
      (void)checker_.succeeds(
          gdrkit_shmem_put_signal_on_stream(data_.data(), source, size, arrived, round, GDRKIT_SHMEM_SIGNAL_SET,
                                            checker_.neighbour(1), stream_),
          what + ": put_signal_on_stream");
    };
    const auto wait = [&] {
      (void)checker_.succeeds(gdrkit_shmem_signal_wait_until_on_stream(arrived, GDRKIT_SHMEM_EQ, round, stream_),
                              what + ": signal_wait_until_on_stream");
    };
    if (leads) send(sent.data());
    wait();
    if (!leads) send(data_.data());
    (void)checker_.succeeds(gdrkit_shmem_quiet_on_stream(stream_), what + ": quiet_on_stream");
    std::vector<std::uint8_t> got(size);
    (void)checker_.succeeds(gdrkit_shmem_get_on_stream(got.data(), data_.data(), size, checker_.pe(), stream_),
                            what + ": get_on_stream");
    (void)checker_.succeeds(gdrkit_shmem_stream_synchronize(stream_), what + ": stream_synchronize");
    checker_.compare(&got, sent, what);
    checker_.barrier();
  }

 private:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  Checker& checker_;
  SymmetricMemory data_;
  SymmetricMemory words_;
  void* stream_ = nullptr;
};

}  // namespace

void check_streams(Checker& checker) {
  Ring ring(checker);
  std::uint64_t round = 0;
  for (const std::size_t size : sizes) {
    if (size > checker.options().largest_bytes) continue;
    for (int repeat = 0; repeat < 5; ++repeat) ring.send_round(size, ++round);
  }
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
