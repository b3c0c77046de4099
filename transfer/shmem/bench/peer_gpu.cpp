// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/peer_gpu.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::shmem {

std::unique_ptr<platform::Device> open_peer_gpu(int pe, const char* library) {
  const char* const backend = std::getenv("GDRKIT_BACKEND");
  const bool is_emulated = backend != nullptr && std::strcmp(backend, "emulated") == 0;
  const auto count = is_emulated ? platform::emulated_device_count() : platform::cuda_device_count();
  if (!count) throw cli::Failure(cli::ExitCode::cannot_run, count.error().text());
  if (*count == 0)
    throw cli::Failure(cli::ExitCode::cannot_run, std::string(library) + " requires a GPU, but CUDA reports none");
  auto device = is_emulated ? platform::open_emulated_device(pe % *count) : platform::open_cuda_device(pe % *count);
  if (!device) throw cli::Failure(cli::ExitCode::cannot_run, device.error().text());
  return std::move(*device);
}

}  // namespace gdrkit::transfer::shmem
