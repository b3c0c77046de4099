/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * The names that headers of glibc 2.38 and newer give to strtol, sscanf and so on. Compiled as C99, in which these have
 * their own names; the others also read binary numbers such as 0b1. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

long __isoc23_strtol(const char* text, char** end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char* text, char** end, int base) { return strtoll(text, end, base); }
unsigned long __isoc23_strtoul(const char* text, char** end, int base) { return strtoul(text, end, base); }
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) { return strtoull(text, end, base); }
long __isoc23_wcstol(const wchar_t* text, wchar_t** end, int base) { return wcstol(text, end, base); }
long long __isoc23_wcstoll(const wchar_t* text, wchar_t** end, int base) { return wcstoll(text, end, base); }
unsigned long __isoc23_wcstoul(const wchar_t* text, wchar_t** end, int base) { return wcstoul(text, end, base); }
unsigned long long __isoc23_wcstoull(const wchar_t* text, wchar_t** end, int base) { return wcstoull(text, end, base); }

int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

int __isoc23_fscanf(FILE* file, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vfscanf(file, format, arguments);
  va_end(arguments);
  return count;
}
