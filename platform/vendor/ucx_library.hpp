// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UCX: the part of libucp.so.0 (its UCP level, 1.13 and newer) that transfers data between machines, loaded at run
// time. It has its own declarations, so that a build does not need UCX. UCX keeps these layouts, because each structure
// begins with a mask of the fields that the caller sets. tests/platform/vendor compares them with ucp/api/ucp.h if that
// is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace gdrkit::platform {

struct UcxContext;
struct UcxConfig;
struct UcxWorkerHandle;
struct UcxAddress;
struct UcxEndpoint;
struct UcxMemory;  ///< registered memory
struct UcxKey;     ///< refers to registered memory of another process

/// UCX's enumeration is one byte wide: the rest of a returned register is undefined.
using UcxStatus = std::int8_t;
inline constexpr UcxStatus ucx_ok = 0;
inline constexpr UcxStatus ucx_in_progress = 1;
inline constexpr UcxStatus ucx_no_memory = -4;
inline constexpr UcxStatus ucx_unreachable = -6;
inline constexpr UcxStatus ucx_busy = -15;
inline constexpr UcxStatus ucx_canceled = -16;
inline constexpr UcxStatus ucx_unsupported = -22;
inline constexpr UcxStatus ucx_connection_reset = -25;

inline constexpr unsigned ucx_api_major = 1;
inline constexpr unsigned ucx_api_minor = 13;

inline constexpr std::uint64_t ucx_params_features = 1 << 0;
inline constexpr std::uint64_t ucx_params_endpoint_count = 1 << 6;
inline constexpr std::uint64_t ucx_feature_tags = 1 << 0;
inline constexpr std::uint64_t ucx_feature_rma = 1 << 1;
inline constexpr std::uint64_t ucx_feature_wakeup = 1 << 4;
inline constexpr std::uint64_t ucx_feature_messages = 1 << 6;
struct UcxParams {
  std::uint64_t field_mask = 0;
  std::uint64_t features = 0;
  std::size_t request_size = 0;
  void (*request_init)(void*) = nullptr;
  void (*request_cleanup)(void*) = nullptr;
  std::uint64_t tag_sender_mask = 0;
  int is_shared_by_threads = 0;
  std::size_t endpoint_count = 0;
  std::size_t endpoints_per_node = 0;
  const char* name = nullptr;
};

inline constexpr std::uint64_t ucx_context_memory_types = 1 << 2;
inline constexpr int ucx_memory_host = 0;
inline constexpr int ucx_memory_cuda = 1;
struct UcxContextAttributes {
  std::uint64_t field_mask = 0;
  std::size_t request_size = 0;
  int thread_mode = 0;
  std::uint64_t memory_types = 0;  ///< bit ucx_memory_cuda: GPU addresses are supported
  char name[32] = {};
};

inline constexpr std::uint64_t ucx_worker_thread_mode = 1 << 0;
inline constexpr int ucx_thread_serialized = 1;
struct UcxWorkerParams {
  std::uint64_t field_mask = 0;
  int thread_mode = 0;
  std::uint64_t cpu_mask[16] = {};
  unsigned events = 0;
  void* user_data = nullptr;
  int event_fd = 0;
  std::uint64_t flags = 0;
  const char* name = nullptr;
  std::size_t message_alignment = 0;
  std::uint64_t client_id = 0;
};

inline constexpr std::uint64_t ucx_endpoint_address = 1 << 0;
inline constexpr std::uint64_t ucx_endpoint_error_mode = 1 << 1;
inline constexpr std::uint64_t ucx_endpoint_error_handler = 1 << 2;
inline constexpr int ucx_error_mode_none = 0;
inline constexpr int ucx_error_mode_peer = 1;  ///< the end of the other process is reported
struct UcxEndpointParams {
  std::uint64_t field_mask = 0;
  const UcxAddress* address = nullptr;
  int error_mode = 0;
  struct {
    void (*function)(void* argument, UcxEndpoint* endpoint, UcxStatus status) = nullptr;
    void* argument = nullptr;
  } error_handler;
  void* user_data = nullptr;
  unsigned flags = 0;
  struct SocketAddress {
    const void* address = nullptr;
    unsigned size_bytes = 0;
  } socket_address;
  void* connection_request = nullptr;
  const char* name = nullptr;
  SocketAddress local_socket_address;
};

inline constexpr std::uint32_t ucx_request_callback = 1 << 1;
inline constexpr std::uint32_t ucx_request_user_data = 1 << 2;
inline constexpr std::uint32_t ucx_request_flags = 1 << 4;
inline constexpr std::uint32_t ucx_request_memory_type = 1 << 6;
inline constexpr std::uint32_t ucx_close_force = 1 << 0;
inline constexpr std::uint32_t ucx_message_eager = 1 << 1;
struct UcxRequestParams {
  std::uint32_t field_mask = 0;
  std::uint32_t flags = 0;
  void* request = nullptr;
  void (*callback)(void* request, UcxStatus status, void* user_data) = nullptr;
  std::uint64_t datatype = 0;
  void* user_data = nullptr;
  void* reply_buffer = nullptr;
  int memory_type = 0;
  void* receive_info = nullptr;
  UcxMemory* memory = nullptr;  ///< since about 1.14; read only if the mask contains its bit
};

struct UcxMessageDetails {
  std::uint64_t attributes = 0;
  UcxEndpoint* reply_endpoint = nullptr;
};
inline constexpr std::uint64_t ucx_message_is_rendezvous = 1 << 17;
inline constexpr std::uint64_t ucx_handler_id = 1 << 0;
inline constexpr std::uint64_t ucx_handler_function = 1 << 2;
inline constexpr std::uint64_t ucx_handler_argument = 1 << 3;
struct UcxMessageHandler {
  std::uint64_t field_mask = 0;
  unsigned id = 0;
  std::uint32_t flags = 0;
  UcxStatus (*function)(void* argument, const void* header, std::size_t header_bytes, void* data,
                        std::size_t size_bytes, const UcxMessageDetails* details) = nullptr;
  void* argument = nullptr;
};

inline constexpr std::uint64_t ucx_memory_address = 1 << 0;
inline constexpr std::uint64_t ucx_memory_length = 1 << 1;
inline constexpr std::uint64_t ucx_memory_type = 1 << 4;
struct UcxMemoryParams {
  std::uint64_t field_mask = 0;
  void* address = nullptr;
  std::size_t size_bytes = 0;
  unsigned flags = 0;
  unsigned protection = 0;
  int memory_type = 0;
};

inline constexpr int ucx_event_cuda_allocation = 1 << 20;
inline constexpr int ucx_event_cuda_free = 1 << 21;
using UcxEventHandler = void (*)(int event, void* details, void* argument);

static_assert(sizeof(UcxParams) == 80 && sizeof(UcxContextAttributes) == 64 && sizeof(UcxWorkerParams) == 200);
static_assert(sizeof(UcxEndpointParams) == 104 && sizeof(UcxRequestParams) == 72 && sizeof(UcxMessageHandler) == 32);
static_assert(sizeof(UcxMemoryParams) == 40 && sizeof(UcxMessageDetails) == 16);

/// One pointer for each function of ucx_calls.def. Functions that return a pointer return nullptr for completion, a
/// small negative number for an error, or a request.
struct UcxCalls {
#define GDRKIT_UCX_CALL(member, symbol, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#define GDRKIT_UCX_OPTIONAL_CALL GDRKIT_UCX_CALL
#include "platform/vendor/ucx_calls.def"
#undef GDRKIT_UCX_CALL
#undef GDRKIT_UCX_OPTIONAL_CALL
};

/// Interprets such a pointer.
[[nodiscard]] inline bool ucx_is_request(const void* result) noexcept {
  constexpr std::uintptr_t last_error = 100;
  return reinterpret_cast<std::uintptr_t>(result) - 1 < static_cast<std::uintptr_t>(-last_error) - 1;
}
[[nodiscard]] inline UcxStatus ucx_status_of(const void* result) noexcept {
  return ucx_is_request(result) ? ucx_in_progress : static_cast<UcxStatus>(reinterpret_cast<std::intptr_t>(result));
}

/// The functions of libucp.so.0, or of the file in `path` or $GDRKIT_UCX_LIBRARY. It stays loaded, and a process uses
/// only one. ENOENT: the library is missing. ENOSYS: it lacks a function of UCX 1.13. A failed call may be repeated.
[[nodiscard]] base::Result<const UcxCalls*> ucx_calls() noexcept;

/// Makes UCX hook CUDA's functions that allocate and free, as ucp_init does later, and returns UCX's status: ucx_ok,
/// also for a UCX without CUDA support or without the function, or ucx_unsupported.
///
/// Without the hooks UCX does not cache registrations of GPU memory: with gdr_copy it pins and unpins for every
/// message. UCX overwrites the first bytes of libcuda's functions. If its hooks, which this call loads, are more than 2
/// GiB away, that takes more bytes, and UCX can move only a few kinds of instructions. cuInit reserves more address
/// space than that between libcuda and libraries that are loaded later: call this before cuInit.
[[nodiscard]] UcxStatus ucx_hook_cuda(const UcxCalls& calls) noexcept;

/// The same if UCX can be loaded, for a process that will use it. Errors are ignored here and reported at the first
/// use.
void prepare_ucx_before_cuda() noexcept;

/// "UCX 1.13.1".
[[nodiscard]] std::string ucx_version(const UcxCalls& calls);

}  // namespace gdrkit::platform
