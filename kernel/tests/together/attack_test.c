// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Eight processes exercise both modules at once and are killed at arbitrary points: pins whose memory is freed while
// mapped, files that other processes or io_uring close last, registrations that others end. Each process fills its
// memory with its own byte, which reveals reads of another process's memory.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../support/gdrdrv.h"
#include "../support/rdma_core.h"

#define WORKERS 8
#define SLOTS 4
#define SIZE (2 * PAGE)

static _Atomic uint64_t slots[SLOTS];
static unsigned char own; /* the byte of this process */

/* Every accessible byte must be this process's. */
static void check_bytes(const volatile unsigned char *bytes)
{
	for (uint64_t at = 0; at < SIZE; at += PAGE) {
		unsigned char seen;

		if (touch_read(bytes + at, &seen) == 0 && seen != own)
			test_fail(__FILE__, __LINE__, "the process with byte 0x%02x read 0x%02x", own, seen);
	}
}

static uint64_t allocate(void)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);

	for (uint64_t at = 0; at < SIZE; at += PAGE)
		fake_write(va + at, &own, 1);
	return va;
}

/* Returns false if the memory has been freed in the meantime. */
static bool pin_slot(int node, int slot, uint64_t *handle)
{
	struct gdrdrv_pin_v2_request request = { .address = slots[slot], .size_bytes = SIZE };

	if (ioctl(node, GDRDRV_PIN_V2, &request))
		return false;
	*handle = request.handle;
	return true;
}

static void close_in_a_ring(int node)
{
	struct io_uring_params parameters = {};
	int ring = (int)syscall(SYS_io_uring_setup, 2, &parameters);

	if (ring < 0)
		return;
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &node, 1);
	close(node);
	close(ring);
}

/* A child holds the file for 2 ms. */
static void close_in_a_child(int node)
{
	if (fork() == 0) {
		usleep(2000);
		_exit(0);
	}
	close(node);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void use_gdrdrv(unsigned int *random)
{
	int node = open_node();
	uint64_t handle;
	void *bytes;

	if (pin_slot(node, rand_r(random) % SLOTS, &handle)) {
		bytes = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, node, (off_t)handle * 4096);
		if (bytes != MAP_FAILED) {
			check_bytes(bytes);
			if (rand_r(random) % 2)
				unpin(node, handle);
			check_bytes(bytes);
			munmap(bytes, SIZE);
		}
	}
	switch (rand_r(random) % 8) {
	case 0:
		return close_in_a_ring(node);
	case 1:
		return close_in_a_child(node);
	default:
		close(node);
	}
}

static void use_peermem(int core, unsigned int *random)
{
	struct fake_core_step begin = { .name = FAKE_CORE_REGISTER, .size = SIZE }, end = { .name = FAKE_CORE_DEREGISTER };

	begin.address = slots[rand_r(random) % SLOTS];
	if (ioctl(core, FAKE_CORE_IOC_STEP, &begin) || begin.result != 1)
		return;
	end.id = begin.id;
	if (rand_r(random) % 8 == 0 && fork() == 0) {
		ioctl(core, FAKE_CORE_IOC_STEP, &end);
		_exit(0);
	}
	ioctl(core, FAKE_CORE_IOC_STEP, &end); /* fails if a child was first */
}

/* Frees and pins repeatedly, so that table addresses are reused while other pins are released. */
static void free_and_pin(void *argument)
{
	unsigned int random = own;
	int node = open_node();

	(void)argument;
	for (;;) {
		int slot = rand_r(&random) % SLOTS;
		uint64_t handle;

		fake_free(slots[slot]);
		slots[slot] = allocate();
		if (pin_slot(node, slot, &handle) && rand_r(&random) % 2)
			unpin(node, handle);
		if (rand_r(&random) % 64 == 0) {
			close(node);
			node = open_node();
		}
	}
}

static void work(int number)
{
	unsigned int random = number * 7919 + getpid();
	struct thread freeing;
	int core;

	own = (unsigned char)(0x10 + number);
	fake_close(); /* opens its own node, whose memory is freed with it */
	core = open(FAKE_CORE_NODE, O_RDWR | O_CLOEXEC);
	CHECK(core >= 0);
	for (int i = 0; i < SLOTS; i++)
		slots[i] = allocate();
	thread_start(&freeing, free_and_pin, NULL);
	for (;;) {
		use_gdrdrv(&random);
		use_peermem(core, &random);
	}
}

static void attack(int seconds)
{
	uint64_t end = test_now_ns() + seconds * 1000000000ULL;
	pid_t workers[WORKERS] = {};
	unsigned int random = 4711, killed = 0;

	fake_report();
	for (int i = 0; test_now_ns() < end; i = rand_r(&random) % WORKERS) {
		if (workers[i]) {
			kill(workers[i], SIGKILL);
			CHECK_EQ(wait_for(workers[i]), SIGKILL);
			killed++;
		}
		workers[i] = fork();
		if (workers[i] == 0)
			work(i);
		usleep(30000 + rand_r(&random) % 200000);
	}
	for (int i = 0; i < WORKERS; i++) {
		if (workers[i]) {
			kill(workers[i], SIGKILL);
			waitpid(workers[i], NULL, 0);
		}
	}
	usleep(500000); /* Linux releases files asynchronously */
	test_note("%u processes killed; %llu gets, %llu puts, %llu callbacks, %llu tables at a reused address", killed,
		  fake_report().gets, fake_report().puts, fake_report().callbacks, fake_report().tables_reused);
	CHECK(fake_report().callbacks > 0 && fake_report().tables_reused > 0);
}

TEST_WITHIN(eight_killed_processes_cause_no_harm_briefly, 60)
{
	attack(4);
}

TEST_LONG(eight_killed_processes_cause_no_harm, 300)
{
	attack(60);
}

TEST_CHECKED(eight_killed_processes_cause_no_harm_under_checks, 60)
{
	attack(60);
}
