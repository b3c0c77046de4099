// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A mapping cannot be split, belongs to one pin, and ends with it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/uio.h>

#include "../support/gdrdrv.h"

#define SIZE (4 * PAGE)

TEST_BOTH(invalid_offsets_and_sizes_are_rejected)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node();
	uint64_t handle = pin(file, va, SIZE), unaligned = pin(file, va + 4096, PAGE);
	void *bytes;

	CHECK_ERRNO((long)try_map(file, handle, 0), EINVAL);
	CHECK_ERRNO((long)try_map(file, handle, SIZE + 1), EINVAL);
	CHECK_ERRNO((long)try_map(file, handle, SIZE + 4096), EINVAL);
	CHECK_ERRNO((long)try_map(file, handle, 1UL << 40), EINVAL);
	CHECK_ERRNO((long)try_map(file, handle + 1, 4096), EINVAL);
	CHECK_ERRNO((long)try_map(file, unaligned, 4096), EINVAL);
	CHECK_EQ(info(file, handle).mapping_type, GDRDRV_MAPPING_NONE);
	bytes = map(file, handle, 4096);
	CHECK_EQ(touch(bytes), 0);
	CHECK_ERRNO((long)try_map(file, handle, 4096), EINVAL);
	CHECK_EQ(munmap(bytes, 4096), 0);
	map(file, handle, SIZE);
}

TEST_BOTH(private_writable_mappings_are_rejected)
{
	uint64_t va = fake_alloc(SIZE, FAKE_P2P_CONTIGUOUS);
	int file = open_node(), read_only = open(NODE, O_RDONLY | O_CLOEXEC);
	uint64_t handle = pin(file, va, SIZE), other = pin(read_only, va, SIZE);

	CHECK_ERRNO((long)mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, (off_t)handle * 4096), EINVAL);
	CHECK_ERRNO((long)mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, file, (off_t)handle * 4096), EINVAL);
	CHECK_ERRNO((long)try_map(read_only, other, SIZE), EACCES);
	CHECK_EQ(info(file, handle).mapping_type, GDRDRV_MAPPING_NONE);
	CHECK_EQ(info(read_only, other).mapping_type, GDRDRV_MAPPING_NONE);
}

TEST_BOTH(partial_munmap_is_rejected_and_changes_nothing)
{
	struct pinned made = map_new(SIZE);

	CHECK_ERRNO(munmap(made.bytes, 4096), EINVAL);
	CHECK_ERRNO(munmap(made.bytes, SIZE - 4096), EINVAL);
	CHECK_ERRNO(munmap(made.bytes + 4096, SIZE - 4096), EINVAL);
	CHECK_ERRNO(munmap(made.bytes + 4096, 4096), EINVAL);
	CHECK_ERRNO(mprotect(made.bytes, 4096, PROT_READ), EINVAL);
	/* The errno of this failure is Linux's choice. */
	CHECK(mmap(made.bytes + 8192, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
	check_touches(made.bytes, SIZE, 0);
	CHECK_EQ(info(made.file, made.handle).mapping_type, GDRDRV_MAPPING_WC);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	check_touches(made.bytes, SIZE, SIGBUS);
}

/* Regardless of mremap's result, no page may stay reachable at either address after the unpin. */
TEST_BOTH(mremap_leaves_no_page_reachable_after_unpin)
{
	struct pinned made = map_new(SIZE);
	unsigned char *elsewhere = mmap(NULL, 4 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_ERRNO((long)mremap(made.bytes, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere), EINVAL);
	CHECK_ERRNO((long)mremap(made.bytes, SIZE, 2 * SIZE, MREMAP_MAYMOVE), EFAULT);
	CHECK((long)mremap(made.bytes, SIZE, PAGE, 0) == -1);
	CHECK((long)mremap(made.bytes, 0, SIZE, MREMAP_MAYMOVE) == -1);
	CHECK((long)mremap(made.bytes + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere + SIZE) == -1);
	CHECK((long)mremap(made.bytes, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL) == -1);
	CHECK_EQ(info(made.file, made.handle).mapping_type, GDRDRV_MAPPING_WC);
	check_touches(made.bytes, SIZE, 0);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_EQ(provider_pins(), 0);
	check_touches(made.bytes, SIZE, SIGBUS);
	for (size_t at = 0; at < 4 * SIZE; at += 4096)
		CHECK(touch(elsewhere + at) != 0);
	CHECK_EQ(munmap(made.bytes, SIZE), 0);
}

/* The VMA keeps the file and therefore the pin. */
TEST_BOTH(mapping_works_after_close_and_munmap_releases_all)
{
	struct pinned made = map_new(SIZE);

	close(made.file);
	CHECK_EQ(touch_write(made.bytes), 0);
	CHECK_EQ(provider_pins(), 1);
	CHECK_EQ(module_unload("gdrdrv"), EAGAIN);
	CHECK_EQ(munmap(made.bytes, SIZE), 0);
	for (int i = 0; i < 500 && provider_pins(); i++)
		usleep(1000);
	CHECK_EQ(provider_pins(), 0);
}

TEST_BOTH(unpin_ends_access_after_madvise_and_mprotect)
{
	struct pinned made = map_new(SIZE);

	CHECK_ERRNO(madvise(made.bytes, SIZE, MADV_DOFORK), EINVAL);
	CHECK((madvise(made.bytes, SIZE, MADV_DONTNEED)) == -1);
	CHECK((madvise(made.bytes, SIZE, MADV_DODUMP)) == -1);
	CHECK_EQ(mprotect(made.bytes, SIZE, PROT_NONE), 0);
	CHECK_EQ(touch(made.bytes), SIGSEGV);
	CHECK_EQ(mprotect(made.bytes, SIZE, PROT_READ | PROT_WRITE), 0);
	CHECK_EQ(touch_write(made.bytes), 0);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_EQ(mprotect(made.bytes, SIZE, PROT_READ), 0);
	CHECK_EQ(touch(made.bytes), SIGBUS);
}

/* A page reference other than a PTE would survive the pin. */
TEST_BOTH(nothing_can_take_page_references_of_a_mapping)
{
	struct pinned made = map_new(SIZE);
	char copy[64];
	struct iovec remote = { made.bytes, sizeof(copy) }, local = { copy, sizeof(copy) };
	int pipes[2], memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	CHECK_EQ(touch(made.bytes), 0);
	CHECK_EQ(pipe(pipes), 0);
	CHECK_ERRNO(vmsplice(pipes[1], &remote, 1, 0), EFAULT);
	CHECK_ERRNO(process_vm_readv(getpid(), &local, 1, &remote, 1, 0), EFAULT);
	CHECK_ERRNO(pread(memory, copy, sizeof(copy), (off_t)made.bytes), EIO);
	CHECK_ERRNO(mlock(made.bytes, SIZE) ? -1 : pread(memory, copy, 1, (off_t)made.bytes), EIO);
	/* Copying bytes works, as with any memory. */
	CHECK_EQ(write(pipes[1], made.bytes, 16), 16);
	CHECK_EQ(unpin(made.file, made.handle), 0);
	CHECK_ERRNO(write(pipes[1], made.bytes, 16), EFAULT);
}

/* VmFlags in /proc/self/smaps: io, pf (no struct page), dc (not copied by fork), de, dd. */
TEST_BOTH(mapping_has_the_flags_of_device_memory)
{
	struct pinned made = map_new(SIZE);
	FILE *smaps = fopen("/proc/self/smaps", "r");
	char line[512];
	bool is_ours = false, found = false;
	unsigned long start, end;

	CHECK(smaps != NULL);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_ours = start == (unsigned long)made.bytes;
		if (!is_ours || strncmp(line, "VmFlags:", 8))
			continue;
		found = true;
		CHECK(strstr(line, " io") && strstr(line, " pf") && strstr(line, " dc") && strstr(line, " de") &&
		      strstr(line, " dd") && strstr(line, " sh"));
	}
	fclose(smaps);
	CHECK(found);
}

/* Two sessions use the same offsets; unpinning in one must not end the other's mapping. */
TEST_BOTH(sessions_do_not_affect_each_others_mappings)
{
	struct pinned first = map_new(SIZE), second = map_new(SIZE);

	CHECK_EQ(first.handle, second.handle);
	CHECK_EQ(unpin(first.file, first.handle), 0);
	CHECK_EQ(touch(first.bytes), SIGBUS);
	check_touches(second.bytes, SIZE, 0);
}
