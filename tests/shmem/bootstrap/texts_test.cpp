// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/pe_list.hpp"
#include "shmem/bootstrap/star_wire.hpp"
#include "shmem/bootstrap/tcp_address.hpp"
#include "shmem/bootstrap/token.hpp"
#include "support/results.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

using namespace std::chrono_literals;
using gdrkit::tests::failed;

TEST(PeList, StaysShortForAnyNumberOfPes) {
  EXPECT_EQ(pe_list_text({3}), "PE 3");
  EXPECT_EQ(pe_list_text({3, 4}), "PEs 3 and 4");
  EXPECT_EQ(pe_list_text({3, 5, 6, 7, 8, 9, 12}), "PEs 3, 5-9 and 12");
  std::vector<int> odd;
  for (int pe = 1; pe < 4096; pe += 2) odd.push_back(pe);
  EXPECT_EQ(pe_list_text(odd), "PEs 1, 3, 5, 7, 9, 11, 13, 15 and 2040 more");
}

TEST(Token, DiffersFromAllOtherTokens) {
  const Token token = make_token().value();
  EXPECT_TRUE(secret::are_equal(token, token));
  for (std::size_t bit = 0; bit < 8 * token.size(); ++bit) {
    Token other = token;
    other[bit / 8] = static_cast<unsigned char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(secret::are_equal(token, other));
  }
  EXPECT_FALSE(secret::are_equal(token, make_token().value()));
  EXPECT_EQ(to_hex(Token{0x0f, 0xa0}), "0fa00000000000000000000000000000");
  EXPECT_EQ(secret_of(secret::bytes_of("job 1")), secret_of(secret::bytes_of("job 1")));
  EXPECT_NE(secret_of(secret::bytes_of("job 1")), secret_of(secret::bytes_of("job 2")));
}

TEST(ErrnoOfPeer, IsAlwaysAValidErrno) {
  EXPECT_EQ(errno_of_peer(ENOMEM), ENOMEM);
  for (const std::int32_t number : {0, -1, -ENOMEM, 4096, INT32_MAX, INT32_MIN})
    EXPECT_EQ(errno_of_peer(number), EPROTO);
}

TEST(Deadline, ExpiresAfterItsDuration) {
  EXPECT_TRUE(Deadline(0ms).has_passed());
  EXPECT_TRUE(Deadline(-5ms).has_passed());
  EXPECT_FALSE(Deadline(1h).has_passed());
  EXPECT_FALSE(Deadline(std::chrono::milliseconds::max()).has_passed());
  EXPECT_EQ(Deadline(0ms).poll_ms(), 0);
  EXPECT_EQ(Deadline(10s).limit_text(), "10 s");
  EXPECT_EQ(Deadline(1500ms).limit_text(), "1500 ms");
}

TEST(TcpAddress, ResolvesBothFamilies) {
  EXPECT_EQ(resolve("127.0.0.1:4711").value().front().text(), "127.0.0.1:4711");
  EXPECT_EQ(resolve("[::1]:4711").value().front().text(), "[::1]:4711");
  for (const char* wrong : {"", "host", "host:", ":5", "host:0", "host:65536", "host:5x", "host:-1"}) {
    EXPECT_TRUE(failed(resolve(wrong), EINVAL)) << wrong;
  }
}

TEST(TcpAddress, ListsTheAvailableInterfaces) {
  EXPECT_TRUE(failed(address_of_interface("no-such-interface"), ENODEV, testing::HasSubstr("lo")));
  EXPECT_EQ(address_of_interface("lo").value().port(), 0);
}

TEST(TcpAddress, ConnectsOverIpV6) {
  auto loopback = resolve("[::1]:1").value().front();
  loopback.set_port(0);
  const auto listener = listen_at(loopback);
  if (!listener) GTEST_SKIP() << "no IPv6 loopback here: " << listener.error().text();
  const auto connected = connect_to({address_of(listener->get()).value()}, true, Deadline(10s));
  EXPECT_TRUE(connected) << connected.error().text();
}

TEST(TcpAddress, WaitsForALaterListener) {
  auto early = listen_at(address_of_interface("lo").value());
  const TcpAddress address = address_of(early->get()).value();
  early = base::UniqueFd();
  EXPECT_TRUE(failed(connect_to({address}, false, Deadline(100ms)), ETIMEDOUT, testing::HasSubstr(address.text())));
  EXPECT_TRUE(failed(connect_to({address}, true, Deadline(10s)), ECONNRESET));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::bootstrap
