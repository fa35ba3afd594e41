#!/usr/bin/env bash
# need.sh COMMAND PACKAGE PURPOSE: makes sure that COMMAND works, installing the Debian package if it may, or several.
#
# Without it, it prints one line with SKIPPED and exits with status 3; with CI=true it fails, since a run that is to
# check everything must not pass without.
set -u
command=$1 package=$2 purpose=$3
have() { if [[ $command == *" "* ]]; then eval "$command" >/dev/null 2>&1; else command -v "$command" >/dev/null; fi; }
have && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	exec 9<"$0" && flock 9 # targets run side by side, and apt-get runs alone
	have && exit 0
	echo "installing $package for $purpose" >&2
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $package; } >/dev/null 2>&1
	have && exit 0
fi
if [ "${CI:-}" = true ]; then
	echo "FAILED: $purpose: $package is missing and could not be installed" >&2
	exit 1
fi
echo "SKIPPED: $purpose: install $package" >&2
exit 3
