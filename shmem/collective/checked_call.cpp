// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/checked_call.hpp"

#include <cinttypes>

namespace gdrkit::shmem_impl::collective {
namespace {

constexpr const char* names[] = {"team_sync", "team_barrier", "broadcast",    "fcollect",
                                 "alltoall",  "reduce",       "reducescatter"};

bool is_type(unsigned type) noexcept {
  switch (type) {
    case GDRKIT_SHMEM_TYPE_UINT8:
    case GDRKIT_SHMEM_TYPE_UINT16:
    case GDRKIT_SHMEM_TYPE_UINT32:
    case GDRKIT_SHMEM_TYPE_UINT64:
    case GDRKIT_SHMEM_TYPE_INT8:
    case GDRKIT_SHMEM_TYPE_INT16:
    case GDRKIT_SHMEM_TYPE_INT32:
    case GDRKIT_SHMEM_TYPE_INT64:
    case GDRKIT_SHMEM_TYPE_HALF:
    case GDRKIT_SHMEM_TYPE_FLOAT:
    case GDRKIT_SHMEM_TYPE_DOUBLE:
    case GDRKIT_SHMEM_TYPE_BFLOAT16: return true;
    default: return false;
  }
}

base::Status check_reduction(const CheckedCall& checked) noexcept {
  const auto type = static_cast<unsigned>(checked.call.type);
  const auto reduction = static_cast<unsigned>(checked.call.reduction);
  if (!is_type(type))
    return base::fail(EINVAL, "%s: invalid type %u; use a value of enum gdrkit_shmem_type", checked.name, type);
  if (reduction > GDRKIT_SHMEM_XOR)
    return base::fail(EINVAL, "%s: invalid reduction %u; use a value of enum gdrkit_shmem_reduction", checked.name,
                      reduction);
  constexpr unsigned first_floating = 32;
  if (reduction >= GDRKIT_SHMEM_AND && type >= first_floating) {
    return base::fail(EINVAL, "%s: AND, OR and XOR do not support floating-point elements; use an integer type",
                      checked.name);
  }
  const auto addresses =
      reinterpret_cast<std::uint64_t>(checked.call.target) | reinterpret_cast<std::uint64_t>(checked.call.source);
  if (addresses % checked.element_bytes() != 0 || checked.call.size_bytes % checked.element_bytes() != 0) {
    return base::fail(EINVAL,
                      "%s: target %p or source %p is not a multiple of the element size (%" PRIu64
                      " bytes); pass aligned addresses",
                      checked.name, checked.call.target, checked.call.source, checked.element_bytes());
  }
  return {};
}

base::Result<std::uint64_t> find_offset(const CheckedCall& checked, const heap::SymmetricHeap& heap,
                                        const void* address, std::uint64_t size_bytes, const char* which) noexcept {
  auto range = heap.find(address, size_bytes);
  if (range) return range->offset;
  return base::fail(range.error().errno_value, "%s (%s): %s", checked.name, which, range.error().text());
}

/// What the operations allow is listed in gdrkit/shmem_collectives.h.
base::Status check_overlap(const CheckedCall& checked, int own) noexcept {
  const std::uint64_t source = checked.source_offset, target = checked.target_offset;
  if (source >= target + checked.target_bytes || target >= source + checked.source_bytes) return {};
  const CollectiveOperation operation = checked.call.operation;
  if (source == target && (operation == CollectiveOperation::reduce || operation == CollectiveOperation::broadcast)) {
    return {};
  }
  if (operation == CollectiveOperation::fcollect &&
      source == target + static_cast<std::uint64_t>(own) * checked.call.size_bytes) {
    return {};
  }
  return base::fail(EINVAL,
                    "%s: target %p + %" PRIu64 " bytes overlaps source %p + %" PRIu64 " bytes; use separate buffers",
                    checked.name, checked.call.target, checked.target_bytes, checked.call.source, checked.source_bytes);
}

}  // namespace

base::Result<CheckedCall> check_call(const CollectiveCall& call, const HostTeam& team,
                                     const heap::SymmetricHeap& heap) noexcept {
  CheckedCall checked;
  checked.call = call;
  checked.name = names[static_cast<std::size_t>(call.operation)];
  if (!checked.has_data()) return checked;
  const auto n_pes = static_cast<std::uint64_t>(team.n_pes());
  if (call.operation == CollectiveOperation::broadcast && (call.root < 0 || call.root >= team.n_pes())) {
    return base::fail(EINVAL, "broadcast: root %d is out of range: the number of PEs in the team is %d", call.root,
                      team.n_pes());
  }
  if (checked.is_reduction()) {
    if (auto known = check_reduction(checked); !known) return base::pass(known);
  }
  if (call.size_bytes > UINT64_MAX / n_pes) {
    return base::fail(EINVAL, "%s: %" PRIu64 " bytes of each of %" PRIu64 " PEs exceed the address space", checked.name,
                      call.size_bytes, n_pes);
  }
  const bool has_source_parts =
      call.operation == CollectiveOperation::alltoall || call.operation == CollectiveOperation::reducescatter;
  const bool has_target_parts =
      call.operation == CollectiveOperation::alltoall || call.operation == CollectiveOperation::fcollect;
  checked.source_bytes = has_source_parts ? call.size_bytes * n_pes : call.size_bytes;
  checked.target_bytes = has_target_parts ? call.size_bytes * n_pes : call.size_bytes;
  if (call.size_bytes == 0) return checked;
  auto target = find_offset(checked, heap, call.target, checked.target_bytes, "target");
  if (!target) return base::pass(target);
  auto source = find_offset(checked, heap, call.source, checked.source_bytes, "source");
  if (!source) return base::pass(source);
  checked.target_offset = *target;
  checked.source_offset = *source;
  if (auto apart = check_overlap(checked, team.own()); !apart) return base::pass(apart);
  return checked;
}

}  // namespace gdrkit::shmem_impl::collective
