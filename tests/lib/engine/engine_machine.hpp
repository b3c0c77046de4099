// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Device memory of the emulated device with a mapping, for engines on threads that play the GPU; and the question
// whether anything of them was left behind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "copy/copier.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/patient_limits.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {

class EngineMachine : public testing::Test {
 protected:
  static constexpr std::size_t memory_bytes = std::size_t{2} << 20;

  void SetUp() override {
    held_before = fakes::held_of_emulated_cuda();
    for (const backend::Registration& entry : backend::registrations()) {
      if (entry.automatic) continue;
      backend = value_or_throw(entry.open({}));
    }
    buffer = value_or_throw(backend->allocate(0, memory_bytes));
    pin = value_or_throw(backend->pin({.address = buffer->address(), .size_bytes = memory_bytes}));
    const auto region = value_or_throw(pin->map(memory_bytes, backend::MappingType::none));
    mapped = static_cast<char*>(region.address);
    copier = *copy::choose(cpu::detect(), region.type, nullptr);
    bytes.resize(memory_bytes);
    std::uint32_t state = 1;
    for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    ASSERT_TRUE(succeeded(buffer->copy_from_host(0, bytes.data(), bytes.size())));
    host.assign(memory_bytes, 0);
  }
  void TearDown() override {
    if (leaks_on_purpose) return;
    release();
    EXPECT_EQ(fakes::held_of_emulated_cuda(), held_before);
  }
  virtual void release() {}  ///< what the test holds of the GPU

  int held_before = 0;
  bool leaks_on_purpose = false;
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<backend::BackendBuffer> buffer;
  std::unique_ptr<backend::BackendPin> pin;
  char* mapped = nullptr;
  copy::Copier copier;
  std::vector<char> bytes;  ///< what the device memory holds
  std::vector<char> host;
};

}  // namespace gdrkit::tests
