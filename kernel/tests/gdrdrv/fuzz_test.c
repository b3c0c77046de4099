// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Random requests with random and boundary values, mixed with random mmap, munmap, mremap, mprotect and frees. Results
// are not predicted. After every test, the runner checks that nothing leaks, that the provider counted no client error
// and that Linux logged no warning.
#define _GNU_SOURCE
#include <stdlib.h>

#include "../support/gdrdrv.h"

#define FILES 3
#define HANDLES 8
#define VMAS 8
#define ALLOCATIONS 4

struct fuzz {
	unsigned int seed;
	int files[FILES];
	uint64_t handles[HANDLES];
	struct {
		void *start;
		size_t size;
	} vmas[VMAS];
	uint64_t memory[ALLOCATIONS];
	unsigned long calls, successes;
};

static uint32_t pick(struct fuzz *fuzz, uint32_t below)
{
	return (uint32_t)rand_r(&fuzz->seed) % below;
}

static uint64_t any_number(struct fuzz *fuzz)
{
	static const uint64_t edges[] = { 0, 1, 0xffff, 0x10000, 0x10001, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32,
					  1ULL << 44, 1ULL << 52, 1ULL << 63, ~0ULL, ~0ULL - 0xffff };
	uint64_t number;

	switch (pick(fuzz, 6)) {
	case 0:
		return edges[pick(fuzz, COUNT(edges))];
	case 1:
		number = (uint64_t)rand_r(&fuzz->seed) << 33 ^ (uint64_t)rand_r(&fuzz->seed) << 11;
		return number ^ rand_r(&fuzz->seed);
	case 2:
		return fuzz->handles[pick(fuzz, HANDLES)] + pick(fuzz, 3);
	case 3:
		return pick(fuzz, 10) * PAGE + pick(fuzz, 3);
	default:
		return fuzz->memory[pick(fuzz, ALLOCATIONS)] + pick(fuzz, 4) * PAGE + pick(fuzz, 2);
	}
}

/* Valid requests with random contents; stores the handle of a successful pin. */
static void fuzz_ioctl(struct fuzz *fuzz)
{
	static const unsigned int numbers[] = { GDRDRV_PIN,    GDRDRV_PIN_V2,	  GDRDRV_UNPIN,	      GDRDRV_CALLBACK_FLAG,
						GDRDRV_INFO,   GDRDRV_INFO_V2,	  GDRDRV_ATTRIBUTE,   GDRDRV_MAPPING_TYPE,
						GDRDRV_PIN_V2, GDRDRV_GET_VERSION };
	unsigned int number = numbers[pick(fuzz, COUNT(numbers))];
	uint64_t words[8];

	for (size_t i = 0; i < 8; i++)
		words[i] = any_number(fuzz);
	if (number == GDRDRV_PIN && pick(fuzz, 4))
		words[2] = words[3] = 0;
	if (number == GDRDRV_PIN_V2 && pick(fuzz, 4))
		words[2] = pick(fuzz, 2);
	if (number == GDRDRV_MAPPING_TYPE && pick(fuzz, 2))
		words[1] = pick(fuzz, 5);
	if (number >> 30 == 3 && number != GDRDRV_PIN && number != GDRDRV_PIN_V2 && pick(fuzz, 2))
		words[0] = fuzz->handles[pick(fuzz, HANDLES)];
	if (pick(fuzz, 50) == 0)
		number ^= 1u << pick(fuzz, 32);
	if (ioctl(fuzz->files[pick(fuzz, FILES)], number, pick(fuzz, 100) ? words : NULL))
		return;
	fuzz->successes++;
	if (number == GDRDRV_PIN)
		fuzz->handles[pick(fuzz, HANDLES)] = words[4];
	if (number == GDRDRV_PIN_V2)
		fuzz->handles[pick(fuzz, HANDLES)] = words[3];
}

static void fuzz_map(struct fuzz *fuzz)
{
	uint32_t slot = pick(fuzz, VMAS);
	size_t size = pick(fuzz, 3) ? (pick(fuzz, 5) + 1) * PAGE : (pick(fuzz, 40) + 1) * 4096;
	int protection = pick(fuzz, 4) ? PROT_READ | PROT_WRITE : (int)pick(fuzz, 8);
	uint64_t handle = pick(fuzz, 8) ? fuzz->handles[pick(fuzz, HANDLES)] : any_number(fuzz);
	void *start;

	if (fuzz->vmas[slot].start)
		return;
	start = mmap(NULL, size, protection, pick(fuzz, 10) ? MAP_SHARED : MAP_PRIVATE, fuzz->files[pick(fuzz, FILES)],
		     (off_t)(handle << 12));
	if (start == MAP_FAILED)
		return;
	fuzz->successes++;
	fuzz->vmas[slot].start = start;
	fuzz->vmas[slot].size = size;
}

/* A VMA is unmapped as a whole or not at all. */
static void fuzz_munmap(struct fuzz *fuzz, uint32_t slot, size_t offset, size_t size)
{
	bool is_whole = offset == 0 && size >= fuzz->vmas[slot].size;

	CHECK_EQ(munmap((char *)fuzz->vmas[slot].start + offset, size) == 0, is_whole);
	if (is_whole)
		fuzz->vmas[slot].start = NULL;
}

/* An mremap to the same size succeeds and changes nothing. */
static void fuzz_mremap(char *start, size_t old_size, size_t new_size)
{
	void *moved = mremap(start, old_size, new_size, MREMAP_MAYMOVE);

	CHECK(old_size && old_size == new_size ? moved == start : moved == MAP_FAILED);
}

static void fuzz_vma(struct fuzz *fuzz)
{
	uint32_t slot = pick(fuzz, VMAS);
	char *start = fuzz->vmas[slot].start;
	size_t size = fuzz->vmas[slot].size, part = (pick(fuzz, size / 4096 + 1)) * 4096;

	if (!start)
		return;
	switch (pick(fuzz, 7)) {
	case 0:
		if (munmap(start, size) == 0)
			fuzz->vmas[slot].start = NULL;
		break;
	case 1:
		fuzz_munmap(fuzz, slot, part / 2 / 4096 * 4096, part ? part : 4096);
		break;
	case 2:
		fuzz_mremap(start, part, pick(fuzz, 3) * PAGE);
		break;
	case 3:
		mprotect(start, pick(fuzz, 2) ? size : part, (int)pick(fuzz, 4));
		break;
	case 4:
		madvise(start, size, (int)pick(fuzz, 25));
		break;
	default:
		touch(start + pick(fuzz, (uint32_t)size));
		touch_write(start + pick(fuzz, (uint32_t)size));
	}
}

static void fuzz_rest(struct fuzz *fuzz)
{
	uint32_t slot = pick(fuzz, ALLOCATIONS), file = pick(fuzz, FILES);

	switch (pick(fuzz, 4)) {
	case 0:
		fake_free(fuzz->memory[slot]);
		fuzz->memory[slot] = fake_alloc((pick(fuzz, 6) + 1) * PAGE, pick(fuzz, FAKE_P2P_LAYOUTS));
		break;
	case 1:
		close(fuzz->files[file]);
		fuzz->files[file] = open_node();
		break;
	case 2:
		fake_fail(pick(fuzz, FAKE_P2P_CALLS), pick(fuzz, 3), EIO);
		break;
	default:
		fake_set(FAKE_P2P_DAMAGE, pick(fuzz, 4) ? FAKE_P2P_SOUND : pick(fuzz, FAKE_P2P_DAMAGES));
	}
}

/* At an open, the module retries the release of pins that the provider refused; this one must succeed. */
static void settle(struct fuzz *fuzz)
{
	for (uint32_t call = 0; call < FAKE_P2P_CALLS; call++)
		fake_fail(call, 0, EIO);
	for (int i = 0; i < VMAS; i++) {
		if (fuzz->vmas[i].start)
			munmap(fuzz->vmas[i].start, fuzz->vmas[i].size);
	}
	for (int i = 0; i < FILES; i++)
		close(fuzz->files[i]);
	close(open_node());
	for (int i = 0; i < ALLOCATIONS; i++)
		fake_free(fuzz->memory[i]);
	CHECK_EQ(provider_pins(), 0);
}

static void run_fuzz(unsigned int seed, int rounds)
{
	struct fuzz fuzz = { .seed = seed };

	for (int i = 0; i < FILES; i++)
		fuzz.files[i] = open_node();
	for (int i = 0; i < ALLOCATIONS; i++)
		fuzz.memory[i] = fake_alloc(5 * PAGE, i % FAKE_P2P_LAYOUTS);
	for (int i = 0; i < rounds; i++) {
		uint32_t what = pick(&fuzz, 100);

		fuzz.calls++;
		if (what < 55)
			fuzz_ioctl(&fuzz);
		else if (what < 75)
			fuzz_map(&fuzz);
		else if (what < 97)
			fuzz_vma(&fuzz);
		else
			fuzz_rest(&fuzz);
	}
	settle(&fuzz);
	test_note("seed %u: %lu calls, %lu pins, requests and maps succeeded", seed, fuzz.calls, fuzz.successes);
	/* If all calls fail, the test covers nothing. */
	CHECK(fuzz.successes > fuzz.calls / 50);
}

TEST_BOTH(random_calls_harm_nothing)
{
	run_fuzz(1, 8000);
	run_fuzz(2, 8000);
}

TEST(random_calls_do_no_harm_when_handles_wrap)
{
	load("handle_limit=512 use_persistent_mapping=0 pinned_limit_bytes=1310720");
	run_fuzz(3, 8000);
	load("handle_limit=512 pinned_limit_bytes=1310720");
	run_fuzz(4, 8000);
}

TEST_LONG(random_calls_harm_nothing_for_long, 900)
{
	for (unsigned int seed = 100; seed < 160; seed++) {
		load(seed % 3 == 0 ? "use_persistent_mapping=0" : seed % 3 == 1 ? "" : "handle_limit=512");
		run_fuzz(seed, 20000);
	}
}
