#!/bin/sh
# A bot for `arena bridge`: buys the first patch it can, else advances. The lines are told in docs/bridge.md.

while read -r word rest; do
  case $word in
    start) echo ready ;;
    moves) moves=$rest ;;
    go)
      set -f # a move like *e5 is no file name
      set -- $moves
      if [ "$1" = ">" ] && [ $# -gt 1 ]; then shift; fi
      echo "log $# moves place a patch"
      echo "move $1"
      ;;
    quit) exit ;;
  esac
done
