// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_wait: holds a stream until a word of the own heap compares as asked.
#include "platform/gpu_code/stream_wait_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_wait(const StreamWaitParameters parameters) { (void)stream_wait(parameters); }

}  // namespace gdrkit::platform
