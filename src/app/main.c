/* SPDX-License-Identifier: Apache-2.0 */
#include "app/daemon.h"
#include "cli/cli.h"

int main(int argc, char **argv) { return pawl_cli_main(argc, argv, pawl_daemon_up); }
