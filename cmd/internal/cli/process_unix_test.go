//go:build linux || darwin

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
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

	"halfspace/cmd/internal/console"
	"halfspace/internal/parallel"
	"halfspace/internal/require"
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
	inParallel(t)
	cmd := program(t, "version")
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
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=yes")
	return cmd
}

// running starts a training that would take for ever and returns once it shows its progress.
func running(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer, wait func() int) {
	t.Helper()
	cmd = program(t, slices.Concat([]string{"train", "--algo", "perceptron", "--label", "label", "--epochs", "1000000000000", "--progress", "always"}, args)...)
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
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
	inParallel(t)
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
			require.NoError(t, harm(cache))
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
	for _, order := range []string{"shuffle", "cyclic"} { // which are cached before the first pass, and in it
		for _, sig := range []os.Signal{os.Interrupt, os.Kill} {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			cmd, _, wait := running(t, data, "--order", order, "--memory", "12500000")
			onlyFiles(t, dir)
			cmd.Process.Signal(sig)
			if status := wait(); status != exitInterrupted && sig == os.Interrupt {
				t.Errorf("%s, %v: status %d", order, sig, status)
			}
			onlyFiles(t, dir)
		}
	}
}

// TestManyPassesFullDisk: a training of many passes in the order of the rows ends in the same model with a cache, and
// without room for one.
func TestManyPassesFullDisk(t *testing.T) {
	inParallel(t)
	data := ample(t, "80000")
	for _, algo := range []string{"averaged --epochs 5", "logistic", "svm"} {
		var models []string
		for _, limits := range [][]string{{""}, {"", "--memory", "12500000"}, {"=1000000", "--memory", "12500000"}} {
			dir := t.TempDir()
			m := filepath.Join(t.TempDir(), "m.json")
			cmd := program(t, slices.Concat([]string{"train", data, "--label", "label", "--out", m, "--algo"}, strings.Fields(algo), limits[1:])...)
			cmd.Env = append(cmd.Env, "TMPDIR="+dir)
			if limits[0] != "" {
				cmd.Env = append(cmd.Env, asProgram+limits[0])
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil || stderr.Len() > 0 {
				t.Fatalf("%s, %v: %v: %s", algo, limits, err, &stderr)
			}
			models = append(models, read(t, m))
			onlyFiles(t, dir)
		}
		if models[1] != models[0] || models[2] != models[0] {
			t.Errorf("%s: the models differ", algo)
		}
	}
}

// TestCacheFullDisk: a cache that can't be written is an error of one line, and nothing of it is left.
func TestCacheFullDisk(t *testing.T) {
	inParallel(t)
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

// TestPeak: each verb that reads rows keeps to its memory, and 64 MiB for itself.
func TestPeak(t *testing.T) {
	inParallel(t)
	if console.PeakRSS() == 0 || parallel.RaceEnabled {
		t.Skip("this system doesn't tell, or the race detector takes several times the memory")
	}
	data := ample(t, "330000") // 41.5 MiB of blocks
	for options, most := range map[string]float64{"--memory 30MiB": 94 << 20, "--memory 30MiB --order shuffle": 94 << 20, "": (1.25*41.6 + 64) * (1 << 20)} {
		out, err := program(t, append([]string{"train", "--algo", "perceptron", data, "--label", "label", "--epochs", "2", "--json"}, strings.Fields(options)...)...).Output()
		require.NoError(t, err)
		var r struct {
			Peak     float64 `json:"peak_rss_bytes"`
			Streamed bool
		}
		if err := json.Unmarshal(out, &r); err != nil || r.Streamed != (options != "") || r.Peak > most {
			t.Errorf("%s: %.1f MiB, streamed %t, error %v, want %.1f MiB at most", options, r.Peak/(1<<20), r.Streamed, err, most/(1<<20))
		}
	}
	dir := t.TempDir()
	m, peak := filepath.Join(dir, "m.json"), filepath.Join(dir, "peak")
	succeed(t, "train", data, "--label", "label", "--algo", "lda", "--out", m)
	for _, line := range []string{"predict --model MODEL DATA --keep * --out DIR/p.arrow", "eval --model MODEL DATA", "online DATA --label label", "convert DATA --out DIR/c.csv", "inspect DATA"} {
		cmd := program(t, append(strings.Fields(strings.NewReplacer("DATA", data, "DIR", dir, "MODEL", m).Replace(line)), "--memory", "40MiB")...)
		cmd.Env = append(cmd.Env, peakFile+"="+peak)
		require.NoError(t, cmd.Run())
		if bytes, err := strconv.ParseInt(read(t, peak), 10, 64); err != nil || bytes > 104<<20 {
			t.Errorf("%s: %.1f MiB, error %v", line, float64(bytes)/(1<<20), err)
		}
	}
}

// TestReaderGone ends standard output's reader before anything is written, as head can.
func TestReaderGone(t *testing.T) {
	inParallel(t)
	data, m := trained(t)
	for _, args := range [][]string{{"predict", "--model", m, data, "--out", "-"}, {"version"}, {"eval", "--model", m, data}, {"completion", "bash"}, {"--help"}} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
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

// TestFullDisk writes standard output to a device that is always full.
func TestFullDisk(t *testing.T) {
	inParallel(t)
	data, m := trained(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full:", err)
	}
	defer full.Close()
	for _, args := range [][]string{{"eval", "--model", m, data}, {"version", "--json"}, {"completion", "bash"}, {"completion", "zsh"},
		{"completion", "fish"}, {"completion", "powershell"}, {"--help"}, {"help", "train"}, {"--version"}} {
		var stderr bytes.Buffer
		status := run(t.Context(), args, full, &stderr)
		if status != exitFailed || !isOneLine(stderr.String()) || !strings.Contains(stderr.String(), "standard output can't be written") {
			t.Errorf("%s: status %d, %q", args[0], status, stderr.String())
		}
	}
}

// TestOutIsAPipe doesn't open a named pipe before there is something to write to it: that would end its reader.
func TestOutIsAPipe(t *testing.T) {
	inParallel(t)
	data := textbook(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(pipe)
		read <- fmt.Sprint(string(text), err)
	}()
	succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--out", pipe)
	select {
	case text := <-read:
		if !strings.HasPrefix(text, "{\n  \"format\"") || !strings.HasSuffix(text, "\"\n}\n<nil>") {
			t.Errorf("the pipe's reader got %q", text)
		}
	case <-time.After(time.Minute):
		t.Error("the pipe's reader is still waiting")
	}
}
