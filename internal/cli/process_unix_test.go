//go:build linux || darwin

package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfspace/internal/cli/console"
	"halfspace/internal/race"
)

// asProgram makes the test binary behave as the program, which can't write files larger than so many bytes if it is a
// number.
const asProgram = "HALFSPACE_TEST_AS_PROGRAM"

// peakFile names a file that the program writes its peak of memory to.
const peakFile = "HALFSPACE_TEST_PEAK"

// addressSpace is the most address space that the program may have, in bytes: beyond it the runtime ends the process.
const addressSpace = "HALFSPACE_TEST_ADDRESS_SPACE"

// crashes makes the runtime of the program crash when it prints a result.
const crashes = "HALFSPACE_TEST_CRASHES"

func TestMain(m *testing.M) {
	mode := os.Getenv(asProgram)
	if mode == "" {
		os.Exit(m.Run())
	}
	restore := func() {}
	if bytes, err := strconv.ParseUint(mode, 10, 64); err == nil {
		restore = limitFiles(bytes)
	}
	if bytes, err := strconv.ParseUint(os.Getenv(addressSpace), 10, 64); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
			panic(err)
		}
	}
	var stdout io.Writer = os.Stdout
	if os.Getenv(crashes) != "" {
		debug.SetMaxStack(16 << 20)
		stdout = endless{}
	}
	status := Main(os.Args[1:], stdout, os.Stderr)
	restore() // for what a test run writes of its own
	if path := os.Getenv(peakFile); path != "" {
		os.WriteFile(path, strconv.AppendInt(nil, console.PeakRSS(), 10), 0o600)
	}
	os.Exit(status)
}

// An endless writer overflows the stack, which ends a process like a lack of memory: nothing recovers from it.
type endless struct{}

func (e endless) Write(p []byte) (int, error) {
	n, err := e.Write(p) //lint:ignore SA5007 the stack is to overflow
	return n + 1, err
}

// TestCrash: the status of a crash isn't that of wrong usage, nor of anything else that the program says.
func TestCrash(t *testing.T) {
	cmd := program(t, "cpu")
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = append(cmd.Env, crashes+"=yes"), &stderr
	err := cmd.Run()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGABRT || !strings.Contains(stderr.String(), "fatal error: stack overflow") {
		t.Errorf("%v: %.300s", err, stderr.String())
	}
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
		cmd, stderr, wait := running(t, data, "--out", filepath.Join(dir, "m.json"))
		cmd.Process.Signal(sig)
		if status := wait(); status != exitInterrupted || !strings.Contains(stderr.String(), "halfspace: interrupted: ") {
			t.Errorf("%v: status %d, %q", sig, status, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "m.json")); err == nil {
		onlyFiles(t, dir, "m.json")
	} else {
		onlyFiles(t, dir)
	}
}

// running starts a training that would take for ever and returns once it shows its progress.
func running(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer, wait func() int) {
	t.Helper()
	cmd = program(t, slices.Concat([]string{"train", "--algo", "perceptron", "--label", "label", "--epochs", "1000000000000", "--progress", "always"}, args)...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stderr = new(bytes.Buffer)
	buf := make([]byte, 4096)
	for !strings.Contains(stderr.String(), "training") {
		n, err := pipe.Read(buf)
		stderr.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, stderr)
		}
	}
	return cmd, stderr, func() int {
		stderr.ReadFrom(pipe)
		cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
}

// TestCacheCut cuts a cache short, and overwrites it, while it is in use: that is an error of one line.
func TestCacheCut(t *testing.T) {
	data := ample(t, "80000")
	for order, memory := range map[string]string{"cyclic": "12000000", "shuffle": "12500000", "random": "12500000"} {
		for want, harm := range map[string]func(path string) error{
			": it was cut short while it was in use: remove it and run again\n": func(path string) error { return os.Truncate(path, 1<<20) },
			": remove it and run again\n": func(path string) error {
				f, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err == nil {
					defer f.Close()
					_, err = f.Write(make([]byte, 11<<20))
				}
				return err
			},
		} {
			dir := t.TempDir()
			cache := filepath.Join(dir, "cache")
			_, stderr, wait := running(t, data, "--order", order, "--memory", memory, "--cache", cache, "--out", filepath.Join(dir, "m.json"))
			if err := harm(cache); err != nil {
				t.Fatal(err)
			}
			if status := wait(); status != exitFailed || !strings.HasSuffix(stderr.String(), want) || !strings.Contains(stderr.String(), "\nhalfspace: "+cache) &&
				!strings.Contains(stderr.String(), "\rhalfspace: "+cache) {
				t.Errorf("%s: status %d, %q, want %q", order, status, stderr, want)
			}
			onlyFiles(t, dir, "cache")
		}
	}
}

// TestTemporaryCache: while it is in use, a temporary cache has no name, so that nothing is left however the run ends.
func TestTemporaryCache(t *testing.T) {
	data := ample(t, "80000")
	for _, sig := range []os.Signal{os.Interrupt, os.Kill} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		cmd, _, wait := running(t, data, "--order", "shuffle", "--memory", "12500000")
		onlyFiles(t, dir)
		cmd.Process.Signal(sig)
		if status := wait(); status != exitInterrupted && sig == os.Interrupt {
			t.Errorf("%v: status %d", sig, status)
		}
		onlyFiles(t, dir)
	}
}

// TestCacheFullDisk: a cache that can't be written is an error of one line, and nothing of it is left.
func TestCacheFullDisk(t *testing.T) {
	data := ample(t, "80000")
	for options, want := range map[string]string{
		"--cache CACHE":                        "cache can't be written: file too large: choose another path\n",
		"--order shuffle":                      "(file too large): free some space, or set TMPDIR to a folder on another disk\n",
		"--memory 12500000 --order random":     "(file too large): free some space, or set TMPDIR to a folder on another disk\n",
		"--memory 12500000 --cache /dev/full ": "/dev/full: it is no cache of halfspace, so it isn't replaced: name another file for the cache\n",
	} {
		dir := t.TempDir()
		options = strings.ReplaceAll(options, "CACHE", filepath.Join(dir, "cache"))
		var stderr bytes.Buffer
		cmd := program(t, append([]string{"train", "--algo", "perceptron", data, "--label", "label", "--memory", "12500000", "--out", filepath.Join(dir, "m.json")},
			strings.Fields(options)...)...)
		cmd.Env = append(cmd.Env, asProgram+"=1000000", "TMPDIR="+dir)
		cmd.Stderr = &stderr
		cmd.Run()
		if cmd.ProcessState.ExitCode() != exitFailed || !isOneLine(stderr.String()) || !strings.HasSuffix(stderr.String(), want) {
			t.Errorf("%s: status %d, %q, want %q", options, cmd.ProcessState.ExitCode(), &stderr, want)
		}
		onlyFiles(t, dir)
	}
}

// TestPeak: the process keeps to its memory, and 64 MiB for itself.
func TestPeak(t *testing.T) {
	if console.PeakRSS() == 0 {
		t.Skip("this system doesn't tell")
	}
	if race.Enabled {
		t.Skip("the race detector takes several times the memory")
	}
	data := ample(t, "330000") // 41.5 MiB of blocks
	for options, most := range map[string]float64{"--memory 30MiB": 94 << 20, "--memory 30MiB --order shuffle": 94 << 20, "": (1.25*41.6 + 64) * (1 << 20)} {
		out, err := program(t, append([]string{"train", "--algo", "perceptron", data, "--label", "label", "--epochs", "2", "--json"}, strings.Fields(options)...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Peak     float64 `json:"peak_rss_bytes"`
			Streamed bool
		}
		if err := json.Unmarshal(out, &r); err != nil || r.Streamed != (options != "") || r.Peak > most {
			t.Errorf("%s: %.1f MiB, streamed %t, error %v, want %.1f MiB at most", options, r.Peak/(1<<20), r.Streamed, err, most/(1<<20))
		}
	}
}

// TestReaderGone ends standard output's reader before anything is written, as head can.
func TestReaderGone(t *testing.T) {
	data, m := trained(t, signs)
	for _, args := range [][]string{{"predict", "--model", m, data, "--out", "-"}, {"cpu"}, {"eval", "--model", m, data}, {"completion", "bash"}, {"--help"}} {
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
	for _, args := range [][]string{{"eval", "--model", m, data}, {"cpu", "--json"}, {"completion", "bash"}, {"completion", "zsh"},
		{"completion", "fish"}, {"completion", "powershell"}, {"--help"}, {"help", "train"}, {"--version"}} {
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
	succeed(t, "train", "--algo", "perceptron", big, "--label", "label", "--epochs", "1", "--out", m)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"train", "--algo", "perceptron", big, "--label", "label", "--epochs", "1", "--out", filepath.Join(dir, "m.json")},
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
	succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--out", pipe)
	select {
	case text := <-read:
		if !strings.HasPrefix(text, "{\n  \"format\"") || !strings.HasSuffix(text, "\"\n}\n") {
			t.Errorf("the pipe's reader got %q", text)
		}
	case <-time.After(time.Minute):
		t.Error("the pipe's reader is still waiting")
	}
}
