/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * gdrkit's own C API, for C and C++ of any standard. Names and layouts may change until version 1.0. */
#ifndef GDRKIT_GDRKIT_H
#define GDRKIT_GDRKIT_H

#include <gdrkit/version.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function returns 0 (or a value >= 0) on success and a negative errno on failure; outputs are set only on
 * success. A NULL, stale, foreign or twice closed handle returns -EINVAL and never crashes.
 *
 * Threads: all functions are thread-safe, except that the caller must not unmap, unpin or close a mapping while another
 * thread copies through it or accesses it.
 *
 * Forks: in a child made by fork(), calls on inherited handles return -EACCES or -EINVAL; the child opens a context of
 * its own. A child made without fork handlers (_Fork, a bare clone) must not copy through inherited handles: the child
 * does not inherit the mappings. */

typedef struct {
  uint64_t value;
} gdrkit_context_t;
typedef struct {
  uint64_t value;
} gdrkit_pin_t;
typedef struct {
  uint64_t value;
} gdrkit_buffer_t;
typedef struct {
  uint64_t value;
} gdrkit_copy_t;

enum gdrkit_mapping_type {
  GDRKIT_MAPPING_DEFAULT = 0,
  GDRKIT_MAPPING_WRITE_COMBINING = 1,
  GDRKIT_MAPPING_CACHED = 2,
  GDRKIT_MAPPING_DEVICE = 3
};

enum gdrkit_engine {
  GDRKIT_ENGINE_DEFAULT = 0, /* $GDRKIT_ENGINE, else the CPU */
  GDRKIT_ENGINE_CPU = 1,
  GDRKIT_ENGINE_LANES = 2,
  GDRKIT_ENGINE_COPY_ENGINE = 3,
  GDRKIT_ENGINE_MOVER = 4,
  GDRKIT_ENGINE_AUTOMATIC = 5
};

enum gdrkit_verification {
  GDRKIT_VERIFIED_BY_INTERFACE = 0,
  GDRKIT_VERIFIED_CONTENT = 1,
  GDRKIT_VERIFIED_STRUCTURAL = 2,
  GDRKIT_VERIFIED_CALIBRATED = 3
};

/* Option and information structs start with their size: set struct_size = sizeof the struct, zero the rest. A
 * size below the first version's or above 4096 is -EINVAL. */
struct gdrkit_open_options {
  uint32_t struct_size;
  uint32_t reserved;
  const char* backend;     /* NULL: $GDRKIT_BACKEND, else the first that can run */
  const char* copy_kernel; /* NULL: $GDRKIT_COPY_KERNEL, else the best for this CPU */
};

struct gdrkit_map_options {
  uint32_t struct_size;
  int32_t mapping_type; /* enum gdrkit_mapping_type */
  int32_t engine;       /* enum gdrkit_engine: what performs gdrkit_write and gdrkit_read; see gdrkit_map */
  int32_t reserved;
};

struct gdrkit_context_info {
  uint32_t struct_size;
  uint32_t page_size_bytes;
  const char* backend_name;      /* static */
  const char* store_kernel_name; /* static; copy kernel for host to device */
  const char* load_kernel_name;  /* static; copy kernel for device to host */
  int32_t is_persistent;         /* 1: the memory stays readable through the mapping after its owner freed it */
  int32_t is_emulated;
};

struct gdrkit_pin_info {
  uint32_t struct_size;
  uint32_t page_size_bytes;
  uint64_t page_address; /* device address of the first pinned page */
  uint64_t page_bytes;
  uint64_t user_address; /* device address and size as they were asked for */
  uint64_t user_bytes;
  int32_t is_mapped;
  int32_t mapping_type; /* enum gdrkit_mapping_type; 0 when not mapped */
  int32_t verification; /* enum gdrkit_verification */
  int32_t reserved;
  void* address; /* CPU address of user_address; NULL when not mapped */
};

struct gdrkit_buffer_info {
  uint32_t struct_size;
  int32_t device;          /* as CUDA counts */
  uint64_t device_address; /* of the first byte; what gdrkit_pin takes */
  uint64_t size_bytes;
};

struct gdrkit_backend_report {
  uint32_t struct_size;
  int32_t is_usable;    /* 1: a context can be opened on it now */
  int32_t is_automatic; /* 1: may be chosen when none is asked for */
  int32_t error;        /* negative errno when not usable */
  const char* name;     /* static */
  const char* summary;  /* static */
  char reason[1024];    /* why not usable; "" when usable */
};

/* Opens a context on a backend. `options` may be NULL. Creates no CUDA context; where the process has one, 64 KiB of
 * its memory may be tried for a moment. -ENODEV: no backend can run here; gdrkit_last_error() says why for each.
 */
int gdrkit_open(const struct gdrkit_open_options* options, gdrkit_context_t* context);
/* Unmaps, unpins and frees what is left, then closes. Runs to its end; returns the first error. */
int gdrkit_close(gdrkit_context_t context);
int gdrkit_get_context_info(gdrkit_context_t context, struct gdrkit_context_info* info);

/* Pins [device_address, device_address + size_bytes), any alignment, any size > 0, inside one allocation of device
 * memory. */
int gdrkit_pin(gdrkit_context_t context, uint64_t device_address, size_t size_bytes, gdrkit_pin_t* pin);
int gdrkit_unpin(gdrkit_pin_t pin);
int gdrkit_get_pin_info(gdrkit_pin_t pin, struct gdrkit_pin_info* info);

/* Maps the pinned range; *address is the CPU address of the user's own first byte. `options` may be NULL. `engine`
 * selects what performs gdrkit_write and gdrkit_read:
 *   GDRKIT_ENGINE_CPU          CPU stores and loads
 *   GDRKIT_ENGINE_LANES        several threads, for large copies
 *   GDRKIT_ENGINE_COPY_ENGINE  CUDA's asynchronous copies
 *   GDRKIT_ENGINE_MOVER        a GPU kernel that the CPU commands through BAR1; it ends 100 us after the last copy
 *   GDRKIT_ENGINE_AUTOMATIC    for each copy the fastest of these, by direction, size and kind of host memory; what the
 *                              GPU cannot serve, the CPU does. $GDRKIT_ENGINE, if set, forces one instead
 *   GDRKIT_ENGINE_DEFAULT      $GDRKIT_ENGINE, else the CPU
 * With an engine other than the CPU, the device memory must not be freed while a copy goes on, a copy may take locks
 * and make system calls, and a failed one leaves a text in gdrkit_last_error(). All else holds as gdrkit_write
 * and gdrkit_read say; a copy is complete when the call returns, or another engine repeats it. Opening an engine
 * retains the device's primary CUDA context. A busy GPU delays a copy but does not make it fail. If a named engine has
 * no room on the GPU, or too many outstanding copies, a copy waits for it up to 50 ms; then the CPU performs the copy.
 * For the next 500 ms the CPU performs every copy that the engine cannot start at once. If an engine lacks memory, or
 * has as many started copies or segments of a call as it takes, the CPU performs the copy without a wait. A call waits
 * until a copy that an engine has started is complete. If the mover does not complete it in 60 s, the GPU counts as
 * lost: the call returns -ETIMEDOUT, and the host memory must not be reused. -EAGAIN: the pin is already mapped.
 * -EINVAL: the mapping type or the engine is unknown, or $GDRKIT_ENGINE names an unknown engine. */
int gdrkit_map(gdrkit_pin_t pin, const struct gdrkit_map_options* options, void** address);
int gdrkit_unmap(gdrkit_pin_t pin);
/* Returns 1 once the owner freed the memory and the backend removed it from the mapping, else 0. A persistent backend
 * (gdrkit_context_info.is_persistent) returns 1 only where a kernel module could not pin persistently. After that an
 * access through the mapping, gdrkit_write and gdrkit_read included, ends in SIGBUS; gdrkit_map returns -EINVAL; unmap,
 * unpin and close work. Makes one system call.
 * On coherent platforms the mapping of memory that CUDA lets the CPU use is the device address itself. Such memory ends
 * with its owner's free whatever the backend: this returns 1, and an access ends in SIGSEGV, or reaches what CUDA
 * allocated there since. */
int gdrkit_is_invalidated(gdrkit_pin_t pin);

/* Copies; offset and size in bytes, relative to the user's own first byte, inside the user's own range (-EINVAL else).
 * A write has left this CPU core when the call returns; a read returns data no older than the call, and of a naturally
 * aligned 1, 2, 4 or 8 bytes (a flag) also orders the caller's later loads after it. Writes are seen in the order of
 * the calls. Earlier stores of the caller to host memory are ordered before a write only by a store fence of the
 * caller's own (_mm_sfence) between the two, or by an earlier gdrkit_write between the two. No system call, lock or
 * allocation. */
int gdrkit_write(gdrkit_pin_t pin, size_t offset, const void* source, size_t size_bytes);
int gdrkit_read(gdrkit_pin_t pin, size_t offset, void* target, size_t size_bytes);

/* One piece of a copy: offset and size as for gdrkit_write and gdrkit_read. */
struct gdrkit_write_segment {
  size_t offset;
  const void* source;
  size_t size_bytes;
};
struct gdrkit_read_segment {
  size_t offset;
  void* target;
  size_t size_bytes;
};

/* Copies of several segments, complete on return, in no particular order. With an engine they are under way at once.
 * Where a segment is wrong, nothing moves (-EINVAL). On another error some may have moved. Allocates memory. */
int gdrkit_write_segments(gdrkit_pin_t pin, const struct gdrkit_write_segment* segments, size_t count);
int gdrkit_read_segments(gdrkit_pin_t pin, const struct gdrkit_read_segment* segments, size_t count);
/* The same, complete when gdrkit_finish_copy has returned. Until then both sides of the copy belong to it: neither
 * the caller nor a GPU kernel writes them, and what is being written is not read. `segments` itself may go. What the
 * mapping's engine cannot do behind the caller's back, small copies and those by the CPU above all, is done in this
 * call, or in gdrkit_finish_copy. */
int gdrkit_start_write(gdrkit_pin_t pin, const struct gdrkit_write_segment* segments, size_t count,
                       gdrkit_copy_t* copy);
int gdrkit_start_read(gdrkit_pin_t pin, const struct gdrkit_read_segment* segments, size_t count, gdrkit_copy_t* copy);
/* 1: gdrkit_finish_copy would not wait for the GPU or for other threads; it may still have bytes to move. Else 0. */
int gdrkit_is_copy_done(gdrkit_copy_t copy);
/* Waits for the copy and returns its outcome; the handle is dead then. gdrkit_unmap waits for the copies through its
 * pin, whose handles still want to be finished. */
int gdrkit_finish_copy(gdrkit_copy_t copy);

/* Device memory for programs without CUDA code of their own: examples, tests, the emulated device. gdrkit_pin accepts
 * memory from here and memory from cudaMalloc, cuMemCreate or a pool in the same way.
 *
 * Allocates size_bytes > 0 on device number `device`, counted from 0 as CUDA counts (CUDA_VISIBLE_DEVICES renumbers).
 * On a GPU this initialises CUDA and keeps the device's primary context, the one that the CUDA runtime uses too, until
 * the buffer is freed; the calling thread's current context does not change. What the memory holds is not defined.
 * -ENODEV: no such device. -ENOMEM: not enough memory. */
int gdrkit_buffer_allocate(gdrkit_context_t context, int device, size_t size_bytes, gdrkit_buffer_t* buffer);
/* Frees the memory; gdrkit_close does so for what is left. Pins of it stay, as they do when cudaFree frees memory. */
int gdrkit_buffer_free(gdrkit_buffer_t buffer);
int gdrkit_buffer_get_info(gdrkit_buffer_t buffer, struct gdrkit_buffer_info* info);
/* Copies by the CUDA driver instead of CPU stores and loads: what copy_to_host returns is what the GPU has. Complete on
 * return; they do not wait for other work on the GPU. -EINVAL for a range outside the buffer. */
int gdrkit_buffer_copy_from_host(gdrkit_buffer_t buffer, size_t offset, const void* source, size_t size_bytes);
int gdrkit_buffer_copy_to_host(gdrkit_buffer_t buffer, size_t offset, void* target, size_t size_bytes);

/* Reports whether backend number `index` (0, 1, ... in probe order) can run on this machine. -ENOENT past the last. */
int gdrkit_probe_backend(unsigned index, struct gdrkit_backend_report* report);
/* Name of copy kernel number `index`, best first; NULL past the last one. *is_usable (may be NULL): this CPU runs it.
 */
const char* gdrkit_copy_kernel_name(unsigned index, int* is_usable);
/* The word for an engine in $GDRKIT_ENGINE, for instance "copy_engine"; "" for GDRKIT_ENGINE_DEFAULT, NULL for a number
 * outside enum gdrkit_engine. */
const char* gdrkit_engine_name(int engine);

/* Text of a negative (or positive) errno; never NULL. Thread safe. */
const char* gdrkit_strerror(int error);
/* One sentence on this thread's last failed call: the step, the path, the vendor's code. "" if none. Valid until the
 * thread's next failing call; calls that succeed leave it alone. gdrkit_write and gdrkit_read leave no sentence, and
 * that of an earlier failure stays. */
const char* gdrkit_last_error(void);
/* "0.2.0" */
const char* gdrkit_version(void);

#ifdef __cplusplus
}
#endif
#endif
