// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Steps of a backend that a test expects to succeed. An error throws its text, which fails the test.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {

template <class Machine>
std::unique_ptr<Backend> open_or_fail(Machine& machine) {
  return tests::value_or_throw(machine.open());
}

inline std::unique_ptr<BackendPin> pin_or_fail(Backend& backend, std::uint64_t address, std::size_t size_bytes,
                                               bool force_pcie = false) {
  return tests::value_or_throw(backend.pin({address, size_bytes, force_pcie, true}));
}

inline MappedRegion map_or_fail(BackendPin& pin, MappingType type = MappingType::none) {
  return tests::value_or_throw(pin.map(pin.page_bytes(), type));
}

}  // namespace gdrkit::backend
