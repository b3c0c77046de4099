// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "context.h"

gdrkit_context_t opened(void)
{
	gdrkit_context_t context = { 0 };

	if (gdrkit_open(NULL, &context))
		test_fail(__FILE__, __LINE__, "cannot open a context: %s", gdrkit_last_error());
	return context;
}

gdrkit_pin_t pinned(gdrkit_context_t context, uint64_t va, size_t size)
{
	gdrkit_pin_t pin = { 0 };

	if (gdrkit_pin(context, va, size, &pin))
		test_fail(__FILE__, __LINE__, "cannot pin %zu bytes at 0x%llx: %s", size, (unsigned long long)va,
			  gdrkit_last_error());
	return pin;
}

unsigned char *mapped(gdrkit_pin_t pin)
{
	void *address = NULL;

	if (gdrkit_map(pin, NULL, &address))
		test_fail(__FILE__, __LINE__, "cannot map: %s", gdrkit_last_error());
	return address;
}
