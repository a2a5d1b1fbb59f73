/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that survive the reuse of their number, and the end of what is left of an attempt. */
#include "worker/process_private.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
  pid_t pid, parent, session;
  guint64 start_ticks;
  char state;
  gboolean chosen;
} Seen;

static gboolean read_small_file(const char *path, char *text, gsize size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FALSE;
  gssize n = read(fd, text, size - 1);
  close(fd);
  if (n <= 0) return FALSE;
  text[n] = 0;
  return TRUE;
}

/* proc(5): the name stands in parentheses and can hold blanks and parentheses itself; state is field 3, starttime field 22. */
static gboolean read_stat(pid_t pid, Seen *ret) {
  char path[64], text[1024];
  g_snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (!read_small_file(path, text, sizeof text)) return FALSE;
  char *at = strrchr(text, ')');
  if (!at || at[1] != ' ' || !at[2]) return FALSE;
  Seen seen = {.pid = pid, .state = at[2]};
  at += 3;
  for (int field = 4; field <= 22; field++) {
    char *end;
    guint64 value = g_ascii_strtoull(at, &end, 10);
    if (end == at) return FALSE;
    if (field == 4) seen.parent = (pid_t)value;
    if (field == 6) seen.session = (pid_t)value;
    if (field == 22) seen.start_ticks = value;
    at = end;
  }
  *ret = seen;
  return TRUE;
}

static gboolean is_dead(const Seen *seen) { return seen->state == 'Z' || seen->state == 'X'; }

gboolean pawl_process_identify(pid_t pid, PawlProcess *ret_process) {
  Seen seen;
  if (pid <= 0 || !read_stat(pid, &seen)) return FALSE;
  PawlProcess process = {.pid = pid, .start_ticks = seen.start_ticks};
  g_strlcpy(process.boot_id, pawl_boot_id(), sizeof process.boot_id);
  *ret_process = process;
  return TRUE;
}

static gboolean is_process(const Seen *seen, const PawlProcess *process) {
  return seen->pid == process->pid && seen->start_ticks == process->start_ticks;
}

static gboolean is_this_boot(const PawlProcess *process) { return strcmp(process->boot_id, pawl_boot_id()) == 0; }

gboolean pawl_process_alive(const PawlProcess *process) {
  Seen seen;
  return process->pid > 0 && is_this_boot(process) && read_stat(process->pid, &seen) && is_process(&seen, process) && !is_dead(&seen);
}

/* What belongs to an attempt. */
typedef struct {
  const PawlProcess *process;
  pid_t session;
  char marks[2][64]; /* "PAWL_RUN_ID=…", "PAWL_ATTEMPT=…"; empty: environments are not looked at */
} Attempt;

static gboolean environment_has(const char *text, gsize bytes, const char *entry) {
  gsize entry_bytes = strlen(entry) + 1;
  for (gsize at = 0; at + entry_bytes <= bytes;) {
    const char *end = memchr(text + at, 0, bytes - at);
    if (!end) return FALSE;
    gsize n = (gsize)(end - (text + at)) + 1;
    if (n == entry_bytes && memcmp(text + at, entry, n) == 0) return TRUE;
    at += n;
  }
  return FALSE;
}

static gboolean is_marked(const Attempt *attempt, pid_t pid) {
  char path[64];
  g_autofree char *text = NULL;
  gsize bytes;
  if (!*attempt->marks[0]) return FALSE;
  g_snprintf(path, sizeof path, "/proc/%d/environ", pid);
  if (!g_file_get_contents(path, &text, &bytes, NULL)) return FALSE; /* of another user, a kernel thread, or gone */
  return environment_has(text, bytes, attempt->marks[0]) && environment_has(text, bytes, attempt->marks[1]);
}

static GArray *see_processes(void) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Seen));
  g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    Seen seen;
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    if (pid > 0 && read_stat(pid, &seen) && !is_dead(&seen)) g_array_append_val(all, seen);
  }
  return all;
}

/* This process and those above it are never part of what is ended, whatever their environment says: pawl itself can run inside
 * another attempt. */
static void forget_own_line(GArray *all) {
  pid_t pid = getpid();
  for (guint i = 0; i < all->len;) {
    Seen *seen = &g_array_index(all, Seen, i);
    if (seen->pid != pid) {
      i++;
      continue;
    }
    pid = seen->parent;
    g_array_remove_index_fast(all, (guint)(seen - (Seen *)(gpointer)all->data));
    i = 0;
  }
}

static void choose_descendants(GArray *all) {
  g_autoptr(GHashTable) chosen = g_hash_table_new(NULL, NULL);
  for (guint n = 0, before = G_MAXUINT; n != before;) {
    before = n;
    for (guint i = 0; i < all->len; i++) {
      Seen *seen = &g_array_index(all, Seen, i);
      seen->chosen |= g_hash_table_contains(chosen, GINT_TO_POINTER(seen->parent));
      if (seen->chosen) g_hash_table_add(chosen, GINT_TO_POINTER(seen->pid));
    }
    n = g_hash_table_size(chosen);
  }
}

/* The living processes of the attempt. */
static GArray *choose(const Attempt *attempt) {
  GArray *all = see_processes();
  forget_own_line(all);
  gboolean known = attempt->process && attempt->process->pid > 0 && is_this_boot(attempt->process);
  for (guint i = 0; i < all->len; i++) {
    Seen *seen = &g_array_index(all, Seen, i);
    seen->chosen = known && is_process(seen, attempt->process);
    if (attempt->session > 0 && known && seen->session == attempt->session)
      seen->chosen |= seen->start_ticks >= attempt->process->start_ticks;
    if (!seen->chosen) seen->chosen = is_marked(attempt, seen->pid);
  }
  choose_descendants(all);
  guint kept = 0;
  for (guint i = 0; i < all->len; i++)
    if (g_array_index(all, Seen, i).chosen) g_array_index(all, Seen, kept++) = g_array_index(all, Seen, i);
  g_array_set_size(all, kept);
  return all;
}

/* The handle of `seen` itself, not of a later process with its number. -1: it is gone. */
static int open_handle(const Seen *seen) {
  int handle = (int)syscall(SYS_pidfd_open, seen->pid, 0);
  if (handle < 0) return -1;
  Seen now;
  if (read_stat(seen->pid, &now) && now.start_ticks == seen->start_ticks && !is_dead(&now)) return handle;
  close(handle);
  return -1;
}

static void send_signal(const Seen *seen, int signal) {
  int handle = open_handle(seen);
  if (handle < 0) return;
  syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0);
  close(handle);
}

/* Kills all and waits for them, but for none longer than 50 ms: one that can't die now must not keep the others alive. */
static void kill_and_wait(const GArray *chosen, gint64 until_ms) {
  for (guint i = 0; i < chosen->len; i++) send_signal(&g_array_index(chosen, Seen, i), SIGKILL);
  for (guint i = 0; i < chosen->len; i++) {
    int handle = open_handle(&g_array_index(chosen, Seen, i));
    if (handle < 0) continue;
    struct pollfd dead = {.fd = handle, .events = POLLIN};
    while (poll(&dead, 1, (int)CLAMP(until_ms - pawl_clock_mono_ms(), 0, 50)) < 0 && errno == EINTR) continue;
    close(handle);
  }
}

/* FALSE: all had been stopped before. */
static gboolean stop_new(const GArray *chosen, GHashTable *stopped) {
  gboolean found_new = FALSE;
  for (guint i = 0; i < chosen->len; i++) {
    const Seen *seen = &g_array_index(chosen, Seen, i);
    if (!g_hash_table_add(stopped, GINT_TO_POINTER(seen->pid))) continue;
    send_signal(seen, SIGSTOP);
    found_new = TRUE;
  }
  return found_new;
}

gboolean pawl_process_end_all(const PawlProcess *process, pid_t session, const PawlId *run, gint attempt, gint64 timeout_ms) {
  gint64 until_ms = pawl_clock_mono_ms() + timeout_ms;
  Attempt what = {.process = process, .session = session};
  char text[PAWL_ID_TEXT];
  if (run) {
    g_snprintf(what.marks[0], sizeof what.marks[0], "PAWL_RUN_ID=%s", pawl_id_text(run, text));
    g_snprintf(what.marks[1], sizeof what.marks[1], "PAWL_ATTEMPT=%d", attempt);
  }
  for (;;) {
    /* First all are stopped, until a look finds no new one: the runner keeps nothing going, and no descendant gets away from its parent
     * unseen. */
    g_autoptr(GHashTable) stopped = g_hash_table_new(NULL, NULL);
    GArray *chosen = choose(&what);
    gboolean none = chosen->len == 0;
    while (stop_new(chosen, stopped) && pawl_clock_mono_ms() < until_ms) {
      g_array_unref(chosen);
      chosen = choose(&what);
    }
    kill_and_wait(chosen, until_ms);
    g_array_unref(chosen);
    if (none) return TRUE;
    if (pawl_clock_mono_ms() >= until_ms) break;
  }
  g_autoptr(GArray) left = choose(&what);
  return left->len == 0;
}

gboolean pawl_process_end_attempt(const PawlProcess *process, const PawlId *run, gint attempt, gint64 timeout_ms) {
  return pawl_process_end_all(process, 0, run, attempt, timeout_ms);
}
