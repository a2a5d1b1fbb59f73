/* SPDX-License-Identifier: Apache-2.0 */
/* http: the door that a process opens for people and machines that ask how it is: /livez, /readyz, /metrics.
 *
 *   bytes -> request.h reads and refuses -> guard.c: is the sender who he seems -> routes.c -> a handler -> response.c
 *
 * It runs on one thread of its own with an event loop (libevent) and shares nothing with the others: what it says comes from the callbacks
 * below, which it calls on its thread and which must not wait. It knows neither what a check means nor what is measured.
 *
 * Everything that a client controls has a bound: connections (at the bound the oldest gives way, so that new ones are always heard), the
 * bytes of a request, the time for its head and its body, the time to fetch the answer. A connection costs no thread, so clients that send a byte
 * a second delay nobody.
 *
 * This room is a module (base/module.h): it is mapped only where --listen asks for it, it carries its own copy of base, and all of it is
 * reached through PawlHttp. No log: what goes wrong is an error to the caller, or an answer to the client. */
#pragma once
#include "base/address.h"

typedef struct {
  char *name; /* "store" */
  gboolean ok;
  char *text; /* what holds, or what fails and what a person can do */
} PawlCheck;

typedef struct {
  PawlAddress address;
  guint connections; /* at once */
  gpointer data;
  /* FALSE: some thread is stuck, `why` says which. Never asks the database. */
  gboolean (*live)(GString *why, gpointer data);
  /* Appends what has to hold for this process to do its work. */
  void (*check)(GArray *checks /* PawlCheck, strings owned by it */, gpointer data);
  /* Whether the numbers are fresh. FALSE: they are being read; whoever reads them calls PawlHttp.wake(), or a second passes. */
  gboolean (*measure)(gpointer data);
  char *(*metrics)(gpointer data); /* text format 0.0.4; g_free()d */
} PawlDoorOptions;

typedef struct PawlDoor PawlDoor;
typedef struct {
  /* Binds, listens, starts the thread. UNAVAILABLE: the address is taken, or cannot be had. */
  PawlDoor *(*open)(const PawlDoorOptions *options, GError **error);
  /* Where it listens, with the real port. Returns `text`. */
  char *(*address)(const PawlDoor *door, char text[PAWL_ADDRESS_TEXT]);
  void (*wake)(PawlDoor *door); /* any thread */
  void (*close)(PawlDoor *door);
} PawlHttp;
