// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem info: the job as one PE sees it, and what serves the way to each other PE.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/size.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/json_document.hpp"
#include "cli/interface/size.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "platform/device/device.hpp"
#include "transfer/job/pe_session.hpp"
#include "transfer/shmem/parts.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::uint32_t timeout_ms = 60'000;

/// Returns the lines of gdrkit_shmem_describe for one PE.
std::vector<std::string> ways_to(int pe) {
  const int length = gdrkit_shmem_describe(pe, nullptr, 0);
  job::require(length, "describe");
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  job::require(gdrkit_shmem_describe(pe, text.data(), text.size()), "describe");
  text.resize(static_cast<std::size_t>(length));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The size of the heap of programs on nvshmem.h, from a variable that this program ignores.
std::string nvshmem_heap() {
  const char* const text = std::getenv("NVSHMEM_SYMMETRIC_SIZE");
  if (text == nullptr || *text == '\0') return "";
  const std::string variable = std::string("NVSHMEM_SYMMETRIC_SIZE=") + text;
  // An invalid value is an error even if GDRKIT_SHMEM_HEAP overrides it.
  const auto bytes = base::to_nvshmem_size(text);
  if (bytes.value_or(0) == 0) return variable + " is invalid; programs that use nvshmem.h fail to start";
  const char* const heap = std::getenv("GDRKIT_SHMEM_HEAP");
  if (heap != nullptr && *heap != '\0') return variable + ": ignored, because GDRKIT_SHMEM_HEAP is set";
  return variable + ": programs that use nvshmem.h start with a heap of " + cli::size_text(*bytes);
}

void print_text(const gdrkit_shmem_info& info, const platform::DeviceIdentity& identity) {
  const auto line = [](const char* label, const std::string& value) {
    std::printf("%s", cli::wrapped(cli::format("%-11s", label), std::string(11, ' '), cli::printable(value)).c_str());
  };
  line("pe", cli::format("%d of %d, %d of them on this node", info.pe, info.n_pes, info.node_pes));
  line("device", cli::format("%d: %s %s", info.device, identity.name, identity.pci_bus_id));
  line("heap", cli::rough_size_text(info.heap_bytes) + ", may grow to " + cli::rough_size_text(info.heap_max_bytes) +
                   ", " + cli::rough_size_text(info.heap_used_bytes) + " used");
  line("address", cli::format("0x%" PRIx64 ", heaps of this node's PEs %s apart", info.heap_address,
                              cli::rough_size_text(info.stride_bytes).c_str()));
  if (const std::string heap = nvshmem_heap(); !heap.empty()) line("nvshmem", heap);
  for (int pe = 0; pe < info.n_pes; ++pe) {
    std::string label = cli::format("to PE %d", pe);
    for (const std::string& way : ways_to(pe)) {
      line(label.c_str(), way);
      label.clear();
    }
  }
}

void write_document(const cli::DocumentOption& option, job::PeSession& session, const gdrkit_shmem_info& info) {
  cli::Json document =
      cli::json_head("shmem info", platform::describe_machine(&session.device()), "", session.choice().is_emulated);
  document["pe"] = info.pe;
  document["n_pes"] = info.n_pes;
  document["node_pes"] = info.node_pes;
  document["device"] = info.device;
  document["heap"] = {{"bytes", info.heap_bytes},
                      {"max_bytes", info.heap_max_bytes},
                      {"used_bytes", info.heap_used_bytes},
                      {"stride_bytes", info.stride_bytes}};
  document["ways"] = cli::Json::array();
  for (int pe = 0; pe < info.n_pes; ++pe) document["ways"].push_back({{"pe", pe}, {"transports", ways_to(pe)}});
  document["ok"] = true;
  cli::write_json(option, document);
}

}  // namespace

cli::ExitCode run_info(cli::Front front, int argc, char** argv) {
  cli::DocumentOption json;
  cli::CommandLine line;
  line.name = "shmem info";
  line.summary =
      "Describes one-sided communication on this machine: PEs, the symmetric heap, and the transport to each PE. Under "
      "a launcher, only PE 0 prints.";
  line.example = "gdrkit shmem info\n  gdrkit run -n 2 -- gdrkit shmem info --json";
  line.options = {cli::json_option(&json, "transfer/shmem/README.md")};
  if (const auto ended = parse(line, front, argc, argv)) return *ended;
  job::SessionRequest request;
  request.timeout_ms = timeout_ms;
  job::PeSession session(request);
  if (session.pe() == 0) {
    const gdrkit_shmem_info info = session.info();
    cli::print_note(session.choice(), json.is_on_stdout());
    if (!json.is_on_stdout()) print_text(info, session.device().identity());
    write_document(json, session, info);
  }
  job::require(gdrkit_shmem_sync_all(), "sync_all");
  session.end();
  return cli::ExitCode::ok;
}

}  // namespace gdrkit::transfer::shmem
