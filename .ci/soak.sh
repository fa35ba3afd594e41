#!/usr/bin/env bash
# soak.sh HALFSPACE [ROWS]: trains on many rows of 8 columns within 256 MiB, from the file and from a cache, and fails
# where the process takes more than that and 64 MiB. It needs 14 GB of disk for 100 million rows.
set -euo pipefail
bin=$1 rows=${2:-100000000} memory=256
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$bin" gen --rows "$rows" --features 8 --noise 0.1 --compression none --out "$tmp/x.parquet"
field() { sed -n "s/^ *\"$1\": \([^,]*\),\{0,1\}$/\1/p" "$tmp/r.json"; }
for run in "cyclic 1" "cyclic 4" "shuffle 1" "shuffle 4"; do
  read -r order epochs <<<"$run"
  "$bin" train "$tmp/x.parquet" --label label --algo perceptron --order "$order" --epochs "$epochs" --memory ${memory}MiB --json \
    --out "$tmp/m.json" >"$tmp/r.json"
  peak=$(($(field peak_rss_bytes) >> 20))
  printf '%s, %d epochs: streamed %s, peak %d MiB, load %.1f s, train %.1f s\n' "$order" "$epochs" "$(field streamed)" "$peak" \
    "$(field load)" "$(field train)"
  ((peak <= memory + 64)) || { echo "that is more than $((memory + 64)) MiB"; exit 1; }
done
