package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"halfspace/internal/require"
)

// A peer is a running program that answers each line with a line, so that runs of both sides alternate.
type peer struct {
	name    string
	in      io.Writer
	answers *bufio.Scanner
}

// startPeer starts a program, which ends with the benchmark.
func startPeer(b *testing.B, program string, args ...string) *peer {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("%v: %v", cmd.Args, err)
		}
	})
	return &peer{program, in, bufio.NewScanner(out)}
}

// line returns the next line of the program.
func (p *peer) line(b *testing.B) string {
	b.Helper()
	if !p.answers.Scan() {
		b.Fatalf("%s gave no answer: %v", p.name, p.answers.Err())
	}
	return p.answers.Text()
}

// ask sends a request and reads the answer, both as JSON.
func (p *peer) ask(b *testing.B, request, answer any) {
	b.Helper()
	require.NoError(b, json.NewEncoder(p.in).Encode(request))
	require.NoError(b, json.Unmarshal([]byte(p.line(b)), answer))
}

// skip skips a benchmark, and says why on standard error: go test shows the log of a skipped benchmark with -v only.
func skip(t testing.TB, reason string) {
	t.Helper()
	fmt.Fprintf(os.Stderr, "SKIPPED: %s: %s\n", t.Name(), reason)
	t.SkipNow()
}

// buildCommand builds the command in a folder, and returns its path.
func buildCommand(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "halfspace")
	if out, err := exec.Command("go", "build", "-o", path, "halfspace/cmd/halfspace").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}
