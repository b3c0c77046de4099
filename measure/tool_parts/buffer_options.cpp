// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tool_parts/buffer_options.hpp"

#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure {

cli::Option allocation_option(std::string* target) {
  return {'a', "allocation", "CALL",
          cli::Choice{{allocation_mem_alloc, allocation_mem_create}, target, "Unrecognized fn argument"},
          "how to allocate the buffer: cuMemAlloc or cuMemCreate"};
}

cli::Option mapping_type_option(std::string* target) {
  return {'M', "mapping-type", "TYPE",
          cli::Choice{{"default", "wc", "cache", "device"},
                      target,
                      "ERROR: invalid mapping_type '{}'. Valid options: default, wc, cache, device."},
          "mapping type: default, wc (write-combining), cache, device"};
}

}  // namespace gdrkit::measure
