/* SPDX-License-Identifier: MIT */
#include "core/run/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "core/run/pulse.h"
#include "core/run/stop_count.h"
#include "core/run/supervisor.h"

static uv_async_t async;
static atomic_bool is_listening;
static struct sl_stop_count
    stop_count; /* handlers only, all block each other */
static struct sl_signals_listener listener;
static pthread_t loop_thread;

/* Not used by libuv, Lua or the C library; a stray one does no harm once the
 * handler is there. */
static int interrupt_signal(void) { return SIGRTMIN + 1; }

static void on_stop(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved = errno;
  bool relayed = info->si_code <= 0 && sl_supervisor_pid() &&
                 info->si_pid == sl_supervisor_pid();
  if (sl_stop_count_add(&stop_count, number,
                        relayed ? SL_STOP_RELAYED : SL_STOP_DIRECT,
                        sl_monotonic_ns())) {
    if (stop_count.count > 1) sl_supervisor_give_up(number);
    atomic_store(&sl_pulse()->stopped_by, number);
    if (atomic_load(&is_listening)) uv_async_send(&async);
  }
  errno = saved;
}

static void on_interrupt(int number) {
  int saved = errno;
  /* A signal from another process may come to any thread. */
  if (!pthread_equal(pthread_self(), loop_thread))
    pthread_kill(loop_thread, number);
  else if (atomic_load(&is_listening) && listener.interrupt)
    listener.interrupt(listener.user);
  errno = saved;
}

static void on_async(uv_async_t *handle) {
  (void)handle;
  int number = sl_signals_stopped_by();
  if (number) listener.stop(number, listener.user);
}

static void install(void) {
  struct sigaction stop = {.sa_sigaction = on_stop,
                           .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&stop.sa_mask);
  sigaddset(&stop.sa_mask, SIGINT);
  sigaddset(&stop.sa_mask, SIGTERM);
  sigaddset(&stop.sa_mask, SIGHUP);
  sigset_t ours = stop.sa_mask;
  struct sigaction before;
  sigaction(SIGHUP, NULL, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &stop, NULL);
  sigaction(SIGINT, &stop, NULL);
  sigaction(SIGTERM, &stop, NULL);
  struct sigaction interrupt = {.sa_handler = on_interrupt,
                                .sa_flags = SA_RESTART};
  sigaction(interrupt_signal(), &interrupt, NULL);
  signal(SIGPIPE, SIG_IGN);
  pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

int sl_signals_start(struct sl_loop *loop,
                     const struct sl_signals_listener *wanted,
                     struct sl_error *e) {
  int status = uv_async_init(&loop->uv, &async, on_async);
  if (status < 0) return sl_error_set(e, status, "watch signals", NULL, -1);
  uv_unref((uv_handle_t *)&async);
  listener = *wanted;
  loop_thread = pthread_self();
  atomic_store(&is_listening, true);
  install();
  return 0;
}

void sl_signals_end(void) {
  if (atomic_exchange(&is_listening, false))
    uv_close((uv_handle_t *)&async, NULL);
}

int sl_signals_stopped_by(void) { return atomic_load(&sl_pulse()->stopped_by); }

void sl_signals_interrupt(pid_t host) { kill(host, interrupt_signal()); }

const char *sl_signal_name(int number) {
  static const struct {
    int number;
    const char *name;
  } names[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
      {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
      {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
      {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
      {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
      {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"}, {SIGCONT, "SIGCONT"}};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].number == number) return names[i].name;
  return "signal";
}
