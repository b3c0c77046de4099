// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DoctorAdvice: what `gdrkit doctor` finds on this machine that slows transfers of the GPUs in use.
#pragma once

#include <string>
#include <vector>

#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::report {

struct DoctorFinding {
  std::string check;
  std::string state;  ///< "warn" or "fail"
  std::string subject;
  std::string text;
};

/// Whether a library lets the adapter that is best for a GPU reach its memory; of libgdrkit_shmem, whether the CPU
/// does.
struct AdapterVerdict {
  std::string gpu;
  std::string adapter;
  std::string use;  ///< "yes", "no", "unknown"
  std::string via;
  std::string reason;
  std::vector<std::string> checks;  ///< that block or slow it
};

struct DoctorAdvice {
  bool was_asked = false;
  std::string unknown;                ///< why there is no answer
  std::vector<std::string> subjects;  ///< GPUs and the adapter in use
  std::vector<DoctorFinding> findings;
  std::vector<AdapterVerdict> adapters;  ///< between machines, and of libgdrkit_shmem

  /// Lines for people: "# Doctor: ...".
  [[nodiscard]] std::string text() const;
};

struct DoctorQuestion {
  std::vector<std::string> gpus;  ///< PCI addresses
  std::string library;            ///< "ucx", "nccl", "mpi", "shmem" or "verbs": whose settings and verdicts count
  bool is_between_machines = false;
  std::string root;             ///< "/", or a recording, for tests
  std::string adapter;          ///< of "verbs": the RDMA device in use, whose findings count too
  std::string adapter_address;  ///< of PCI
};

/// Of a document of `gdrkit doctor --json`.
[[nodiscard]] DoctorAdvice advice_in(const std::string& document, const DoctorQuestion& question);

/// Of this process alone.
[[nodiscard]] DoctorAdvice ask_doctor(const DoctorQuestion& question);
/// Collective: `own_gpus` of every process; the first runs the doctor, for the GPUs of its machine, and has the answer.
/// Before the measurement, so that it examines the settings that the user made.
[[nodiscard]] DoctorAdvice ask_doctor(job::ProcessGroup& processes, const std::vector<std::string>& own_gpus,
                                      const std::string& library, const std::string& root);

}  // namespace gdrkit::transfer::report
