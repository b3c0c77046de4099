// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares our declarations of librdmacm's structures with rdma/rdma_cma.h, if that is installed.
#include "platform/vendor/rdma_cm_objects.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "support/requirements.hpp"

#if __has_include(<rdma/rdma_cma.h>)
#include <rdma/rdma_cma.h>
#define GDRKIT_HAS_CM_HEADERS 1
#endif

namespace gdrkit::platform {
namespace {

#if defined(GDRKIT_HAS_CM_HEADERS)

#define EXPECT_CM_PLACE(Ours, our, Theirs, their)          \
  EXPECT_EQ(offsetof(Ours, our), offsetof(Theirs, their)); \
  EXPECT_EQ(sizeof(Ours::our), sizeof(Theirs::their))

TEST(CmObjects, HaveTheirMembersAtTheHeadersOffsets) {
  EXPECT_CM_PLACE(CmChannel, descriptor, rdma_event_channel, fd);
  EXPECT_CM_PLACE(CmId, verbs, rdma_cm_id, verbs);
  EXPECT_CM_PLACE(CmId, pair, rdma_cm_id, qp);
  EXPECT_CM_PLACE(CmId, source, rdma_cm_id, route.addr.src_storage);
  EXPECT_CM_PLACE(CmId, destination, rdma_cm_id, route.addr.dst_storage);
  EXPECT_EQ(sizeof(CmParameters), sizeof(rdma_conn_param));
  EXPECT_CM_PLACE(CmParameters, reads_in, rdma_conn_param, responder_resources);
  EXPECT_CM_PLACE(CmParameters, reads_out, rdma_conn_param, initiator_depth);
  EXPECT_CM_PLACE(CmParameters, retries, rdma_conn_param, retry_count);
  EXPECT_CM_PLACE(CmParameters, rnr_retries, rdma_conn_param, rnr_retry_count);
  EXPECT_CM_PLACE(CmParameters, pair_number, rdma_conn_param, qp_num);
  EXPECT_CM_PLACE(CmEvent, id, rdma_cm_event, id);
  EXPECT_CM_PLACE(CmEvent, kind, rdma_cm_event, event);
  EXPECT_CM_PLACE(CmEvent, status, rdma_cm_event, status);
  EXPECT_CM_PLACE(CmEvent, connection, rdma_cm_event, param.conn);
}

TEST(CmObjects, UseTheHeadersNumbers) {
  EXPECT_EQ(cm_address_resolved, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(cm_route_resolved, RDMA_CM_EVENT_ROUTE_RESOLVED);
  EXPECT_EQ(cm_connect_request, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(cm_connect_response, RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(cm_rejected, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(cm_established, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(cm_disconnected, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(cm_device_removal, RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_EQ(cm_port_space_tcp, RDMA_PS_TCP);
  EXPECT_EQ(cm_option_id, RDMA_OPTION_ID);
  EXPECT_EQ(cm_option_type_of_service, RDMA_OPTION_ID_TOS);
  EXPECT_EQ(cm_option_ack_timeout, RDMA_OPTION_ID_ACK_TIMEOUT);
}

#else

TEST(CmObjects, MatchTheHeader) {
  GDRKIT_SKIP_OR_FAIL("verbs_headers", "rdma/rdma_cma.h is not installed (Debian's package librdmacm-dev)");
}

#endif

}  // namespace
}  // namespace gdrkit::platform
