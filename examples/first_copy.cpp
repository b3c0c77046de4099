// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Runs the README's example on the first GPU. Exit codes: 0 it works, 1 it does not, 77 there is no GPU to try it on.
#include "first_copy.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

/// Device memory as a program gets it that links libcuda; loaded by hand here, so that the example builds without CUDA.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    if (cuda_ == nullptr) throw std::runtime_error("no CUDA driver: libcuda.so.1 is not here");
    int device = 0;
    void* context = nullptr;
    check("cuInit", call<int(unsigned)>("cuInit")(0));
    check("cuDeviceGet", call<int(int*, int)>("cuDeviceGet")(&device, 0));
    check("cuDevicePrimaryCtxRetain", call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device));
    check("cuCtxSetCurrent", call<int(void*)>("cuCtxSetCurrent")(context));
    check("cuMemAlloc", call<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&address_, bytes));
  }
  ~DeviceMemory() { call<int(std::uint64_t)>("cuMemFree_v2")(address_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  [[nodiscard]] const void* pointer() const { return reinterpret_cast<const void*>(address_); }

 private:
  template <class Function>
  Function* call(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(cuda_, name));
  }
  static void check(const char* name, int result) {
    if (result != 0) throw std::runtime_error(std::string(name) + " says " + std::to_string(result));
  }

  void* cuda_ = dlopen("libcuda.so.1", RTLD_NOW);
  std::uint64_t address_ = 0;
};

}  // namespace

int main() {
  constexpr std::size_t bytes = 8192;
  try {
    const DeviceMemory memory(bytes);
    const bool is_right = first_copy(memory.pointer(), bytes);
    std::printf("%s\n", is_right ? "what was written to the GPU was read back" : "the GPU's memory reads differently");
    return is_right ? 0 : 1;
  } catch (const gdrkit::Error& error) {
    std::printf("gdrkit: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::printf("no GPU to try this on: %s\n", error.what());
    return 77;
  }
}
