// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares our declarations of the structures of libibverbs and librdmacm with their headers, if those are installed.
#include "platform/vendor/verbs_objects.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "platform/vendor/rdma_cm_objects.hpp"
#include "support/requirements.hpp"

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>
#define GDRKIT_HAS_VERBS_HEADERS 1
#endif
#if __has_include(<rdma/rdma_cma.h>)
#include <rdma/rdma_cma.h>
#define GDRKIT_HAS_CM_HEADERS 1
#endif

namespace gdrkit::platform {
namespace {

#define EXPECT_SAME_PLACE(Ours, our, Theirs, their)        \
  EXPECT_EQ(offsetof(Ours, our), offsetof(Theirs, their)); \
  EXPECT_EQ(sizeof(Ours::our), sizeof(Theirs::their))

#if defined(GDRKIT_HAS_VERBS_HEADERS)

TEST(VerbsObjects, AreAsLargeAsThoseOfTheHeader) {
  EXPECT_EQ(sizeof(VerbsDeviceLimits), sizeof(ibv_device_attr));
  EXPECT_EQ(sizeof(VerbsPairRequest), sizeof(ibv_qp_init_attr));
  EXPECT_EQ(sizeof(VerbsPairState), sizeof(ibv_qp_attr));
  EXPECT_EQ(sizeof(VerbsSend), sizeof(ibv_send_wr));
  EXPECT_EQ(sizeof(VerbsReceive), sizeof(ibv_recv_wr));
  EXPECT_EQ(sizeof(VerbsElement), sizeof(ibv_sge));
  EXPECT_EQ(sizeof(VerbsCompletion), sizeof(ibv_wc));
  EXPECT_EQ(sizeof(VerbsGid), sizeof(ibv_gid));
}

// Newer rdma-core appends active_speed_ex to ibv_port_attr. The exported ibv_query_port, which fills ours, never sets
// it: it fills struct _compat_ibv_port_attr, the members before port_cap_flags2, in every version of rdma-core.
TEST(VerbsObjects, PortHoldsAllFieldsThatLibibverbsWrites) {
  EXPECT_GE(sizeof(VerbsPort), offsetof(ibv_port_attr, port_cap_flags2));
  EXPECT_LE(sizeof(VerbsPort), sizeof(ibv_port_attr));
  EXPECT_SAME_PLACE(VerbsPort, flags, ibv_port_attr, flags);
  EXPECT_SAME_PLACE(VerbsPort, capabilities2, ibv_port_attr, port_cap_flags2);
}

TEST(VerbsObjects, HaveTheirMembersAtTheHeadersOffsets) {
  EXPECT_SAME_PLACE(VerbsContext, poll, ibv_context, ops.poll_cq);
  EXPECT_SAME_PLACE(VerbsContext, post_send, ibv_context, ops.post_send);
  EXPECT_SAME_PLACE(VerbsContext, post_receive, ibv_context, ops.post_recv);
  EXPECT_SAME_PLACE(VerbsQueuePair, number, ibv_qp, qp_num);
  EXPECT_SAME_PLACE(VerbsRegion, lkey, ibv_mr, lkey);
  EXPECT_SAME_PLACE(VerbsRegion, rkey, ibv_mr, rkey);
  EXPECT_SAME_PLACE(VerbsPort, lid, ibv_port_attr, lid);
  EXPECT_SAME_PLACE(VerbsPort, active_width, ibv_port_attr, active_width);
  EXPECT_SAME_PLACE(VerbsPort, active_speed, ibv_port_attr, active_speed);
  EXPECT_SAME_PLACE(VerbsPort, link_layer, ibv_port_attr, link_layer);
  EXPECT_SAME_PLACE(VerbsDeviceLimits, max_work_requests, ibv_device_attr, max_qp_wr);
  EXPECT_SAME_PLACE(VerbsDeviceLimits, max_completions, ibv_device_attr, max_cqe);
  EXPECT_SAME_PLACE(VerbsDeviceLimits, max_reads_in, ibv_device_attr, max_qp_rd_atom);
  EXPECT_SAME_PLACE(VerbsDeviceLimits, max_reads_out, ibv_device_attr, max_qp_init_rd_atom);
  EXPECT_SAME_PLACE(VerbsDeviceLimits, atomics, ibv_device_attr, atomic_cap);
  EXPECT_SAME_PLACE(VerbsDeviceLimits, port_count, ibv_device_attr, phys_port_cnt);
  EXPECT_SAME_PLACE(VerbsPairRequest, limits, ibv_qp_init_attr, cap);
  EXPECT_SAME_PLACE(VerbsPairRequest, kind, ibv_qp_init_attr, qp_type);
  EXPECT_SAME_PLACE(VerbsPairState, path, ibv_qp_attr, ah_attr);
  EXPECT_SAME_PLACE(VerbsPairState, max_reads_out, ibv_qp_attr, max_rd_atomic);
  EXPECT_SAME_PLACE(VerbsPairState, max_reads_in, ibv_qp_attr, max_dest_rd_atomic);
  EXPECT_SAME_PLACE(VerbsPairState, rnr_retries, ibv_qp_attr, rnr_retry);
  EXPECT_SAME_PLACE(VerbsPath, lid, ibv_ah_attr, dlid);
  EXPECT_SAME_PLACE(VerbsPath, is_global, ibv_ah_attr, is_global);
  EXPECT_SAME_PLACE(VerbsPath, gid_index, ibv_ah_attr, grh.sgid_index);
  EXPECT_SAME_PLACE(VerbsPath, flow_label, ibv_ah_attr, grh.flow_label);
  EXPECT_SAME_PLACE(VerbsPath, traffic_class, ibv_ah_attr, grh.traffic_class);
  EXPECT_SAME_PLACE(VerbsSend, to.memory.rkey, ibv_send_wr, wr.rdma.rkey);
  EXPECT_SAME_PLACE(VerbsSend, to.word.rkey, ibv_send_wr, wr.atomic.rkey);
  EXPECT_SAME_PLACE(VerbsSend, to.pair.qkey, ibv_send_wr, wr.ud.remote_qkey);
  EXPECT_SAME_PLACE(VerbsCompletion, size_bytes, ibv_wc, byte_len);
  EXPECT_SAME_PLACE(VerbsCompletion, pair_number, ibv_wc, qp_num);
}

TEST(VerbsObjects, UseTheHeadersNumbers) {
  EXPECT_EQ(verbs_access_relaxed_ordering, IBV_ACCESS_RELAXED_ORDERING);
  EXPECT_EQ(verbs_access_remote_atomic, IBV_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(verbs_pair_ud, IBV_QPT_UD);
  EXPECT_EQ(verbs_fetch_and_add, IBV_WR_ATOMIC_FETCH_AND_ADD);
  EXPECT_EQ(verbs_read, IBV_WR_RDMA_READ);
  EXPECT_EQ(verbs_write_with_immediate, IBV_WR_RDMA_WRITE_WITH_IMM);
  EXPECT_EQ(verbs_signaled, unsigned{IBV_SEND_SIGNALED});
  EXPECT_EQ(verbs_inline, unsigned{IBV_SEND_INLINE});
  EXPECT_EQ(verbs_set_qkey | verbs_set_path | verbs_set_max_reads_in | verbs_set_remote_pair,
            IBV_QP_QKEY | IBV_QP_AV | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_DEST_QPN);
  EXPECT_EQ(verbs_set_min_rnr_timer | verbs_set_send_psn | verbs_set_max_reads_out | verbs_set_receive_psn,
            IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RQ_PSN);
}

#else

TEST(VerbsObjects, MatchTheHeader) {
  GDRKIT_SKIP_OR_FAIL("verbs_headers", "infiniband/verbs.h is not installed (Debian's package libibverbs-dev)");
}

#endif

#if defined(GDRKIT_HAS_CM_HEADERS)

TEST(CmObjects, HaveTheirMembersAtTheHeadersOffsets) {
  EXPECT_SAME_PLACE(CmChannel, descriptor, rdma_event_channel, fd);
  EXPECT_SAME_PLACE(CmId, verbs, rdma_cm_id, verbs);
  EXPECT_SAME_PLACE(CmId, pair, rdma_cm_id, qp);
  EXPECT_SAME_PLACE(CmId, source, rdma_cm_id, route.addr.src_storage);
  EXPECT_SAME_PLACE(CmId, destination, rdma_cm_id, route.addr.dst_storage);
  EXPECT_EQ(sizeof(CmParameters), sizeof(rdma_conn_param));
  EXPECT_SAME_PLACE(CmParameters, reads_in, rdma_conn_param, responder_resources);
  EXPECT_SAME_PLACE(CmParameters, reads_out, rdma_conn_param, initiator_depth);
  EXPECT_SAME_PLACE(CmParameters, retries, rdma_conn_param, retry_count);
  EXPECT_SAME_PLACE(CmParameters, rnr_retries, rdma_conn_param, rnr_retry_count);
  EXPECT_SAME_PLACE(CmParameters, pair_number, rdma_conn_param, qp_num);
  EXPECT_SAME_PLACE(CmEvent, id, rdma_cm_event, id);
  EXPECT_SAME_PLACE(CmEvent, kind, rdma_cm_event, event);
  EXPECT_SAME_PLACE(CmEvent, status, rdma_cm_event, status);
  EXPECT_SAME_PLACE(CmEvent, connection, rdma_cm_event, param.conn);
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
