// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Eight processes exercise both modules at once and are killed at arbitrary points: pins whose memory is freed while
// mapped, files that other processes or io_uring close last, registrations that others end. Each process fills its
// memory with its own byte, which reveals reads of another process's memory.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../fake_rdma_core/fake_rdma_core_ioctl.h"
#include "../../include/gdrdrv_abi.h"
#include "../support/fake.h"
#include "../support/test.h"

#define WORKERS 8
#define SLOTS 4
#define SIZE (2 * FAKE_P2P_PAGE)

static _Atomic uint64_t slots[SLOTS];
static unsigned char own; /* the byte of this process */
static sigjmp_buf back;

static void jump_back(int number)
{
	siglongjmp(back, number);
}

/* Every accessible byte must be this process's. */
static void check_bytes(const volatile unsigned char *bytes)
{
	struct sigaction action = { .sa_handler = jump_back, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
	if (sigsetjmp(back, 1))
		return;
	for (uint64_t at = 0; at < SIZE; at += FAKE_P2P_PAGE) {
		unsigned char seen = bytes[at];

		if (seen != own)
			test_fail(__FILE__, __LINE__, "the process with byte 0x%02x read 0x%02x", own, seen);
	}
}

static uint64_t allocate(void)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);

	for (uint64_t at = 0; at < SIZE; at += FAKE_P2P_PAGE)
		fake_write(va + at, &own, 1);
	return va;
}

static int opened(const char *path)
{
	int node = open(path, O_RDWR | O_CLOEXEC);

	CHECK(node >= 0);
	return node;
}

/* Returns false if the memory has been freed in the meantime. */
static bool pin(int node, uint64_t va, uint64_t *handle)
{
	struct gdrdrv_pin_v2_request request = { .address = va, .size_bytes = SIZE };

	if (ioctl(node, GDRDRV_PIN_V2, &request))
		return false;
	*handle = request.handle;
	return true;
}

static void unpin(int node, uint64_t handle)
{
	struct gdrdrv_unpin_request request = { .handle = handle };

	ioctl(node, GDRDRV_UNPIN, &request);
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
	int node = opened("/dev/gdrdrv");
	uint64_t handle;
	void *bytes;

	if (pin(node, slots[rand_r(random) % SLOTS], &handle)) {
		bytes = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, node, (off_t)(handle * (uint64_t)getpagesize()));
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
static void *free_and_pin(void *argument)
{
	unsigned int random = own;
	int node = opened("/dev/gdrdrv");

	(void)argument;
	for (;;) {
		int slot = rand_r(&random) % SLOTS;
		uint64_t handle;

		fake_free(slots[slot]);
		slots[slot] = allocate();
		if (pin(node, slots[slot], &handle) && rand_r(&random) % 2)
			unpin(node, handle);
		if (rand_r(&random) % 64 == 0) {
			close(node);
			node = opened("/dev/gdrdrv");
		}
	}
	return NULL;
}

static void work(int number)
{
	unsigned int random = number * 7919 + getpid();
	pthread_t freeing;
	int core;

	own = (unsigned char)(0x10 + number);
	fake_close(); /* opens its own node, whose memory is freed with it */
	core = opened(FAKE_CORE_NODE);
	for (int i = 0; i < SLOTS; i++)
		slots[i] = allocate();
	CHECK_EQ(pthread_create(&freeing, NULL, free_and_pin, NULL), 0);
	for (;;) {
		use_gdrdrv(&random);
		use_peermem(core, &random);
	}
}

static void attack(int seconds)
{
	struct timespec now;
	pid_t workers[WORKERS] = {};
	unsigned int random = 4711, killed = 0;
	time_t end;

	fake_report();
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + seconds;
	for (int i = 0; now.tv_sec < end; i = rand_r(&random) % WORKERS) {
		int status;

		if (workers[i]) {
			kill(workers[i], SIGKILL);
			CHECK_EQ(waitpid(workers[i], &status, 0), workers[i]);
			CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
			killed++;
		}
		workers[i] = fork();
		if (workers[i] == 0)
			work(i);
		usleep(30000 + rand_r(&random) % 200000);
		clock_gettime(CLOCK_MONOTONIC, &now);
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
