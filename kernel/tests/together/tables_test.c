// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Both modules with revocable pins in one process: a table address may be reused from one module by the other.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../fake_rdma_core/fake_rdma_core_ioctl.h"
#include "../../include/gdrdrv_abi.h"
#include "../support/fake.h"
#include "../support/test.h"

#define SIZE (3 * FAKE_P2P_PAGE)

struct call {
	int node;
	unsigned long command;
	void *request;
	atomic_bool is_done;
	int result;
	pthread_t thread;
};

static void *run(void *argument)
{
	struct call *call = argument;

	call->result = ioctl(call->node, call->command, call->request);
	atomic_store(&call->is_done, true);
	return NULL;
}

static void start(struct call *call)
{
	CHECK_EQ(pthread_create(&call->thread, NULL, run, call), 0);
}

static int opened(const char *path)
{
	int node = open(path, O_RDWR | O_CLOEXEC);

	CHECK(node >= 0);
	return node;
}

/* `ending` releases memory that is freed meanwhile, `beginning` pins the next. Both succeed and one pin is left. */
static void reuse_address(uint64_t va, struct call *ending, struct call *beginning)
{
	fake_pause(FAKE_P2P_PUT_ENTER);
	start(ending);
	fake_await(FAKE_P2P_PUT_ENTER);
	fake_free(va);
	start(beginning);
	for (int i = 0; i < 300 && !atomic_load(&beginning->is_done); i++)
		usleep(1000);
	fake_resume(FAKE_P2P_PUT_ENTER);
	pthread_join(ending->thread, NULL);
	pthread_join(beginning->thread, NULL);
	CHECK_EQ(ending->result, 0);
	CHECK_EQ(beginning->result, 0);
	CHECK(fake_report().tables_reused >= 1);
	CHECK_EQ(fake_report().pins, 1);
}

TEST(unpin_does_not_release_what_is_registered_next)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS), next = fake_alloc(SIZE, FAKE_P2P_RUNS);
	struct gdrdrv_pin_v2_request pin = { .address = va, .size_bytes = SIZE };
	struct gdrdrv_unpin_request unpin;
	struct fake_core_step acquire = { .name = FAKE_CORE_ACQUIRE, .address = next, .size = SIZE }, release;
	int module = opened("/dev/gdrdrv"), core = opened(FAKE_CORE_NODE);
	struct call ending = { .node = module, .command = GDRDRV_UNPIN, .request = &unpin };
	struct call beginning = { .node = core, .command = FAKE_CORE_IOC_STEP, .request = &acquire };

	CHECK_EQ(ioctl(module, GDRDRV_PIN_V2, &pin), 0);
	unpin = (struct gdrdrv_unpin_request){ .handle = pin.handle };
	reuse_address(va, &ending, &beginning);
	CHECK_EQ(acquire.result, 1);
	fake_free(next);
	CHECK_EQ(fake_report().callbacks, 2);
	release = (struct fake_core_step){ .name = FAKE_CORE_RELEASE, .id = acquire.id };
	CHECK_EQ(ioctl(core, FAKE_CORE_IOC_STEP, &release), 0);
}

TEST(deregistration_does_not_release_what_is_pinned_next)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_RUNS), next = fake_alloc(SIZE, FAKE_P2P_RUNS);
	struct gdrdrv_pin_v2_request pin = { .address = next, .size_bytes = SIZE };
	struct fake_core_step acquire = { .name = FAKE_CORE_ACQUIRE, .address = va, .size = SIZE }, release;
	int module = opened("/dev/gdrdrv"), core = opened(FAKE_CORE_NODE);
	struct call ending = { .node = core, .command = FAKE_CORE_IOC_STEP, .request = &release };
	struct call beginning = { .node = module, .command = GDRDRV_PIN_V2, .request = &pin };

	CHECK_EQ(ioctl(core, FAKE_CORE_IOC_STEP, &acquire), 0);
	CHECK_EQ(acquire.result, 1);
	release = (struct fake_core_step){ .name = FAKE_CORE_RELEASE, .id = acquire.id };
	reuse_address(va, &ending, &beginning);
	fake_free(next);
	CHECK_EQ(fake_report().callbacks, 2);
}
