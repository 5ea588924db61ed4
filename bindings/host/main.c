/* SPDX-License-Identifier: MIT */
/* The program: a supervisor, and in its child the loop, the signals and the
 * Lua state.  What the command line means is Lua's business. */
#include <errno.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/host/embedded.h"
#include "bindings/host/host.h"
#include "bindings/host/interrupt.h"
#include "core/run/job.h"
#include "core/run/signals.h"
#include "core/run/stall.h"
#include "core/run/standard_streams.h"
#include "core/run/supervisor.h"

static const int64_t STALL_NS = 1000000000;

static void on_stop(int number, void *user) {
  struct sl_host *host = user;
  sl_supervisor_heard();
  lua_pushinteger(host->L, number);
  lua_pushstring(host->L, sl_signal_name(number));
  l_host_tell(host, L_HOST_STOP, 2);
}

static void on_interrupt(void *user) {
  struct sl_host *host = user;
  int what = sl_stall_asked(&host->loop);
  if (what) l_interrupt_ask(host, what);
}

static void on_stalled(int64_t busy_ns, void *user) {
  struct sl_host *host = user;
  lua_pushnumber(host->L, (double)busy_ns / 1e9);
  l_host_tell(host, L_HOST_STALL, 1);
}

static void on_group(void *user, int pgid, int alive) {
  (void)user;
  if (alive)
    sl_supervisor_add_group(pgid);
  else
    sl_supervisor_remove_group(pgid);
}

static int start_loop(struct sl_host *host, struct sl_error *e) {
  const char *virtual_time = getenv("STORLUA_VIRTUAL_TIME");
  struct sl_signals_listener signals = {on_stop, on_interrupt, host};
  struct sl_stall_listener stalls = {on_stalled, host};
  int status = sl_loop_init(&host->loop, virtual_time && *virtual_time, e);
  if (!status) status = sl_signals_start(&host->loop, &signals, e);
  if (!status) status = sl_stall_start(&host->loop, STALL_NS, &stalls, e);
  host->loop.on_group = on_group;
  return status;
}

/* The Lua state, ready but for the arguments. */
static int open_state(struct sl_host *host, const char *lua_dir) {
  lua_State *L = host->L = luaL_newstate();
  if (!L) return -1;
  for (int i = 0; i < L_HOST_EVENTS; i++)
    host->on[i] = LUA_NOREF;
  *(struct sl_host **)lua_getextraspace(L) = host;
  lua_gc(L, LUA_GCSTOP); /* until the library is there: all of it stays */
  luaL_openlibs(L);
  sl_embedded_install(L, lua_dir);
  atomic_store(&host->running, L);
  return 0;
}

/* As after a full cycle, whose pause lasts until the memory has doubled: all
 * that is there stays, so there is no point in a cycle now. */
static void restart_gc(lua_State *L) {
  lua_gc(L, LUA_GCRESTART);
  lua_gc(L, LUA_GCSTEP, -lua_gc(L, LUA_GCCOUNT));
}

/* storlua.host.main(argv) -> exit code */
static int run_host(lua_State *L, int argc, char **argv) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "storlua.host");
  if (l_host_pcall(L, 1, 1) != LUA_OK) goto failed;
  restart_gc(L);
  lua_getfield(L, -1, "main");
  lua_createtable(L, argc, 0);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i);
  }
  if (l_host_pcall(L, 1, 1) != LUA_OK) goto failed;
  return (int)lua_tointeger(L, -1);
failed:
  fprintf(stderr, "storlua: %s\n", lua_tostring(L, -1));
  return 3;
}

/* Output that was lost is never a success.  An earlier failure was met by the
 * script; nobody is left to hear about a reader that has gone. */
static int flush_output(int code) {
  bool failed_before = ferror(stdout) != 0;
  if (!fflush(stdout) && !failed_before) return code;
  if (!failed_before && errno != EPIPE)
    fprintf(stderr, "storlua: cannot write to the standard output: %s\n",
            strerror(errno));
  return code ? code : 1;
}

#ifndef STORLUA_LEAK_CHECK
/* The process ends, and with it all memory: freeing it piece by piece would
 * take a tenth of the time of a short script. */
static void *leave(void *user, void *memory, size_t before, size_t bytes) {
  (void)user, (void)before;
  return bytes ? realloc(memory, bytes) : NULL;
}
#endif

/* Runs the __gc of everything. */
static void close_state(lua_State *L) {
#ifndef STORLUA_LEAK_CHECK
  lua_setallocf(L, leave, NULL);
#endif
  lua_close(L);
}

static int close_host(struct sl_host *host, int code) {
  code = flush_output(code);
  bool abandoned = sl_job_abandoned_running() > 0;
  if (abandoned) sl_supervisor_finish(code, true);
  atomic_store(&host->running, NULL);
  close_state(host->L);
  sl_stall_end(&host->loop);
  sl_signals_end();
  sl_loop_close(&host->loop);
  code = flush_output(code);
  if (!abandoned && !sl_job_abandoned_running()) {
    sl_supervisor_finish(code, false);
    return code;
  }
  /* This process stays until the device answers, but nobody waits for it: not
   * the supervisor, and not the reader of a pipe that it would hold open. */
  if (!abandoned) sl_supervisor_finish(code, true);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    close(fd);
  sl_supervisor_leave();
  _exit(code);
}

int main(int argc, char **argv) {
  static struct sl_host host;
  struct sl_error e;
  if (sl_standard_streams_open(&e) || sl_supervisor_start(&e) ||
      start_loop(&host, &e)) {
    char text[SL_ERROR_TEXT_BYTES];
    fprintf(stderr, "storlua: %s\n", sl_error_text(&e, text, sizeof text));
    sl_supervisor_finish(3, false);
    return 3;
  }
  if (open_state(&host, sl_embedded_lua_dir(argc, argv))) {
    fprintf(stderr, "storlua: not enough memory for Lua\n");
    sl_supervisor_finish(3, false);
    return 3;
  }
  return close_host(&host, run_host(host.L, argc, argv));
}
