#!/usr/bin/awk -f
# Reads the output of go test -v. It prints a line for each package. In the end, where the last lines of a long run are seen, it prints
# what failed packages printed, without the tests that passed, the names of the tests that failed, and one line of the programs that
# tests missed. It writes how many tests of how many packages passed to the file out.
/^[ ]*--- PASS:/ { passed++; next }
/^[ ]*--- FAIL:/ { names = names " " $3 }
/^=== (RUN|PAUSE|CONT) / || /^[ ]*--- SKIP:/ { next }
/^[ ]+[a-z_0-9]+\.go:[0-9]+: missing: / && !seen[substr($0, index($0, "missing: "))]++ {
	missing = missing (missing ? ", " : "") substr($0, index($0, "missing: ") + 9)
}
/^(ok|FAIL|\?)[ \t]/ && NF > 1 {
	if ($1 == "FAIL") { texts = texts text $0 "\n"; failures = failures "FAILED: " $2 names "\n"; failed = 1 }
	if ($1 == "ok") { packages++ }
	if ($1 != "?") { print; fflush() }
	text = names = ""; next
}
{ text = text $0 "\n" }
/^(panic:|# )/ { failed = 1 }
END {
	if (text ~ /(FAIL|panic:|^# )/) { texts = texts text; failed = 1 }
	if (failed) { printf "%s%s", texts, failures }
	if (missing) { print "SKIPPED: tests that need " missing > "/dev/stderr" }
	print passed + 0 " tests of " packages + 0 " packages" > out
	exit failed
}
