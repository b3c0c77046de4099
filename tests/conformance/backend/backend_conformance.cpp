// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend_conformance.hpp"

#include <algorithm>
#include <utility>

#include "support/requirements.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {

using tests::first_difference;
using tests::load_from_mapping;
using tests::make_pattern;

void BackendConformance::SetUp() {
  for (Candidate& candidate : candidates()) {
    if (candidate.name == GetParam()) candidate_ = std::move(candidate);
  }
  auto backend = open_backend();
  if (!backend) GDRKIT_SKIP_OR_FAIL(candidate_.resource, GetParam() << " cannot run here: " << backend.error().text());
  auto device = candidate_.open_device();
  if (!device) GDRKIT_SKIP_OR_FAIL(candidate_.resource, "no device: " << device.error().text());
  backend_ = std::move(*backend);
  device_ = std::move(*device);
}

std::unique_ptr<BackendPin> BackendConformance::pin(std::uint64_t address, std::size_t size_bytes) {
  return tests::value_or_throw(backend_->pin({address, size_bytes}));
}

MappedRange BackendConformance::map(std::unique_ptr<BackendPin> pinned, std::uint64_t address, std::size_t size_bytes) {
  const auto offset = static_cast<std::size_t>(address - pinned->page_address());
  const MappedRegion region = tests::value_or_throw(pinned->map(offset + size_bytes, MappingType::none));
  return {std::move(pinned), region, static_cast<std::uint8_t*>(region.address) + offset};
}

MappedRange BackendConformance::pin_and_map(std::uint64_t address, std::size_t size_bytes) {
  return map(pin(address, size_bytes), address, size_bytes);
}

bool BackendConformance::has_kind(platform::AllocationKind kind) {
  const auto& unserved = candidate_.unserved;
  if (std::find(unserved.begin(), unserved.end(), kind) != unserved.end()) return false;
  auto memory = device_->allocate(kind, 1);
  return memory.has_value() || memory.error().errno_value != EOPNOTSUPP;
}

std::vector<platform::AllocationKind> BackendConformance::served_kinds() {
  using platform::AllocationKind;
  std::vector<AllocationKind> kinds = {AllocationKind::cuda_malloc, AllocationKind::vmm, AllocationKind::vmm_exportable,
                                       AllocationKind::pool};
  std::erase_if(kinds, [this](AllocationKind kind) { return !has_kind(kind); });
  return kinds;
}

platform::Allocation BackendConformance::allocate(platform::AllocationKind kind, std::size_t size_bytes) {
  auto memory = tests::value_or_throw(device_->allocate(kind, size_bytes));
  fill(memory.address(), make_pattern(size_bytes, 0xba5e));
  return memory;
}

void BackendConformance::fill(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  EXPECT_TRUE(tests::succeeded(device_->copy_to_device(address, bytes.data(), bytes.size())));
}

std::vector<std::uint8_t> BackendConformance::read(std::uint64_t address, std::size_t size_bytes) {
  std::vector<std::uint8_t> bytes(size_bytes);
  EXPECT_TRUE(tests::succeeded(device_->copy_to_host(bytes.data(), address, size_bytes)));
  return bytes;
}

void BackendConformance::expect_on_device(std::uint64_t address, const std::vector<std::uint8_t>& expected) {
  const auto found = read(address, expected.size());
  EXPECT_EQ(first_difference(found, expected), expected.size()) << "first differing byte on the device";
}

void BackendConformance::expect_in_mapping(const void* mapping, const std::vector<std::uint8_t>& expected) {
  const auto found = load_from_mapping(mapping, expected.size());
  EXPECT_EQ(first_difference(found, expected), expected.size()) << "first differing byte in the mapping";
}

namespace {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates()) names.push_back(candidate.name);
  return names;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace

INSTANTIATE_TEST_SUITE_P(BackendsDef, BackendConformance, ::testing::ValuesIn(names()), name_of);

}  // namespace gdrkit::backend
