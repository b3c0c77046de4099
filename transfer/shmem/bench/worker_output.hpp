// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WorkerOutput: what a worker's process prints. It goes on to standard error; of lines in a row that differ in numbers
// only, the first ones, and how many more there were: an assertion that fails in a GPU kernel prints one for each
// thread.
#pragma once

#include <string>
#include <thread>

namespace gdrkit::tools::pgas {

/// Joins lines that are alike. Lines end in '\n'.
class AlikeLines {
 public:
  static constexpr int shown = 3;

  /// What is to be printed now that these bytes have come.
  [[nodiscard]] std::string take(const char* bytes, std::size_t size_bytes);
  /// What is to be printed at the end.
  [[nodiscard]] std::string end();

 private:
  void take_line(std::string* printed);
  void tell_left_out(std::string* printed);

  std::string line_;  // as far as it has come
  std::string last_;  // the one before, without its numbers
  long repeated_ = 0;
};

class WorkerOutput {
 public:
  /// Where there are no descriptors left, writer() is standard error itself.
  WorkerOutput();
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;
  /// Passes on what has been written so far. What the process leaves behind may hold its end for ever.
  ~WorkerOutput();

  /// For the process.
  [[nodiscard]] int writer() const noexcept { return writer_; }
  /// Once the process has it.
  void close_writer() noexcept;

 private:
  void pass_on();

  int reader_ = -1;
  int writer_;
  int stop_[2] = {-1, -1};  // closing the second one stops the thread
  std::thread thread_;
};

}  // namespace gdrkit::tools::pgas
