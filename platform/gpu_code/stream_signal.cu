// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// stream_signal: updates a signal after all earlier work of its stream.
#include "platform/gpu_code/stream_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void gdrkit_stream_signal(const StreamSignal signal) { update_signal(signal); }

}  // namespace gdrkit::platform
