// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/exchange.hpp"

#include <endian.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::perftest {
namespace {

/// For perftest the field ends at the first zero. The bytes after it identify gdrkit's ends to each other.
constexpr std::size_t version_bytes = 16;
constexpr char own_version[version_bytes] = "6.06\0gdrkit 1";
constexpr std::uint32_t reported_page_bytes = 4096;
constexpr std::uint32_t cache_line_bytes = 64;
constexpr std::size_t text_bytes = 256;

std::uint64_t word_of(double value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}
double value_of(std::uint64_t word) {
  double value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace

std::string text_of(const PairAddress& address) {
  std::string text = cli::format("%04x:%04x:%06x:%06x:%08x:%016" PRIx64 ":", address.lid, address.reads, address.number,
                                 address.psn, address.rkey, address.address);
  if (address.has_gid) {
    for (const std::uint8_t byte : address.gid.bytes) text += cli::format("%02x:", byte);
  }
  text += address.has_gid ? "00000000:" : "00000000";
  text += '\0';
  return text;
}

bool parse_pair_address(const std::string& text, bool has_gid, PairAddress* address) {
  unsigned lid = 0;
  PairAddress read;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4x:%4x:%6x:%6x:%8x:%16" SCNx64 ":%n", &lid, &read.reads, &read.number, &read.psn,
                  &read.rkey, &read.address, &used) != 6 ||
      used == 0) {
    return false;
  }
  read.lid = static_cast<std::uint16_t>(lid);
  read.has_gid = has_gid;
  for (int i = 0; has_gid && i < 16; ++i) {
    unsigned byte = 0;
    int length = 0;
    if (std::sscanf(text.c_str() + used, "%2x:%n", &byte, &length) != 1 || length != 3) return false;
    read.gid.bytes[i] = static_cast<std::uint8_t>(byte);
    used += length;
  }
  *address = read;
  return true;
}

namespace {

struct CmRecord {
  std::uint32_t lid;
  std::uint32_t reads;
  std::uint32_t number;
  std::uint32_t psn;
  std::uint32_t rkey;
  std::uint32_t unused;
  std::uint64_t address;
  platform::VerbsGid gid;
  std::uint32_t shared_queue;
  std::uint32_t gid_index;
};
static_assert(sizeof(CmRecord) == 56);

}  // namespace

std::string bytes_of(const PairAddress& address) {
  CmRecord record{};
  record.lid = htobe32(address.lid);
  record.reads = htobe32(address.reads);
  record.number = htobe32(address.number);
  record.psn = htobe32(address.psn);
  record.rkey = htobe32(address.rkey);
  record.address = htobe64(address.address);
  record.gid = address.gid;
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

PairAddress pair_address_in(const std::string& bytes, bool has_gid) {
  CmRecord record{};
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
  PairAddress address;
  address.lid = static_cast<std::uint16_t>(be32toh(record.lid));
  address.reads = be32toh(record.reads);
  address.number = be32toh(record.number);
  address.psn = be32toh(record.psn);
  address.rkey = be32toh(record.rkey);
  address.address = be64toh(record.address);
  address.has_gid = has_gid;
  address.gid = record.gid;
  return address;
}

void Exchange::swap_bytes(const void* own, void* theirs, std::size_t size_bytes, const char* step) {
  if (wire_->is_client()) wire_->send(own, size_bytes, step);
  wire_->receive(theirs, size_bytes, step);
  if (!wire_->is_client()) wire_->send(own, size_bytes, step);
}

void Exchange::begin() {
  char theirs[version_bytes] = {};
  swap_bytes(own_version, theirs, version_bytes, "exchange of versions");
  is_own_ = std::memcmp(theirs, own_version, version_bytes) == 0;
  theirs[version_bytes - 1] = '\0';
  version_ = cli::printable(theirs);
  (void)swap_value(htobe32(reported_page_bytes), "exchange of page sizes");
  (void)swap_value(htobe32(cache_line_bytes), "exchange of cache line sizes");
}

int Exchange::swap_mtu(int mtu) {
  const char own[2] = {static_cast<char>('0' + mtu), '\0'};
  char theirs[2] = {};
  swap_bytes(own, theirs, sizeof own, "exchange of MTUs");
  if (theirs[0] < '1' || theirs[0] > '5') wire_->lost("exchange of MTUs", "sent an invalid MTU");
  return theirs[0] - '0';
}

PairAddress Exchange::swap(const PairAddress& own, const char* step) {
  const std::string text = wire_->is_rdma_cm() ? bytes_of(own) : text_of(own);
  std::string theirs(text.size(), '\0');
  swap_bytes(text.data(), theirs.data(), text.size(), step);
  if (wire_->is_rdma_cm()) return pair_address_in(theirs, own.has_gid);
  PairAddress address;
  if (!parse_pair_address(theirs, own.has_gid, &address)) {
    wire_->lost(step, "sent an invalid queue pair address; use the same test and the same -x on both sides");
  }
  return address;
}

SharedResult Exchange::swap(const SharedResult& own) {
  const auto word = [this](std::uint64_t value) { return be64toh(swap_value(htobe64(value), "exchange of results")); };
  SharedResult theirs;
  theirs.size_bytes = word(own.size_bytes);
  theirs.iterations = word(own.iterations);
  theirs.peak = value_of(word(word_of(own.peak)));
  theirs.average = value_of(word(word_of(own.average)));
  theirs.rate = value_of(word(word_of(own.rate)));
  return theirs;
}

std::string Exchange::swap_text(const std::string& own, const char* step) {
  char mine[text_bytes] = {};
  char theirs[text_bytes] = {};
  std::memcpy(mine, own.data(), std::min(own.size(), text_bytes - 1));
  swap_bytes(mine, theirs, text_bytes, step);
  theirs[text_bytes - 1] = '\0';
  return cli::printable(theirs);
}

}  // namespace gdrkit::transfer::perftest
