// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/path.hpp"

#include <new>
#include <string>

#include "driver/cuda.hpp"
#include "driver/cuda_calls.hpp"
#include "driver/system.hpp"

namespace gdrkit::engine {
namespace {

std::string names_of_engines() {
  std::string names = "automatic";
  for (const Registration& entry : registrations()) names += std::string(", ") + entry.name;
  return names;
}

}  // namespace

bool Path::is_still_allocated() const noexcept {
  std::uint64_t buffer_id = 0;
  void* targets[] = {&buffer_id};
  int numbers[] = {7};  // CU_POINTER_ATTRIBUTE_BUFFER_ID
  return engines_.gpu().calls().pointer_get_attributes(1, numbers, targets, span_.address) == 0 &&
         buffer_id == buffer_id_;
}

HostMemory Path::kind_of(const void* host, std::size_t size_bytes) const noexcept {
  // The calling thread's last pinned buffer: each attribute costs a lookup in the driver's tables, so few are read.
  // Known by CUDA's names: no buffer outlives its context, and no other buffer gets its name.
  static thread_local PointerFacts known;
  const Gpu& gpu = engines_.gpu();
  const auto address = reinterpret_cast<std::uint64_t>(host);
  constexpr auto host_type = static_cast<std::uint32_t>(driver::cuda_memory_type_host);
  std::uint32_t memory_type = 0;
  std::uint64_t buffer_id = 0;
  void* targets[] = {&memory_type, &buffer_id};
  int numbers[] = {2, 7};  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE, _BUFFER_ID
  if (gpu.calls().pointer_get_attributes(2, numbers, targets, address) != 0 || memory_type != host_type) {
    return HostMemory::ordinary;
  }
  if (buffer_id == 0 || known.buffer_id != buffer_id || known.context != gpu.context()) {
    auto facts = pointer_facts(gpu.calls(), address);
    if (facts && facts->memory_type == host_type && facts->device_address == 0) {
      // On a thread without a current context, CUDA reports all attributes except its device address.
      const auto scope = gpu.enter();
      facts = pointer_facts(gpu.calls(), address);
    }
    // What another context pinned may not be this GPU's to reach; managed memory moves.
    const bool is_pinned = facts && facts->memory_type == host_type && facts->is_managed == 0 &&
                           facts->context == gpu.context() && facts->device_address == address;
    if (!is_pinned) return HostMemory::ordinary;
    known = *facts;
  }
  const std::uint64_t offset = address - known.range_start;
  const bool is_inside = offset <= known.range_bytes && size_bytes <= known.range_bytes - offset;
  return is_inside ? HostMemory::pinned : HostMemory::ordinary;
}

base::Result<std::optional<Copy>> Path::prepare(Direction direction, std::size_t offset, void* host,
                                                std::size_t size_bytes) noexcept {
  if (size_bytes <= largest_for_cpu(direction)) {
    copy_by_cpu(span_.copier, direction, span_.mapped + offset, host, size_bytes);
    return std::optional<Copy>();
  }
  Copy copy;
  copy.direction = direction;
  copy.device = span_.address + offset;
  copy.mapped = span_.mapped + offset;
  copy.host = host;
  copy.size_bytes = size_bytes;
  copy.copier = &span_.copier;
  const Table& table = engines_.table();
  const Choice of_pinned = table.choose(direction, HostMemory::pinned, size_bytes);
  const Choice of_ordinary = table.choose(direction, HostMemory::ordinary, size_bytes);
  const auto is_moved_by_cpu = [&](const Choice& choice) { return !forced_ && engines_.try_cpu_copy(choice, copy); };
  if (of_pinned == of_ordinary && is_moved_by_cpu(of_pinned)) return std::optional<Copy>();
  if (!forced_ && size_bytes <= table.largest_by_cpus(direction)) return std::optional<Copy>(copy);
  // Each of the two calls to CUDA takes up to 0.3 us after a pause; the result of this one may make the other
  // unnecessary.
  copy.host_memory = kind_of(host, size_bytes);
  const Choice& of_kind = copy.host_memory == HostMemory::pinned ? of_pinned : of_ordinary;
  if (of_pinned != of_ordinary && is_moved_by_cpu(of_kind)) return std::optional<Copy>();
  // A copy by the GPU of memory that is gone would end the program's CUDA context.
  if (is_still_allocated()) return std::optional<Copy>(copy);
  if (forced_) {
    return base::fail(EINVAL, "cannot copy %zu bytes at 0x%llx: the device memory was freed", size_bytes,
                      static_cast<unsigned long long>(copy.device));
  }
  copy_by_cpu(*copy.copier, copy.direction, copy.mapped, copy.host, copy.size_bytes);
  return std::optional<Copy>();
}

base::Status Path::copy(Direction direction, std::size_t offset, void* host, std::size_t size_bytes) noexcept {
  const auto prepared = prepare(direction, offset, host, size_bytes);
  if (!prepared) return base::pass(prepared);
  return *prepared ? run(**prepared) : base::Status();
}

Path::Part Path::start(Direction direction, std::size_t offset, void* host, std::size_t size_bytes) noexcept {
  Part part;
  const auto copy = prepare(direction, offset, host, size_bytes);
  if (!copy) part.outcome = base::pass(copy);
  if (!copy || !*copy) return part;
  part.copy = **copy;
  part.started = engines_.start(forced_, part.copy);
  if (!part.started) part.outcome = run(part.copy);
  return part;
}

base::Status Path::finish(Part& part) noexcept {
  if (!part.started) return std::move(part.outcome);
  base::Status moved = engines_.complete(*part.started);
  part.started.reset();
  const bool is_final = moved || moved.error().errno_value == ETIMEDOUT || (forced_ && !is_shortage(moved));
  return is_final ? moved : run(part.copy);
}

base::Result<std::optional<Id>> Engines::decide(const char* engine) const noexcept try {
  std::string name = engine;
  if (name.empty()) name = forced_.empty() ? "cpu" : forced_;
  if (name == "automatic" && !forced_.empty()) name = forced_;
  if (name == "automatic") return std::optional<Id>();
  for (const Registration& entry : registrations()) {
    if (name == entry.name) return std::optional<Id>(entry.id);
  }
  return base::fail(EINVAL,
                    "unknown engine '%s'; set GDRKIT_ENGINE (for libgdrapi: GDRKIT_DROPIN_ENGINE) to one of: %s",
                    name.c_str(), names_of_engines().c_str());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while choosing a copy engine");
}

base::Result<const driver::CudaCalls*> Engines::cuda() const noexcept {
  if (cuda_ != nullptr) return cuda_;
  if (!backend_.traits().is_emulated) return driver::cuda_calls();
  return base::fail_literal(
      EOPNOTSUPP,
      "cannot open the copy engine: the emulated device supports only 'cpu'; use copy engine 'cpu' or 'automatic'");
}

base::Result<std::string> Engines::profile_path(const Gpu& gpu) const noexcept try {
  if (profiles_.empty())
    return base::fail_literal(
        ENOENT,
        "cannot find the cache directory: HOME is not set, and XDG_CACHE_HOME is not an absolute path; set HOME");
  auto name = gpu.profile_name();
  if (!name) return base::pass(name);
  return profiles_ + "/" + *name;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while building the path of the GPU's tuning profile");
}

base::Result<std::string> Engines::profile_path(int device) noexcept {
  const auto engines = engines_of(device);
  if (!engines) return base::pass(engines);
  return profile_path((*engines)->gpu());
}

/// The built-in table if the profile is missing or damaged: both tables give correct copies.
Table Engines::table_for(const Gpu& gpu) const noexcept try {
  const auto path = profile_path(gpu);
  if (!path) return {};
  char text[16384];  // a longer one is cut off, and so damaged
  const ssize_t bytes = driver::real_system().read_text(path->c_str(), text, sizeof text);
  if (bytes <= 0) return {};
  const auto table = Table::parse({text, static_cast<std::size_t>(bytes)});
  return table ? *table : Table();
} catch (const std::bad_alloc&) {
  return {};
}

base::Result<DeviceEngines*> Engines::engines_of(int device) noexcept try {
  const std::lock_guard lock(mutex_);
  if (const auto known = devices_.find(device); known != devices_.end()) return known->second.get();
  const auto calls = cuda();
  if (!calls) return base::pass(calls);
  auto gpu = Gpu::open(**calls, device);
  if (!gpu) return base::pass(gpu);
  const Table table = table_for(**gpu);
  auto engines = DeviceEngines::open(backend_, std::move(*gpu), limits_, table);
  if (!engines) return base::pass(engines);
  return devices_.emplace(device, std::move(*engines)).first->second.get();
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while opening copy engines");
}

base::Result<std::unique_ptr<Path>> Engines::open_gpu_path(const Span& span, std::optional<Id> forced) noexcept {
  const auto calls = cuda();
  if (!calls) return base::pass(calls);
  const auto facts = pointer_facts(**calls, span.address);
  if (!facts) return base::pass(facts);
  int device = facts->device;
  if (facts->context == 0) {
    device = driver::device_with_access(**calls, span.address, device, driver::cuda_mem_access_read_write);
  }
  const auto engines = engines_of(device);
  if (!engines) return base::pass(engines);
  if (base::Status reachable = (*engines)->gpu().check_access(span.address, *facts); !reachable) {
    return base::pass(reachable);
  }
  for (const Registration& entry : registrations()) {
    base::Status opened = forced && *forced != entry.id ? base::Status() : (*engines)->need(entry.id);
    if (!opened && forced) return base::pass(opened);
  }
  std::unique_ptr<Path> path(new (std::nothrow) Path(**engines, span, forced, facts->buffer_id));
  if (path == nullptr) return base::fail_literal(ENOMEM, "out of memory while mapping device memory");
  return path;
}

base::Result<std::unique_ptr<Path>> Engines::open_path(const Span& span, const char* engine) noexcept {
  const base::Result<std::optional<Id>> forced = decide(engine);
  if (!forced) return base::pass(forced);
  if (*forced == Id::cpu) return std::unique_ptr<Path>();
  auto path = open_gpu_path(span, *forced);
  // Automatic copies of memory that no engine of the GPU can serve are plain copies.
  if (!path && !*forced) return std::unique_ptr<Path>();
  return path;
}

}  // namespace gdrkit::engine
