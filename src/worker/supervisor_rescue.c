/* SPDX-License-Identifier: Apache-2.0 */
/* When a runner is lost (somebody killed it) or stuck (somebody stopped it), its descendants are looked for in /proc. That reads the
 * state and the environment of every process, so it has a thread of its own. */
#include "worker/process_private.h"
#include "worker/supervisor_private.h"

#define ROUND_MS 2000

typedef struct {
  PawlSupervisor *supervisor;
  PawlFence fence;
  PawlProcess process;
  pid_t session;
  gboolean marked; /* something with the attempt's environment can live */
} Rescue;

static void *rescue_main(void *data) {
  g_autofree Rescue *rescue = data;
  const PawlId *run = rescue->marked ? &rescue->fence.run : NULL;
  gboolean all_dead = FALSE;
  /* One that can't die now (it waits for a dead disk) is waited for: until then the attempt has not ended. */
  do all_dead = pawl_process_end_all(&rescue->process, rescue->session, run, rescue->fence.attempt, ROUND_MS);
  while (!all_dead && !atomic_load(&rescue->supervisor->shared.closing));
  pawl_supervisor_post(
    rescue->supervisor, (Command){.kind = COMMAND_RESCUED, .fence = rescue->fence, .thread = pthread_self(), .at_once = all_dead});
  return NULL;
}

gboolean pawl_rescue_start(Attempt *attempt) {
  Rescue *rescue = g_new0(Rescue, 1);
  *rescue = (Rescue){.supervisor = attempt->supervisor,
    .fence = attempt->fence,
    .process = attempt->process,
    .session = attempt->work_pid,
    .marked = attempt->went};
  pthread_t thread;
  if (pthread_create(&thread, NULL, rescue_main, rescue) != 0) {
    g_free(rescue);
    return FALSE;
  }
  attempt->rescuing = TRUE;
  attempt->supervisor->n_rescues++;
  return TRUE;
}
