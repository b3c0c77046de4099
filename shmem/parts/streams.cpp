// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/streams.hpp"

#include "platform/gpu_code/stream_params.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

platform::Stream stream_of(void* handle) noexcept { return {reinterpret_cast<std::uint64_t>(handle)}; }

}  // namespace

base::Result<platform::StreamSignal> Streams::signal_of(const void* word, std::uint64_t value,
                                                        gdrkit_shmem_signal operation, int pe) const noexcept {
  if (reinterpret_cast<std::uint64_t>(word) % sizeof value != 0) {
    return base::fail(
        EINVAL, "cannot send a signal to %p: the address is not a multiple of 8 bytes; pass an aligned address", word);
  }
  auto at = connections_.reach(word, sizeof value, pe);
  if (!at) return base::pass(at);
  return platform::StreamSignal{*at, value, static_cast<std::uint32_t>(operation)};
}

template <class Call>
base::Status Streams::by_cpu_in_order(const void* address, std::size_t size_bytes, int pe, void* stream,
                                      Call call) noexcept {
  if (auto known = connections_.find(address, size_bytes, pe); !known) return base::pass(known);
  if (auto done = synchronize(stream); !done) return done;
  if (auto called = call(); !called) return called;
  return transfers_.complete_to(pe);
}

bool Streams::is_beyond_gpu(int pe) const noexcept {
  return pe >= 0 && pe < connections_.n_pes() && connections_.node().index_of(pe) < 0;
}

base::Status Streams::put_with(void* target, const void* source, std::size_t size_bytes, int pe,
                               const platform::StreamSignal& signal, void* stream) noexcept {
  if (is_beyond_gpu(pe)) {
    return by_cpu_in_order(target, size_bytes, pe, stream,
                           [&] { return transfers_.put(target, source, size_bytes, pe, false); });
  }
  if (auto known = connections_.check_pe(pe); !known) return known;
  if (size_bytes == 0 && signal.address == 0) return {};
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  if (size_bytes == 0) return work_.signal(stream_of(stream), signal);
  auto at = connections_.reach(target, size_bytes, pe);
  if (!at) return base::pass(at);
  if (source == nullptr) return base::fail(EINVAL, "cannot put to PE %d: the source is NULL", pe);
  auto memory = transfers_.kind_of_memory(source, size_bytes);
  if (!memory) return base::pass(memory);
  return work_.put(stream_of(stream), *at, source, size_bytes, *memory, signal);
}

base::Status Streams::put_value(void* target, const void* value, std::size_t size_bytes, int pe,
                                void* stream) noexcept {
  if (is_beyond_gpu(pe)) return put_with(target, value, size_bytes, pe, {}, stream);
  if (auto known = connections_.check_pe(pe); !known) return known;
  if (size_bytes == 0) return {};
  auto at = connections_.reach(target, size_bytes, pe);
  if (!at) return base::pass(at);
  if (value == nullptr) return base::fail(EINVAL, "cannot put to PE %d: the pointer to the value is NULL", pe);
  if (size_bytes > stream::StreamWork::inline_bytes) {
    return base::fail(EINVAL, "cannot put a value of %zu bytes on a stream: the limit is %zu bytes", size_bytes,
                      stream::StreamWork::inline_bytes);
  }
  return connections_.with_device([&] { return work_.put_value(stream_of(stream), *at, value, size_bytes); });
}

base::Status Streams::get(void* target, const void* source, std::size_t size_bytes, int pe, void* stream) noexcept {
  if (is_beyond_gpu(pe)) {
    return by_cpu_in_order(source, size_bytes, pe, stream,
                           [&] { return transfers_.get(target, source, size_bytes, pe, false); });
  }
  if (auto known = connections_.check_pe(pe); !known) return known;
  if (size_bytes == 0) return {};
  auto at = connections_.reach(source, size_bytes, pe);
  if (!at) return base::pass(at);
  if (target == nullptr) return base::fail(EINVAL, "cannot get from PE %d: the target is NULL", pe);
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  auto memory = transfers_.kind_of_memory(target, size_bytes);
  if (!memory) return base::pass(memory);
  return work_.get(stream_of(stream), target, *at, size_bytes, *memory);
}

base::Status Streams::put_signal(void* target, const void* source, std::size_t size_bytes, void* word,
                                 std::uint64_t value, gdrkit_shmem_signal operation, int pe, void* stream) noexcept {
  if (is_beyond_gpu(pe)) {
    return by_cpu_in_order(target, size_bytes, pe, stream, [&] {
      return transfers_.put_signal(target, source, size_bytes, word, value, operation, pe, false);
    });
  }
  // Check the word first, so that nothing is written if it is invalid.
  auto signal = signal_of(word, value, operation, pe);
  if (!signal) return base::pass(signal);
  return put_with(target, source, size_bytes, pe, *signal, stream);
}

base::Status Streams::signal(void* word, std::uint64_t value, gdrkit_shmem_signal operation, int pe,
                             void* stream) noexcept {
  if (is_beyond_gpu(pe)) {
    return by_cpu_in_order(word, sizeof value, pe, stream,
                           [&] { return transfers_.signal(word, value, operation, pe); });
  }
  auto signal = signal_of(word, value, operation, pe);
  if (!signal) return base::pass(signal);
  return connections_.with_device([&] { return work_.signal(stream_of(stream), *signal); });
}

base::Status Streams::wait(const Word& word, gdrkit_shmem_comparison comparison, std::uint64_t value,
                           void* stream) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(word.address);
  if (address % word.size_bytes != 0) {
    return base::fail(
        EINVAL, "cannot wait for the word at %p: the address is not a multiple of %zu bytes; pass an aligned address",
        word.address, word.size_bytes);
  }
  if (auto own = connections_.heap().find(word.address, word.size_bytes); !own) return base::pass(own);
  if (auto watched = gpu_code_.watch_peers(); !watched) return watched;
  platform::StreamWaitParameters parameters{};
  parameters.state = gpu_code_.state();
  parameters.address = address;
  parameters.value = value;
  parameters.word = word.is_signed ? -static_cast<int>(word.size_bytes) : static_cast<int>(word.size_bytes);
  parameters.comparison = static_cast<std::uint32_t>(comparison);
  return connections_.with_device([&] { return work_.wait(stream_of(stream), parameters); });
}

base::Status Streams::quiet(void* stream) noexcept {
  // A stream executes its work in order, and the results of each operation are visible system-wide when it ends. So the
  // stream's own puts are complete at this point.
  (void)stream;
  return transfers_.complete_all();
}

base::Result<void*> Streams::create() noexcept {
  auto stream = connections_.with_device([&] { return connections_.device().create_stream(); });
  if (!stream) return base::pass(stream);
  return reinterpret_cast<void*>(stream->handle);
}

base::Status Streams::destroy(void* stream) noexcept {
  return connections_.with_device([&] { return connections_.device().destroy_stream(stream_of(stream)); });
}

base::Status Streams::synchronize(void* stream) noexcept {
  return connections_.with_device([&] { return connections_.device().synchronize(stream_of(stream)); });
}

}  // namespace gdrkit::shmem_impl::parts
