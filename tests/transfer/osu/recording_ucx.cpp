// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Wraps the installed UCX as a libucp of another name. For each request to hook CUDA's functions it appends the process
// and its CUDA state to the file $RECORDED_UCX_HOOKS.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int cuda_events = 1 << 20 | 1 << 21;

const char* state_of_cuda() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return "not loaded";
  const auto count_devices = reinterpret_cast<int (*)(int*)>(::dlsym(library, "cuDeviceGetCount"));
  constexpr int not_initialised = 3;
  int count = 0;
  return count_devices(&count) == not_initialised ? "loaded" : "initialised";
}

void record() {
  const char* const path = std::getenv("RECORDED_UCX_HOOKS");
  if (path == nullptr) return;
  char line[64];
  const int length = std::snprintf(line, sizeof line, "%d %s\n", ::getpid(), state_of_cuda());
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, line, static_cast<std::size_t>(length)) != length) std::abort();
  ::close(file);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

signed char ucm_set_event_handler(int events, int priority, void (*handler)(int, void*, void*), void* argument) {
  if ((events & cuda_events) != 0) record();
  using Function = signed char (*)(int, int, void (*)(int, void*, void*), void*);
  const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "ucm_set_event_handler"));
  return next(events, priority, handler, argument);
}

}  // extern "C"
#pragma GCC visibility pop
