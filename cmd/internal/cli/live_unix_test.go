//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"halfspace/internal/require"
)

// TestPredictLive: predictions of standard input are written as its rows come, while the pipe stays open; all together are those of a file.
// What --keep names of CSV is text as it stands. A column of booleans may be empty in the first row.
func TestPredictLive(t *testing.T) {
	inParallel(t)
	dir := text(t, map[string]string{"x.csv": "a,c,id,y\n1,x,7,p\n2,y,007,q\n-3,x,,q\n1e1,z,1.50,p\n,y,text,q\n-,NA,9,p\n4,5,8,p\n", "x.svm": "1 1:1\n0 1:-1\n1 1:3 2:1\n",
		"headless.csv": "1,2,p\n3,1.5,q\n-1,4,q\n", "b.csv": "b,y\n,q\ntrue,p\nFALSE,q\nTrue,p\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		data, options string
		header        int // lines of the input before the first that is answered
	}{
		{"x.csv", "--label y --exclude id --categorical onehot --nulls drop", 1}, {"headless.csv", "--label last", 0}, {"x.svm", "--label label", 0}, {"b.csv", "--label y --nulls zero", 1},
	} {
		t.Run(c.data, func(t *testing.T) {
			succeed(t, append([]string{"train", at(c.data), "--algo", "averaged", "--out", at("m.json")}, strings.Fields(c.options)...)...)
			succeed(t, "predict", "--model", at("m.json"), at(c.data), "--out", at("p.csv"), "--score")
			args := []string{"predict", "--model", at("m.json"), "-", "--out", "-", "--score"}
			if c.data == "x.csv" {
				args = append(args, "--keep", "id,a")
			}
			lines := strings.SplitAfter(read(t, at(c.data)), "\n")
			out, want := answered(t, program(t, args...), lines[:len(lines)-1], c.header), read(t, at("p.csv"))
			if c.data != "x.csv" {
				if out != want {
					t.Errorf("predictions are\n%s\nof a file\n%s", out, want)
				}
				return
			}
			for i, id := range []string{"id", "7", "007", "", "1.50", "text", "9", "8"} {
				a := strings.Split(strings.Split(out, "\n")[i], ",")
				if a[0] != id || strings.Join(a[2:], ",") != strings.Split(want, "\n")[i] {
					t.Errorf("line %d is %q, want %s and %s", i, a, id, want)
				}
			}
		})
	}
}

// answered starts a command and gives it one line after the other, each once the one before was answered. It returns what it wrote.
func answered(t *testing.T, cmd *exec.Cmd, lines []string, header int) string {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	var all strings.Builder
	out := bufio.NewReader(stdout)
	for i, line := range lines {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
		if i < header {
			continue
		}
		answers := 1
		if i == header {
			answers = 2 // the header of the predictions comes with the first
		}
		for range answers {
			answer, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("after %q: %v", line, err)
			}
			all.WriteString(answer)
		}
	}
	in.Close()
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	all.Write(rest)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return all.String()
}

// TestPipe: a pipe among the data, as <(command) in a shell, is read as standard input. What can't come from a pipe is refused with advice
// that helps.
func TestPipe(t *testing.T) {
	rows := "a,y\n1,0\n2,1\n3,0\n4,1\n"
	dir := text(t, map[string]string{"rows.csv": rows})
	in := func(name string) string { return filepath.Join(dir, name) }
	stdin := os.Stdin
	t.Cleanup(func() { os.Stdin = stdin })
	pipe := func(name, content string) string {
		t.Helper()
		require.NoError(t, syscall.Mkfifo(in(name), 0o600))
		go os.WriteFile(in(name), []byte(content), 0o600) // waits for the reader
		return in(name)
	}
	succeed(t, "train", in("rows.csv"), "--label", "y", "--algo", "averaged", "--out", in("m.json"))
	succeed(t, "train", pipe("rows", rows), "--label", "y", "--algo", "averaged", "--out", in("n.json"))
	if read(t, in("m.json")) != read(t, in("n.json")) {
		t.Error("a pipe gives another model than the file")
	}
	succeed(t, "predict", "--model", in("m.json"), pipe("more.csv", rows), "--keep", "a", "--out", in("p.csv"))
	succeed(t, "predict", "--model", in("m.json"), in("rows.csv"), "--keep", "a", "--out", in("q.csv"))
	if read(t, in("p.csv")) != read(t, in("q.csv")) {
		t.Error("a pipe gives other predictions than the file")
	}
	succeed(t, "convert", in("rows.csv"), "--keep", "a", "--out", in("a.npy"))
	for name, want := range map[string]string{read(t, in("a.npy")): "an array of NumPy can't come from standard input", "PK\x03\x04": "a zip archive can't come"} {
		status, _, stderr := command("train", pipe(fmt.Sprint(len(name), ".npy"), name), "--label", "y")
		if status != exitFailed || !strings.Contains(stderr, want) || !strings.Contains(stderr, "save it and name the file") {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}
