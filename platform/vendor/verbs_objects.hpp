// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Verbs objects: the structures of libibverbs' ABI (symbol version IBVERBS_1.1) that carry data. These are our own
// declarations, so that building does not require rdma-core. Structures that libibverbs allocates end after the last
// member used here. tests/platform/vendor compares them with infiniband/verbs.h if that header is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::platform {

struct VerbsContext;
struct VerbsDomain;
struct VerbsQueuePair;
struct VerbsSharedQueue;
struct VerbsChannel;

/// ibv_gid
struct alignas(8) VerbsGid {
  std::uint8_t bytes[16] = {};
};

inline constexpr std::uint8_t verbs_link_infiniband = 1;
inline constexpr std::uint8_t verbs_link_ethernet = 2;
inline constexpr int verbs_port_active = 4;
/// ibv_port_attr as the exported ibv_query_port fills it, up to `flags`. Newer versions of verbs.h append members.
struct VerbsPort {
  int state = 0;
  int max_mtu = 0;
  int active_mtu = 0;  ///< 1: 256 bytes, doubling up to 5: 4096 bytes
  int gid_table_length = 0;
  std::uint32_t capabilities = 0;
  std::uint32_t max_message_bytes = 0;
  std::uint32_t counters[2] = {};
  std::uint16_t pkey_table_length = 0;
  std::uint16_t lid = 0;
  std::uint16_t subnet_manager_lid = 0;
  std::uint8_t subnet[5] = {};
  std::uint8_t active_width = 0;
  std::uint8_t active_speed = 0;
  std::uint8_t physical_state = 0;
  std::uint8_t link_layer = 0;
  std::uint8_t flags = 0;
  std::uint16_t capabilities2 = 0;
};

/// ibv_device_attr
struct VerbsDeviceLimits {
  char firmware[64] = {};
  std::uint64_t guids[2] = {};
  std::uint64_t max_region_bytes = 0;
  std::uint64_t page_sizes = 0;
  std::uint32_t ids[3] = {};
  int max_queue_pairs = 0;
  int max_work_requests = 0;
  unsigned capabilities = 0;
  int max_elements[2] = {};
  int max_completion_queues = 0;
  int max_completions = 0;
  int max_regions = 0;
  int max_domains = 0;
  int max_reads_in = 0;  ///< per queue pair, as target: max_qp_rd_atom
  int reads_more[2] = {};
  int max_reads_out = 0;  ///< per queue pair, as initiator: max_qp_init_rd_atom
  int reads_end_context = 0;
  int atomics = 0;  ///< ibv_atomic_cap; 0: none
  int rest[14] = {};
  std::uint16_t max_pkeys = 0;
  std::uint8_t ack_delay = 0;
  std::uint8_t port_count = 0;
};

/// ibv_mr
struct VerbsRegion {
  VerbsContext* context = nullptr;
  VerbsDomain* domain = nullptr;
  void* address = nullptr;
  std::size_t size_bytes = 0;
  std::uint32_t handle = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
};

inline constexpr int verbs_access_local_write = 1 << 0;
inline constexpr int verbs_access_remote_write = 1 << 1;
inline constexpr int verbs_access_remote_read = 1 << 2;
inline constexpr int verbs_access_remote_atomic = 1 << 3;
/// Only for reg_mr_iova2: ibv_reg_mr of old libraries does not accept optional flags.
inline constexpr int verbs_access_relaxed_ordering = 1 << 20;

/// ibv_cq
struct VerbsCompletionQueue {
  VerbsContext* context = nullptr;
};

/// ibv_ah
struct VerbsAddressHandle {
  VerbsContext* context = nullptr;
};

/// ibv_qp_cap
struct VerbsPairLimits {
  std::uint32_t max_sends = 0;
  std::uint32_t max_receives = 0;
  std::uint32_t max_send_elements = 0;
  std::uint32_t max_receive_elements = 0;
  std::uint32_t max_inline_bytes = 0;
};

inline constexpr int verbs_pair_rc = 2;
inline constexpr int verbs_pair_uc = 3;
inline constexpr int verbs_pair_ud = 4;
/// ibv_qp_init_attr
struct VerbsPairRequest {
  void* user_data = nullptr;
  VerbsCompletionQueue* send_queue = nullptr;
  VerbsCompletionQueue* receive_queue = nullptr;
  VerbsSharedQueue* shared_queue = nullptr;
  VerbsPairLimits limits;
  int kind = verbs_pair_rc;
  int signals_all = 0;
};

/// ibv_qp
struct VerbsQueuePair {
  VerbsContext* context = nullptr;
  void* user_data = nullptr;
  VerbsDomain* domain = nullptr;
  VerbsCompletionQueue* send_queue = nullptr;
  VerbsCompletionQueue* receive_queue = nullptr;
  VerbsSharedQueue* shared_queue = nullptr;
  std::uint32_t handle = 0;
  std::uint32_t number = 0;
};

/// ibv_ah_attr, with its ibv_global_route
struct VerbsPath {
  VerbsGid remote;
  std::uint32_t flow_label = 0;
  std::uint8_t gid_index = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t traffic_class = 0;
  std::uint16_t lid = 0;
  std::uint8_t service_level = 0;
  std::uint8_t source_path_bits = 0;
  std::uint8_t static_rate = 0;
  std::uint8_t is_global = 0;
  std::uint8_t port = 0;
};

inline constexpr int verbs_state_init = 1;
inline constexpr int verbs_state_ready_to_receive = 2;
inline constexpr int verbs_state_ready_to_send = 3;
/// ibv_qp_attr
struct VerbsPairState {
  int state = 0;
  int current_state = 0;
  int path_mtu = 0;
  int migration = 0;
  std::uint32_t qkey = 0;
  std::uint32_t receive_psn = 0;
  std::uint32_t send_psn = 0;
  std::uint32_t remote_pair = 0;
  unsigned access = 0;
  VerbsPairLimits limits;
  VerbsPath path;
  VerbsPath other_path;
  std::uint16_t pkey_index = 0;
  std::uint16_t other_pkey_index = 0;
  std::uint8_t draining[2] = {};
  std::uint8_t max_reads_out = 0;
  std::uint8_t max_reads_in = 0;
  std::uint8_t min_rnr_timer = 0;
  std::uint8_t port = 0;
  std::uint8_t timeout = 0;
  std::uint8_t retries = 0;
  std::uint8_t rnr_retries = 0;
  std::uint8_t other_port[2] = {};
  std::uint32_t rate_limit = 0;
};

/// ibv_qp_attr_mask
inline constexpr int verbs_set_state = 1 << 0;
inline constexpr int verbs_set_access = 1 << 3;
inline constexpr int verbs_set_pkey_index = 1 << 4;
inline constexpr int verbs_set_port = 1 << 5;
inline constexpr int verbs_set_qkey = 1 << 6;
inline constexpr int verbs_set_path = 1 << 7;
inline constexpr int verbs_set_path_mtu = 1 << 8;
inline constexpr int verbs_set_timeout = 1 << 9;
inline constexpr int verbs_set_retries = 1 << 10;
inline constexpr int verbs_set_rnr_retries = 1 << 11;
inline constexpr int verbs_set_receive_psn = 1 << 12;
inline constexpr int verbs_set_max_reads_out = 1 << 13;
inline constexpr int verbs_set_min_rnr_timer = 1 << 15;
inline constexpr int verbs_set_send_psn = 1 << 16;
inline constexpr int verbs_set_max_reads_in = 1 << 17;
inline constexpr int verbs_set_remote_pair = 1 << 20;

/// ibv_sge
struct VerbsElement {
  std::uint64_t address = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t lkey = 0;
};

/// ibv_recv_wr
struct VerbsReceive {
  std::uint64_t id = 0;
  VerbsReceive* next = nullptr;
  VerbsElement* elements = nullptr;
  int element_count = 0;
};

inline constexpr int verbs_write = 0;
inline constexpr int verbs_write_with_immediate = 1;
inline constexpr int verbs_send = 2;
inline constexpr int verbs_read = 4;
inline constexpr int verbs_compare_and_swap = 5;
inline constexpr int verbs_fetch_and_add = 6;
inline constexpr unsigned verbs_signaled = 1 << 1;
inline constexpr unsigned verbs_inline = 1 << 3;

struct VerbsRemoteMemory {
  std::uint64_t address;
  std::uint32_t rkey;
};
struct VerbsRemoteWord {
  std::uint64_t address;
  std::uint64_t compare_or_add;
  std::uint64_t swap;
  std::uint32_t rkey;
};
struct VerbsRemotePair {
  VerbsAddressHandle* path;
  std::uint32_t number;
  std::uint32_t qkey;
};
/// ibv_send_wr
struct VerbsSend {
  std::uint64_t id = 0;
  VerbsSend* next = nullptr;
  VerbsElement* elements = nullptr;
  int element_count = 0;
  int operation = verbs_write;
  unsigned flags = 0;
  std::uint32_t immediate = 0;
  union {
    VerbsRemoteMemory memory;
    VerbsRemoteWord word;
    VerbsRemotePair pair;
  } to = {};
  std::uint32_t shared_queue_number = 0;
  std::uint64_t window[6] = {};
};

/// ibv_wc
struct VerbsCompletion {
  std::uint64_t id = 0;
  int status = 0;  ///< 0: success
  int operation = 0;
  std::uint32_t vendor_error = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t immediate = 0;
  std::uint32_t pair_number = 0;
  std::uint32_t source_pair = 0;
  unsigned flags = 0;
  std::uint16_t pkey_index = 0;
  std::uint16_t source_lid = 0;
  std::uint8_t service_level = 0;
  std::uint8_t path_bits = 0;
};

/// ibv_context: the provider's data-path functions, which the inline functions of verbs.h call.
struct VerbsContext {
  void* device = nullptr;
  void* before_poll[11] = {};
  int (*poll)(VerbsCompletionQueue*, int, VerbsCompletion*) = nullptr;
  void* before_post_send[13] = {};
  int (*post_send)(VerbsQueuePair*, VerbsSend*, VerbsSend**) = nullptr;
  int (*post_receive)(VerbsQueuePair*, VerbsReceive*, VerbsReceive**) = nullptr;
};

}  // namespace gdrkit::platform
