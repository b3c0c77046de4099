// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/job/process_group.hpp"

#include <algorithm>
#include <cstring>

namespace gdrkit::transfer::job {
namespace {

SessionRequest group_request(std::chrono::seconds limit) {
  SessionRequest request;
  request.timeout_ms = static_cast<std::uint32_t>(std::chrono::milliseconds(limit).count());
  return request;
}

}  // namespace

ProcessGroup::ProcessGroup(std::chrono::seconds limit) : session_(group_request(limit)) {
  const std::size_t size_bytes = slot_bytes * static_cast<std::size_t>(n_processes());
  void* slots = nullptr;
  require(gdrkit_shmem_malloc(size_bytes, &slots), "malloc of the processes' slots");
  slots_ = static_cast<char*>(slots);
}

void ProcessGroup::barrier() { require(gdrkit_shmem_barrier_all(), "barrier_all"); }

std::vector<char> ProcessGroup::all_gather(const void* bytes, std::size_t size_bytes) {
  char slot[slot_bytes] = {};
  std::memcpy(slot, bytes, std::min(size_bytes, slot_bytes));
  const std::size_t offset = slot_bytes * static_cast<std::size_t>(process());
  for (int other = 0; other < n_processes(); ++other) {
    require(gdrkit_shmem_put(slots_ + offset, slot, slot_bytes, other), "put");
  }
  barrier();
  std::vector<char> all(slot_bytes * static_cast<std::size_t>(n_processes()));
  require(gdrkit_shmem_get(all.data(), slots_, all.size(), process()), "get");
  barrier();  // no process writes the next values before all have read these
  return all;
}

std::vector<double> ProcessGroup::gather(double value) {
  if (n_processes() == 1) return {value};
  const std::vector<char> all = all_gather(&value, sizeof value);
  std::vector<double> values(static_cast<std::size_t>(n_processes()));
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], &all[i * slot_bytes], sizeof values[i]);
  return values;
}

std::vector<std::string> ProcessGroup::gather(const std::string& text) {
  if (n_processes() == 1) return {text};
  const std::vector<char> all = all_gather(text.c_str(), std::min(text.size(), most_text_bytes));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_processes()); ++i) texts.emplace_back(&all[i * slot_bytes]);
  return texts;
}

std::vector<std::string> ProcessGroup::gather_bytes(const std::string& bytes, const char* what) {
  const std::vector<double> sizes = gather(static_cast<double>(bytes.size()));
  const double most = *std::max_element(sizes.begin(), sizes.end());
  if (most > slot_bytes) {
    throw cli::Failure(cli::ExitCode::failed,
                       cli::format("%s have %.0f bytes in one process, more than %zu", what, most, slot_bytes));
  }
  const std::vector<char> all = all_gather(bytes.data(), bytes.size());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts.emplace_back(&all[i * slot_bytes], static_cast<std::size_t>(sizes[i]));
  }
  return parts;
}

void ProcessGroup::share(void* bytes, std::size_t size_bytes) {
  if (n_processes() == 1) return;
  const std::vector<char> all = all_gather(bytes, size_bytes);
  std::memcpy(bytes, all.data(), std::min(size_bytes, most_text_bytes));
}

void ProcessGroup::end() {
  require(gdrkit_shmem_free(slots_), "free");
  session_.end();
}

}  // namespace gdrkit::transfer::job
