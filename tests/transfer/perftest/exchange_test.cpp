// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The exchange, byte for byte as recorded between two ends of perftest 6.06.
#include "transfer/perftest/exchange.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "cli/interface/exit_code.hpp"
#include "support/test_thread.hpp"
#include "transfer/perftest/perftest_wire.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string seen(
    "0000:0001:000011:ada76d:000002e7:000055f7cb2fb000:fe:80:00:00:00:00:00:00:5c:2b:f4:ff:fe:1e:9c:ec:00000000:\0",
    108);

TEST(PairAddress, IsReadAndWrittenLikePerftest) {
  PairAddress address;
  ASSERT_TRUE(parse_pair_address(seen, true, &address));
  EXPECT_EQ(address.number, 0x11U);
  EXPECT_EQ(address.psn, 0xada76dU);
  EXPECT_EQ(address.rkey, 0x2e7U);
  EXPECT_EQ(address.address, 0x55f7cb2fb000U);
  EXPECT_EQ(address.gid.bytes[15], 0xec);
  EXPECT_EQ(text_of(address), seen);
  address.has_gid = false;
  EXPECT_EQ(text_of(address).size(), 59U);
  EXPECT_TRUE(parse_pair_address(text_of(address), false, &address));
}

TEST(PairAddress, RejectsOtherText) {
  PairAddress address;
  EXPECT_FALSE(parse_pair_address("", true, &address));
  EXPECT_FALSE(parse_pair_address(seen.substr(0, 50), true, &address));
  EXPECT_FALSE(parse_pair_address(std::string(108, 'x'), true, &address));
}

const std::string version("6.06\0\0\0\0\0\0\0\0\0\0\0\0", 16);
const std::string own_version("6.06\0gdrkit 1\0\0\0", 16);
const std::string sizes("\0\0\x10\0\0\0\0@", 8);

/// An Exchange with the test as its client, over a loopback connection.
class ExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size_bytes = sizeof any;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&any), &size_bytes), 0);
    client_ = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(client_, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    listener_ = listener;
  }
  /// The server identifies this client by its first 16 bytes.
  void send_hello(const std::string& bytes) {
    send(bytes);
    exchange_.emplace(listen_by_tcp(0, listener_, 1s));
  }
  void handshake() {
    send_hello(version + sizes);
    exchange_->begin();
    EXPECT_EQ(receive(24), own_version + sizes);
  }
  void TearDown() override {
    exchange_.reset();
    if (client_ >= 0) ::close(client_);
  }
  void send(const std::string& bytes) const {
    ASSERT_EQ(::send(client_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] std::string receive(std::size_t size_bytes) const {
    std::string bytes(size_bytes, '\0');
    EXPECT_EQ(::recv(client_, bytes.data(), size_bytes, MSG_WAITALL), static_cast<ssize_t>(size_bytes));
    return bytes;
  }

  int client_ = -1;
  int listener_ = -1;
  std::optional<Exchange> exchange_;
};

TEST_F(ExchangeTest, StartsLikePerftest) {
  handshake();
  EXPECT_FALSE(exchange_->is_own());
  EXPECT_EQ(exchange_->version(), "6.06");
  send(std::string("3\0", 2));
  EXPECT_EQ(exchange_->swap_mtu(5), 3);
  EXPECT_EQ(receive(2), std::string("5\0", 2));
}

TEST_F(ExchangeTest, SwapsResultsLikePerftest) {
  handshake();
  send(std::string("\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\xc8@D\x1d\x80h\xf9o\xa1@52z\xad\xac\x6c\x31?v:\x13g\xd0\x9a\x14",
                   40));
  const SharedResult result = exchange_->swap(SharedResult{4096, 200, 1, 2, 3});
  EXPECT_EQ(result.size_bytes, 4096U);
  EXPECT_EQ(result.iterations, 200U);
  EXPECT_NEAR(result.peak, 40.23, 0.01);
  EXPECT_NEAR(result.average, 21.20, 0.01);
  EXPECT_NEAR(result.rate, 0.005426, 1e-6);
  EXPECT_EQ(receive(40).substr(0, 24), std::string("\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\xc8?\xf0\0\0\0\0\0\0", 24));
}

TEST_F(ExchangeTest, RecognizesGdrkit) {
  send_hello(own_version);
  const tests::TestThread client([this](const std::atomic<bool>&) { send(sizes); });
  exchange_->begin();
  EXPECT_TRUE(exchange_->is_own());
}

TEST_F(ExchangeTest, ReportsAPeerThatExited) {
  send_hello(version);
  ::close(std::exchange(client_, -1));
  EXPECT_THAT([this] { exchange_->begin(); },
              ThrowsMessage<cli::Failure>("gdrkit perftest: client 127.0.0.1 has ended the connection during 'exchange "
                                          "of page sizes'; see the error message of the client"));
  EXPECT_THAT([this] { (void)exchange_->has_message("x"); },
              ThrowsMessage<cli::Failure>(HasSubstr("ended the connection during 'x'")));
}

TEST_F(ExchangeTest, ReportsASilentPeer) {
  send_hello(version + sizes.substr(0, 2));
  EXPECT_THAT(
      [this] { exchange_->begin(); },
      ThrowsMessage<cli::Failure>(HasSubstr("client 127.0.0.1 sent nothing for 1 s during 'exchange of page sizes'")));
}

TEST_F(ExchangeTest, RejectsInvalidMessages) {
  handshake();
  send(std::string("9\0", 2));
  EXPECT_THAT([this] { (void)exchange_->swap_mtu(5); }, ThrowsMessage<cli::Failure>(HasSubstr("an invalid MTU")));
  send(std::string(108, 'x'));
  PairAddress own;
  own.has_gid = true;
  EXPECT_THAT([&] { (void)exchange_->swap(own, "exchange of addresses"); },
              ThrowsMessage<cli::Failure>(HasSubstr("invalid queue pair address")));
}

TEST(Exchange, ReportsThatNoServerIsListening) {
  EXPECT_THAT([] { (void)connect_by_tcp("127.0.0.1", 1, false, 1s); },
              ThrowsMessage<cli::Failure>("gdrkit perftest: cannot connect to 127.0.0.1, TCP port 1: Connection "
                                          "refused; start the server first, with the same -p"));
}

}  // namespace
}  // namespace gdrkit::transfer::perftest
