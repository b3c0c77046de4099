// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// rdma_cm objects: the structures of librdmacm's ABI that gdrkit uses. Structures that librdmacm allocates end after
// the last member used here. tests/platform/vendor compares them with rdma/rdma_cma.h if that header is installed.
#pragma once

#include <sys/socket.h>

#include <cstdint>

#include "platform/vendor/verbs_objects.hpp"

namespace gdrkit::platform {

/// rdma_event_channel
struct CmChannel {
  int descriptor = -1;
};

/// rdma_cm_id, with the addresses of its rdma_route
struct CmId {
  VerbsContext* verbs = nullptr;
  CmChannel* channel = nullptr;
  void* user_data = nullptr;
  VerbsQueuePair* pair = nullptr;
  sockaddr_storage source = {};
  sockaddr_storage destination = {};
};

/// rdma_conn_param
struct CmParameters {
  const void* data = nullptr;
  std::uint8_t data_bytes = 0;
  std::uint8_t reads_in = 0;   ///< responder_resources
  std::uint8_t reads_out = 0;  ///< initiator_depth
  std::uint8_t has_flow_control = 0;
  std::uint8_t retries = 0;
  std::uint8_t rnr_retries = 0;
  std::uint8_t has_shared_queue = 0;
  std::uint32_t pair_number = 0;
};

inline constexpr int cm_address_resolved = 0;
inline constexpr int cm_route_resolved = 2;
inline constexpr int cm_connect_request = 4;
inline constexpr int cm_connect_response = 5;
inline constexpr int cm_rejected = 8;
inline constexpr int cm_established = 9;
inline constexpr int cm_disconnected = 10;
inline constexpr int cm_device_removal = 11;
/// rdma_cm_event
struct CmEvent {
  CmId* id = nullptr;
  CmId* listener = nullptr;
  int kind = 0;
  int status = 0;
  CmParameters connection;
};

inline constexpr int cm_port_space_tcp = 0x0106;
inline constexpr int cm_option_id = 0;
inline constexpr int cm_option_type_of_service = 0;
inline constexpr int cm_option_ack_timeout = 3;

}  // namespace gdrkit::platform
