// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A stranger connects to the UCX worker of a PE and speaks as another PE, without the job's key: nothing happens.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "shmem/remote/message.hpp"
#include "support/process_resources.hpp"
#include "support/shmem_job.hpp"
#include "tests/shmem/remote/faulty_job.hpp"

namespace gdrkit::shmem {
namespace {

using platform::UcxCalls;
using tests::faulty_pe;
using tests::n_pes;
using tests::texts_of_job;

/// Gives messages to the PE as UCX does: inside its progress.
struct Stranger {
  struct Message {
    RemoteMessage head;
    std::string data;
    bool is_rendezvous = false;
  };
  std::mutex mutex;
  std::vector<Message> messages;
  std::atomic<int> delivered{0};
  platform::UcxMessageHandler handler;

  void say(const RemoteMessage& head, const std::string& data, bool is_rendezvous = false) {
    const std::lock_guard lock(mutex);
    messages.push_back({head, data, is_rendezvous});
  }
  void deliver() {
    const std::lock_guard lock(mutex);
    for (const Message& message : messages) {
      std::string block(reinterpret_cast<const char*>(&message.head), sizeof message.head);
      block += message.data;
      platform::UcxMessageDetails details;
      if (message.is_rendezvous) details.attributes = platform::ucx_message_is_rendezvous;
      (void)handler.function(handler.argument, block.data(), block.size(), nullptr, 0, &details);
      ++delivered;
    }
    messages.clear();
  }
};

Stranger& stranger() {
  static Stranger one;
  return one;
}

class ForgedMessages : public tests::FaultyJob {};

TEST_F(ForgedMessages, ChangeNothing) {
  static const UcxCalls real = **platform::ucx_calls();
  faulty.worker_set_am_recv_handler = [](platform::UcxWorkerHandle* worker,
                                         const platform::UcxMessageHandler* handler) {
    stranger().handler = *handler;
    return real.worker_set_am_recv_handler(worker, handler);
  };
  faulty.worker_progress = [](platform::UcxWorkerHandle* worker) {
    stranger().deliver();
    return real.worker_progress(worker);
  };
  const auto texts = texts_of_job(faulty, RemoteWay::staged, [](Pe& pe) {
    auto object = pe.allocate(64, 1, true);
    ASSERT_TRUE(object) << object.error().text();
    ASSERT_TRUE(pe.barrier_all());
    std::uint64_t value = 0;
    if (pe.pe() == faulty_pe) {
      RemoteMessage forged;
      forged.from = 0;
      const auto say = [&](RemoteMessageKind kind, const std::string& data) {
        forged.kind = kind;
        // Whatever number comes next: one of these is it.
        for (forged.number = 1; forged.number < 400; ++forged.number) stranger().say(forged, data);
      };
      forged.offset = reinterpret_cast<std::uint64_t>(*object) - pe.device_state().heap_address;
      forged.size_bytes = 8;
      say(RemoteMessageKind::put, "STRANGER");
      forged.word_bytes = 8;
      forged.operand = 99;
      say(RemoteMessageKind::update, "");
      for (forged.request = 1; forged.request < 50; ++forged.request) say(RemoteMessageKind::data, "STRANGER");
      forged.operand = UINT64_MAX;
      say(RemoteMessageKind::acknowledge, "");
      forged.size_bytes = std::uint64_t{1} << 63;
      forged.compare = 0;
      say(RemoteMessageKind::say, "x");
      forged.other = 0;
      say(RemoteMessageKind::death, "");
      stranger().say(forged, "", true);
      const int before = stranger().delivered;
      EXPECT_TRUE(pe.get(&value, *object, sizeof value, 0, false));  // moves the traffic
      EXPECT_GT(stranger().delivered, before);
      EXPECT_TRUE(pe.get(&value, *object, sizeof value, faulty_pe, false));
      EXPECT_EQ(value, 0u);
      EXPECT_EQ(pe.remote()->first_dead(), -1);
    }
    EXPECT_TRUE(pe.barrier_all());
    value = 7;
    EXPECT_TRUE(pe.put(*object, &value, sizeof value, 1 - pe.pe(), false));
    EXPECT_TRUE(pe.barrier_all());
    value = 0;
    EXPECT_TRUE(pe.get(&value, *object, sizeof value, pe.pe(), false));
    EXPECT_EQ(value, 7u);
    EXPECT_TRUE(pe.barrier_all());
  });
  EXPECT_EQ(texts, std::vector<std::string>(n_pes, "started"));
}

}  // namespace
}  // namespace gdrkit::shmem
