package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfspace/internal/require"
)

// starts starts the program and returns once it has had a while of processor time.
func starts(t *testing.T, args ...string) *process {
	t.Helper()
	p := start(t, args...)
	for !p.works() {
		if p.over(10 * time.Millisecond) {
			t.Fatalf("it ended by itself: %s", &p.stderr)
		}
	}
	return p
}

// TestTwoRuns: a second run that would write the file of a first one is refused, and names the first one. Files that are only read are
// no reason.
func TestTwoRuns(t *testing.T) {
	inParallel(t)
	dir := t.TempDir()
	data := noisy(t, "5000")
	out := func(name string) string { return filepath.Join(dir, name) }
	p := starts(t, "train", data, "--label", "label", "--algo", "perceptron", "--epochs", "1000000000", "--out", out("m.json"), "--receipt", out("r.json"))
	for _, args := range [][]string{
		{"train", data, "--label", "label", "--out", out("m.json")},
		{"train", data, "--label", "label", "--out", out("other.json"), "--receipt", out("r.json")},
		{"gen", "--noise", "0.1", "--out", out("m.json")},
	} {
		cmd := program(t, args...)
		text, err := cmd.CombinedOutput()
		host, _ := os.Hostname()
		if err == nil || cmd.ProcessState.ExitCode() != exitFailed ||
			!strings.Contains(string(text), fmt.Sprintf("json is in use by another run, process %d on %s since 20", p.cmd.Process.Pid, host)) {
			t.Errorf("%q: %v, %s", args, err, text)
		}
	}
	succeed(t, "train", data, "--label", "label", "--algo", "lda", "--out", out("n.json"))
	p.cmd.Process.Signal(os.Interrupt)
	<-p.ended
	succeed(t, "train", data, "--label", "label", "--algo", "lda", "--out", out("m.json"))
	onlyFiles(t, dir, "m.json", "n.json")
}

// TestSecondSignal: a second signal ends a run at once, while the first one waits for a reader, and leaves no file.
func TestSecondSignal(t *testing.T) {
	inParallel(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	p := start(t, "train", noisy(t, "5000"), "--label", "label", "--algo", "lda", "--out", fifo, "--receipt", filepath.Join(dir, "r.json"))
	for !p.waits() {
		if p.over(50 * time.Millisecond) {
			t.Fatalf("it ended by itself: %s", &p.stderr)
		}
	}
	onlyFiles(t, dir, ".r.json.halfspace-lock", "fifo")
	p.cmd.Process.Signal(syscall.SIGTERM)
	for !p.over(20 * time.Millisecond) {
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	if status := p.cmd.ProcessState.ExitCode(); status != exitInterrupted || strings.Contains(p.stderr.String(), "interrupted") {
		t.Errorf("status %d, %q", status, &p.stderr)
	}
	onlyFiles(t, dir, "fifo")
}
