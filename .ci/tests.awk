#!/usr/bin/awk -f
# Reads the output of go test -v. It prints a line for each package, and all that a package printed if it failed, and in the
# end one line of the programs that tests missed. It writes how many tests of how many packages passed to the file out.
/^[ ]*--- PASS:/ { passed++ }
/^[ ]+[a-z_0-9]+\.go:[0-9]+: missing: / && !seen[substr($0, index($0, "missing: "))]++ {
	missing = missing (missing ? ", " : "") substr($0, index($0, "missing: ") + 9)
}
/^(ok|FAIL|\?)[ \t]/ && NF > 1 {
	if ($1 == "FAIL") { printf "%s", text; failed = 1 }
	if ($1 == "ok") { packages++ }
	if ($1 != "?") { print; fflush() }
	text = ""; next
}
{ text = text $0 "\n" }
/^(panic:|# )/ { failed = 1 }
END {
	if (text ~ /(FAIL|panic:|^# )/) { printf "%s", text; failed = 1 }
	if (missing) { print "SKIPPED: tests that need " missing > "/dev/stderr" }
	print passed + 0 " tests of " packages + 0 " packages" > out
	exit failed
}
