// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/peer_jobs.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/interface/demand.hpp"
#include "cli/interface/exit_code.hpp"
#include "transfer/shmem/bench/peer_files.hpp"
#include "transfer/shmem/bench/station.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// Structs of NVSHMEM's API begin with their version: 1, and their size.
constexpr std::int32_t versioned(std::size_t size_bytes) { return (1 << 16) + static_cast<std::int32_t>(size_bytes); }

// The first version of NVSHMEM's init attributes, which 3.4 and 3.8 take.
struct UniqueIdArguments {
  std::int32_t version;
  const void* id;
  std::int32_t pe, n_pes;
};
struct InitArguments {
  std::int32_t version;
  UniqueIdArguments unique_id;
  char reserved[96];
};
struct InitAttributes {
  std::int32_t version;
  void* mpi_comm;
  InitArguments arguments;
};
static_assert(sizeof(UniqueIdArguments) == 24 && sizeof(InitArguments) == 128 && sizeof(InitAttributes) == 144);
constexpr unsigned init_with_unique_id = 1U << 3;

void require_zero(int code, const char* what) {
  if (code != 0) cli::fail(cli::format("NVSHMEM: %s failed with code %d", what, code));
}

/// What the user has set stays.
void set_default(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 0); }

/// Before NVSHMEM's first call, which is where it reads its environment: PEs that read different sizes cannot map each
/// other's memory.
void set_sizes(const Request& request) {
  set_default("NVSHMEM_SYMMETRIC_SIZE", std::to_string(heap_bytes_for(request.size_bytes)));
  if (request.scratch_bytes != 0) {
    set_default("NVSHMEM_REDUCE_SCRATCH_SIZE", std::to_string(request.scratch_bytes));
  }
}

}  // namespace

NvshmemJob::NvshmemJob(const PeerFiles& files)
    : library_(engines::load_nvshmem(files.nvshmem)), device_path_(files.nvshmem_device) {
  set_default("NVSHMEM_BOOTSTRAP", "UID");
  set_default("NVSHMEM_REMOTE_TRANSPORT", "none");
  set_default("NVSHMEM_DISABLE_NVLS", "1");
}

void NvshmemJob::make_id(const Request& request, unsigned char* id) {
  set_sizes(request);
  const std::int32_t version = versioned(id_bytes);
  std::memcpy(id, &version, sizeof version);
  require_zero(library_.calls().get_uniqueid(id), "nvshmemx_get_uniqueid");
}

void NvshmemJob::start(const Request& request) {
  set_sizes(request);
  device_ = open_peer_gpu(request.pe, "NVSHMEM");
  pe_ = request.pe;
  n_pes_ = request.n_pes;
  InitAttributes attributes{};
  attributes.version = versioned(sizeof attributes);
  attributes.arguments.version = versioned(sizeof attributes.arguments);
  attributes.arguments.unique_id.version = versioned(sizeof attributes.arguments.unique_id);
  const engines::NvshmemCalls& calls = library_.calls();
  require_zero(calls.set_attr_uniqueid_args(request.pe, request.n_pes, request.id, &attributes),
               "nvshmemx_set_attr_uniqueid_args");
  require_zero(calls.hostlib_init_attr(init_with_unique_id, &attributes), "nvshmemx_hostlib_init_attr");
  if (calls.my_pe() != request.pe) {
    cli::fail(cli::format("NVSHMEM assigned PE number %d to this process, not %d", calls.my_pe(), request.pe));
  }
}

void* NvshmemJob::allocate(std::size_t size_bytes) {
  void* const address = library_.calls().calloc(size_bytes, 1);
  if (address == nullptr) cli::fail(cli::format("nvshmem_calloc of %zu bytes failed", size_bytes));
  return address;
}

std::string NvshmemJob::version() const {
  int major = 0;
  int minor = 0;
  int patch = 0;
  library_.calls().vendor_version(&major, &minor, &patch);
  return cli::format("%d.%d.%d", major, minor, patch);
}

void* NvshmemJob::create_stream() { return reinterpret_cast<void*>(cli::demand(device_->create_stream()).handle); }

void NvshmemJob::prepare_device() {
  why_no_device_ = "";
  const auto disable = [&](const std::string& why) { why_no_device_ = "GPU kernels are not measured: " + why; };
  if (device_path_.empty())
    return disable(
        "this build of gdrkit has no nvshmem_device.fatbin; build it with -DGDRKIT_NVSHMEM=<NVSHMEM's directory>");
  const engines::NvshmemCalls& calls = library_.calls();
  if (calls.cumodule_init == nullptr)
    return disable(
        "this NVSHMEM has no function nvshmemx_cumodule_init; select another libnvshmem_host.so.3 with --nvshmem");
  std::ifstream file(device_path_, std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (image.empty()) return disable("cannot read " + device_path_);
  const auto module = device_->load_module(image.data());
  if (!module) return disable("cannot load " + device_path_ + ": " + module.error().text());
  module_ = *module;
  if (const int code = calls.cumodule_init(reinterpret_cast<void*>(module_.handle)); code != 0) {
    return disable(cli::format("nvshmemx_cumodule_init failed with code %d; build %s with this NVSHMEM", code,
                               device_path_.c_str()));
  }
  const auto function = device_->get_function(module_, "gdrkit_nvshmem");
  if (!function) return disable(function.error().text());
  gpu_kernel_ = *function;
}

void NvshmemJob::launch(DeviceBatch* batch) {
  batch->parameters.state.pe = pe_;
  batch->parameters.state.n_pes = n_pes_;
  void* pointers[] = {&batch->parameters};
  cli::demand(device_->launch(gpu_kernel_, batch->shape, {}, pointers));
}

void NvshmemJob::end() {
  if (gpu_kernel_.handle != 0 && library_.calls().cumodule_finalize != nullptr) {
    (void)library_.calls().cumodule_finalize(reinterpret_cast<void*>(module_.handle));
  }
  library_.calls().hostlib_finalize();
}

NcclJob::NcclJob(const PeerFiles& files) {
  // As for NVSHMEM. What the user has set stays.
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
  const auto calls = platform::nccl_calls(files.nccl.empty() ? nullptr : files.nccl.c_str());
  if (!calls) cli::cannot_run(std::string(calls.error().text()) + "; name the file with --nccl");
  calls_ = *calls;
  rank_.emplace(*calls_, "NCCL", "");
}

void NcclJob::make_id(const Request&, unsigned char* id) {
  const platform::NcclUniqueId made = rank_->make_id();
  static_assert(sizeof made == id_bytes);
  std::memcpy(id, &made, sizeof made);
}

void NcclJob::start(const Request& request) {
  device_ = open_peer_gpu(request.pe, "NCCL");
  platform::NcclUniqueId id;
  std::memcpy(&id, request.id, sizeof id);
  rank_->join(id, request.pe, request.n_pes);
  library_ = engines::NcclLibrary(*rank_, *device_);
  sync_buffer_ = allocate(2 * sizeof(float));
}

void* NcclJob::allocate(std::size_t size_bytes) {
  auto memory = cli::demand(device_->allocate(platform::AllocationKind::cuda_malloc, size_bytes));
  cli::demand(device_->fill(memory.address(), 0, size_bytes));
  memory_.push_back(std::move(memory));
  return reinterpret_cast<void*>(memory_.back().address());
}

void* NcclJob::create_stream() {
  stream_ = reinterpret_cast<void*>(cli::demand(device_->create_stream()).handle);
  return stream_;
}

int NcclJob::sync_all() {
  auto* const floats = static_cast<float*>(sync_buffer_);
  return library_.reduce_on_stream(floats + 1, floats, sizeof(float), stream_) | library_.synchronize(stream_);
}

void NcclJob::end() {
  (void)calls_->comm_destroy(rank_->communicator());
  memory_.clear();
}

std::string NcclJob::version() const { return engines::nccl_version_text(*calls_); }

}  // namespace gdrkit::transfer::shmem
