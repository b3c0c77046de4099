// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Steps of a backend that a test expects to succeed. On an error each adds a failure with the reason.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "backend/backend.hpp"

namespace gdrkit::backend {

template <class Machine>
std::unique_ptr<Backend> open_or_fail(Machine& machine) {
  auto opened = machine.open();
  if (opened) return std::move(*opened);
  ADD_FAILURE() << "open: " << opened.error().text();
  return nullptr;
}

inline std::unique_ptr<BackendPin> pin_or_fail(Backend& backend, std::uint64_t address, std::size_t size_bytes) {
  auto pinned = backend.pin({address, size_bytes, false, true});
  if (pinned) return std::move(*pinned);
  ADD_FAILURE() << "pin: " << pinned.error().text();
  return nullptr;
}

inline MappedRegion map_or_fail(BackendPin& pin, MappingType type = MappingType::none) {
  auto mapped = pin.map(pin.page_bytes(), type);
  if (mapped) return *mapped;
  ADD_FAILURE() << "map: " << mapped.error().text();
  return {};
}

}  // namespace gdrkit::backend
