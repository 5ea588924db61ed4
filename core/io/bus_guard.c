/* SPDX-License-Identifier: MIT */
#include "core/io/bus_guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned open_guards;
static struct sigaction before;

static _Thread_local sigjmp_buf *volatile way_out; /* NULL outside a copy */
static _Thread_local sigset_t mask; /* of a thread with a guard */

/* Nobody wants it: as if no handler had been there. */
static void give_up(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &action, NULL); /* the access faults again, and kills */
}

static void on_bus(int number, siginfo_t *info, void *context) {
  sigjmp_buf *out = way_out;
  if (out) {
    way_out = NULL;
    siglongjmp(*out, info->si_code ? info->si_code : 1);
  }
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    give_up();
  }
}

void sl_bus_guard_open(struct sl_bus_guard *guard) {
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  pthread_mutex_lock(&lock);
  if (open_guards++ == 0) {
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_bus;
    action.sa_flags = SA_SIGINFO | SA_NODEFER; /* left by a jump */
    sigaction(SIGBUS, &action, &before);
  }
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_UNBLOCK, &bus, &guard->mask_before);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
}

void sl_bus_guard_close(struct sl_bus_guard *guard) {
  pthread_sigmask(SIG_SETMASK, &guard->mask_before, NULL);
  pthread_mutex_lock(&lock);
  if (--open_guards == 0) {
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    bool ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus;
    if (ours) sigaction(SIGBUS, &before, NULL);
  }
  pthread_mutex_unlock(&lock);
}

int sl_guarded_copy(void *to, const void *from, size_t bytes) {
  sigjmp_buf out;
  int code = sigsetjmp(out, 0); /* the mask would be a system call */
  if (code != 0) {
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return code;
  }
  way_out = &out;
  memcpy(to, from, bytes);
  way_out = NULL;
  return 0;
}
