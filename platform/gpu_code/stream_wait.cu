// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_wait: blocks a stream until a word of this PE's heap satisfies a comparison.
#include "platform/gpu_code/stream_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_wait(const StreamWaitParameters parameters) { (void)stream_wait(parameters); }

}  // namespace gdrkit::platform
