// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../include/gdrdrv_abi.h"
#include "../support/test.h"

int session_open(void)
{
	int session = open("/dev/gdrdrv", O_RDWR | O_CLOEXEC);

	CHECK(session >= 0);
	return session;
}

uint64_t session_pin(int session, uint64_t va, size_t size)
{
	struct gdrdrv_pin_v2_request request = { .address = va, .size_bytes = size };

	CHECK(ioctl(session, GDRDRV_PIN_V2, &request) == 0);
	return request.handle;
}

int session_unpin(int session, uint64_t handle)
{
	struct gdrdrv_unpin_request request = { .handle = handle };

	return ioctl(session, GDRDRV_UNPIN, &request) ? errno : 0;
}

volatile unsigned char *session_map(int session, uint64_t handle, size_t size)
{
	void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, session, (off_t)(handle * (uint64_t)getpagesize()));

	CHECK(address != MAP_FAILED);
	return address;
}

static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void jump_back(int number)
{
	caught = number;
	siglongjmp(back, 1);
}

int signal_of_load(const volatile unsigned char *address, unsigned char *seen)
{
	struct sigaction action = { .sa_handler = jump_back }, bus, segv;

	sigaction(SIGBUS, &action, &bus);
	sigaction(SIGSEGV, &action, &segv);
	caught = 0;
	if (sigsetjmp(back, 1) == 0)
		*seen = *address;
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return caught;
}
