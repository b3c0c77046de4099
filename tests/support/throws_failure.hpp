// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Matches a call that ends with cli::Failure.
#pragma once

#include <gmock/gmock.h>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::tests {

/// Matches a callable that throws cli::Failure with this exit code and a message that matches `message`.
template <class Message>
[[nodiscard]] auto throws_failure(cli::ExitCode code, const Message& message) {
  return ::testing::Throws<cli::Failure>(::testing::AllOf(::testing::Property("code", &cli::Failure::code, code),
                                                          ::testing::Property("what", &cli::Failure::what, message)));
}

}  // namespace gdrkit::tests
