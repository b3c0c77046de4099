/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * The start of a program under a glibc before 2.34, which runs a program's constructors only if the program passes a
 * function for that. crt1.o of a newer glibc passes none. Linked with --wrap=__libc_start_main. */
#include <stddef.h>

#ifdef __powerpc64__
#error "__libc_start_main has other parameters on POWER: build without GDRKIT_GLIBC"
#endif

typedef void function(int, char**, char**);
typedef int main_function(int, char**, char**);

extern function* __init_array_start[] __attribute__((visibility("hidden")));
extern function* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void) __attribute__((visibility("hidden")));
extern int __real___libc_start_main(main_function*, int, char**, function*, void (*)(void), void (*)(void), void*);

static void run_constructors(int argc, char** argv, char** environment) {
  const size_t count = (size_t)(__init_array_end - __init_array_start);
  _init();
  for (size_t i = 0; i < count; ++i) __init_array_start[i](argc, argv, environment);
}

int __wrap___libc_start_main(main_function* main, int argc, char** argv, function* init, void (*fini)(void),
                             void (*rtld_fini)(void), void* stack_end) {
  return __real___libc_start_main(main, argc, argv, init != NULL ? init : run_constructors, fini, rtld_fini, stack_end);
}
