package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"halfspace/internal/require"
)

// onTerminal runs the program on a terminal of that many columns and returns what it writes there.
func onTerminal(t *testing.T, columns uint16, locale string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: this system gives no pseudo terminals: %v", err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, "LC_ALL="+locale)
	cmd.Stdout, cmd.Stderr = slave, slave
	require.NoError(t, cmd.Start())
	slave.Close()
	var text strings.Builder
	for b := make([]byte, 4096); ; {
		n, err := master.Read(b)
		text.Write(b[:n])
		if err != nil { // EIO once the program has ended
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, text.String())
	}
	return text.String()
}

// TestTerminal: on a terminal, progress is a line that fits it and is gone at the end, and the summary has the curve. With --quiet there is the
// summary alone.
func TestTerminal(t *testing.T) {
	inParallel(t)
	data := noisy(t, "20000")
	train := []string{"train", "--algo", "averaged", data, "--label", "label", "--epochs", "30"}
	escape := regexp.MustCompile("\x1b\\[K")
	for _, columns := range []uint16{40, 100} {
		text := onTerminal(t, columns, "C.UTF-8", train...)
		shown, summary, found := strings.Cut(text, "averaged: 20,000 rows")
		if !found || !strings.Contains(shown, "training") || !strings.HasSuffix(shown, "\r\x1b[K") || strings.Contains(summary, "\x1b") {
			t.Fatalf("on %d columns: %q", columns, text)
		}
		for line := range strings.SplitSeq(escape.ReplaceAllString(shown, ""), "\r") {
			if n := utf8.RuneCountInString(line); n >= int(columns) && strings.Contains(line, "training") {
				t.Errorf("%d characters on %d columns: %q", n, columns, line)
			}
		}
		if has := regexp.MustCompile(`\n  curve +[▁▂▃▄▅▆▇█]{20,30} updates per epoch, `).MatchString(summary); has != (columns == 100) {
			t.Errorf("on %d columns, the curve is there: %t: %s", columns, has, summary)
		}
	}
	if text := onTerminal(t, 100, "C", train...); strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		t.Errorf("not ASCII: %q", text)
	}
	if text := onTerminal(t, 100, "C", append(train, "--quiet")...); !strings.HasPrefix(text, "averaged: 20,000 rows") {
		t.Errorf("with --quiet: %q", text)
	}
}
