// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/call_words.hpp"

#include <sys/ioctl.h>

#include "fakes/recording/ioctl_words.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes::call_words {
namespace {

using Kind = CanonicalNames::Kind;

std::string written(const std::string& call, const Words& words) {
  const std::string line = words.line();
  return line.empty() ? call : call + ' ' + line;
}

std::uint64_t number(int flags) { return static_cast<unsigned>(flags); }

std::uint64_t name(CanonicalNames& names, Kind kind, const void* handle) {
  return names.name(kind, reinterpret_cast<std::uint64_t>(handle));
}

}  // namespace

std::string open(const char* path, int flags) {
  return written("sys.open", Words().add("path", std::string(path)).add("flags", number(flags)));
}

std::string close(CanonicalNames& names, int fd) {
  return written("sys.close", Words().add_signed("fd", names.descriptor(fd)));
}

std::string ioctl(CanonicalNames& names, int fd, unsigned long request, const void* argument) {
  Words words;
  words.add_signed("fd", names.descriptor(fd)).add("request", std::uint64_t{request}).add("name", ioctl_name(request));
  add_ioctl_bytes(words, request, argument, names);
  return written("sys.ioctl", words);
}

std::string mmap(CanonicalNames& names, const void* hint, std::size_t length, int protection, int flags, int fd,
                 off_t offset) {
  return written("sys.mmap", Words()
                                 .add("wanted", names.mapping(hint))
                                 .add("length", std::uint64_t{length})
                                 .add("protection", number(protection))
                                 .add("flags", number(flags))
                                 .add_signed("fd", names.descriptor(fd))
                                 .add_signed("offset", offset));
}

std::string munmap(CanonicalNames& names, const void* address, std::size_t length) {
  return written("sys.munmap", Words().add("address", names.mapping(address)).add("length", std::uint64_t{length}));
}

std::string access(const char* path, int mode) {
  return written("sys.access", Words().add("path", std::string(path)).add("mode", number(mode)));
}

std::string madvise(CanonicalNames& names, const void* address, std::size_t length, int advice) {
  return written("sys.madvise", Words()
                                    .add("address", names.mapping(address))
                                    .add("length", std::uint64_t{length})
                                    .add("advice", number(advice)));
}

std::string read_text(const char* path, std::size_t capacity) {
  return written("sys.read_text", Words().add("path", std::string(path)).add("capacity", std::uint64_t{capacity}));
}

void forget_after_ioctl(CanonicalNames& names, unsigned long request, const void* argument) {
  if (_IOC_NR(request) == command::rm_unmap) names.forget(Kind::bar1_address, get<std::uint64_t>(argument, 16));
}

std::string of_device(const std::string& call, int ordinal) {
  return written("cuda." + call, Words().add_signed("ordinal", ordinal));
}

std::string of_address(CanonicalNames& names, const std::string& call, std::uint64_t address) {
  return written("cuda." + call, Words().add("address", names.address(address)));
}

std::string of_context(CanonicalNames& names, const std::string& call, const void* context) {
  return written("cuda." + call, Words().add("context", name(names, Kind::context, context)));
}

std::string of_allocation(CanonicalNames& names, const std::string& call, std::uint64_t handle) {
  return written("cuda." + call, Words().add("handle", names.name(Kind::allocation, handle)));
}

std::string of_stream(CanonicalNames& names, const std::string& call, const void* stream) {
  return written("cuda." + call, Words().add("stream", name(names, Kind::stream, stream)));
}

std::string device_get_attribute(int ordinal, int attribute) {
  return written("cuda.device_get_attribute",
                 Words().add_signed("ordinal", ordinal).add_signed("attribute", attribute));
}

std::string exchange_stream_capture_mode(int mode) {
  return written("cuda.exchange_stream_capture_mode", Words().add_signed("mode", mode));
}

std::string export_dmabuf(CanonicalNames& names, std::uint64_t address, std::size_t size, std::uint64_t flags) {
  return written("cuda.export_dmabuf",
                 Words().add("address", names.address(address)).add("size", std::uint64_t{size}).add("flags", flags));
}

std::string gather(CanonicalNames& names, const driver::CudaMemcpy2d& copy, const void* stream) {
  return written("cuda.gather_dtoh_async", Words()
                                               .add("source", names.address(copy.source_device))
                                               .add("pitch", std::uint64_t{copy.source_pitch})
                                               .add("width", std::uint64_t{copy.width})
                                               .add("rows", std::uint64_t{copy.height})
                                               .add("stream", name(names, Kind::stream, stream)));
}

std::string memcpy_htod(CanonicalNames& names, std::uint64_t target, const void* source, std::size_t size,
                        const void* stream) {
  return written("cuda.memcpy_htod_async", Words()
                                               .add("target", names.address(target))
                                               .add_bytes("bytes", source, size)
                                               .add("stream", name(names, Kind::stream, stream)));
}

std::string mem_alloc_async(CanonicalNames& names, std::size_t size, const void* stream) {
  return written("cuda.mem_alloc_async",
                 Words().add("size", std::uint64_t{size}).add("stream", name(names, Kind::stream, stream)));
}

std::string mem_free_async(CanonicalNames& names, std::uint64_t address, const void* stream) {
  return written("cuda.mem_free_async",
                 Words().add("address", names.address(address)).add("stream", name(names, Kind::stream, stream)));
}

void add_attributes(Words& words, CanonicalNames& names, const driver::PointerAttributes& attributes) {
  words.add("context", name(names, Kind::context, attributes.context))
      .add("memory_type", std::uint64_t{attributes.memory_type})
      .add("managed", std::uint64_t{attributes.is_managed})
      .add_signed("ordinal", attributes.device_ordinal)
      .add("range", names.address(attributes.range_start))
      .add("range_bytes", attributes.range_size)
      .add("block", names.address(attributes.mapping_base))
      .add("block_bytes", attributes.mapping_size)
      .add("buffer", names.name(Kind::buffer, attributes.buffer_id))
      .add("handle_types", attributes.allowed_handle_types)
      .add("ipc", std::uint64_t{attributes.is_legacy_ipc_capable});
}

driver::PointerAttributes attributes_of(const Words& words) {
  driver::PointerAttributes attributes;
  attributes.context = reinterpret_cast<void*>(words.number("context"));
  attributes.memory_type = static_cast<std::uint32_t>(words.number("memory_type"));
  attributes.is_managed = static_cast<std::uint32_t>(words.number("managed"));
  attributes.device_ordinal = static_cast<std::int32_t>(words.signed_number("ordinal"));
  attributes.range_start = words.number("range");
  attributes.range_size = words.number("range_bytes");
  attributes.mapping_base = words.number("block");
  attributes.mapping_size = words.number("block_bytes");
  attributes.buffer_id = words.number("buffer");
  attributes.allowed_handle_types = words.number("handle_types");
  attributes.is_legacy_ipc_capable = static_cast<std::uint32_t>(words.number("ipc"));
  return attributes;
}

void add_export(Words& words, CanonicalNames& names, const driver::ObservedExport& observed) {
  words.add_signed("fd", names.descriptor(observed.dmabuf_fd)).add("seen", std::uint64_t{observed.ioctls.size()});
  for (std::size_t i = 0; i < observed.ioctls.size(); ++i) {
    const std::string number = std::to_string(i);
    words.add("request" + number, std::uint64_t{observed.ioctls[i].request})
        .add_signed("failed" + number, observed.ioctls[i].result)
        .add("argument" + number, export_bytes(observed.ioctls[i], names));
  }
}

driver::ObservedExport export_of(const Words& words) {
  driver::ObservedExport observed;
  observed.dmabuf_fd = static_cast<int>(words.signed_number("fd"));
  if (words.signed_number("hooked") == 0) observed.hook = base::fail(EOPNOTSUPP, "not hooked when recorded");
  for (std::uint64_t i = 0; i < words.number("seen"); ++i) {
    const std::string number = std::to_string(i);
    driver::ObservedIoctl seen;
    seen.request = words.number("request" + number);
    seen.result = static_cast<int>(words.signed_number("failed" + number));
    seen.argument = words.bytes("argument" + number);
    observed.ioctls.push_back(std::move(seen));
  }
  return observed;
}

}  // namespace gdrkit::fakes::call_words
