// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A small client of the drop-in library, whose stderr a test reads: log_probe open|calls|close-null
#include <cstdio>
#include <cstring>

#include "driver/emulated_memory.hpp"
#include "gdrapi.h"

namespace {

constexpr std::size_t page = 65536;

/// One call of each kind that is logged, and copies, which are not logged.
int make_calls(gdr_t g) {
  const auto memory = gdrkit::driver::emulated_allocate(page, gdrkit::driver::EmulatedKind::device);
  if (!memory) return 2;
  gdr_mh_t handle{};
  void* va = nullptr;
  char byte = 1;
  gdr_pin_buffer(g, 0, page, 0, 0, &handle);
  if (gdr_pin_buffer(g, *memory, page, 0, 0, &handle) != 0) return 3;
  gdr_unmap(g, handle, &byte, page);
  gdr_copy_to_mapping(handle, &byte, &byte, 1);
  if (gdr_map(g, handle, &va, page) != 0) return 4;
  gdr_map(g, handle, &va, page);
  for (int i = 0; i < 100; ++i) {
    gdr_copy_to_mapping(handle, va, &byte, 1);
    gdr_copy_from_mapping(handle, &byte, static_cast<char*>(va) - 1, 1);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const what = count == 2 ? arguments[1] : "";
  if (std::strcmp(what, "close-null") == 0) return gdr_close(nullptr) == 22 ? 0 : 5;
  gdr_t const g = gdr_open();
  std::puts(g == nullptr ? "closed" : "open");
  if (g == nullptr) return 1;
  const int result = std::strcmp(what, "calls") == 0 ? make_calls(g) : 0;
  gdr_close(g);
  return result;
}
