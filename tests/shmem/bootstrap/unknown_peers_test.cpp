// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Connections to PE 0 from programs that are not PEs of the job.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>

#include "shmem/bootstrap/socket_io.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_wire.hpp"
#include "shmem/bootstrap/tcp_address.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

/// A job whose address and secret the test can read.
struct OpenJob {
  base::UniqueFd listener;
  bootstrap::TcpAddress address;
  bootstrap::StarGroup group;

  static OpenJob make(int n_pes, std::chrono::milliseconds limit) {
    OpenJob job;
    auto everywhere = bootstrap::listen_at(bootstrap::address_of_interface("lo").value());
    job.listener = std::move(everywhere.value());
    job.address = bootstrap::address_of(job.listener.get()).value();
    for (int pe = 0; pe < n_pes; ++pe) job.group.pes.push_back(pe);
    job.group.n_pes = n_pes;
    job.group.secret = bootstrap::secret_of(bootstrap::make_token().value());
    job.group.where = job.address.text();
    job.group.limit = limit;
    return job;
  }

  /// Runs PE `pe` through one step.
  std::string run(int pe) {
    bootstrap::StarGroup own = group;
    own.position = pe;
    const auto connect = [&](const bootstrap::Deadline& deadline) {
      return bootstrap::connect_to({address}, true, deadline);
    };
    auto star =
        pe == 0 ? bootstrap::make_star_centre(std::move(listener), own) : bootstrap::make_star_member(connect, own);
    if (!star) return end_of(star);
    std::vector<int> all(group.pes.size());
    bootstrap::StarStep step{"numbers", &pe, sizeof pe, all.data()};
    auto gathered = (*star)->allgather(step);
    return gathered && all != group.pes ? "wrong numbers" : end_of(gathered);
  }

  base::UniqueFd connect_unknown_peer() {
    return std::move(bootstrap::connect_to({address}, true, bootstrap::Deadline(10s)).value());
  }

  bootstrap::Hello hello(std::uint32_t pe) const {
    bootstrap::Hello words;
    std::memcpy(words.magic, bootstrap::star_magic, sizeof words.magic);
    words.version = bootstrap::star_version;
    words.pe = pe;
    words.n_pes = static_cast<std::uint32_t>(group.pes.size());
    words.nonce = bootstrap::make_token().value();
    return words;
  }
};

void send_raw(const base::UniqueFd& socket, const void* words, std::size_t size) {
  static_cast<void>(::send(socket.get(), words, size, MSG_NOSIGNAL));
}

/// Receives until the other end closes the connection or `size` bytes have arrived.
std::string receive_raw(const base::UniqueFd& socket, std::size_t size) {
  ::fcntl(socket.get(), F_SETFL, 0);
  std::string words(size, '\0');
  const ssize_t got = ::recv(socket.get(), words.data(), size, MSG_WAITALL);
  words.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return words;
}

bootstrap::Challenge challenge_on(const base::UniqueFd& socket) {
  bootstrap::Challenge challenge;
  const std::string words = receive_raw(socket, sizeof challenge);
  EXPECT_EQ(words.size(), sizeof challenge);
  std::memcpy(&challenge, words.data(), words.size());
  return challenge;
}

/// Sends the proof that a member sends after its hello.
void prove(const base::UniqueFd& socket, const secret::Key& secret, const bootstrap::Hello& hello) {
  const secret::Digest proof = bootstrap::proof_of_member(secret, hello, challenge_on(socket).nonce);
  send_raw(socket, &proof, sizeof proof);
}

TEST(UnknownPeers, DoNotInterruptAJob) {
  OpenJob job = OpenJob::make(3, long_limit);
  const base::UniqueFd silent = job.connect_unknown_peer();
  const base::UniqueFd half = job.connect_unknown_peer();
  const bootstrap::Hello right = job.hello(1);
  send_raw(half, &right, sizeof right / 2);
  { const base::UniqueFd leaving = job.connect_unknown_peer(); }
  const base::UniqueFd talking = job.connect_unknown_peer();
  send_raw(talking, "GET / HTTP/1.1\r\nHost: gpu\r\nAccept: */*\r\n\r\n", 43);
  EXPECT_THAT(run_threads(3, [&](int pe) { return job.run(pe); }), Each(std::string()));
}

/// Connects as PE 1, sends `hello` and runs PE 0 of the job. Meanwhile, `as_member` uses the connection.
std::string run_with_member(OpenJob& job, const bootstrap::Hello& hello,
                            const std::function<void(const base::UniqueFd& member)>& as_member) {
  const base::UniqueFd member = job.connect_unknown_peer();
  send_raw(member, &hello, sizeof hello);
  std::thread using_connection([&] { as_member(member); });
  const std::string end = job.run(0);
  using_connection.join();
  return end;
}

TEST(UnknownPeers, SendsNothingToPesWithoutTheSecret) {
  using bootstrap::Challenge;
  using bootstrap::Hello;
  const struct {
    const char* name;
    secret::Digest (*make)(const secret::Key& secret, Hello hello, const Challenge& challenge);
  } proofs[] = {{"wrong",
                 [](const secret::Key& secret, Hello hello, const Challenge& challenge) {
                   secret::Digest proof = bootstrap::proof_of_member(secret, hello, challenge.nonce);
                   proof[31] ^= 1;
                   return proof;
                 }},
                {"reflected", [](const secret::Key&, Hello, const Challenge& challenge) { return challenge.proof; }},
                {"for another PE",
                 [](const secret::Key& secret, Hello hello, const Challenge& challenge) {
                   hello.pe = 0;
                   return bootstrap::proof_of_member(secret, hello, challenge.nonce);
                 }},
                {"of an earlier connection", [](const secret::Key& secret, Hello hello, const Challenge&) {
                   return bootstrap::proof_of_member(secret, hello, bootstrap::Token{});
                 }}};
  for (const auto& proof : proofs) {
    OpenJob job = OpenJob::make(2, long_limit);
    const Hello hello = job.hello(1);
    const auto end = run_with_member(job, hello, [&](const base::UniqueFd& unknown_peer) {
      const secret::Digest sent = proof.make(job.group.secret, hello, challenge_on(unknown_peer));
      send_raw(unknown_peer, &sent, sizeof sent);
      EXPECT_EQ(receive_raw(unknown_peer, 1), "") << proof.name;
      EXPECT_EQ(job.run(1), "") << "the job waits for the real PE 1";
    });
    EXPECT_EQ(end, "") << proof.name;
  }
}

TEST(UnknownPeers, AcceptsPesWithTheSecret) {
  OpenJob job = OpenJob::make(2, 1s);
  const bootstrap::Hello hello = job.hello(1);
  const auto end = run_with_member(job, hello, [&](const base::UniqueFd& member) {
    prove(member, job.group.secret, hello);
    bootstrap::Frame frame;
    const std::string words = receive_raw(member, sizeof frame);
    ASSERT_EQ(words.size(), sizeof frame);
    std::memcpy(&frame, words.data(), sizeof frame);
    EXPECT_EQ(frame.kind, bootstrap::FrameKind::welcome);
  });
  EXPECT_THAT(end, HasSubstr("PE 1"));  // PE 1 sends nothing after the proof
}

TEST(UnknownPeers, PesConnectDespiteManyForeignConnections) {
  OpenJob job = OpenJob::make(2, long_limit);
  std::vector<base::UniqueFd> flood;
  for (int i = 0; i < 300; ++i) flood.push_back(job.connect_unknown_peer());
  EXPECT_THAT(run_threads(2, [&](int pe) { return job.run(pe); }), Each(std::string()));
}

TEST(UnknownPeers, RandomBytesDoNotInterruptAJob) {
  OpenJob job = OpenJob::make(2, long_limit);
  std::mt19937 random(17);
  std::vector<base::UniqueFd> unknown_peers;
  for (int i = 0; i < 50; ++i) {
    char bytes[200];
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 2 == 0) std::memcpy(bytes, bootstrap::star_magic, sizeof bootstrap::star_magic);
    unknown_peers.push_back(job.connect_unknown_peer());
    send_raw(unknown_peers.back(), bytes, sizeof bytes);
  }
  EXPECT_THAT(run_threads(2, [&](int pe) { return job.run(pe); }), Each(std::string()));
}

TEST(UnknownPeers, RejectsAPeWithAnotherToken) {
  OpenJob job = OpenJob::make(2, 300ms);
  OpenJob other = OpenJob::make(2, 300ms);
  other.address = job.address;
  other.group.where = job.group.where;
  const auto ends = run_threads(2, [&](int pe) { return pe == 0 ? job.run(0) : other.run(1); });
  EXPECT_THAT(ends[0], failed_with(ETIMEDOUT, "the job of 2 PEs: PE 1 did not connect"));
  // PE 0 times out at about the same time.
  EXPECT_THAT(ends[1], AllOf(HasSubstr(job.address.text()), AnyOf(failed_with(ETIMEDOUT), failed_with(ECONNRESET))));
}

TEST(UnknownPeers, ReportsAPeOfAnotherRelease) {
  OpenJob job = OpenJob::make(2, long_limit);
  bootstrap::Hello hello = job.hello(1);
  hello.version = bootstrap::star_version + 1;
  const auto end =
      run_with_member(job, hello, [&](const base::UniqueFd& member) { prove(member, job.group.secret, hello); });
  EXPECT_THAT(end, failed_with(EPROTO, "use one release"));
}

TEST(UnknownPeers, ReportsAPeThatSendsInvalidData) {
  OpenJob job = OpenJob::make(2, long_limit);
  const bootstrap::Hello hello = job.hello(1);
  const auto end = run_with_member(job, hello, [&](const base::UniqueFd& member) {
    prove(member, job.group.secret, hello);
    // Sent after the welcome and the go, so that the bytes belong to the step.
    static_cast<void>(receive_raw(member, 2 * (sizeof(bootstrap::Frame) + sizeof(secret::Tag))));
    const std::string nonsense(sizeof(bootstrap::Frame), 'x');
    send_raw(member, nonsense.data(), nonsense.size());
  });
  EXPECT_THAT(end, failed_with(EPROTO, "PE 1 sent an invalid message"));
}

/// Relays the connection of PE 1 of a job of two. `change` may change the bytes that the relay passes on; `done` bytes
/// have gone the same way before.
using Change = std::function<void(bool is_to_member, std::size_t done, std::string* words)>;
std::vector<std::string> run_through_a_relay(std::chrono::milliseconds limit, const Change& change) {
  OpenJob job = OpenJob::make(2, limit);
  OpenJob relay = OpenJob::make(2, limit);
  OpenJob behind;
  behind.address = relay.address;
  behind.group = job.group;
  std::thread relaying([&] {
    ASSERT_EQ(bootstrap::wait_for(relay.listener.get(), POLLIN, bootstrap::Deadline(10s)), 0);
    const base::UniqueFd member(::accept4(relay.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const base::UniqueFd centre = job.connect_unknown_peer();
    std::size_t done[2] = {0, 0};
    for (;;) {
      pollfd entries[2] = {{centre.get(), POLLIN, 0}, {member.get(), POLLIN, 0}};
      if (::poll(entries, 2, 10'000) <= 0) return;
      for (const std::size_t way : {0u, 1u}) {
        if (entries[way].revents == 0) continue;
        std::string words(4096, '\0');
        const ssize_t got = ::recv(entries[way].fd, words.data(), words.size(), 0);
        if (got <= 0) return;
        words.resize(static_cast<std::size_t>(got));
        change(way == 0, done[way], &words);
        done[way] += static_cast<std::size_t>(got);
        send_raw(way == 0 ? member : centre, words.data(), words.size());
      }
    }
  });
  auto ends = run_threads(2, [&](int pe) { return pe == 0 ? job.run(0) : behind.run(1); });
  relaying.join();
  return ends;
}

TEST(UnknownPeers, DetectsDataChangedByARelay) {
  EXPECT_THAT(run_through_a_relay(10s, [](bool, std::size_t, std::string*) {}), Each(std::string()));
  constexpr std::size_t code_bytes = sizeof(secret::Tag);
  constexpr std::size_t frame_bytes = sizeof(bootstrap::Frame);
  constexpr std::size_t to_member = sizeof(bootstrap::Challenge);
  constexpr std::size_t to_centre = sizeof(bootstrap::Hello) + sizeof(secret::Digest);
  const struct {
    bool is_to_member;
    std::size_t begin, end;
  } spans[] = {{true, to_member, to_member + 3 * (frame_bytes + code_bytes) + 2 * sizeof(int)},
               {false, to_centre, to_centre + frame_bytes + sizeof(int) + code_bytes}};
  for (const auto& span : spans) {
    for (std::size_t byte = span.begin; byte < span.end; byte += 3) {
      const auto flip = [&](bool is_to_member, std::size_t done, std::string* words) {
        if (is_to_member != span.is_to_member || byte < done || byte >= done + words->size()) return;
        (*words)[byte - done] = static_cast<char>((*words)[byte - done] ^ 4);
      };
      const auto ends = run_through_a_relay(200ms, flip);
      EXPECT_NE(ends[span.is_to_member ? 1 : 0], "")
          << "byte " << byte << (span.is_to_member ? " to PE 1" : " to PE 0");
      EXPECT_THAT(ends, Each(Not(HasSubstr("wrong numbers")))) << "byte " << byte;
    }
  }
}

TEST(UnknownPeers, DoesNotPrintTextOfARelay) {
  const auto fail = [](bool is_to_member, std::size_t done, std::string* words) {
    if (!is_to_member || done < sizeof(bootstrap::Challenge)) return;
    const std::string text = "owned";
    bootstrap::Frame frame;
    frame.kind = bootstrap::FrameKind::failure;
    frame.error = EPERM;
    frame.size_bytes = text.size();
    words->assign(reinterpret_cast<const char*>(&frame), sizeof frame);
    *words += text + std::string(sizeof(secret::Tag), '\0');
  };
  const std::string end = run_through_a_relay(1s, fail)[1];
  EXPECT_THAT(end, AllOf(failed_with(EPROTO, "wrong authentication code"), Not(HasSubstr("owned"))));
}

/// Another program may hold PE 0's address and send nothing, or invalid data.
TEST(UnknownPeers, PesTimeOutIfAnotherProgramHoldsPeZerosPort) {
  for (const bool is_silent : {true, false}) {
    OpenJob job = OpenJob::make(2, 300ms);
    std::atomic<bool> is_done{false};
    std::thread holder([&] {
      std::vector<base::UniqueFd> accepted;
      while (!is_done) {
        base::UniqueFd socket(::accept4(job.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket) std::this_thread::sleep_for(5ms);
        if (!socket || is_silent) {
          if (socket) accepted.push_back(std::move(socket));
          continue;
        }
        const std::string words(100, 'z');
        send_raw(socket, words.data(), words.size());
      }
    });
    const auto end = job.run(1);
    is_done = true;
    holder.join();
    EXPECT_THAT(end, failed_with(ETIMEDOUT, "did not authenticate as PE 0 within"));
  }
}

/// Another program binds PE 0's port before PE 0 does.
TEST(UnknownPeers, ProgramOnPeZerosPortReceivesNoSecret) {
  OpenJob job = OpenJob::make(2, 1s);
  std::string received;
  std::thread holder([&] {
    base::UniqueFd socket;
    while (!socket) socket = base::UniqueFd(::accept4(job.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    received = receive_raw(socket, sizeof(bootstrap::Hello));
    bootstrap::Challenge challenge;
    std::memcpy(challenge.magic, bootstrap::star_magic, sizeof challenge.magic);
    send_raw(socket, &challenge, sizeof challenge);
    bootstrap::Frame frame;
    frame.kind = bootstrap::FrameKind::failure;
    frame.error = -5;
    const std::string text = "\x1b]0;owned\x07";
    frame.size_bytes = text.size();
    send_raw(socket, &frame, sizeof frame);
    send_raw(socket, text.data(), text.size());
    received += receive_raw(socket, 1000);
    job.listener = base::UniqueFd();
  });
  const std::string end = job.run(1);
  holder.join();
  EXPECT_THAT(end, Not(HasSubstr("owned")));
  EXPECT_EQ(received.size(), sizeof(bootstrap::Hello))
      << "PE 1 sent its proof to a program that did not prove the secret";
  const std::string secret(job.group.secret.begin(), job.group.secret.end());
  EXPECT_THAT(received, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
