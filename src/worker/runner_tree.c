/* SPDX-License-Identifier: Apache-2.0 */
/* All descendants of the runner. It is their child subreaper, so whoever loses his parent becomes its child: there is no way out of
 * the tree below it. The kernel's lists of children are read (/proc/PID/task/TID/children); where the kernel has none, the parents
 * of all processes. Either can miss a process that comes or goes while it is read: callers look again. */
#include "worker/runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
  pid_t pid, parent;
} Member;

typedef struct {
  Member *members;
  size_t n, room;
} Tree;

static void tree_add(Tree *tree, pid_t pid, pid_t parent) {
  if (tree->n == tree->room) {
    size_t room = tree->room ? tree->room * 2 : 64;
    Member *members = realloc(tree->members, room * sizeof *members);
    if (!members) return; /* who is left out is found by a later look, when the others are gone */
    tree->members = members;
    tree->room = room;
  }
  tree->members[tree->n++] = (Member){pid, parent};
}

static ssize_t read_file(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t got = 0;
  ssize_t n;
  while (got < size - 1 && (n = read(fd, text + got, size - 1 - got)) > 0) got += (size_t)n;
  close(fd);
  text[got] = 0;
  return (ssize_t)got;
}

/* The parent of `pid`; 0 when there is no such process, or it is a zombie, which no signal reaches. */
static pid_t parent_of(pid_t pid) {
  char path[64], text[512], state;
  int parent;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (read_file(path, text, sizeof text) <= 0) return 0;
  const char *after_name = strrchr(text, ')'); /* the name can hold blanks and parentheses */
  if (!after_name || sscanf(after_name + 1, " %c %d", &state, &parent) != 2) return 0;
  return state == 'Z' || state == 'X' ? 0 : parent;
}

static bool add_children_of_thread(Tree *tree, pid_t pid, const char *thread) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task/%s/children", pid, thread);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  int child;
  while (fscanf(file, "%d", &child) == 1) tree_add(tree, child, pid);
  fclose(file);
  return true;
}

static void add_children(Tree *tree, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *dir = opendir(path);
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));)
    if (entry->d_name[0] != '.') add_children_of_thread(tree, pid, entry->d_name);
  closedir(dir);
}

static void add_all_processes(Tree *tree) {
  DIR *dir = opendir("/proc");
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid > 0) tree_add(tree, pid, parent_of(pid));
  }
  closedir(dir);
}

/* The same from the parents of all processes: descendants are moved to the front, level by level. */
static void keep_descendants(Tree *all, pid_t root) {
  size_t kept = 0;
  for (size_t looked = 0; looked <= kept; looked++) {
    pid_t parent = looked == 0 ? root : all->members[looked - 1].pid;
    for (size_t i = kept; i < all->n; i++) {
      if (all->members[i].parent != parent) continue;
      Member member = all->members[i];
      all->members[i] = all->members[kept];
      all->members[kept++] = member;
    }
  }
  all->n = kept;
}

static Tree tree_read(void) {
  Tree tree = {0};
  pid_t self = getpid();
  char self_text[16];
  snprintf(self_text, sizeof self_text, "%d", self);
  if (add_children_of_thread(&tree, self, self_text)) {
    for (size_t i = 0; i < tree.n; i++) add_children(&tree, tree.members[i].pid);
  } else {
    add_all_processes(&tree);
    keep_descendants(&tree, self);
  }
  return tree;
}

/* Between the look and the signal the process can have ended and its number can belong to another: the handle is taken first, then
 * its place in the tree is looked at again. */
static void send_checked(const Member *member, int signal) {
  int handle = (int)syscall(SYS_pidfd_open, member->pid, 0);
  if (handle < 0) return;
  pid_t parent = parent_of(member->pid);
  if (parent != 0 && (parent == member->parent || parent == getpid())) {
    syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0);
    if (signal != SIGSTOP) syscall(SYS_pidfd_send_signal, handle, SIGCONT, NULL, 0);
  }
  close(handle);
}

void runner_tree_signal(int signal) {
  Tree tree = tree_read();
  for (size_t i = 0; i < tree.n; i++) send_checked(&tree.members[i], signal);
  free(tree.members);
}

#define PID_MAX_LIMIT (4 * 1024 * 1024)
static uint8_t stopped_bits[PID_MAX_LIMIT / 8]; /* pages that are never touched cost nothing */

static bool mark_stopped(pid_t pid) {
  if (pid <= 0 || pid >= PID_MAX_LIMIT) return false;
  uint8_t bit = (uint8_t)(1 << (pid % 8));
  bool is_new = !(stopped_bits[pid / 8] & bit);
  stopped_bits[pid / 8] |= bit;
  return is_new;
}

void runner_tree_kill(void) {
  Tree tree = {0};
  bool found_new = true;
  for (int look = 0; found_new && look < 1000; look++) {
    free(tree.members);
    tree = tree_read();
    found_new = false;
    for (size_t i = 0; i < tree.n; i++) {
      if (!mark_stopped(tree.members[i].pid)) continue;
      send_checked(&tree.members[i], SIGSTOP);
      found_new = true;
    }
  }
  /* All are stopped now: none ends, none is reaped, so no number changes hands. */
  for (size_t i = 0; i < tree.n; i++) {
    kill(tree.members[i].pid, SIGKILL);
    stopped_bits[tree.members[i].pid / 8] = 0;
  }
  free(tree.members);
}
