/* SPDX-License-Identifier: Apache-2.0 */
/* All descendants of the runner. It is their child subreaper, so whoever loses his parent becomes its child: there is no way out of
 * the tree below it. The kernel's lists of children are read (/proc/PID/task/TID/children); where the kernel has none, the parents
 * of all processes. Either can miss a process that comes or goes while it is read: callers look again. */
#include "worker/runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
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
    size_t room = tree->room ? tree->room * 2 : 4096 / sizeof *tree->members, bytes = tree->room * sizeof *tree->members;
    void *members = tree->room ? mremap(tree->members, bytes, bytes * 2, MREMAP_MAYMOVE) : runner_memory(4096);
    if (!members || members == MAP_FAILED) return; /* who is left out is found by a later look, when the others are gone */
    tree->members = members;
    tree->room = room;
  }
  tree->members[tree->n++] = (Member){pid, parent};
}

static void tree_clear(Tree *tree) {
  if (tree->members) munmap(tree->members, tree->room * sizeof *tree->members);
  *tree = (Tree){0};
}

/* A path of /proc, put together piece by piece. */
typedef struct {
  char text[80];
} Path;

static void path_add(Path *path, const char *piece) {
  size_t at = strlen(path->text);
  while (*piece && at < sizeof path->text - 1) path->text[at++] = *piece++;
  path->text[at] = 0;
}

static void path_add_number(Path *path, pid_t number) {
  char digits[12];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  path_add(path, digits + at);
}

static Path path_of(pid_t pid, const char *rest) {
  Path path = {"/proc/"};
  path_add_number(&path, pid);
  path_add(&path, rest);
  return path;
}

/* 0 when `text` does not begin with a digit. */
static pid_t number_at(const char *text) {
  pid_t number = 0;
  for (; *text >= '0' && *text <= '9'; text++) number = number * 10 + (*text - '0');
  return number;
}

/* The parent of `pid`; 0 when there is no such process, or it is a zombie, which no signal reaches. */
static pid_t parent_of(pid_t pid) {
  char text[512];
  Path path = path_of(pid, "/stat");
  int fd = open(path.text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char *after_name = strrchr(text, ')'); /* the name can hold blanks and parentheses; then " S PARENT" */
  if (!after_name || strlen(after_name) < 5 || after_name[2] == 'Z' || after_name[2] == 'X') return 0;
  return number_at(after_name + 4);
}

/* FALSE: there is no such list. */
static bool add_children_of_thread(Tree *tree, pid_t pid, const char *thread) {
  Path path = path_of(pid, "/task/");
  path_add(&path, thread);
  path_add(&path, "/children");
  int fd = open(path.text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[2048];
  pid_t number = 0; /* a number can be cut by the end of a read */
  for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < n; i++) {
      if (text[i] >= '0' && text[i] <= '9') {
        number = number * 10 + (text[i] - '0');
      } else if (number) {
        tree_add(tree, number, pid);
        number = 0;
      }
    }
  }
  if (number) tree_add(tree, number, pid);
  close(fd);
  return true;
}

/* Calls `visit` for each entry of a folder that is a number. */
static void each_number_in(const char *path, void (*visit)(Tree *tree, pid_t pid, const char *name), Tree *tree, pid_t pid) {
  DIR *dir = opendir(path);
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
    if (number_at(entry->d_name) > 0) visit(tree, pid, entry->d_name);
  closedir(dir);
}

static void visit_thread(Tree *tree, pid_t pid, const char *name) { add_children_of_thread(tree, pid, name); }

static void visit_process(Tree *tree, pid_t unused, const char *name) {
  pid_t pid = number_at(name);
  tree_add(tree, pid, parent_of(pid));
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
  Path self_text = {""};
  path_add_number(&self_text, self);
  if (add_children_of_thread(&tree, self, self_text.text)) {
    for (size_t i = 0; i < tree.n; i++) {
      Path threads = path_of(tree.members[i].pid, "/task");
      each_number_in(threads.text, visit_thread, &tree, tree.members[i].pid);
    }
  } else {
    each_number_in("/proc", visit_process, &tree, 0);
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
    if (signal != SIGSTOP && signal != SIGKILL) syscall(SYS_pidfd_send_signal, handle, SIGCONT, NULL, 0);
  }
  close(handle);
}

void runner_tree_signal(int signal) {
  Tree tree = tree_read();
  for (size_t i = 0; i < tree.n; i++) send_checked(&tree.members[i], signal);
  tree_clear(&tree);
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

bool runner_tree_stop(void) {
  bool found_new = false;
  Tree tree = tree_read();
  for (size_t i = 0; i < tree.n; i++) {
    if (!mark_stopped(tree.members[i].pid)) continue;
    send_checked(&tree.members[i], SIGSTOP);
    found_new = true;
  }
  tree_clear(&tree);
  return found_new;
}

void runner_tree_kill(void) {
  Tree tree = tree_read();
  for (size_t i = 0; i < tree.n; i++) send_checked(&tree.members[i], SIGKILL);
  tree_clear(&tree);
}
