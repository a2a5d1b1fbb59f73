#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: room-includes.sh SRC OUT ROOM [BELOW...]
# Makes OUT/ROOM, the only include folder of that room: one link for the room itself and one for each
# room below it. The folder is also made in the source tree's build folder that Meson asks about.
set -eu
src=$1 out=$2 room=$3
shift 3
dir=$out/$room
rm -rf "$dir"
mkdir -p "$dir"
for r in "$room" "$@"; do
  ln -s "$src/$r" "$dir/$r"
done
