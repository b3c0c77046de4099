// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads libraries other than UCX, and compares our declarations with UCX's own if its headers are installed.
#include "platform/vendor/ucx_library.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "support/requirements.hpp"
#include "support/results.hpp"

#if __has_include(<ucp/api/ucp.h>)
#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>
#define GDRKIT_HAS_UCX_HEADERS 1
#endif

namespace gdrkit::platform {
namespace {

TEST(UcxLibrary, ReportsAMissingFunctionAndLoadsLater) {
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  ::setenv("GDRKIT_UCX_LIBRARY", "/nowhere/libucp.so.0", 1);
  auto calls = ucx_calls();
  ASSERT_TRUE(tests::failed(calls, ENOENT, testing::HasSubstr("correct GDRKIT_UCX_LIBRARY")));

  ::setenv("GDRKIT_UCX_LIBRARY", "libc.so.6", 1);
  calls = ucx_calls();
  ASSERT_TRUE(tests::failed(calls, ENOSYS, testing::HasSubstr("libc.so.6: it lacks ucp_get_version")));

  ::unsetenv("GDRKIT_UCX_LIBRARY");
  calls = ucx_calls();
  if (!calls) GDRKIT_SKIP_OR_FAIL("ucx", calls.error().text());
  EXPECT_EQ(ucx_version(**calls).rfind("UCX 1.", 0), 0U);
}

UcxEventHandler kept = nullptr;  // UCX's list of handlers

TEST(UcxLibrary, ReturnsUcxsHookResultAndRemovesItsHandler) {
  UcxCalls calls;
  EXPECT_EQ(ucx_hook_cuda(calls), ucx_ok);
  calls.set_event_handler = [](int, int, UcxEventHandler, void*) { return ucx_unsupported; };
  calls.unset_event_handler = [](int, UcxEventHandler, void*) { FAIL() << "nothing was set"; };
  EXPECT_EQ(ucx_hook_cuda(calls), ucx_unsupported);
  calls.set_event_handler = [](int events, int, UcxEventHandler handler, void*) {
    EXPECT_EQ(events, ucx_event_cuda_allocation | ucx_event_cuda_free);
    kept = handler;
    return ucx_ok;
  };
  calls.unset_event_handler = [](int events, UcxEventHandler handler, void*) {
    EXPECT_EQ(events, ucx_event_cuda_allocation | ucx_event_cuda_free);
    if (handler == kept) kept = nullptr;
  };
  EXPECT_EQ(ucx_hook_cuda(calls), ucx_ok);
  EXPECT_EQ(kept, nullptr);
}

TEST(UcxLibrary, HookSucceedsWithoutCudaSupport) {
  const auto calls = ucx_calls();
  if (!calls) GDRKIT_SKIP_OR_FAIL("ucx", calls.error().text());
  EXPECT_EQ(ucx_hook_cuda(**calls), ucx_ok);
}

#if defined(GDRKIT_HAS_UCX_HEADERS)

#define EXPECT_SAME_PLACE(Ours, our, Theirs, their)        \
  EXPECT_EQ(offsetof(Ours, our), offsetof(Theirs, their)); \
  EXPECT_EQ(sizeof(Ours::our), sizeof(Theirs::their))

TEST(UcxLibrary, DeclarationsMatchUcp) {
  EXPECT_EQ(sizeof(UcxStatus), sizeof(ucs_status_t));
  EXPECT_SAME_PLACE(UcxParams, features, ucp_params_t, features);
  EXPECT_SAME_PLACE(UcxParams, endpoint_count, ucp_params_t, estimated_num_eps);
  EXPECT_SAME_PLACE(UcxContextAttributes, memory_types, ucp_context_attr_t, memory_types);
  EXPECT_SAME_PLACE(UcxWorkerParams, thread_mode, ucp_worker_params_t, thread_mode);
  EXPECT_SAME_PLACE(UcxWorkerParams, cpu_mask, ucp_worker_params_t, cpu_mask);
  EXPECT_SAME_PLACE(UcxEndpointParams, address, ucp_ep_params_t, address);
  EXPECT_SAME_PLACE(UcxEndpointParams, error_mode, ucp_ep_params_t, err_mode);
  EXPECT_SAME_PLACE(UcxEndpointParams, error_handler, ucp_ep_params_t, err_handler);
  EXPECT_SAME_PLACE(UcxRequestParams, field_mask, ucp_request_param_t, op_attr_mask);
  EXPECT_SAME_PLACE(UcxRequestParams, flags, ucp_request_param_t, flags);
  EXPECT_SAME_PLACE(UcxRequestParams, callback, ucp_request_param_t, cb);
  EXPECT_SAME_PLACE(UcxRequestParams, user_data, ucp_request_param_t, user_data);
  EXPECT_SAME_PLACE(UcxRequestParams, memory_type, ucp_request_param_t, memory_type);
  EXPECT_SAME_PLACE(UcxMessageDetails, attributes, ucp_am_recv_param_t, recv_attr);
  EXPECT_SAME_PLACE(UcxMessageHandler, id, ucp_am_handler_param_t, id);
  EXPECT_SAME_PLACE(UcxMessageHandler, function, ucp_am_handler_param_t, cb);
  EXPECT_SAME_PLACE(UcxMessageHandler, argument, ucp_am_handler_param_t, arg);
  EXPECT_SAME_PLACE(UcxMemoryParams, address, ucp_mem_map_params_t, address);
  EXPECT_SAME_PLACE(UcxMemoryParams, size_bytes, ucp_mem_map_params_t, length);
  EXPECT_SAME_PLACE(UcxMemoryParams, memory_type, ucp_mem_map_params_t, memory_type);
}

TEST(UcxLibrary, ConstantsMatchUcp) {
  EXPECT_EQ(ucx_params_features, UCP_PARAM_FIELD_FEATURES);
  EXPECT_EQ(ucx_params_endpoint_count, UCP_PARAM_FIELD_ESTIMATED_NUM_EPS);
  EXPECT_EQ(ucx_feature_rma | ucx_feature_wakeup | ucx_feature_messages,
            UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP | UCP_FEATURE_AM);
  EXPECT_EQ(ucx_context_memory_types, UCP_ATTR_FIELD_MEMORY_TYPES);
  EXPECT_EQ(ucx_memory_cuda, UCS_MEMORY_TYPE_CUDA);
  EXPECT_EQ(ucx_worker_thread_mode, UCP_WORKER_PARAM_FIELD_THREAD_MODE);
  EXPECT_EQ(ucx_thread_serialized, UCS_THREAD_MODE_SERIALIZED);
  EXPECT_EQ(ucx_endpoint_address | ucx_endpoint_error_mode | ucx_endpoint_error_handler,
            UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER);
  EXPECT_EQ(ucx_error_mode_none, UCP_ERR_HANDLING_MODE_NONE);
  EXPECT_EQ(ucx_error_mode_peer, UCP_ERR_HANDLING_MODE_PEER);
  EXPECT_EQ(ucx_request_callback | ucx_request_user_data | ucx_request_flags | ucx_request_memory_type,
            unsigned{UCP_OP_ATTR_FIELD_CALLBACK} | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                UCP_OP_ATTR_FIELD_MEMORY_TYPE);
  EXPECT_EQ(ucx_close_force, unsigned{UCP_EP_CLOSE_FLAG_FORCE});
  EXPECT_EQ(ucx_message_eager, unsigned{UCP_AM_SEND_FLAG_EAGER});
  EXPECT_EQ(ucx_message_is_rendezvous, UCP_AM_RECV_ATTR_FLAG_RNDV);
  EXPECT_EQ(ucx_handler_id | ucx_handler_function | ucx_handler_argument,
            UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG);
  EXPECT_EQ(ucx_memory_address | ucx_memory_length | ucx_memory_type,
            UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE);
  EXPECT_EQ(ucx_event_cuda_allocation | ucx_event_cuda_free, UCM_EVENT_MEM_TYPE_ALLOC | UCM_EVENT_MEM_TYPE_FREE);
  EXPECT_EQ(ucx_in_progress, UCS_INPROGRESS);
  EXPECT_EQ(ucx_unreachable, UCS_ERR_UNREACHABLE);
  EXPECT_EQ(ucx_canceled, UCS_ERR_CANCELED);
  EXPECT_EQ(ucx_unsupported, UCS_ERR_UNSUPPORTED);
  EXPECT_EQ(ucx_connection_reset, UCS_ERR_CONNECTION_RESET);
  for (const std::intptr_t value : {0, -1, -25, -99, -100}) {
    void* const pointer = reinterpret_cast<void*>(value);
    EXPECT_EQ(ucx_is_request(pointer), UCS_PTR_IS_PTR(pointer)) << value;
    EXPECT_EQ(ucx_status_of(pointer), UCS_PTR_STATUS(pointer)) << value;
  }
  int request = 0;
  EXPECT_TRUE(ucx_is_request(&request));
}

#else
TEST(UcxLibrary, DeclarationsMatchUcp) {
  GDRKIT_SKIP_OR_FAIL("ucx_headers", "no ucp/api/ucp.h (libucx-dev) to compare with");
}
#endif

}  // namespace
}  // namespace gdrkit::platform
