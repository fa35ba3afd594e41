//go:build linux || darwin

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary behave as the program, which can't write files larger than so many bytes if it is a
// number.
const asProgram = "HALFSPACE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	mode := os.Getenv(asProgram)
	if mode == "" {
		os.Exit(m.Run())
	}
	restore := func() {}
	if bytes, err := strconv.ParseUint(mode, 10, 64); err == nil {
		restore = limitFiles(bytes)
	}
	status := Main(os.Args[1:], os.Stdout, os.Stderr)
	restore() // for what a test run writes of its own
	os.Exit(status)
}

// limitFiles makes writes fail where a file would get larger than so many bytes, until it is undone.
func limitFiles(bytes uint64) (undo func()) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		panic(err)
	}
	limited := before
	limited.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		panic(err)
	}
	return func() { syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }
}

// program returns the command to run the program in a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=yes")
	return cmd
}

// TestSignal interrupts a training that would take for ever, once it shows its progress.
func TestSignal(t *testing.T) {
	data := noisy(t, "5000")
	dir := t.TempDir()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := program(t, "train", data, "--label", "label", "--epochs", "1000000000000", "--out", filepath.Join(dir, "m.json"),
			"--progress", "always")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		buf := make([]byte, 4096)
		for !strings.Contains(text.String(), "training") {
			n, err := stderr.Read(buf)
			text.Write(buf[:n])
			if err != nil {
				t.Fatalf("%v after %q", err, text.String())
			}
		}
		cmd.Process.Signal(sig)
		text.ReadFrom(stderr)
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || !strings.HasSuffix(text.String(), "halfspace: interrupted\n") {
			t.Errorf("%v: %v, %q", sig, err, text.String())
		}
	}
	onlyFiles(t, dir)
}

// TestReaderGone ends standard output's reader before anything is written, as head can.
func TestReaderGone(t *testing.T) {
	data, m := trained(t, signs)
	for _, args := range [][]string{{"predict", "--model", m, data, "--out", "-"}, {"cpu"}, {"eval", "--model", m, data}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var stderr bytes.Buffer
		cmd := program(t, args...)
		cmd.Stdout, cmd.Stderr = w, &stderr
		err = cmd.Run()
		w.Close()
		if err == nil || stderr.Len() > 0 {
			t.Errorf("%s: %v, standard error %q, want a failure without a word", args[0], err, stderr.String())
		}
	}
}

// TestFullDisk writes to a device that is always full, and past the limit of a file's size.
func TestFullDisk(t *testing.T) {
	data, m := trained(t, signs)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full:", err)
	}
	defer full.Close()
	for _, c := range []struct{ args, want string }{
		{"train DATA --label y --exclude name --out /dev/full", "/dev/full can't be written"},
		{"predict --model MODEL DATA --out /dev/full", "/dev/full can't be written"},
	} {
		status, stdout, stderr := command(strings.Fields(strings.NewReplacer("DATA", data, "MODEL", m).Replace(c.args))...)
		if status != exitFailed || stdout != "" || !strings.Contains(stderr, c.want) || !isOneLine(stderr) {
			t.Errorf("%s: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"eval", "--model", m, data}, {"cpu", "--json"}} {
		var stderr bytes.Buffer
		status := run(t.Context(), args, full, &stderr)
		if status != exitFailed || !isOneLine(stderr.String()) || !strings.Contains(stderr.String(), "standard output can't be written") {
			t.Errorf("%s: status %d, %q", args[0], status, stderr.String())
		}
	}
}

func TestFileSizeLimit(t *testing.T) {
	big := noisy(t, "20000")
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", big, "--label", "label", "--epochs", "1", "--out", m)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"train", big, "--label", "label", "--epochs", "1", "--out", filepath.Join(dir, "m.json")},
		{"predict", "--model", m, big, "--keep", "*", "--out", filepath.Join(dir, "p.csv")},
		{"predict", "--model", m, big, "--keep", "*", "--out", filepath.Join(dir, "p.parquet")},
		{"gen", "--rows", "50000", "--noise", "0.1", "--out", filepath.Join(dir, "x.parquet")},
	} {
		var stdout, stderr bytes.Buffer
		cmd := program(t, args...)
		cmd.Env = append(cmd.Env, asProgram+"=500")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() != exitFailed || stdout.Len() > 0 || !isOneLine(stderr.String()) ||
			!strings.Contains(stderr.String(), "can't be written") {
			t.Errorf("%s: %v, %q, %q", args[0], err, &stdout, &stderr)
		}
	}
	onlyFiles(t, dir)
}

// TestOutIsAPipe doesn't open a named pipe before there is something to write to it: that would end its reader.
func TestOutIsAPipe(t *testing.T) {
	data := textbook(t, signs)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		read <- string(text)
	}()
	succeed(t, "train", data, "--label", "y", "--out", pipe)
	select {
	case text := <-read:
		if !strings.HasPrefix(text, "{\n  \"format\"") || !strings.HasSuffix(text, "\"\n}\n") {
			t.Errorf("the pipe's reader got %q", text)
		}
	case <-time.After(time.Minute):
		t.Error("the pipe's reader is still waiting")
	}
}
