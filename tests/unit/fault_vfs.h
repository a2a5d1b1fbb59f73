/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that fails on demand. It is a SQLite VFS around the default one and takes its place as the default, so whatever opens a store in this process
 * runs on it. Files are real files; what this adds is the memory of what was written since the last sync of each file, and a plan of when to fail.
 *
 * Power cut: at the chosen operation the disk stops, and every later call fails. The test closes its connections and calls
 * fault_vfs_power_on(), which leaves in the files what was synced plus a choice, by the seed, of what was not: all, nothing, or each such write lost, whole or
 * torn, independently of the others (so any order of arrival is possible); new room at a file's end may hold garbage. A deleted file may be back. Syncs
 * are not passed on to the real disk: what counts is the model, and the tests are fast.
 *
 * Errors: the chosen operations answer an error, once or for good, and all else works. A write that fails with FULL did half of its work, one that fails with
 * IOERR half or all of it; a sync that fails leaves its writes unsynced.
 *
 * Thread-safe. One plan at a time. Lengths and offsets are what SQLite asked for. */
#pragma once
#include <glib.h>

typedef enum { FAULT_VFS_POWER_CUT, FAULT_VFS_IOERR, FAULT_VFS_FULL /* writes only */ } FaultVfsKind;
typedef enum { FAULT_VFS_WRITES = 1, FAULT_VFS_SYNCS = 2, FAULT_VFS_BOTH = 3 } FaultVfsOps;
typedef struct {
  FaultVfsKind kind;
  FaultVfsOps ops;    /* which operations are counted; a truncation is a write */
  guint at;           /* it strikes at the at-th of them from fault_vfs_arm() on; from 1 */
  guint times;        /* errors: how many in a row; 0: from then on all */
  guint32 seed;       /* decides what survives and what is half done */
  const char *suffix; /* only files whose name ends so are counted, "-wal"; NULL: all. Not copied */
} FaultVfsPlan;

/* Before the first store is opened. */
void fault_vfs_install(void);
/* Counts from here. NULL: nothing fails. */
void fault_vfs_arm(const FaultVfsPlan *plan);
/* Operations of those kinds since the last arm. */
guint fault_vfs_count(FaultVfsOps ops);
/* Whether the plan has struck. */
gboolean fault_vfs_struck(void);
/* Cuts the power now, as a plan would. */
void fault_vfs_cut(guint32 seed);
/* After a cut, with every connection closed. Also forgets the plan. */
void fault_vfs_power_on(void);
