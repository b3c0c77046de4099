// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Forks and process deaths beyond GDRCopy's list, and leaks.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "measure/sanity/fixture.hpp"
#include "measure/sanity/helper_process.hpp"

namespace gdrkit::measure::sanity {
namespace {

int open_descriptors() {
  int count = 0;
  DIR* directory = ::opendir("/proc/self/fd");
  SANITY_CHECK(directory != nullptr, "cannot list this process's descriptors");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

int mapped_regions() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

/// Inherited handles: only closing a context may succeed. Other calls fail with any errno, and nothing crashes.
void check_child_is_refused(gdr_t context, gdr_mh_t handle, std::uint8_t* bytes, std::uint64_t address) {
  const auto is_refusal = [](int result) { return result == EACCES || result == EINVAL; };
  gdr_mh_t out{};
  void* mapping = nullptr;
  gdr_info_t info{};
  int value = 0;
  std::uint8_t byte = 0;
  SANITY_CHECK(is_refusal(gdr_pin_buffer(context, address, two_pages, 0, 0, &out)), "a child pins");
  SANITY_CHECK(is_refusal(gdr_map(context, handle, &mapping, two_pages)), "a child maps");
  SANITY_CHECK(is_refusal(gdr_get_info(context, handle, &info)), "a child calls gdr_get_info");
  SANITY_CHECK(is_refusal(gdr_get_callback_flag(context, handle, &value)), "a child reads the callback flag");
  SANITY_CHECK(is_refusal(gdr_copy_to_mapping(handle, bytes, &byte, 1)), "a child writes");
  SANITY_CHECK(is_refusal(gdr_copy_from_mapping(handle, &byte, bytes, 1)), "a child reads");
  SANITY_CHECK(is_refusal(gdr_unmap(context, handle, bytes, two_pages)), "a child unmaps");
  SANITY_CHECK(is_refusal(gdr_unpin_buffer(context, handle)), "a child unpins");
  SANITY_CHECK(is_refusal(gdr_close(context)), "a child closes a context with pins");
  SANITY_CHECK(out.h == 0 && mapping == nullptr, "a failed call set its output");
}

}  // namespace

void fork_calls_of_the_child(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, two_pages);
  const Bytes content = pattern(two_pages, 1);
  write_device(device.get(), memory.address(), content);
  Context context;
  const gdr_mh_t handle = pin(context, memory.address(), two_pages);
  std::uint8_t* bytes = map(context, handle, two_pages);
  for (int count = 0; count < 3; ++count) {
    HelperProcess child([&](Channel*) {
      check_child_is_refused(context, handle, bytes, memory.address());
      // A grandchild has no access either.
      HelperProcess grandchild([&](Channel*) {
        check_child_is_refused(context, handle, bytes, memory.address());
        SANITY_CHECK(load_faults(bytes), "a grandchild reads the mapping");
      });
      grandchild.wait();
    });
    child.wait();
  }
  Bytes seen(two_pages);
  SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), bytes, seen.size()), 0);
  SANITY_CHECK(seen == content, "the parent's mapping changed");
  SANITY_RESULT(gdr_unmap(context, handle, bytes, two_pages), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  context.close();
}

void fork_while_threads_pin(const Environment& environment) {
  constexpr int forks = 30;
  constexpr int pinning_threads = 3;
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, two_pages);
  Context context;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < pinning_threads; ++number) {
    threads.emplace_back([&] {
      make_current(device.get());
      while (!is_over.load()) {
        const gdr_mh_t handle = pin(context, memory.address(), two_pages);
        std::uint8_t* bytes = map(context, handle, two_pages);
        SANITY_RESULT(gdr_unmap(context, handle, bytes, two_pages), 0);
        SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
      }
    });
  }
  // A child that inherits a lock held by a thread that it does not have would hang until the time limit.
  for (int count = 0; count < forks; ++count) {
    const pid_t child = ::fork();
    SANITY_CHECK(child >= 0, "fork failed");
    if (child == 0) {
      gdr_mh_t handle{};
      const int pinned = gdr_pin_buffer(context, memory.address(), two_pages, 0, 0, &handle);
      const int closed = gdr_close(context);
      const bool is_refused = (pinned == EACCES || pinned == EINVAL) && (closed == 0 || closed == EACCES);
      ::_exit(is_refused ? exit_passed : exit_failed);
    }
    int status = 0;
    SANITY_CHECK(::waitpid(child, &status, 0) == child, "waitpid failed");
    SANITY_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == exit_passed, "child %d: wait status %d", count, status);
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  context.close();
}

void process_killed_while_mapped(const Environment& environment) {
  constexpr int victims = 3;
  for (int count = 0; count < victims; ++count) {
    HelperProcess victim([&](Channel* channel) {
      auto [device, memory, context, handle, bytes] = MappedPages(environment, 64 * two_pages);
      const Bytes written = pattern(64 * two_pages, 9);
      channel->synchronize();
      for (;;) (void)gdr_copy_to_mapping(handle, bytes, written.data(), written.size());
    });
    victim.channel().synchronize();
    ::usleep(20000);  // while it copies
    victim.kill();
  }
  auto [device, memory, context, handle, bytes] = MappedPages(environment, two_pages);
  const Bytes written = pattern(two_pages, 1);
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, written.data(), written.size()), 0);
  SANITY_CHECK(read_device(device.get(), memory.address(), two_pages) == written,
               "mappings do not work after other processes were killed with their mappings");
  context.close();
}

void leakage_descriptors_and_mappings(const Environment& environment) {
  constexpr int rounds = 50;
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, two_pages);
  const auto live_once = [&](int way) {
    Context context;
    const gdr_mh_t handle = pin(context, memory.address(), two_pages);
    std::uint8_t* bytes = map(context, handle, two_pages);
    gdr_mh_t refused{};
    (void)gdr_pin_buffer(context, 0xdead0000, two_pages, 0, 0, &refused);
    (void)gdr_pin_buffer(context, reinterpret_cast<unsigned long>(&refused), 8, 0, 0, &refused);
    if (way % 3 == 0) SANITY_RESULT(gdr_unmap(context, handle, bytes, two_pages), 0);
    if (way % 3 <= 1) SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
    context.close();
  };
  for (int round = 0; round < 3; ++round) live_once(round);  // excludes initialization that happens once
  const int descriptors = open_descriptors();
  const int regions = mapped_regions();
  for (int round = 0; round < rounds; ++round) live_once(round);
  SANITY_CHECK(open_descriptors() == descriptors, "%d descriptors before, %d after %d rounds", descriptors,
               open_descriptors(), rounds);
  // The allocator and the driver may occasionally add a region; a leak would add one per round.
  SANITY_CHECK(mapped_regions() - regions < rounds / 2, "%d mapped regions before, %d after %d rounds", regions,
               mapped_regions(), rounds);
}

void leakage_pin_pages_fork(const Environment& environment) {
  // GDRCopy counts the kernel module's pins. Here: the resources that a child keeps after its parent died without
  // closing.
  HelperProcess owner([&](Channel* channel) {
    const auto device = open_device(environment);
    const AlignedAllocation memory = allocate(device.get(), environment, two_pages);
    const int before = open_descriptors();
    Context context;
    const gdr_mh_t handle = pin(context, memory.address(), two_pages);
    std::uint8_t* bytes = map(context, handle, two_pages);
    const pid_t child = ::fork();
    SANITY_CHECK(child >= 0, "fork failed");
    if (child == 0) {
      const int result = gdr_close(context);
      SANITY_CHECK(result == 0 || result == EACCES, "gdr_close in a child: %d", result);
      SANITY_CHECK(open_descriptors() <= before, "a child holds %d descriptors, its parent had %d before it opened",
                   open_descriptors(), before);
      SANITY_CHECK(load_faults(bytes), "a child keeps its parent's mapping");
      channel->send('c');
      ::_exit(exit_passed);
    }
    context.abandon();
    ::_exit(exit_passed);  // dies with the mapping, without closing
  });
  SANITY_CHECK(owner.channel().receive<char>() == 'c', "no message from the child");
  owner.wait();
}

}  // namespace gdrkit::measure::sanity
