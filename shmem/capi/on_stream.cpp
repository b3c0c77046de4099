// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The C API's operations on streams.
#include "shmem/capi/calls.hpp"

using gdrkit::shmem_impl::capi::check_signal;
using gdrkit::shmem_impl::capi::value_with_pe;
using gdrkit::shmem_impl::capi::with_pe;
using gdrkit::shmem_impl::capi::word_of;
using gdrkit::shmem_impl::core::Pe;

namespace base = gdrkit::base;

namespace {

int wait_on_stream(const void* address, gdrkit_shmem_word word, gdrkit_shmem_comparison comparison, uint64_t value,
                   void* stream) noexcept {
  return with_pe([=](Pe& self) -> base::Status {
    auto known = word_of(address, word, comparison);
    if (!known) return base::pass(known);
    return self.streams().wait(*known, comparison, value, stream);
  });
}

}  // namespace

int gdrkit_shmem_put_on_stream(void* target, const void* source, size_t size_bytes, int pe, void* stream) {
  return with_pe([=](Pe& self) { return self.streams().put(target, source, size_bytes, pe, stream); });
}

int gdrkit_shmem_get_on_stream(void* target, const void* source, size_t size_bytes, int pe, void* stream) {
  return with_pe([=](Pe& self) { return self.streams().get(target, source, size_bytes, pe, stream); });
}

int gdrkit_shmem_put_value_on_stream(void* target, const void* value, size_t size_bytes, int pe, void* stream) {
  return with_pe([=](Pe& self) { return self.streams().put_value(target, value, size_bytes, pe, stream); });
}

int gdrkit_shmem_put_signal_on_stream(void* target, const void* source, size_t size_bytes, uint64_t* signal,
                                      uint64_t value, gdrkit_shmem_signal operation, int pe, void* stream) {
  return with_pe([=](Pe& self) -> base::Status {
    if (auto known = check_signal(operation); !known) return known;
    return self.streams().put_signal(target, source, size_bytes, signal, value, operation, pe, stream);
  });
}

int gdrkit_shmem_signal_op_on_stream(uint64_t* signal, uint64_t value, gdrkit_shmem_signal operation, int pe,
                                     void* stream) {
  return with_pe([=](Pe& self) -> base::Status {
    if (auto known = check_signal(operation); !known) return known;
    return self.streams().signal(signal, value, operation, pe, stream);
  });
}

int gdrkit_shmem_wait_until_on_stream(const void* address, gdrkit_shmem_word word, gdrkit_shmem_comparison comparison,
                                      uint64_t value, void* stream) {
  return wait_on_stream(address, word, comparison, value, stream);
}

int gdrkit_shmem_signal_wait_until_on_stream(const uint64_t* signal, gdrkit_shmem_comparison comparison, uint64_t value,
                                             void* stream) {
  return wait_on_stream(signal, GDRKIT_SHMEM_UINT64, comparison, value, stream);
}

int gdrkit_shmem_quiet_on_stream(void* stream) {
  return with_pe([=](Pe& self) { return self.streams().quiet(stream); });
}

int gdrkit_shmem_stream_create(void** stream) {
  return value_with_pe(stream, "the stream", [](Pe& self) { return self.streams().create(); });
}

int gdrkit_shmem_stream_destroy(void* stream) {
  return with_pe([=](Pe& self) { return self.streams().destroy(stream); });
}

int gdrkit_shmem_stream_synchronize(void* stream) {
  return with_pe([=](Pe& self) { return self.synchronize_stream(stream); });
}
