/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_WORKER_THREADS_H
#define STORLUA_CORE_IO_WORKER_THREADS_H

/* How many threads the kernel made to do io_uring requests of the calling
 * thread that could not be done without waiting.  They go after seconds
 * without work, so this looks back a few seconds only. */
unsigned sl_kernel_workers(void);

#endif
