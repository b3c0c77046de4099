// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BlockedSignals: starts threads in which the application's signal handlers do not run.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace gdrkit::base {

/// Blocks all signals in the calling thread as long as the object exists. A thread that is started meanwhile inherits
/// the mask.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace gdrkit::base
