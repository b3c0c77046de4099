/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Requests of user programs, defined in gdrdrv_abi.h. */
#ifndef GDRDRV_IOCTL_H
#define GDRDRV_IOCTL_H

struct file;

long gdrdrv_ioctl(struct file *file, unsigned int number, unsigned long argument);

#endif
