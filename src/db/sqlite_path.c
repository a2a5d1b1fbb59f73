/* SPDX-License-Identifier: Apache-2.0 */
/* Where a store lies and whether it may lie there. The file is made with mknod(): opening and closing it here would drop the POSIX locks
 * that SQLite holds on it in other threads of this process. */
#include "base/error.h"
#include "base/fault.h"
#include "db/sqlite_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* statfs(2)'s f_type. WAL needs memory shared by all users of the file and locks that hold, which these do not give between machines. */
static const struct {
  guint32 type;
  const char *name;
} network_fs[] = {
  {0x6969, "NFS"},
  {0x517b, "SMB"},
  {0xff534d42, "CIFS"},
  {0xfe534d42, "SMB2"},
  {0x01021997, "9P"},
  {0x00c36400, "Ceph"},
  {0x5346414f, "AFS"},
  {0x6b414653, "AFS"},
  {0x73757245, "Coda"},
  {0x564c, "NCP"},
  {0x0bd00bd0, "Lustre"},
  {0x47504653, "GPFS"},
  {0x19830326, "BeeGFS"},
  {0x01161970, "GFS2"},
  {0x7461636f, "OCFS2"},
  {0x786f4256, "VirtualBox shared folder"},
};

#define FUSE_MAGIC 0x65735546
/* FUSE says one type for all, so its kinds are told apart by the word in mountinfo. */
static const char *const network_words[] = {"fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.s3fs", "fuse.rclone",
  "fuse.mountpoint-s3", "fuse.gcsfuse", "fuse.juicefs", "fuse.JuiceFS", "fuse.moosefs", "fuse.mfs", "fuse.lizardfs", "fuse.curlftpfs",
  "fuse.davfs", "fuse.nfs", "fuse.smbnetfs", "fuse.goofys", "fuse.seaweedfs", "fuse.vmhgfs-fuse"};

const char *pawl_sqlite_network_fs(guint64 f_type) {
  for (gsize i = 0; i < G_N_ELEMENTS(network_fs); i++)
    if (network_fs[i].type == (guint32)f_type) return network_fs[i].name;
  return NULL;
}

gboolean pawl_sqlite_network_fs_word(const char *type) {
  for (gsize i = 0; i < G_N_ELEMENTS(network_words); i++)
    if (g_str_equal(network_words[i], type)) return TRUE;
  return FALSE;
}

/* The type word of the mount that a device belongs to, "fuse.sshfs"; NULL when it is not found. */
static char *mount_word(dev_t device) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/proc/self/mountinfo", &text, NULL, NULL)) return NULL;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    guint major_no, minor_no;
    char word[64];
    const char *rest = strstr(*line, " - ");
    if (rest == NULL || sscanf(*line, "%*d %*d %u:%u", &major_no, &minor_no) != 2 || sscanf(rest, " - %63s", word) != 1) continue;
    if (makedev(major_no, minor_no) == device) return g_strdup(word);
  }
  return NULL;
}

static gboolean unavailable(GError **error, int cause, const char *path, const char *what) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "the store %s cannot be opened: %s: %s", path, what, g_strerror(cause));
  return FALSE;
}

static gboolean config(GError **error, const char *path, const char *what) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "the store cannot be %s: %s", path, what);
  return FALSE;
}

static gboolean check_fs(const char *folder, const char *path, GError **error) {
  struct statfs fs;
  struct stat st;
  if (statfs(folder, &fs) != 0 || stat(folder, &st) != 0) return unavailable(error, errno, path, folder);
  const char *name = pawl_sqlite_network_fs((guint64)fs.f_type);
  if (pawl_fault_hit("db.network_fs")) name = "NFS";
  g_autofree char *word = name == NULL && (guint32)fs.f_type == FUSE_MAGIC ? mount_word(st.st_dev) : NULL;
  if (word != NULL && pawl_sqlite_network_fs_word(word)) name = word;
  if (name == NULL) return TRUE;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG,
    "the store cannot be %s: %s lies on a network file system (%s), where SQLite's locks do not hold; name a file on a local disk", path,
    folder, name);
  return FALSE;
}

void pawl_sqlite_give_to_owner(const char *store, int fd) {
  struct stat st;
  if (geteuid() == 0 && stat(store, &st) == 0 && st.st_uid != 0 && fchown(fd, st.st_uid, st.st_gid) != 0)
    errno = 0; /* then it is root's, and its owner will be told so */
}

/* The nearest folder above `path` that exists. Caller frees. */
static char *existing_above(const char *path) {
  char *folder = g_path_get_dirname(path);
  while (access(folder, F_OK) != 0 && !g_str_equal(folder, "/") && !g_str_equal(folder, ".")) {
    char *up = g_path_get_dirname(folder);
    g_free(folder);
    folder = up;
  }
  return folder;
}

static void sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd); /* what cannot sync a folder has no order to keep */
  close(fd);
}

static gboolean make_folder(const char *folder, const char *path, GError **error) {
  g_autofree char *above = existing_above(folder);
  if (g_mkdir_with_parents(folder, 0700) != 0) return unavailable(error, errno, path, folder);
  sync_folder(above);
  return TRUE;
}

static gboolean absent(GError **error, const char *path) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no store %s", path);
  return FALSE;
}

/* Turns the place's path into one without links, and its folder with it. */
static gboolean resolve(PawlSqlitePlace *place, GError **error) {
  g_autofree char *base = g_path_get_basename(place->path);
  g_autofree char *given = g_path_get_dirname(place->path);
  char real[PATH_MAX];
  if (realpath(given, real) == NULL) return unavailable(error, errno, place->path, given);
  g_free(place->path);
  place->path = g_build_filename(real, base, NULL);
  struct stat st;
  if (stat(place->path, &st) == 0) {
    if (realpath(place->path, real) == NULL) return unavailable(error, errno, place->path, "its links");
    g_free(place->path);
    place->path = g_strdup(real);
  }
  g_free(place->folder);
  place->folder = g_path_get_dirname(place->path);
  return TRUE;
}

static gboolean check_file(const PawlSqlitePlace *place, gboolean write, GError **error) {
  struct stat st;
  if (stat(place->path, &st) != 0) return unavailable(error, errno, place->path, "it cannot be looked at");
  if (S_ISDIR(st.st_mode)) return config(error, place->path, "that is a folder; name a file in it");
  if (!S_ISREG(st.st_mode)) return config(error, place->path, "that is no regular file");
  if (st.st_nlink > 1)
    return config(error, place->path, "the file has several hard links, and each would have a log of its own; remove the others");
  if (faccessat(AT_FDCWD, place->path, write ? R_OK | W_OK : R_OK, AT_EACCESS) != 0)
    return unavailable(error, errno, place->path, write ? "this user may not read and write it" : "this user may not read it");
  if (write && faccessat(AT_FDCWD, place->folder, W_OK | X_OK, AT_EACCESS) != 0)
    return unavailable(error, errno, place->path, "this user may not write its folder");
  return TRUE;
}

/* "PATH" of "sqlite:PATH". */
static const char *path_of(const char *url, GError **error) {
  const char *path = url + strlen("sqlite:");
  const char *wrong = NULL;
  if (*path == '\0')
    wrong = "the path is missing";
  else if (g_str_has_prefix(path, ":memory:"))
    wrong = "a store in memory would lose everything";
  else if (path[0] == '/' && path[1] == '/' && path[2] != '/')
    wrong = "there is no host in it";
  else if (g_str_has_suffix(path, "/"))
    wrong = "it names a folder";
  if (wrong == NULL) return path;
  g_set_error(
    error, PAWL_ERROR, PAWL_ERROR_CONFIG, "'%s' is no store: %s; write sqlite:PATH, such as sqlite:/var/lib/pawl/pawl.db", url, wrong);
  return NULL;
}

gboolean pawl_sqlite_place(const PawlDbOptions *options, PawlSqlitePlace *ret_place, GError **error) {
  g_auto(PawlSqlitePlace) place = {0};
  gboolean write = options->mode == PAWL_DB_READ_WRITE, create = write && options->create;
  const char *given = path_of(options->url, error);
  if (given == NULL) return FALSE;
  place.path = g_strdup(given);
  place.folder = g_path_get_dirname(given);
  if (access(place.folder, F_OK) != 0) {
    if (errno != ENOENT) return unavailable(error, errno, place.path, place.folder);
    if (!create) return absent(error, place.path);
    g_autofree char *above = existing_above(given);
    if (!check_fs(above, place.path, error) || !make_folder(place.folder, place.path, error)) return FALSE;
  }
  if (!resolve(&place, error) || !check_fs(place.folder, place.path, error)) return FALSE;
  struct stat st;
  if (lstat(place.path, &st) != 0) {
    if (errno != ENOENT) return unavailable(error, errno, place.path, "it cannot be looked at");
    if (!create) return absent(error, place.path);
    place.made = mknod(place.path, S_IFREG | 0600, 0) == 0;
    if (!place.made && errno != EEXIST) return unavailable(error, errno, place.path, "it cannot be made");
    sync_folder(place.folder);
  }
  if (!check_file(&place, write, error)) return FALSE;
  *ret_place = place;
  place = (PawlSqlitePlace){0};
  return TRUE;
}

void pawl_sqlite_place_clear(PawlSqlitePlace *place) {
  g_clear_pointer(&place->path, g_free);
  g_clear_pointer(&place->folder, g_free);
}
