// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DoctorAdvice: findings of `gdrkit doctor` on this machine that slow transfers of the GPUs in use.
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

/// Whether a library lets the GPU's best adapter access its memory; for libgdrkit_shmem, whether the CPU can.
struct AdapterVerdict {
  std::string gpu;
  std::string adapter;
  std::string use;  ///< "yes", "no", "unknown"
  std::string via;
  std::string reason;
  std::vector<std::string> checks;  ///< IDs of checks that block or slow it
};

struct DoctorAdvice {
  bool is_requested = false;
  std::string unknown;                ///< why there is no result
  std::vector<std::string> subjects;  ///< GPUs and the adapter in use
  std::vector<DoctorFinding> findings;
  std::vector<AdapterVerdict> adapters;  ///< between machines, and of libgdrkit_shmem

  /// Human-readable lines: "# Doctor: ...".
  [[nodiscard]] std::string text() const;
};

struct DoctorRequest {
  std::vector<std::string> gpus;  ///< PCI addresses
  std::string library;            ///< "ucx", "nccl", "mpi", "shmem" or "verbs": its settings and verdicts count
  bool is_between_machines = false;
  std::string root;             ///< "/", or a recording, for tests
  std::string adapter;          ///< for "verbs": the RDMA device in use, whose findings count too
  std::string adapter_address;  ///< of PCI
};

/// The host name; "?" if it is unknown.
[[nodiscard]] std::string machine_name();

/// Extracts the advice from a document of `gdrkit doctor --json`.
[[nodiscard]] DoctorAdvice advice_in(const std::string& document, const DoctorRequest& request);

/// For this process only.
[[nodiscard]] DoctorAdvice run_doctor_advice(const DoctorRequest& request);
/// Collective: `own_gpus` of every process. The first process runs the doctor for the GPUs of its machine and has the
/// result. Call it before the measurement, so that the doctor examines the settings that the user made.
[[nodiscard]] DoctorAdvice run_doctor_advice(job::ProcessGroup& processes, const std::vector<std::string>& own_gpus,
                                             const std::string& library, const std::string& root);

}  // namespace gdrkit::transfer::report
