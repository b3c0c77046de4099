// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/host_exchange.hpp"

#include <gdrkit/detail/shmem_reductions.cuh>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace gdrkit::shmem_impl::collective {
namespace {

/// Reduces `size_bytes` of all members, in their order, as the GPU does it. `data_of(member)` returns a member's data.
template <class DataOf>
void reduce_to(unsigned char* result, std::uint64_t size_bytes, int members, const CollectiveCall& call,
               DataOf data_of) {
  const shmem::detail::AnyReduction reduction{static_cast<unsigned>(call.type), static_cast<unsigned>(call.reduction)};
  for (std::uint64_t at = 0; at < size_bytes; at += sizeof(shmem::detail::Words16)) {
    const std::size_t bytes = std::min<std::uint64_t>(sizeof(shmem::detail::Words16), size_bytes - at);
    shmem::detail::Words16 sum{};
    std::memcpy(&sum, data_of(0) + at, bytes);
    for (int member = 1; member < members; ++member) {
      shmem::detail::Words16 value{};
      std::memcpy(&value, data_of(member) + at, bytes);
      sum = reduction(sum, value);
    }
    std::memcpy(result + at, &sum, bytes);
  }
}

/// Of each PE's source that are reduced at a time.
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;

class BulkExchange {
 public:
  BulkExchange(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked) noexcept
      : transfers_(transfers),
        team_(team),
        call_(checked.call),
        size_(checked.call.size_bytes),
        target_(static_cast<unsigned char*>(checked.call.target)),
        source_(static_cast<const unsigned char*>(checked.call.source)),
        own_(static_cast<std::uint64_t>(team.own())) {}

  base::Status broadcast() noexcept {
    if (call_.root != team_.own()) return {};
    return to_each([&](int member) { return put(0, source_, size_, member); });
  }
  base::Status fcollect() noexcept {
    return to_each([&](int member) { return put(own_ * size_, source_, size_, member); });
  }
  base::Status alltoall() noexcept {
    return to_each([&](int member) {
      return put(own_ * size_, source_ + static_cast<std::uint64_t>(member) * size_, size_, member);
    });
  }

  /// Only PE i writes slice i of all targets and reads slice i of all sources. So source and target may be equal.
  base::Status reduce() {
    const std::uint64_t words = (size_ + sizeof(shmem::detail::Words16) - 1) / sizeof(shmem::detail::Words16);
    const auto n = static_cast<std::uint64_t>(team_.n_pes());
    const std::uint64_t begin = std::min(words * own_ / n * sizeof(shmem::detail::Words16), size_);
    const std::uint64_t end = std::min(words * (own_ + 1) / n * sizeof(shmem::detail::Words16), size_);
    for (std::uint64_t at = begin; at < end; at += block_bytes) {
      const std::uint64_t bytes = std::min(block_bytes, end - at);
      if (auto done = reduce_block(at, bytes); !done) return done;
      auto sent = to_each([&](int member) { return put(at, sum_.data(), bytes, member); });
      if (!sent) return sent;
    }
    return {};
  }

  /// The target is written after all have read: it may be a part of the source.
  base::Status reducescatter(const Synchronize& synchronize) {
    std::vector<unsigned char> result(size_);
    for (std::uint64_t at = 0; at < size_; at += block_bytes) {
      const std::uint64_t bytes = std::min(block_bytes, size_ - at);
      if (auto done = reduce_block(own_ * size_ + at, bytes); !done) return done;
      std::memcpy(result.data() + at, sum_.data(), bytes);
    }
    if (auto synchronized = synchronize(); !synchronized) return synchronized;
    return transfers_.put(target_, result.data(), size_, pe_of(team_.own()), false);
  }

 private:
  [[nodiscard]] int pe_of(int member) const noexcept { return team_.members()[static_cast<std::size_t>(member)]; }

  /// Waits for all started operations, also after a failure: their buffers are destroyed with this object.
  template <class Call>
  base::Status to_each(Call call) noexcept {
    base::Status done;
    for (int distance = 0; done && distance < team_.n_pes(); ++distance) {
      done = call((team_.own() + distance) % team_.n_pes());
    }
    for (const int pe : team_.members()) base::keep_first(done, transfers_.complete_to(pe));
    return done;
  }
  base::Status put(std::uint64_t offset, const unsigned char* data, std::uint64_t bytes, int member) noexcept {
    if (bytes == 0 || (member == team_.own() && data == target_ + offset)) return {};
    return transfers_.put(target_ + offset, data, bytes, pe_of(member), true);
  }

  /// Bytes [at, at + bytes) of all sources, to sum_.
  base::Status reduce_block(std::uint64_t at, std::uint64_t bytes) {
    parts_.resize(static_cast<std::uint64_t>(team_.n_pes()) * bytes);
    sum_.resize(bytes);
    const auto part_of = [&](int member) { return parts_.data() + static_cast<std::uint64_t>(member) * bytes; };
    auto got =
        to_each([&](int member) { return transfers_.get(part_of(member), source_ + at, bytes, pe_of(member), true); });
    if (got) reduce_to(sum_.data(), bytes, team_.n_pes(), call_, part_of);
    return got;
  }

  parts::Transfers& transfers_;
  const HostTeam& team_;
  const CollectiveCall& call_;
  const std::uint64_t size_;
  unsigned char* const target_;
  const unsigned char* const source_;
  const std::uint64_t own_;
  std::vector<unsigned char> parts_;
  std::vector<unsigned char> sum_;
};

}  // namespace

base::Result<Message> read_source(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked,
                                  unsigned char* buffer) noexcept {
  if (checked.call.operation == CollectiveOperation::broadcast && checked.call.root != team.own()) return Message{};
  if (auto got = transfers.get(buffer, checked.call.source, checked.source_bytes,
                               team.members()[static_cast<std::size_t>(team.own())], false);
      !got) {
    return base::pass(got);
  }
  return Message{0, buffer, checked.source_bytes};
}

base::Status write_target(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked) noexcept try {
  const std::uint64_t size = checked.call.size_bytes;
  const auto own = static_cast<std::uint64_t>(team.own());
  unsigned char little[parts::TeamWord::most_bytes];
  std::vector<unsigned char> much;  // of fcollect: a part for each PE
  unsigned char* result = little;
  if (checked.target_bytes > sizeof little) {
    much.resize(checked.target_bytes);
    result = much.data();
  }
  switch (checked.call.operation) {
    case CollectiveOperation::broadcast: std::memcpy(result, team.data_of(checked.call.root), size); break;
    case CollectiveOperation::fcollect:
    case CollectiveOperation::alltoall: {
      const std::uint64_t part = checked.call.operation == CollectiveOperation::alltoall ? own * size : 0;
      for (int member = 0; member < team.n_pes(); ++member) {
        std::memcpy(result + static_cast<std::uint64_t>(member) * size, team.data_of(member) + part, size);
      }
      break;
    }
    default: {
      const std::uint64_t part = checked.call.operation == CollectiveOperation::reduce ? 0 : own * size;
      reduce_to(result, size, team.n_pes(), checked.call, [&](int member) { return team.data_of(member) + part; });
    }
  }
  return transfers.put(checked.call.target, result, checked.target_bytes,
                       team.members()[static_cast<std::size_t>(team.own())], false);
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", checked.name);
}

base::Status exchange_in_bulk(parts::Transfers& transfers, const HostTeam& team, const CheckedCall& checked,
                              const Synchronize& synchronize) noexcept try {
  // From here until the last synchronization, all sources may be read and all targets written.
  if (auto synchronized = synchronize(); !synchronized) return synchronized;
  BulkExchange exchange(transfers, team, checked);
  base::Status done;
  switch (checked.call.operation) {
    case CollectiveOperation::broadcast: done = exchange.broadcast(); break;
    case CollectiveOperation::fcollect: done = exchange.fcollect(); break;
    case CollectiveOperation::alltoall: done = exchange.alltoall(); break;
    case CollectiveOperation::reduce: done = exchange.reduce(); break;
    default: return exchange.reducescatter(synchronize);
  }
  if (!done) return done;
  return synchronize();
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory for one block of data per PE", checked.name);
}

}  // namespace gdrkit::shmem_impl::collective
