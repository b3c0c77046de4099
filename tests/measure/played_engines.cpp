// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Preloaded before libgdrkit.so into a program on the emulated device: the CPU emulates every engine. PLAYED_FAILURE
// makes a copy fail, such as "mover 100", or with "pin 2" that pin and all later ones.
#include <dlfcn.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "gdrkit/gdrkit.h"

namespace {

std::map<std::uint64_t, std::string> engines;  // by pin; the program has one thread
std::map<std::string, long> counts;

bool fails(const std::string& what) {
  char name[32] = "";
  long number = 0;
  const char* const failure = std::getenv("PLAYED_FAILURE");
  const bool is_meant = failure != nullptr && std::sscanf(failure, "%31s %ld", name, &number) == 2 && name == what;
  return ++counts[what] >= number && is_meant;
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int gdrkit_pin(gdrkit_context_t context, uint64_t device_address, size_t size_bytes, gdrkit_pin_t* pin) {
  if (fails("pin")) return -ENOMEM;
  return real(&gdrkit_pin, "gdrkit_pin")(context, device_address, size_bytes, pin);
}

int gdrkit_map(gdrkit_pin_t pin, const struct gdrkit_map_options* options, void** address) {
  struct gdrkit_map_options played = *options;
  engines[pin.value] = gdrkit_engine_name(played.engine);
  if (fails("map_" + engines[pin.value])) return -EIO;
  played.engine = GDRKIT_ENGINE_CPU;
  return real(&gdrkit_map, "gdrkit_map")(pin, &played, address);
}

int gdrkit_write(gdrkit_pin_t pin, size_t offset, const void* source, size_t size_bytes) {
  if (fails(engines[pin.value])) return -EIO;
  return real(&gdrkit_write, "gdrkit_write")(pin, offset, source, size_bytes);
}

}  // extern "C"
#pragma GCC visibility pop
