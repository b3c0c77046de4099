// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/wire.hpp"

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::perftest {

void Wire::lost(const std::string& step, const std::string& how) const {
  throw Failure(ExitCode::failed, std::string("gdrkit perftest: ") + (is_client_ ? "server " : "client ") + peer_ +
                                      " " + how + " at: " + step + "; see the error message of that end");
}

void Wire::silent(const std::string& step) const {
  lost(step, format("sent nothing for %lld s", static_cast<long long>(limit_.count())));
}

}  // namespace gdrkit::tools::perftest
