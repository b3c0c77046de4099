// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fake.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int node = -1;

static int opened(void)
{
	if (node < 0)
		node = open(FAKE_P2P_NODE, O_RDWR | O_CLOEXEC);
	if (node < 0)
		test_fail(__FILE__, __LINE__, "cannot open %s: %s", FAKE_P2P_NODE, strerror(errno));
	return node;
}

static void control(unsigned long command, void *argument, const char *what)
{
	if (ioctl(opened(), command, argument))
		test_fail(__FILE__, __LINE__, "the fake provider cannot %s: %s", what, strerror(errno));
}

uint64_t fake_alloc(uint64_t size, enum fake_p2p_layout layout)
{
	struct fake_p2p_alloc request = { .size = size, .layout = layout };

	control(FAKE_P2P_IOC_ALLOC, &request, "allocate");
	return request.va;
}

void fake_free(uint64_t va)
{
	struct fake_p2p_address request = { .va = va };

	control(FAKE_P2P_IOC_FREE, &request, "free");
}

void fake_close(void)
{
	close(opened());
	node = -1;
}

void fake_write(uint64_t va, const void *from, size_t size)
{
	if (pwrite(opened(), from, size, (off_t)va) != (ssize_t)size)
		test_fail(__FILE__, __LINE__, "cannot write %zu bytes at GPU address 0x%llx: %s", size,
			  (unsigned long long)va, strerror(errno));
}

void fake_read(uint64_t va, void *to, size_t size)
{
	if (pread(opened(), to, size, (off_t)va) != (ssize_t)size)
		test_fail(__FILE__, __LINE__, "cannot read %zu bytes at GPU address 0x%llx: %s", size,
			  (unsigned long long)va, strerror(errno));
}

static unsigned char byte_of(size_t at, unsigned int seed)
{
	return (unsigned char)(seed * 101 + at * 37 + (at >> 8) * 11 + (at >> 16) * 3);
}

void bytes_fill(unsigned char *bytes, size_t size, unsigned int seed)
{
	for (size_t at = 0; at < size; at++)
		bytes[at] = byte_of(at, seed);
}

void bytes_check(const volatile unsigned char *bytes, size_t size, unsigned int seed)
{
	for (size_t at = 0; at < size; at++) {
		if (bytes[at] != byte_of(at, seed))
			test_fail(__FILE__, __LINE__, "byte %zu of %zu is 0x%02x, not 0x%02x (seed %u)", at, size, bytes[at],
				  byte_of(at, seed), seed);
	}
}

uint64_t fake_alloc_filled(uint64_t size, enum fake_p2p_layout layout, unsigned int seed)
{
	unsigned char *bytes = malloc(size);
	uint64_t va = fake_alloc(size, layout);

	CHECK(bytes != NULL);
	bytes_fill(bytes, size, seed);
	fake_write(va, bytes, size);
	free(bytes);
	return va;
}

void fake_check(uint64_t va, size_t size, unsigned int seed)
{
	unsigned char *bytes = malloc(size);

	CHECK(bytes != NULL);
	fake_read(va, bytes, size);
	bytes_check(bytes, size, seed);
	free(bytes);
}

uint64_t fake_physical(uint64_t va)
{
	struct fake_p2p_address request = { .va = va };

	control(FAKE_P2P_IOC_PHYSICAL, &request, "report a physical address");
	return request.physical;
}

void fake_set(enum fake_p2p_knob knob, uint64_t value)
{
	struct fake_p2p_setting request = { .knob = knob, .value = value };

	control(FAKE_P2P_IOC_SET, &request, "set a knob");
}

void fake_fail(enum fake_p2p_call call, uint64_t nth, int error)
{
	struct fake_p2p_failure request = { .call = call, .error = error, .nth = nth };

	control(FAKE_P2P_IOC_FAIL, &request, "arm a failure");
}

static void pause_request(enum fake_p2p_step step, enum fake_p2p_pause_action action, const char *what)
{
	struct fake_p2p_pause request = { .step = step, .action = action, .timeout_ms = 10000 };

	control(FAKE_P2P_IOC_PAUSE, &request, what);
}

void fake_pause(enum fake_p2p_step step)
{
	pause_request(step, FAKE_P2P_PAUSE_ARM, "arm a pause");
}

void fake_await(enum fake_p2p_step step)
{
	pause_request(step, FAKE_P2P_PAUSE_AWAIT, "await a paused call");
}

void fake_resume(enum fake_p2p_step step)
{
	pause_request(step, FAKE_P2P_PAUSE_RESUME, "resume a paused call");
}

void thread_start_paused(struct thread *thread, enum fake_p2p_step step, void (*body)(void *argument), void *argument)
{
	fake_pause(step);
	thread_start(thread, body, argument);
	fake_await(step);
}

struct fake_p2p_report fake_report(void)
{
	struct fake_p2p_report report;

	control(FAKE_P2P_IOC_REPORT, &report, "report");
	return report;
}

uint64_t provider_pins(void)
{
	struct fake_p2p_report report = fake_report();

	return report.pins + report.persistent_pins;
}

void fake_reset(void)
{
	int node = open(FAKE_P2P_NODE, O_RDWR | O_CLOEXEC);

	if (node < 0)
		return;
	ioctl(node, FAKE_P2P_IOC_RESET);
	close(node);
}

const char *fake_problem(void)
{
	static char text[600];
	struct fake_p2p_report report;
	int node = open(FAKE_P2P_NODE, O_RDWR | O_CLOEXEC);
	uint64_t live = 1, mistakes = 0;

	if (node < 0)
		return NULL;
	/* A paused call would block teardown. Linux releases the objects of a killed process asynchronously. */
	for (uint32_t step = 0; step < FAKE_P2P_STEPS; step++) {
		struct fake_p2p_pause request = { .step = step, .action = FAKE_P2P_PAUSE_RESUME };

		ioctl(node, FAKE_P2P_IOC_PAUSE, &request);
	}
	/* Refused pins are caused by the provider; they are not leaks of the client. */
	ioctl(node, FAKE_P2P_IOC_RELOAD);
	for (int i = 0; i < 200 && live; i++) {
		ioctl(node, FAKE_P2P_IOC_REPORT, &report);
		live = report.allocations + report.pins + report.persistent_pins + report.mappings + report.used_pages;
		if (live)
			usleep(10000);
	}
	close(node);
	mistakes = report.put_unknown + report.put_wrong + report.put_elsewhere + report.put_twice +
		   report.put_with_token + report.put_in_callback + report.unmap_wrong + report.written_after_free;
	if (!live && !mistakes)
		return NULL;
	snprintf(text, sizeof(text),
		 "leaked: %llu allocations, %llu pins, %llu persistent pins, %llu DMA mappings, %llu pages; "
		 "client errors: %llu unknown puts, %llu wrong puts, %llu puts by another process, %llu second puts, "
		 "%llu puts with a token, %llu puts in a callback, %llu wrong unmaps, %llu writes after free",
		 report.allocations, report.pins, report.persistent_pins, report.mappings, report.used_pages,
		 report.put_unknown, report.put_wrong, report.put_elsewhere, report.put_twice,
		 report.put_with_token, report.put_in_callback, report.unmap_wrong, report.written_after_free);
	return text;
}
