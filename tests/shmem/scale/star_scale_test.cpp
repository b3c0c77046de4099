// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The start of a job of up to 4096 PEs: a real centre and a real member, and all others as connections that this test
// serves by one thread.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_wire.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"
#include "tests/shmem/scale/counted_memory.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using gdrkit::tests::succeeded;

constexpr std::size_t part_bytes = 16;
constexpr int rounds = 3;
const secret::Key secret{};

/// A socket in the abstract namespace that is this test's alone.
struct TestSocket {
  sockaddr_un address{};
  socklen_t address_bytes = 0;

  base::UniqueFd listen() {
    base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    address.sun_family = AF_UNIX;
    address_bytes = sizeof(sa_family_t);  // Linux chooses a name
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), address_bytes), 0);
    address_bytes = sizeof address;
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &address_bytes), 0);
    EXPECT_EQ(::listen(socket.get(), 4096), 0);
    return socket;
  }
  [[nodiscard]] base::UniqueFd connect() const {
    base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), address_bytes), 0);
    return socket;
  }
};

bootstrap::StarGroup group_of(int position, int n_pes) {
  bootstrap::StarGroup group;
  group.position = position;
  group.pes.resize(static_cast<std::size_t>(n_pes));
  std::iota(group.pes.begin(), group.pes.end(), 0);
  group.n_pes = n_pes;
  group.secret = secret;
  group.where = "a test";
  group.limit = std::chrono::seconds(60);
  return group;
}

struct RealPe {
  std::int64_t bytes = 0;  ///< memory of its star after all steps, and of the last reply
  bool is_right = false;
  double seconds = 0;
};

/// Joins the others and gathers several times.
RealPe gather_as(base::Result<std::unique_ptr<bootstrap::Star>> star, int position, int n_pes) {
  RealPe end;
  EXPECT_TRUE(star) << star.error().text();
  if (!star) return end;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<char> all(static_cast<std::size_t>(n_pes) * part_bytes);
  std::vector<char> mine(part_bytes, static_cast<char>(position));
  end.is_right = true;
  for (int round = 0; round < rounds; ++round) {
    bootstrap::StarStep step;
    step.name = "numbers";
    step.mine = mine.data();
    step.size_bytes = part_bytes;
    step.all = all.data();
    end.is_right = succeeded((*star)->allgather(step)) && end.is_right;
    for (int pe = 0; pe < n_pes; ++pe) {
      end.is_right = end.is_right && all[static_cast<std::size_t>(pe) * part_bytes] == static_cast<char>(pe);
    }
  }
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / rounds;
  end.bytes = CountedMemory::of_thread;
  return end;
}

void write_all(int fd, const void* data, std::size_t size_bytes) {
  ASSERT_EQ(::send(fd, data, size_bytes, MSG_NOSIGNAL), static_cast<ssize_t>(size_bytes));
}

/// The members 2 to n_pes - 1, one after the other.
class SimulatedMembers {
 public:
  SimulatedMembers(const TestSocket& test_socket, int n_pes) : reply_(static_cast<std::size_t>(n_pes) * part_bytes) {
    for (int pe = 2; pe < n_pes; ++pe) {
      sockets_.push_back(test_socket.connect());
      bootstrap::Hello& hello = hellos_.emplace_back();
      std::memcpy(hello.magic, bootstrap::star_magic, sizeof hello.magic);
      hello.version = bootstrap::star_version;
      hello.pe = static_cast<std::uint32_t>(pe);
      hello.n_pes = static_cast<std::uint32_t>(n_pes);
      write_all(sockets_.back().get(), &hello, sizeof hello);
    }
  }
  void join() {
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      bootstrap::Challenge challenge;
      ASSERT_EQ(::recv(sockets_[i].get(), &challenge, sizeof challenge, MSG_WAITALL),
                static_cast<ssize_t>(sizeof challenge));
      codes_.emplace_back(secret, hellos_[i], challenge.nonce);
      const secret::Digest proof = bootstrap::proof_of_member(secret, hellos_[i], challenge.nonce);
      write_all(sockets_[i].get(), &proof, sizeof proof);
    }
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      expect_frame(i, bootstrap::FrameKind::welcome, 0);
      expect_frame(i, bootstrap::FrameKind::go, 0);
    }
  }
  void gather() {
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      bootstrap::Frame frame;
      frame.kind = bootstrap::FrameKind::part;
      frame.size_bytes = part_bytes;
      frame.set_step("numbers");
      const std::vector<char> mine(part_bytes, static_cast<char>(i + 2));
      write_all(sockets_[i].get(), &frame, sizeof frame);
      write_all(sockets_[i].get(), mine.data(), part_bytes);
      const secret::Tag code =
          codes_[i].to_centre.next(frame, {reinterpret_cast<const std::uint8_t*>(mine.data()), part_bytes});
      write_all(sockets_[i].get(), &code, sizeof code);
    }
    for (std::size_t i = 0; i < sockets_.size(); ++i) expect_frame(i, bootstrap::FrameKind::all, reply_.size());
  }

 private:
  void read_all(std::size_t i, void* data, std::size_t size_bytes) {
    if (size_bytes == 0) return;
    ASSERT_EQ(::recv(sockets_[i].get(), data, size_bytes, MSG_WAITALL), static_cast<ssize_t>(size_bytes));
  }
  void expect_frame(std::size_t i, bootstrap::FrameKind kind, std::size_t payload_bytes) {
    bootstrap::Frame frame;
    read_all(i, &frame, sizeof frame);
    ASSERT_EQ(frame.kind, kind);
    read_all(i, reply_.data(), payload_bytes);
    secret::Tag code{};
    read_all(i, &code, sizeof code);
    ASSERT_EQ(codes_[i].to_member.next(frame, {reinterpret_cast<const std::uint8_t*>(reply_.data()), payload_bytes}),
              code);
  }
  std::vector<base::UniqueFd> sockets_;
  std::vector<bootstrap::Hello> hellos_;
  std::vector<bootstrap::FrameCodes> codes_;
  std::vector<char> reply_;
};

struct StarMeasured {
  RealPe centre;
  RealPe member;
  std::size_t connections = 0;
  double seconds_to_join = 0;
};

StarMeasured measure_star(int n_pes) {
  StarMeasured measured;
  const std::size_t before = gdrkit::tests::count_descriptors();
  TestSocket test_socket;
  base::UniqueFd listener = test_socket.listen();
  const auto begin = std::chrono::steady_clock::now();
  std::thread centre([&] {
    measured.centre = gather_as(bootstrap::make_star_centre(std::move(listener), group_of(0, n_pes)), 0, n_pes);
  });
  std::thread member([&] {
    const auto connect = [&](const bootstrap::Deadline&) -> base::Result<base::UniqueFd> {
      return test_socket.connect();
    };
    measured.member = gather_as(bootstrap::make_star_member(connect, group_of(1, n_pes)), 1, n_pes);
  });
  SimulatedMembers others(test_socket, n_pes);
  others.join();
  measured.seconds_to_join = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Both ends of each connection are in this process; the listener is closed when all PEs have joined.
  measured.connections = (gdrkit::tests::count_descriptors() - before) / 2;
  for (int round = 0; round < rounds; ++round) others.gather();
  centre.join();
  member.join();
  return measured;
}

TEST(StarScale, MemoryAndConnectionsAreLinear) {
  constexpr int largest = 4096;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::vector<std::pair<int, StarMeasured>> all;
  std::printf("%6s %14s %14s %12s %14s %16s\n", "PEs", "centre, bytes", "member, bytes", "connections", "join, seconds",
              "gather, seconds");
  for (const int n_pes : {64, 512, largest}) {
    if (files.rlim_cur < static_cast<rlim_t>(2 * n_pes + 100)) {
      std::printf("%6d left out: this process may open %llu files only\n", n_pes,
                  static_cast<unsigned long long>(files.rlim_cur));
      continue;
    }
    const StarMeasured one = measure_star(n_pes);
    std::printf("%6d %14lld %14lld %12zu %14.3f %16.3f\n", n_pes, static_cast<long long>(one.centre.bytes),
                static_cast<long long>(one.member.bytes), one.connections, one.seconds_to_join, one.centre.seconds);
    EXPECT_TRUE(one.centre.is_right && one.member.is_right) << n_pes;
    EXPECT_EQ(one.connections, static_cast<std::size_t>(n_pes - 1)) << "one from each PE to the first";
    EXPECT_LE(one.centre.bytes, 600 * n_pes + 20'000) << n_pes;
    EXPECT_LE(one.member.bytes, 40 * n_pes + 20'000) << n_pes;
    all.emplace_back(n_pes, one);
  }
  ASSERT_FALSE(all.empty());
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
