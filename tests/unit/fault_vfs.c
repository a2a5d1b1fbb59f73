/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_vfs.h"

#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#define SECTOR_BYTES 512

/* What one file went through since its last sync. */
typedef struct {
  sqlite3_int64 offset, size_before;
  GBytes *before, *after; /* the bytes there; `before` ends with the file, `after` is NULL for a truncation to `offset` */
} Change;

typedef struct {
  char *path;
  GPtrArray *changes; /* Change *, in order */
  GBytes *ghost;      /* synced content of a file of this name that was deleted, and whose deletion was not synced */
} Disk;

typedef struct {
  sqlite3_file base;
  Disk *disk; /* NULL: a nameless temporary file, not looked at */
  sqlite3_file *real;
  gboolean syncs_folder; /* its next sync syncs its folder as well, as the real VFS does for a new log or journal */
} File;

static GMutex lock;
static GHashTable *disks; /* path -> Disk */
static sqlite3_vfs *real_vfs;
static FaultVfsPlan plan;
static gboolean armed, off, struck;
static guint n_writes, n_syncs, n_planned, n_failed;
static guint32 seed;
static enum { MOOD_ALL, MOOD_NONE, MOOD_CHANCE } mood; /* of a power cut: how much of what was not synced survives */

static void change_free(gpointer data) {
  Change *change = data;
  g_bytes_unref(change->before);
  if (change->after != NULL) g_bytes_unref(change->after);
  g_free(change);
}

static void disk_free(gpointer data) {
  Disk *disk = data;
  g_free(disk->path);
  g_ptr_array_unref(disk->changes);
  if (disk->ghost != NULL) g_bytes_unref(disk->ghost);
  g_free(disk);
}

static Disk *disk_of(const char *path) {
  Disk *disk = g_hash_table_lookup(disks, path);
  if (disk != NULL) return disk;
  disk = g_new0(Disk, 1);
  disk->path = g_strdup(path);
  disk->changes = g_ptr_array_new_with_free_func(change_free);
  g_hash_table_insert(disks, disk->path, disk);
  return disk;
}

static guint32 dice(guint32 sides) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed % sides;
}

/* ---- the plan ---- */

typedef enum { GO_ON, FAIL_HALF, FAIL_WHOLE, FAIL_OFF } Verdict;

/* Counts an operation and says what becomes of it. */
static Verdict judge(const Disk *disk, FaultVfsOps op) {
  if (off) return FAIL_OFF;
  if (op == FAULT_VFS_WRITES)
    n_writes++;
  else
    n_syncs++;
  if (!armed || (plan.ops & op) == 0 || (plan.suffix != NULL && !g_str_has_suffix(disk->path, plan.suffix))) return GO_ON;
  if (++n_planned < plan.at) return GO_ON;
  if (plan.kind == FAULT_VFS_POWER_CUT) {
    off = struck = TRUE;
    return FAIL_WHOLE;
  }
  if (plan.kind == FAULT_VFS_FULL && op == FAULT_VFS_SYNCS) return GO_ON;
  if (plan.times > 0 && n_failed >= plan.times) return GO_ON;
  n_failed++;
  struck = TRUE;
  return plan.kind == FAULT_VFS_FULL || dice(2) == 0 ? FAIL_HALF : FAIL_WHOLE;
}

/* ---- files ---- */

static sqlite3_file *real_of(sqlite3_file *file) { return ((File *)file)->real; }

static GBytes *read_real(sqlite3_file *real, sqlite3_int64 offset, sqlite3_int64 size, sqlite3_int64 bytes) {
  sqlite3_int64 n = CLAMP(size - offset, 0, bytes);
  guint8 *buffer = g_malloc0((gsize)MAX(n, 1));
  if (n > 0) real->pMethods->xRead(real, buffer, (int)n, offset);
  return g_bytes_new_take(buffer, (gsize)n);
}

static void remember(File *file, sqlite3_int64 offset, const void *bytes, sqlite3_int64 n_bytes) {
  Change *change = g_new0(Change, 1);
  change->offset = offset;
  file->real->pMethods->xFileSize(file->real, &change->size_before);
  change->before = read_real(file->real, offset, change->size_before, bytes != NULL ? n_bytes : change->size_before);
  if (bytes != NULL) change->after = g_bytes_new(bytes, (gsize)n_bytes);
  g_ptr_array_add(file->disk->changes, change);
}

static int fault_close(sqlite3_file *file) {
  sqlite3_file *real = real_of(file);
  return real->pMethods != NULL ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int fault_read(sqlite3_file *file, void *buffer, int bytes, sqlite3_int64 offset) {
  g_mutex_lock(&lock);
  gboolean dead = off;
  g_mutex_unlock(&lock);
  return dead ? SQLITE_IOERR_READ : real_of(file)->pMethods->xRead(real_of(file), buffer, bytes, offset);
}

static int fault_write(sqlite3_file *base, const void *bytes, int n_bytes, sqlite3_int64 offset) {
  File *file = (File *)base;
  if (file->disk == NULL) return file->real->pMethods->xWrite(file->real, bytes, n_bytes, offset);
  g_mutex_lock(&lock);
  Verdict verdict = judge(file->disk, FAULT_VFS_WRITES);
  int n = verdict == FAIL_HALF ? n_bytes / 2 : n_bytes, rc = SQLITE_OK;
  if (verdict != FAIL_OFF && n > 0) {
    remember(file, offset, bytes, n);
    rc = file->real->pMethods->xWrite(file->real, bytes, n, offset);
  }
  if (verdict != GO_ON) rc = armed && plan.kind == FAULT_VFS_FULL && verdict != FAIL_OFF ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  g_mutex_unlock(&lock);
  return rc;
}

static int fault_truncate(sqlite3_file *base, sqlite3_int64 size) {
  File *file = (File *)base;
  if (file->disk == NULL) return file->real->pMethods->xTruncate(file->real, size);
  g_mutex_lock(&lock);
  Verdict verdict = judge(file->disk, FAULT_VFS_WRITES);
  int rc = SQLITE_IOERR_TRUNCATE;
  if (verdict == GO_ON || verdict == FAIL_WHOLE) {
    remember(file, size, NULL, 0);
    rc = file->real->pMethods->xTruncate(file->real, size);
  }
  if (verdict != GO_ON) rc = SQLITE_IOERR_TRUNCATE;
  g_mutex_unlock(&lock);
  return rc;
}

/* Deletions in that folder are for good now. */
static void sync_folder(const char *path) {
  GHashTableIter iter;
  gpointer value;
  gsize n = (gsize)(strrchr(path, '/') + 1 - path);
  g_hash_table_iter_init(&iter, disks);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    Disk *disk = value;
    if (strncmp(disk->path, path, n) == 0 && strchr(disk->path + n, '/') == NULL) g_clear_pointer(&disk->ghost, g_bytes_unref);
  }
}

static int fault_sync(sqlite3_file *base, int flags) {
  File *file = (File *)base;
  if (file->disk == NULL) return SQLITE_OK;
  g_mutex_lock(&lock);
  int rc = judge(file->disk, FAULT_VFS_SYNCS) == GO_ON ? SQLITE_OK : SQLITE_IOERR_FSYNC;
  if (rc == SQLITE_OK) {
    g_ptr_array_set_size(file->disk->changes, 0);
    if (file->syncs_folder) sync_folder(file->disk->path);
    file->syncs_folder = FALSE;
  }
  g_mutex_unlock(&lock);
  return rc;
}

static int fault_size(sqlite3_file *f, sqlite3_int64 *ret_size) { return real_of(f)->pMethods->xFileSize(real_of(f), ret_size); }
static int fault_lock(sqlite3_file *f, int level) { return real_of(f)->pMethods->xLock(real_of(f), level); }
static int fault_unlock(sqlite3_file *f, int level) { return real_of(f)->pMethods->xUnlock(real_of(f), level); }
static int fault_check_reserved(sqlite3_file *f, int *ret) { return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret); }
static int fault_control(sqlite3_file *f, int op, void *arg) { return real_of(f)->pMethods->xFileControl(real_of(f), op, arg); }
static int fault_sector_size(sqlite3_file *f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); }
static int fault_character(sqlite3_file *f) { return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f)); }
static int fault_shm_map(sqlite3_file *f, int page, int bytes, int extend, void volatile **ret) {
  return real_of(f)->pMethods->xShmMap(real_of(f), page, bytes, extend, ret);
}
static int fault_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
  return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void fault_shm_barrier(sqlite3_file *f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); }
static int fault_shm_unmap(sqlite3_file *f, int delete_it) { return real_of(f)->pMethods->xShmUnmap(real_of(f), delete_it); }

static const sqlite3_io_methods methods = {
  .iVersion = 2,
  .xClose = fault_close,
  .xRead = fault_read,
  .xWrite = fault_write,
  .xTruncate = fault_truncate,
  .xSync = fault_sync,
  .xFileSize = fault_size,
  .xLock = fault_lock,
  .xUnlock = fault_unlock,
  .xCheckReservedLock = fault_check_reserved,
  .xFileControl = fault_control,
  .xSectorSize = fault_sector_size,
  .xDeviceCharacteristics = fault_character,
  .xShmMap = fault_shm_map,
  .xShmLock = fault_shm_lock,
  .xShmBarrier = fault_shm_barrier,
  .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *ret_flags) {
  File *file = (File *)base;
  *file = (File){.real = (sqlite3_file *)(file + 1)};
  file->real->pMethods = NULL;
  int rc = real_vfs->xOpen(real_vfs, name, file->real, flags, ret_flags);
  if (rc != SQLITE_OK) return rc;
  g_mutex_lock(&lock);
  if (name != NULL) file->disk = disk_of(name);
  file->syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  g_mutex_unlock(&lock);
  file->base.pMethods = &methods;
  return SQLITE_OK;
}

/* The content that a power cut now would be sure to leave, or NULL for a file that is not there. */
static GBytes *synced_content(Disk *disk) {
  char *text = NULL;
  gsize size = 0;
  if (!g_file_get_contents(disk->path, &text, &size, NULL)) return NULL;
  GByteArray *bytes = g_byte_array_new_take((guint8 *)text, size);
  for (guint i = disk->changes->len; i-- > 0;) {
    const Change *change = disk->changes->pdata[i];
    gsize n, from = bytes->len;
    const void *before = g_bytes_get_data(change->before, &n);
    g_byte_array_set_size(bytes, (guint)change->size_before);
    if (bytes->len > from) memset(bytes->data + from, 0, bytes->len - from);
    if (n > 0) memcpy(bytes->data + change->offset, before, n);
  }
  return g_byte_array_free_to_bytes(bytes);
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync_folder) {
  g_mutex_lock(&lock);
  int rc = SQLITE_IOERR_DELETE;
  if (!off) {
    Disk *disk = disk_of(name);
    GBytes *content = synced_content(disk);
    rc = real_vfs->xDelete(real_vfs, name, 0);
    g_ptr_array_set_size(disk->changes, 0);
    g_clear_pointer(&disk->ghost, g_bytes_unref);
    if (rc == SQLITE_OK && !sync_folder) disk->ghost = g_steal_pointer(&content);
    if (content != NULL) g_bytes_unref(content);
  }
  g_mutex_unlock(&lock);
  return rc;
}

/* ---- power ---- */

/* Applies one unsynced write to what the disk holds: lost, whole, or some of its sectors and perhaps a part of one. */
static void settle_change(GByteArray *disk, const Change *change) {
  if (change->after == NULL) {
    if ((mood == MOOD_CHANCE ? dice(2) == 0 : mood == MOOD_ALL) && change->offset < disk->len)
      g_byte_array_set_size(disk, (guint)change->offset);
    return;
  }
  gsize n;
  const guint8 *after = g_bytes_get_data(change->after, &n);
  guint32 fate = mood == MOOD_CHANCE ? dice(3) : mood == MOOD_ALL; /* 0: lost, 1: whole, 2: torn */
  if (fate == 0) return;
  gsize end = (gsize)change->offset + n, old = disk->len;
  if (end > old) {
    g_byte_array_set_size(disk, (guint)end);
    memset(disk->data + old, fate == 2 && dice(2) == 0 ? 0xa5 : 0, end - old);
  }
  for (gsize at = 0; at < n;) {
    gsize to = MIN(n, at + SECTOR_BYTES - ((gsize)change->offset + at) % SECTOR_BYTES);
    guint32 part = fate == 1 ? 1 : dice(8); /* 0: the sector is lost, 7: torn within */
    gsize keep = part == 0 ? 0 : part == 7 ? (to - at) / 2 : to - at;
    memcpy(disk->data + change->offset + at, after + at, keep);
    at = to;
  }
}

static void settle_disk(Disk *disk) {
  GBytes *synced = synced_content(disk);
  GByteArray *bytes = g_byte_array_new();
  if (synced != NULL) {
    g_byte_array_append(bytes, g_bytes_get_data(synced, NULL), (guint)g_bytes_get_size(synced));
    for (guint i = 0; i < disk->changes->len; i++) settle_change(bytes, disk->changes->pdata[i]);
    g_bytes_unref(synced);
  }
  if (disk->ghost != NULL && dice(2) == 0) { /* the deletion never reached the disk, so neither did a new file of that name */
    g_byte_array_set_size(bytes, 0);
    g_byte_array_append(bytes, g_bytes_get_data(disk->ghost, NULL), (guint)g_bytes_get_size(disk->ghost));
    synced = disk->ghost;
  }
  g_autoptr(GError) error = NULL;
  if (synced != NULL) g_file_set_contents_full(disk->path, (const char *)bytes->data, bytes->len, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  if (error != NULL && !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    g_error("%s", error->message); /* no folder: the test is over */
  g_byte_array_unref(bytes);
  if (g_str_has_suffix(disk->path, "-wal")) {
    g_autofree char *shm = g_strdup_printf("%.*s-shm", (int)strlen(disk->path) - 4, disk->path);
    unlink(shm); /* memory does not outlast the power */
  }
}

static gint by_path(gconstpointer a, gconstpointer b) { return strcmp(a, b); }

void fault_vfs_power_on(void) {
  g_mutex_lock(&lock);
  mood = dice(4) == 0 ? MOOD_ALL : dice(4) == 0 ? MOOD_NONE : MOOD_CHANCE;
  GList *paths = g_list_sort(g_hash_table_get_keys(disks), by_path); /* the same order for the same seed */
  for (GList *p = paths; p != NULL; p = p->next) settle_disk(g_hash_table_lookup(disks, p->data));
  g_list_free(paths);
  g_hash_table_remove_all(disks);
  off = armed = struck = FALSE;
  g_mutex_unlock(&lock);
}

void fault_vfs_cut(guint32 with_seed) {
  g_mutex_lock(&lock);
  seed = with_seed * 2654435761u | 1;
  off = struck = TRUE;
  g_mutex_unlock(&lock);
}

void fault_vfs_arm(const FaultVfsPlan *with) {
  g_mutex_lock(&lock);
  armed = with != NULL;
  if (armed) {
    plan = *with;
    seed = with->seed * 2654435761u | 1;
  }
  struck = FALSE;
  n_writes = n_syncs = n_planned = n_failed = 0;
  g_mutex_unlock(&lock);
}

guint fault_vfs_count(FaultVfsOps ops) {
  g_mutex_lock(&lock);
  guint n = ((ops & FAULT_VFS_WRITES) ? n_writes : 0) + ((ops & FAULT_VFS_SYNCS) ? n_syncs : 0);
  g_mutex_unlock(&lock);
  return n;
}

gboolean fault_vfs_struck(void) {
  g_mutex_lock(&lock);
  gboolean yes = struck;
  g_mutex_unlock(&lock);
  return yes;
}

void fault_vfs_install(void) {
  static sqlite3_vfs vfs;
  if (real_vfs != NULL) return;
  real_vfs = sqlite3_vfs_find(NULL);
  disks = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, disk_free);
  vfs = *real_vfs; /* all but opening and deleting is the real one's, which finds its own state by pAppData */
  vfs.szOsFile = (int)sizeof(File) + real_vfs->szOsFile;
  vfs.zName = "fault";
  vfs.xOpen = fault_open;
  vfs.xDelete = fault_delete;
  if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK) g_error("cannot register the fault VFS");
}
