// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/perftest_wire.hpp"

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::perftest {

void Wire::lost(const std::string& step, const std::string& how) const {
  throw cli::Failure(cli::ExitCode::failed,
                     std::string("gdrkit perftest: ") + (is_client_ ? "server " : "client ") + peer_ + " " + how +
                         " during '" + step + "'; see the error message of the " + (is_client_ ? "server" : "client"));
}

void Wire::silent(const std::string& step) const {
  lost(step, cli::format("sent nothing for %lld s", static_cast<long long>(limit_.count())));
}

}  // namespace gdrkit::transfer::perftest
