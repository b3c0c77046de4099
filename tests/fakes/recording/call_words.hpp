// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How each call of the two interfaces is written. Recorder and replay share it, so that a replayed call is compared
// with the text of a recorded one.
#pragma once

#include <sys/types.h>

#include <string>

#include "driver/cuda.hpp"
#include "fakes/recording/canonical_names.hpp"
#include "fakes/recording/conversation.hpp"

namespace gdrkit::fakes::call_words {

[[nodiscard]] std::string open(const char* path, int flags);
[[nodiscard]] std::string close(CanonicalNames& names, int fd);
[[nodiscard]] std::string ioctl(CanonicalNames& names, int fd, unsigned long request, const void* argument);
[[nodiscard]] std::string mmap(CanonicalNames& names, const void* hint, std::size_t length, int protection, int flags,
                               int fd, off_t offset);
[[nodiscard]] std::string munmap(CanonicalNames& names, const void* address, std::size_t length);
[[nodiscard]] std::string access(const char* path, int mode);
[[nodiscard]] std::string madvise(CanonicalNames& names, const void* address, std::size_t length, int advice);
[[nodiscard]] std::string read_text(const char* path, std::size_t capacity);
/// BAR1 addresses may be reused after they are unmapped.
void forget_after_ioctl(CanonicalNames& names, unsigned long request, const void* argument);

[[nodiscard]] std::string of_device(const std::string& call, int ordinal);
[[nodiscard]] std::string of_address(CanonicalNames& names, const std::string& call, std::uint64_t address);
[[nodiscard]] std::string of_context(CanonicalNames& names, const std::string& call, const void* context);
[[nodiscard]] std::string of_allocation(CanonicalNames& names, const std::string& call, std::uint64_t handle);
[[nodiscard]] std::string of_stream(CanonicalNames& names, const std::string& call, const void* stream);
/// CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: whether the link to the GPU is coherent. Not part
/// of conversations: recorded GPUs are on PCIe, where the result is 0, and some recordings are older than this call.
inline constexpr int coherent_link_attribute = 100;
[[nodiscard]] std::string device_get_attribute(int ordinal, int attribute);
[[nodiscard]] std::string exchange_stream_capture_mode(int mode);
[[nodiscard]] std::string export_dmabuf(CanonicalNames& names, std::uint64_t address, std::size_t size,
                                        std::uint64_t flags);
[[nodiscard]] std::string gather(CanonicalNames& names, const driver::CudaMemcpy2d& copy, const void* stream);
[[nodiscard]] std::string memcpy_htod(CanonicalNames& names, std::uint64_t target, const void* source, std::size_t size,
                                      const void* stream);
[[nodiscard]] std::string mem_alloc_async(CanonicalNames& names, std::size_t size, const void* stream);
[[nodiscard]] std::string mem_free_async(CanonicalNames& names, std::uint64_t address, const void* stream);

void add_attributes(Words& words, CanonicalNames& names, const driver::PointerAttributes& attributes);
[[nodiscard]] driver::PointerAttributes attributes_of(const Words& words);
/// fd= and seen=, then request<i>=, failed<i>= and argument<i>= for each observed ioctl.
void add_export(Words& words, CanonicalNames& names, const driver::ObservedExport& observed);
[[nodiscard]] driver::ObservedExport export_of(const Words& words);

}  // namespace gdrkit::fakes::call_words
