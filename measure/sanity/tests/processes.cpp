// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GDRCopy's tests of two processes: a fork or a passed handle must not give access to another process's memory.
//
// If the helper process needs CUDA, it is forked before this one initializes CUDA.

#include "measure/sanity/fixture.hpp"
#include "measure/sanity/helper_process.hpp"

namespace gdrkit::measure::sanity {
namespace {

Bytes read_mapping(gdr_mh_t handle, const std::uint8_t* mapping) {
  Bytes seen(four_pages);
  SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), mapping, seen.size()), 0);
  return seen;
}

void write_mapping(gdr_mh_t handle, std::uint8_t* mapping, const Bytes& bytes) {
  SANITY_RESULT(gdr_copy_to_mapping(handle, mapping, bytes.data(), bytes.size()), 0);
}

}  // namespace

void invalidation_fork_access_after_free(const Environment& environment) {
  const Bytes own = pattern(four_pages, 1);
  const Bytes foreign = pattern(four_pages, 2);
  HelperProcess helper([&](Channel* channel) {
    channel->synchronize();  // the other process has freed its memory
    const auto device = open_device(environment);
    // Several, so that one of them probably gets the memory that was just freed.
    std::vector<AlignedAllocation> buffers;
    for (int count = 0; count < 8; ++count) {
      buffers.push_back(allocate(device.get(), environment, four_pages));
      write_device(device.get(), buffers.back().address(), foreign);
    }
    channel->synchronize();  // filled
    channel->synchronize();  // checked
    for (AlignedAllocation& buffer : buffers) {
      SANITY_CHECK(read_device(device.get(), buffer.address(), four_pages) == foreign,
                   "the other process changed the memory of this process");
    }
  });
  auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
  write_mapping(handle, bytes, own);
  memory.free();
  helper.channel().synchronize();
  helper.channel().synchronize();
  if (is_persistent(context)) {
    SANITY_CHECK(read_mapping(handle, bytes) == own,
                 "a mapping of freed memory does not show the bytes that were written");
    // A store to the stale mapping must not reach the other process, which checks its memory.
    write_mapping(handle, bytes, pattern(four_pages, 3));
  } else {
    SANITY_CHECK(load_faults(bytes), "a mapping of freed memory can still be read");
  }
  helper.channel().synchronize();
  helper.wait();
  SANITY_RESULT(gdr_unmap(context, handle, bytes, four_pages), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  context.close();
}

void invalidation_fork_after_gdr_map(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, four_pages);
  Context context;
  const gdr_mh_t handle = pin(context, memory.address(), four_pages);
  std::uint8_t* bytes = map(context, handle, four_pages);
  const Bytes written = pattern(four_pages, 1);
  write_mapping(handle, bytes, written);
  HelperProcess helper([&](Channel*) {
    for (const std::size_t offset : {std::size_t{0}, four_pages / 2, four_pages - 1}) {
      SANITY_CHECK(load_faults(bytes + offset), "a forked child reads byte %zu of its parent's mapping", offset);
      SANITY_CHECK(store_faults(bytes + offset), "a forked child writes byte %zu of its parent's mapping", offset);
    }
    std::uint8_t byte = 0;
    SANITY_CHECK(gdr_copy_from_mapping(handle, &byte, bytes, 1) != 0,
                 "a forked child copies from its parent's mapping");
  });
  helper.wait();
  SANITY_CHECK(read_mapping(handle, bytes) == written, "the fork changed the parent's mapping");
  SANITY_RESULT(gdr_unmap(context, handle, bytes, four_pages), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  context.close();
}

void invalidation_fork_child_gdr_map_parent(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, four_pages);
  Context context;
  const gdr_mh_t handle = pin(context, memory.address(), four_pages);
  HelperProcess helper([&](Channel*) {
    void* mapping = nullptr;
    SANITY_CHECK(gdr_map(context, handle, &mapping, four_pages) != 0, "a forked child maps its parent's pin");
    SANITY_CHECK(mapping == nullptr, "a failed map set its output");
  });
  helper.wait();
  std::uint8_t* bytes = map(context, handle, four_pages);
  const Bytes written = pattern(four_pages, 1);
  write_mapping(handle, bytes, written);
  SANITY_CHECK(read_device(device.get(), memory.address(), four_pages) == written,
               "the parent's mapping does not work after the child's attempt");
  context.close();
}

void invalidation_fork_child_gdr_pin_parent(const Environment& environment) {
  struct Offer {
    std::uint64_t address;
    std::uint64_t token;
    std::uint32_t va_space;
  };
  const Bytes secret = pattern(four_pages, 1);
  HelperProcess helper([&](Channel* channel) {
    const auto device = open_device(environment);  // its own context, and no memory
    Context context;
    const auto offer = channel->receive<Offer>();
    gdr_mh_t handle{};
    const int result = gdr_pin_buffer(context, offer.address, four_pages, offer.token, offer.va_space, &handle);
    SANITY_CHECK(result != 0, "a process pins an address of another one");
    SANITY_CHECK(handle.h == 0, "a failed pin returned a handle");
    channel->synchronize();
  });
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, four_pages);
  write_device(device.get(), memory.address(), secret);
  helper.channel().send(Offer{memory.address(), 0x1234567890abcdef, 0x1234});
  helper.channel().synchronize();
  helper.wait();
  SANITY_CHECK(read_device(device.get(), memory.address(), four_pages) == secret, "the memory was changed");
}

void invalidation_fork_map_and_free(const Environment& environment) {
  HelperProcess helper([&](Channel* channel) {
    auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
    write_mapping(handle, bytes, pattern(four_pages, 2));
    channel->synchronize();  // both are mapped
    memory.free();
    SANITY_RESULT(gdr_unmap(context, handle, bytes, four_pages), 0);
    SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
    context.close();
  });
  auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
  const Bytes written = pattern(four_pages, 1);
  write_mapping(handle, bytes, written);
  helper.channel().synchronize();
  helper.wait();
  int flag = -1;
  SANITY_RESULT(gdr_get_callback_flag(context, handle, &flag), 0);
  SANITY_CHECK(flag == 0, "freeing another process's memory invalidated this mapping");
  SANITY_CHECK(read_mapping(handle, bytes) == written, "freeing another process's memory changed this mapping");
  const Bytes again = pattern(four_pages, 3);
  write_mapping(handle, bytes, again);
  SANITY_CHECK(read_device(device.get(), memory.address(), four_pages) == again,
               "the mapping no longer accepts writes");
  context.close();
}

namespace {

/// GDRCopy's tests send a file descriptor. Here it is a pair of words, because the library has no descriptor to pass.
struct PassedHandles {
  gdr_t context;
  gdr_mh_t handle;
  std::uint64_t address;
};

/// The helper receives the handles over a Unix socket and tries them while it has its own context.
void pass_handles(const Environment& environment, void (*attempt)(gdr_t own, const PassedHandles& passed)) {
  const Bytes secret = pattern(four_pages, 1);
  HelperProcess helper([&](Channel* channel) {
    const auto device = open_device(environment);
    Context own;
    attempt(own, channel->receive<PassedHandles>());
    channel->synchronize();
    own.close();
  });
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, four_pages);
  // Creates other handles first, so that equal numbers in both processes are not a coincidence of both being the first.
  Context unused;
  Context context;
  write_device(device.get(), memory.address(), secret);
  const gdr_mh_t unused_handle = pin(context, memory.address(), four_pages);
  const gdr_mh_t handle = pin(context, memory.address(), four_pages);
  helper.channel().send(PassedHandles{context, handle, memory.address()});
  helper.channel().synchronize();
  helper.wait();
  std::uint8_t* bytes = map(context, handle, four_pages);
  SANITY_CHECK(read_mapping(handle, bytes) == secret, "the handles no longer work in their own process");
  SANITY_RESULT(gdr_unpin_buffer(context, unused_handle), 0);
  context.close();
  unused.close();
}

}  // namespace

void invalidation_unix_sock_pin(const Environment& environment) {
  pass_handles(environment, [](gdr_t own, const PassedHandles& passed) {
    for (gdr_t const context : {passed.context, own}) {
      gdr_mh_t handle{};
      SANITY_CHECK(gdr_pin_buffer(context, passed.address, four_pages, 0, 0, &handle) != 0,
                   "an address of another process can be pinned %s", context == own ? "here" : "by its handle");
      SANITY_CHECK(handle.h == 0, "a failed pin returned a handle");
    }
  });
}

void invalidation_unix_sock_map(const Environment& environment) {
  pass_handles(environment, [](gdr_t own, const PassedHandles& passed) {
    for (gdr_t const context : {passed.context, own}) {
      void* mapping = nullptr;
      SANITY_CHECK(gdr_map(context, passed.handle, &mapping, four_pages) != 0,
                   "a pin of another process can be mapped");
      SANITY_CHECK(mapping == nullptr, "a failed map set its output");
      SANITY_CHECK(gdr_unpin_buffer(context, passed.handle) != 0, "a pin of another process can be undone");
    }
  });
}

}  // namespace gdrkit::measure::sanity
