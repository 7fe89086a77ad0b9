#!/bin/bash
# shard.sh FILE N: splits FILE into N parts of about equal size, by lines, below ./shards
set -euo pipefail
mkdir -p shards
split --number="l/$2" --numeric-suffixes --suffix-length=4 "$1" shards/part-
