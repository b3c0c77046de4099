// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// An attacker without the job's key connects to the UCX worker of a PE and sends messages as another PE. The PE drops
// them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "shmem/remote/message.hpp"
#include "support/process_resources.hpp"
#include "support/shmem_job.hpp"
#include "tests/shmem/remote/faulty_job.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

using platform::UcxCalls;
using tests::faulty_pe;
using tests::real_ucx;
using tests::texts_of_job;

/// The message with a tag of 0.
std::string block_of(const RemoteMessage& message, const std::string& data) {
  std::uint8_t header[longest_header_bytes] = {};
  const std::size_t size_bytes = write_header(message, header);
  return std::string(reinterpret_cast<const char*>(header), size_bytes) + data;
}

/// Delivers messages to the PE as UCX does: inside its progress function.
struct Attacker {
  struct Message {
    RemoteMessage head;
    std::string data;
    bool is_rendezvous = false;
  };
  std::mutex mutex;
  std::vector<Message> messages;
  std::atomic<int> delivered{0};
  platform::UcxMessageHandler handler;

  void send_raw(const RemoteMessage& head, const std::string& data, bool is_rendezvous = false) {
    const std::lock_guard lock(mutex);
    messages.push_back({head, data, is_rendezvous});
  }
  void deliver() {
    const std::lock_guard lock(mutex);
    for (const Message& message : messages) {
      const std::string block = block_of(message.head, message.data);
      platform::UcxMessageDetails details;
      if (message.is_rendezvous) details.attributes = platform::ucx_message_is_rendezvous;
      (void)handler.function(handler.argument, block.data(), block.size(), nullptr, 0, &details);
      ++delivered;
    }
    messages.clear();
  }
};

Attacker& attacker() {
  static Attacker one;
  return one;
}

class ForgedMessages : public tests::FaultyJob {};

TEST_F(ForgedMessages, DoNotChangeMemory) {
  faulty.worker_set_am_recv_handler = [](platform::UcxWorkerHandle* worker,
                                         const platform::UcxMessageHandler* handler) {
    attacker().handler = *handler;
    return real_ucx().worker_set_am_recv_handler(worker, handler);
  };
  faulty.worker_progress = [](platform::UcxWorkerHandle* worker) {
    attacker().deliver();
    return real_ucx().worker_progress(worker);
  };
  const auto texts = texts_of_job(faulty, transport::RemoteWay::staged, [](core::Pe& pe) {
    auto* const object = tests::zeroed<char>(pe, 64);
    ASSERT_TRUE(pe.barrier_all());
    std::uint64_t value = 0;
    if (pe.pe() == faulty_pe) {
      RemoteMessage forged;
      forged.from = 0;
      const auto send_forged = [&](RemoteMessageKind kind, const std::string& data) {
        forged.kind = kind;
        // One of these numbers is the next in order.
        for (forged.number = 1; forged.number < 400; ++forged.number) attacker().send_raw(forged, data);
      };
      forged.offset = reinterpret_cast<std::uint64_t>(object) - pe.gpu_code().state().heap_address;
      send_forged(RemoteMessageKind::put, "ATTACKER");
      forged.word_bytes = 8;
      forged.operand = 99;
      send_forged(RemoteMessageKind::update, "");
      forged.size_bytes = 8;
      for (forged.request = 1; forged.request < 50; ++forged.request) send_forged(RemoteMessageKind::data, "ATTACKER");
      forged.operand = UINT64_MAX;
      send_forged(RemoteMessageKind::acknowledge, "");
      forged.size_bytes = std::uint64_t{1} << 63;
      forged.compare = 0;
      send_forged(RemoteMessageKind::allgather, "x");
      forged.other = 0;
      send_forged(RemoteMessageKind::death, "");
      attacker().send_raw(forged, "", true);
      const int before = attacker().delivered;
      EXPECT_TRUE(pe.transfers().get(&value, object, sizeof value, 0, false));  // progresses UCX
      EXPECT_GT(attacker().delivered, before);
      EXPECT_TRUE(pe.transfers().get(&value, object, sizeof value, faulty_pe, false));
      EXPECT_EQ(value, 0u);
      EXPECT_EQ(pe.connections().remote()->first_dead(), -1);
    }
    EXPECT_TRUE(pe.barrier_all());
    value = 7;
    EXPECT_TRUE(pe.transfers().put(object, &value, sizeof value, 1 - pe.pe(), false));
    EXPECT_TRUE(pe.barrier_all());
    value = 0;
    EXPECT_TRUE(pe.transfers().get(&value, object, sizeof value, pe.pe(), false));
    EXPECT_EQ(value, 7u);
    EXPECT_TRUE(pe.barrier_all());
  });
  EXPECT_THAT(texts, ::testing::Each("started"));
}

/// The TCP ports of the loopback on which this process listens.
std::vector<int> own_ports() {
  const auto sockets = tests::own_socket_inodes();
  std::vector<int> ports;
  std::ifstream table("/proc/self/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string number, local, remote, state, skipped, inode;
    fields >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) fields >> skipped;
    fields >> inode;
    if (state == "0A" && sockets.contains(inode)) ports.push_back(std::stoi(local.substr(9), nullptr, 16));
  }
  return ports;
}

/// Runs the program, as another user if this process is root, and returns its output.
std::string send_as_other_user(int port, const std::vector<std::string>& messages) {
  std::string digits;
  for (const std::string& message : messages) {
    digits += ' ';
    for (const char byte : message) {
      const char* const hex = "0123456789abcdef";
      digits += {hex[static_cast<unsigned char>(byte) >> 4], hex[byte & 15]};
    }
  }
  const std::string directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  // Opened here, because the other user may not be able to enter the directory.
  const base::UniqueFd program(::open((directory + "/shmem_ucx_attacker").c_str(), O_RDONLY));
  if (!program) return "not built";
  const std::string as_other = ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  const std::string command = as_other + "timeout 20 /proc/self/fd/" + std::to_string(program.get()) + " " +
                              std::to_string(port) + digits + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

TEST_F(ForgedMessages, FromAnotherUserDoNotChangeMemory) {
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  static std::atomic<int> arrived{0};
  static platform::UcxMessageHandler inner;
  faulty.worker_set_am_recv_handler = [](platform::UcxWorkerHandle* worker,
                                         const platform::UcxMessageHandler* handler) {
    inner = *handler;
    platform::UcxMessageHandler counting = *handler;
    counting.function = [](void* argument, const void* header, std::size_t header_bytes, void* data,
                           std::size_t size_bytes, const platform::UcxMessageDetails* details) {
      const std::string text(static_cast<const char*>(header), header_bytes);
      if (text.find("ATTACKER") != std::string::npos) ++arrived;
      return inner.function(argument, header, header_bytes, data, size_bytes, details);
    };
    return real_ucx().worker_set_am_recv_handler(worker, &counting);
  };
  std::string why_not;
  const auto texts = texts_of_job(faulty, transport::RemoteWay::staged, [&](core::Pe& pe) {
    auto* const object = tests::zeroed<char>(pe, 64);
    ASSERT_TRUE(pe.barrier_all());
    std::uint64_t value = 0;
    if (pe.pe() == faulty_pe) {
      RemoteMessage forged;
      forged.kind = RemoteMessageKind::put;
      forged.offset = reinterpret_cast<std::uint64_t>(object) - pe.gpu_code().state().heap_address;
      std::vector<std::string> messages;
      for (forged.number = 1; forged.number <= 100; ++forged.number) {
        messages.push_back(block_of(forged, "ATTACKER"));
      }
      for (const int port : own_ports()) why_not = send_as_other_user(port, messages);
      for (int i = 0; i < 100 && arrived < 100; ++i) {
        EXPECT_TRUE(pe.transfers().get(&value, object, sizeof value, 0, false));  // progresses UCX
        ::usleep(10'000);
      }
      EXPECT_TRUE(pe.transfers().get(&value, object, sizeof value, faulty_pe, false));
      EXPECT_EQ(value, 0u);
      EXPECT_EQ(pe.connections().remote()->first_dead(), -1);
    }
    EXPECT_TRUE(pe.barrier_all());
  });
  ::unsetenv("UCX_NET_DEVICES");
  EXPECT_THAT(texts, ::testing::Each("started"));
  if (why_not == "not built") GTEST_SKIP() << "the attacker needs UCX's headers (libucx-dev)";
  EXPECT_EQ(arrived, 100) << why_not;
}

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
