package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
)

// signalTime is far more than a program takes to end, and less than it takes for its work.
const signalTime = 30 * time.Second

// TestLifeline: with HALFSPACE_LIFELINE=stdin, the end of standard input interrupts a training, which writes the weights so far.
func TestLifeline(t *testing.T) {
	inParallel(t)
	dir := t.TempDir()
	plane, out := filepath.Join(dir, "plane.parquet"), filepath.Join(dir, "m.json")
	succeed(t, "gen", "--rows", "30000", "--features", "20", "--noise", "0.1", "--out", plane)
	cmd := program(t, "train", plane, "--label", "label", "--algo", "averaged", "--epochs", "100000000", "--progress", "always", "--out", out)
	cmd.Env = append(cmd.Env, lifeline+"=stdin")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	timeout := time.AfterFunc(signalTime, func() { cmd.Process.Kill() })
	defer timeout.Stop()
	var text strings.Builder
	begun := regexp.MustCompile(`^training: .* [1-9][\d,]* updates`)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if begun.MatchString(lines.Text()) {
			stdin.Close()
		}
	}
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != exitInterrupted || !strings.Contains(text.String(), "halfspace: interrupted") {
		t.Errorf("status %d, %q", status, text.String())
	}
	_, err = os.Stat(out)
	require.NoError(t, err)
}

// TestSignalAtOnce: the first interrupt, or SIGTERM, ends the program with a line, wherever it waits or works. The times are logged.
func TestSignalAtOnce(t *testing.T) {
	inParallel(t)
	if parallel.RaceEnabled {
		t.Skip("takes too long with the race detector")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"fifo", "out.csv"} {
		require.NoError(t, syscall.Mkfifo(in(name), 0o600))
	}
	_, m := trained(t)
	wide := func(cell string) string { return strings.Repeat(cell+",", 200_000) }
	var names strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&names, "c%d,", i)
	}
	for name, text := range map[string]string{
		"rows.csv":    "x1,x2,y\n" + strings.Repeat("1,2,1\n", 200_000),
		"columns.csv": names.String() + "label\n" + wide("0") + "1\n" + wide("1") + "0\n",
	} {
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600))
	}
	succeed(t, "gen", "--rows", "30000", "--features", "20", "--margin", "0.001", "--out", in("plane.parquet"))
	for i, c := range []struct {
		name, args string
		under      func(p *process) bool // tells whether the program is at it
	}{
		{"a model from a pipe", "predict --model DIR/fifo DIR/rows.csv --out DIR/p.csv", (*process).waits},
		{"a pipe that is full", "predict --model MODEL DIR/rows.csv --out -", (*process).waits},
		{"a pipe without a reader", "predict --model MODEL DIR/rows.csv --out DIR/out.csv", (*process).waits},
		{"a model to a pipe without a reader", "train DIR/plane.parquet --label label --algo averaged --epochs 1 --out DIR/out.csv", (*process).waits},
		{"standard input that sends nothing", "train - --label y --algo averaged", (*process).waits},
		{"wide rows to write", "gen --rows 100000 --features 20000 --margin 0.1 --out DIR/x.parquet", (*process).works},
		{"many columns", "convert DIR/columns.csv --out DIR/p.parquet", (*process).works},
		{"inner products", "train DIR/plane.parquet --label label --algo dual --memory 500MiB", (*process).works},
		{"measurements", "bench --only Epoch --rounds 1000 --time 1s", (*process).works},
		{"many voters", "train DIR/plane.parquet --label label --algo voted --epochs 1000", (*process).works},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			p := start(t, strings.Fields(strings.NewReplacer("DIR", dir, "MODEL", m).Replace(c.args))...)
			for !c.under(p) {
				if p.over(50 * time.Millisecond) {
					t.Fatalf("it ended by itself: %s", &p.stderr)
				}
			}
			sent := time.Now()
			p.cmd.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM}[i%2])
			if !p.over(signalTime) {
				p.cmd.Process.Kill()
				p.over(signalTime)
				t.Fatalf("not heeded after %v", signalTime)
			}
			lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
			last := lines[len(lines)-1]
			if status := p.cmd.ProcessState.ExitCode(); status != exitInterrupted || !strings.HasPrefix(last, "halfspace: interrupted") {
				t.Errorf("status %d, %q", status, &p.stderr)
			}
			t.Logf("%.3f s: %s", time.Since(sent).Seconds(), strings.ReplaceAll(last, dir, "DIR"))
		})
	}
}

// A process is the program at work. Nobody reads its standard output, and its standard input sends nothing.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
	spent  int // ticks of processor time at the last look
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, program(t, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{}), spent: -1}
	stdin, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	p.cmd.Stdout, p.cmd.Stderr = w, &p.stderr
	require.NoError(t, p.cmd.Start())
	w.Close()
	t.Cleanup(func() {
		for _, c := range []io.Closer{stdin, r} {
			c.Close()
		}
	})
	go func() {
		defer close(p.ended)
		p.cmd.Wait()
	}()
	return p
}

// over tells whether the program ends within a time.
func (p *process) over(within time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// look returns how many ticks of processor time the program has had, and whether a thread is running.
func (p *process) look() (spent int, running bool) {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 13 {
			continue
		}
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		spent += user + system
		running = running || fields[0] != "S"
	}
	return spent, running
}

// waits tells whether the program does nothing, as at the last look.
func (p *process) waits() bool {
	before := p.spent
	var running bool
	p.spent, running = p.look()
	return !running && p.spent == before
}

// works tells whether the program has had half a second of processor time.
func (p *process) works() bool {
	spent, _ := p.look()
	return spent >= 50
}

// TestSignalTwice: signals that follow each other at once are one interrupt, which keeps the model.
func TestSignalTwice(t *testing.T) {
	inParallel(t)
	dir := t.TempDir()
	data, m := filepath.Join(dir, "noise.parquet"), filepath.Join(dir, "m.json")
	succeed(t, "gen", "--rows", "30000", "--features", "20", "--noise", "0.1", "--out", data)
	p := starts(t, "train", data, "--label", "label", "--algo", "averaged", "--epochs", "1000000", "--out", m)
	for first := time.Now(); time.Since(first) < 100*time.Millisecond; {
		p.cmd.Process.Signal(os.Interrupt)
	}
	if !p.over(signalTime) {
		p.cmd.Process.Kill()
		t.Fatalf("not heeded after %v", signalTime)
	}
	if status := p.cmd.ProcessState.ExitCode(); status != exitInterrupted {
		t.Errorf("status %d, %q", status, &p.stderr)
	}
	succeed(t, "inspect", m)
}

// TestHangup: a hangup ends a training as an interrupt does, with the model so far and no lock file, but status 129. A process
// that began with hangups ignored, as under nohup, goes on.
func TestHangup(t *testing.T) {
	inParallel(t)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // under nohup this process ignores them, and its children would
	defer signal.Stop(hangups)
	dir := t.TempDir()
	data := filepath.Join(dir, "noise.parquet")
	succeed(t, "gen", "--rows", "5000", "--features", "5", "--noise", "0.1", "--out", data)
	for _, ignored := range []bool{false, true} {
		out := filepath.Join(dir, fmt.Sprint(ignored))
		require.NoError(t, os.Mkdir(out, 0o700))
		m := filepath.Join(out, "m.json")
		cmd := program(t, "train", data, "--label", "label", "--algo", "averaged", "--epochs", "1000000000", "--out", m)
		if ignored {
			env := cmd.Env
			cmd = exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, cmd.Args...)...)
			cmd.Env = env
		}
		p := startCommand(t, cmd)
		for !p.works() {
			if p.over(50 * time.Millisecond) {
				t.Fatalf("ignored %t: it ended by itself: %s", ignored, &p.stderr)
			}
		}
		p.cmd.Process.Signal(syscall.SIGHUP)
		want := exitHungUp
		if ignored {
			if p.over(300 * time.Millisecond) {
				t.Fatalf("an ignored hangup ended it: %s", &p.stderr)
			}
			p.cmd.Process.Signal(os.Interrupt)
			want = exitInterrupted
		}
		if !p.over(signalTime) {
			p.cmd.Process.Kill()
			t.Fatalf("ignored %t: not heeded after %v", ignored, signalTime)
		}
		if status := p.cmd.ProcessState.ExitCode(); status != want {
			t.Errorf("ignored %t: status %d, want %d: %q", ignored, status, want, &p.stderr)
		}
		succeed(t, "inspect", m)
		if left, _ := os.ReadDir(out); len(left) != 1 {
			t.Errorf("ignored %t: the folder has %v", ignored, left)
		}
	}
}

// TestKeptModel: if the model's file can't be written at the end of a training, the model is kept elsewhere, and the error says where.
func TestKeptModel(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	data, out := filepath.Join(dir, "noise.parquet"), filepath.Join(dir, "out")
	succeed(t, "gen", "--rows", "5000", "--features", "5", "--noise", "0.1", "--out", data)
	for name, spoil := range map[string]func(){
		"no folder": func() { os.RemoveAll(out) },
		"a folder":  func() { os.Mkdir(filepath.Join(out, "m.json"), 0o700) },
	} {
		require.NoError(t, os.MkdirAll(out, 0o700))
		p := start(t, "train", data, "--label", "label", "--algo", "averaged", "--epochs", "1000000000", "--out", filepath.Join(out, "m.json"))
		for !p.works() {
			if p.over(50 * time.Millisecond) {
				t.Fatalf("%s: it ended by itself: %s", name, &p.stderr)
			}
		}
		spoil()
		p.cmd.Process.Signal(os.Interrupt)
		if !p.over(signalTime) {
			p.cmd.Process.Kill()
			t.Fatalf("%s: not heeded after %v", name, signalTime)
		}
		_, kept, _ := strings.Cut(strings.TrimSpace(p.stderr.String()), "; the model is in ")
		if p.cmd.ProcessState.ExitCode() != exitInterrupted || kept == "" {
			t.Errorf("%s: status %d, %q", name, p.cmd.ProcessState.ExitCode(), &p.stderr)
			continue
		}
		succeed(t, "inspect", kept)
		require.NoError(t, os.RemoveAll(out))
	}
}
