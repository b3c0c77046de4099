// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/flows.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "backend/rm/rm_backend.hpp"
#include "fakes/raw_rm.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

constexpr const char* version_path = "/proc/driver/nvidia/version";
constexpr std::uint64_t kib = 1024;

const char* kind_name(CudaKind kind) {
  switch (kind) {
    case CudaKind::malloc: return "malloc";
    case CudaKind::vmm: return "vmm";
    case CudaKind::pool: return "pool";
    case CudaKind::managed: return "managed";
    case CudaKind::host: return "host";
    case CudaKind::ipc_import: return "ipc_import";
  }
  return "";
}

std::string joined(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::vector<std::uint64_t> separated(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) numbers.push_back(std::stoull(part));
  return numbers;
}

template <std::size_t size>
std::array<std::uint8_t, size> to_array(const std::vector<std::uint8_t>& bytes) {
  std::array<std::uint8_t, size> array{};
  std::memcpy(array.data(), bytes.data(), std::min(size, bytes.size()));
  return array;
}

std::vector<FakeGpu> gpus_of(const Conversation& header) {
  std::vector<FakeGpu> gpus;
  for (const Words& card : header.header_lines("card")) {
    gpus.push_back(recorded_gpu(to_array<72>(card.bytes("bytes")), to_array<32>(card.bytes("id_info")),
                                to_array<16>(card.bytes("uuid"))));
  }
  return gpus;
}

FakeCuda::Options options_of(const Conversation& header) {
  FakeCuda::Options options;
  options.gpus.clear();
  for (const std::uint64_t card : separated(header.header_line("cuda").text("cards")))
    options.gpus.push_back(static_cast<unsigned>(card));
  return options;
}

}  // namespace

std::uint64_t Flow::bytes() const { return std::accumulate(part_bytes.begin(), part_bytes.end(), std::uint64_t{0}); }

const std::vector<Flow>& recorded_flows() {
  static const std::vector<Flow> flows = {
      {.name = "malloc_unaligned",
       .kind = CudaKind::malloc,
       .part_bytes = {4 * mib},
       .from = 0x1234,
       .until = 4 * mib - 0x567},
      {.name = "malloc_sub_allocation", .kind = CudaKind::malloc, .part_bytes = {1000 * kib}},
      {.name = "malloc_plain", .kind = CudaKind::malloc, .part_bytes = {4 * mib}, .is_plain = true},
      {.name = "malloc_past_the_end", .kind = CudaKind::malloc, .part_bytes = {4 * mib}, .until = 4 * mib + 1},
      {.name = "malloc_freed", .kind = CudaKind::malloc, .part_bytes = {4 * mib}, .is_freed_first = true},
      {.name = "vmm_exportable", .kind = CudaKind::vmm, .part_bytes = {4 * mib}, .is_exportable = true},
      {.name = "vmm_not_exportable", .kind = CudaKind::vmm, .part_bytes = {4 * mib}},
      {.name = "vmm_three_handles",
       .kind = CudaKind::vmm,
       .part_bytes = {2 * mib, 2 * mib, 2 * mib},
       .is_exportable = true,
       .from = 64 * kib},
      {.name = "pool", .kind = CudaKind::pool, .part_bytes = {4 * mib}},
      {.name = "managed", .kind = CudaKind::managed, .part_bytes = {4 * mib}},
      {.name = "host", .kind = CudaKind::host, .part_bytes = {64 * kib}},
      {.name = "second_gpu", .kind = CudaKind::malloc, .part_bytes = {4 * mib}, .ordinal = 1},
  };
  return flows;
}

Words FlowOutcome::words() const {
  return Words().add("step", step).add_signed("errno", errno_value).add_signed("verification", verification);
}

FlowOutcome run_rm_flow(driver::System& system, const driver::CudaCalls& cuda, std::uint64_t address,
                        std::size_t size_bytes, const std::vector<std::uint8_t>& expected) {
  FlowOutcome outcome;
  outcome.step = "done";
  const auto failed = [&outcome](const char* step, const base::Error& error) {
    outcome.step = step;
    outcome.errno_value = error.errno_value;
    return outcome;
  };
  auto backend = backend::rm::open_rm_on(system, cuda, base::Settings());
  if (!backend) return failed("open", backend.error());
  auto pin = (*backend)->pin({address, size_bytes, false, true});
  if (!pin) return failed("pin", pin.error());
  auto mapped = (*pin)->map((*pin)->page_bytes(), backend::MappingType::none);
  if (!mapped) return failed("map", mapped.error());
  outcome.verification = static_cast<int>(mapped->verification);
  const auto* own = static_cast<const std::uint8_t*>(mapped->address) + (address - (*pin)->page_address());
  if (!expected.empty()) outcome.shows_the_memory = std::memcmp(own, expected.data(), expected.size()) == 0;
  if (auto unmapped = (*pin)->unmap(); !unmapped) return failed("unmap", unmapped.error());
  if (auto unpinned = (*pin)->unpin(); !unpinned) return failed("unpin", unpinned.error());
  return outcome;
}

void describe_memory(Conversation& conversation, const driver::CudaCalls& cuda, const Flow& flow,
                     std::uint64_t address) {
  driver::PointerAttributes at;
  if (driver::pointer_attributes(cuda, address, &at) != 0)
    throw std::runtime_error("CUDA reports no attributes of the flow's memory");
  conversation.header.emplace_back("memory", Words()
                                                 .add("kind", std::string(kind_name(flow.kind)))
                                                 .add_signed("ordinal", flow.ordinal)
                                                 .add("parts", joined(flow.part_bytes))
                                                 .add_signed("exportable", flow.is_exportable ? 1 : 0)
                                                 .add_signed("plain", flow.is_plain ? 1 : 0)
                                                 .add_signed("freed", flow.is_freed_first ? 1 : 0)
                                                 .add("range_bytes", at.range_size)
                                                 .add("block_bytes", at.mapping_size)
                                                 .add("offset_in_block", address - at.mapping_base));
}

Conversation record_flow(const Flow& flow, driver::System& system, const driver::CudaCalls& cuda,
                         const Conversation& machine, std::uint64_t address, const std::function<void()>& before_pin) {
  Recorder recorder(system, cuda);
  Conversation& conversation = recorder.conversation();
  conversation.header.emplace_back("flow", Words().add("name", std::string(flow.name)));
  conversation.header.insert(conversation.header.end(), machine.header.begin(), machine.header.end());
  describe_memory(conversation, cuda, flow, address);
  const std::uint64_t canonical = recorder.add_region_of(address);
  const std::uint64_t size = (flow.until != 0 ? flow.until : flow.bytes()) - flow.from;
  conversation.header.emplace_back("pin", Words().add("address", canonical + flow.from).add("size", size));
  if (before_pin) before_pin();
  std::vector<std::uint8_t> expected = distinct_words(flow.bytes(), 1);
  if (flow.is_plain) std::fill(expected.begin(), expected.end(), std::uint8_t{0});
  expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(flow.from));
  expected.resize(std::min<std::uint64_t>(expected.size(), size));
  const FlowOutcome outcome = run_rm_flow(recorder.system(), recorder.cuda(), address + flow.from, size, expected);
  conversation.header.emplace_back("outcome", outcome.words());
  if (outcome.step == "done" && !outcome.shows_the_memory)
    throw std::runtime_error("the mapping contains other data than the flow's memory");
  if (!recorder.names().unknown_addresses().empty())
    throw std::runtime_error("the flow contains device addresses outside every region");
  return conversation;
}

FakeScene::FakeScene(const Conversation& header)
    : rm(driver_model(header.header_line("driver").text("version")), gpus_of(header)), cuda(rm, options_of(header)) {
  const auto text = header.header_line("driver").bytes("version_file");
  const std::string version = header.header_line("driver").text("version");
  rm.set_version_text({text.begin(), text.end()});
  rm.set_module_version(version);
  cuda.driver_version = static_cast<int>(header.header_line("cuda").signed_number("version"));
  const Words memory = header.header_line("memory");
  const std::string kind = memory.text("kind");
  const auto parts = separated(memory.text("parts"));
  const auto ordinal = static_cast<int>(memory.signed_number("ordinal"));
  const std::uint64_t bytes = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  const std::uint64_t offset = memory.number("offset_in_block");
  if (ordinal != 0) {
    cuda.activate_primary(ordinal);
    cuda.threads().push(cuda.primary(ordinal));
  }
  if (kind == "malloc") address = cuda.malloc_at(memory.number("block_bytes"), offset, bytes, ordinal);
  if (kind == "vmm")
    address = cuda.vmm(parts, memory.signed_number("exportable") != 0, memory.number("range_bytes"), ordinal);
  if (kind == "pool" && offset != 0) (void)cuda.pool_malloc(offset, false, ordinal);
  if (kind == "pool") address = cuda.pool_malloc(bytes, false, ordinal);
  if (kind == "managed") address = cuda.managed(bytes, ordinal);
  if (kind == "host") address = cuda.host(bytes, ordinal);
  const bool has_content = kind != "managed" && kind != "host" && memory.signed_number("plain") == 0;
  if (has_content) cuda.fill_pattern(address, bytes, 1);
}

Conversation describe_machine(driver::System& system, const std::string& driver, int cuda_version,
                              const std::vector<unsigned>& card_of_ordinal) {
  Conversation conversation;
  char text[512] = {};
  const ssize_t size = system.read_text(version_path, text, sizeof text);
  conversation.header.emplace_back(
      "driver",
      Words().add("version", driver).add_bytes("version_file", text, static_cast<std::size_t>(size > 0 ? size : 0)));
  std::vector<std::uint64_t> cards(card_of_ordinal.begin(), card_of_ordinal.end());
  conversation.header.emplace_back("cuda", Words().add_signed("version", cuda_version).add("cards", joined(cards)));
  RawRm raw(system);
  raw.add_client();
  std::array<std::uint8_t, 32 * 72> list{};
  raw.call(raw.control_file(), command::card_info, list);
  Handle next = 0x10;
  for (std::size_t i = 0; i < 32 && list[72 * i] != 0; ++i) {
    const FakeGpu gpu = recorded_gpu(to_array<72>({list.begin() + 72 * static_cast<std::ptrdiff_t>(i),
                                                   list.begin() + 72 * static_cast<std::ptrdiff_t>(i + 1)}),
                                     {}, {});
    auto id_info = RawRm::words<32>({gpu.gpu_id});
    raw.control(raw.root, control_command::id_info_v2, id_info.data(), id_info.size());
    const int node = raw.open_device(gpu);
    const Handle device = next++, subdevice = next++;
    auto gid = RawRm::words<268>({0, 2});
    raw.allocate(raw.root, device, rm_class::device, get<std::uint32_t>(id_info.data(), 8));
    raw.allocate(device, subdevice, rm_class::subdevice, get<std::uint32_t>(id_info.data(), 12));
    raw.control(subdevice, control_command::gid_info, gid.data(), gid.size());
    raw.free(device);
    if (node >= 0) system.close(node);
    conversation.header.emplace_back("card", Words()
                                                 .add_bytes("bytes", list.data() + 72 * i, 72)
                                                 .add_bytes("id_info", id_info.data(), id_info.size())
                                                 .add_bytes("uuid", gid.data() + 12, 16));
  }
  raw.free(raw.root);
  system.close(raw.control_file());
  return conversation;
}

Conversation record_on_fakes(const Conversation& recorded, const Flow& flow) {
  Conversation machine;
  for (const auto& line : recorded.header) {
    if (line.first == "driver" || line.first == "cuda" || line.first == "card") machine.header.push_back(line);
  }
  FakeScene scene(recorded);
  return record_flow(flow, scene.rm, scene.cuda, machine, scene.address, [&] {
    if (flow.is_freed_first) scene.cuda.free(scene.address);
  });
}

}  // namespace gdrkit::fakes
