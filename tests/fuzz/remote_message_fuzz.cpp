// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fuzzes messages of an authentic PE of the job: the decoder and the code that handles messages. The tag is always
// valid, because PEs drop messages with a wrong tag.
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "fuzz_target.hpp"
#include "shmem/core/pe.hpp"
#include "shmem/remote/message.hpp"
#include "shmem/scale/simulated_job.hpp"

namespace {

using namespace gdrkit;
using shmem_impl::remote::RemoteMessage;
using shmem_impl::remote::RemoteMessageKind;

constexpr int n_pes = 4;
constexpr std::size_t header_bytes = sizeof(RemoteMessage);

/// PE 0 of a job whose other PEs this program simulates. It is recreated from time to time, because PE 0 keeps
/// the data of unfinished allgathers.
struct Victim {
  shmem_impl::tests::SimulatedJob job{n_pes};
  std::unique_ptr<shmem_impl::core::Pe> pe;
  std::uint64_t last_number[n_pes] = {};
  int inputs = 0;

  Victim() {
    shmem_impl::core::PeOptions options;
    options.n_pes = n_pes;
    options.limit = std::chrono::seconds(60);
    options.heap_bytes = std::uint64_t{1} << 20;
    options.heap_max_bytes = std::uint64_t{1} << 22;
    options.is_p2p_disabled = true;
    options.ucx_calls = &job.ucx_calls();
    options.remote_silence = std::chrono::hours(1);
    options.allgather = &shmem_impl::tests::SimulatedJob::allgather;
    auto started = shmem_impl::core::Pe::start(options);
    FUZZ_CHECK(started);
    pe = std::move(*started);
    for (int other = 1; other < n_pes; ++other) last_number[other] = job.received_from(other);
  }
};

Victim& victim() {
  static std::unique_ptr<Victim> one;
  if (one == nullptr || ++one->inputs > 20000) {
    one.reset();
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    one = std::make_unique<Victim>();
  }
  return *one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < header_bytes) return 0;
  RemoteMessage message;
  std::memcpy(static_cast<void*>(&message), data, header_bytes);
  const std::vector<std::uint8_t> bytes(data + header_bytes, data + size);
  Victim& one = victim();
  // Sets the fields that every message is checked for to valid values, so that most inputs reach the code after these
  // checks.
  message.from = 1 + static_cast<int>(static_cast<unsigned>(message.from) % (n_pes - 1));
  if (message.number % 8 != 0) message.number = one.last_number[message.from] + 1;
  std::vector<std::uint8_t> block(shmem_impl::remote::longest_header_bytes);
  block.resize(shmem_impl::remote::write_header(message, block.data()));
  block.insert(block.end(), bytes.begin(), bytes.end());
  const auto decoded = shmem_impl::remote::decode_message(block, {}, 0, n_pes);
  FUZZ_CHECK(decoded.has_value() == (bytes.size() <= shmem_impl::remote::longest_piece_bytes));
  (void)shmem_impl::remote::decode_message({data, size}, {}, 0, n_pes);  // arbitrary bytes
  if (!decoded) return 0;
  if (shmem_impl::remote::has_sound_fields(*decoded, n_pes)) {
    FUZZ_CHECK(message.kind >= RemoteMessageKind::put && message.kind <= shmem_impl::remote::last_kind);
    if (message.kind <= shmem_impl::remote::last_in_order) {
      FUZZ_CHECK(message.number != 0);
      if (message.number == one.last_number[message.from] + 1) ++one.last_number[message.from];
    }
  }
  one.job.send_raw(message, {bytes.begin(), bytes.end()});
  return 0;
}

std::vector<fuzz::Bytes> gdrkit::fuzz::seeds() {
  std::vector<Bytes> all;
  for (unsigned kind = 1; kind <= static_cast<unsigned>(shmem_impl::remote::last_kind); ++kind) {
    for (const std::size_t data_bytes : {std::size_t{0}, std::size_t{8}, std::size_t{300}}) {
      RemoteMessage message;
      message.kind = static_cast<RemoteMessageKind>(kind);
      message.word_bytes = 8;
      message.from = 1;
      message.number = 1;
      message.request = kind % 2;
      if (message.kind != RemoteMessageKind::put) message.size_bytes = data_bytes == 0 ? 8 : data_bytes;
      Bytes seed(header_bytes + data_bytes, 3);
      std::memcpy(seed.data(), &message, header_bytes);
      all.push_back(seed);
    }
  }
  return all;
}
