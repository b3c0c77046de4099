// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/copy_method.hpp"

namespace gdrkit::measure::bench {

const std::vector<const CopyMethod*>& all_copy_methods() {
  static const std::vector<const CopyMethod*> methods = {
#define GDRKIT_COPY_METHOD(name) &copy_methods::name,
#include "measure/bench/measure/methods.def"
#undef GDRKIT_COPY_METHOD
  };
  return methods;
}

}  // namespace gdrkit::measure::bench
