package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfspace/internal/require"
)

// killed sends a signal to a training at a random moment, and a second one soon after unless the first one can't be caught.
func killed(signal syscall.Signal, options ...string) func(t *testing.T) func(*rand.Rand) (end, lost string) {
	return func(t *testing.T) func(*rand.Rand) (end, lost string) {
		w := place(t, ample(t, "80000"), append([]string{"--algo", "averaged", "--order", "shuffle", "--epochs", "20", "--memory", "12500000", "--receipt", "DIR/r.json"}, options...)...)
		return func(rng *rand.Rand) (end, lost string) {
			w.reset(t)
			cmd := w.program(t, w.args...)
			require.NoError(t, cmd.Start())
			time.Sleep(time.Duration(rng.Int64N(int64(w.took))))
			cmd.Process.Signal(signal)
			if signal != syscall.SIGKILL {
				time.Sleep(time.Duration(rng.Int64N(int64(2 * sameInterruptTime))))
				cmd.Process.Signal(signal)
			}
			switch status := wait(cmd); status {
			case exitDone:
				end = "done before"
			case -1, exitInterrupted:
				end = "ended by it"
			default:
				return "failed", fmt.Sprint("status ", status)
			}
			if lost = w.half(); lost == "" {
				lost = w.again(t, "m.json", "r.json", "cache")
			}
			return end, lost
		}
	}
}

// resumedTrainings are the trainings that resumed kills: of learners whose states differ.
var resumedTrainings = []string{
	"averaged --order shuffle --epochs 60",
	"pocket --order shuffle --epochs 4 --max-updates 3000",
	"ftrl --order shuffle --epochs 30",
	"logistic --l1 0.01 --l2 0.001",
	"svm --loss hinge",
	"kernel-perceptron --kernel rbf --epochs 60",
}

// resumed kills a training with checkpoints again and again. It goes on from the last one each time.
func resumed(t *testing.T) func(*rand.Rand) (end, lost string) {
	many, few := ample(t, "80000"), noisy(t, "3000")
	places, kills := make([]*workplace, len(resumedTrainings)), make([]int, len(resumedTrainings))
	for i, training := range resumedTrainings {
		data := many
		if strings.HasPrefix(training, "kernel") { // its time grows with the square of the rows
			data = few
		}
		places[i] = place(t, data, strings.Fields("--algo "+training)...)
	}
	t.Cleanup(func() {
		for i, n := range kills {
			t.Logf("%d kills of %s", n, resumedTrainings[i])
		}
	})
	next := 0
	return func(rng *rand.Rand) (end, lost string) {
		i := next % len(places)
		next++
		n, end, lost := places[i].killUntilDone(t, rng)
		kills[i] += n
		if lost != "" {
			lost = resumedTrainings[i] + ": " + lost
		}
		return end, lost
	}
}

// killUntilDone kills a training with checkpoints up to nine times and resumes it. It returns the number of kills, how the training
// ended, and what was lost.
func (w *workplace) killUntilDone(t *testing.T, rng *rand.Rand) (kills int, end, lost string) {
	args := append(slices.Clone(w.args), "--checkpoint", w.in("points"), "--checkpoint-every", "1", "--resume")
	w.reset(t)
	for ; kills < 10; kills++ {
		cmd := w.program(t, args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		if kills < 9 {
			stop := time.AfterFunc(time.Duration(rng.Int64N(int64(w.took*3/2))), func() { cmd.Process.Kill() })
			defer stop.Stop()
		}
		switch status := wait(cmd); {
		case status == exitDone:
			if end = "done before"; kills > 0 {
				end = "resumed and done"
			}
			require.NoError(t, os.RemoveAll(w.in("points")))
			return kills, end, w.finished(t, "m.json")
		case status != -1:
			return kills, "failed", fmt.Sprintf("status %d: %s", status, &stderr)
		}
		if lost := w.half(); lost != "" {
			return kills, "killed", lost
		}
	}
	return kills, "killed", "it was never done"
}

// fullDisk lets no file get larger than a random number of bytes, up to the largest that a command writes. A command is done, or it fails
// in a line and leaves what was there before.
func fullDisk(t *testing.T) func(*rand.Rand) (end, lost string) {
	data, dir := noisy(t, "20000"), t.TempDir()
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", data, "--label", "label", "--algo", "perceptron", "--epochs", "1", "--out", m)
	type writer struct {
		args  string
		files map[string]int // and their sizes
	}
	writers := []*writer{
		{args: "train DATA --label label --algo averaged --epochs 2 --out DIR/m.json --receipt DIR/r.json"},
		{args: "train DATA --label label --algo averaged --epochs 2 --out DIR/m.json --cache DIR/cache"},
		{args: "train DATA --label label --algo averaged --epochs 2 --out DIR/m.json --checkpoint DIR/points --checkpoint-every 1"},
		{args: "predict --model MODEL DATA --keep * --out DIR/p.csv"}, {args: "predict --model MODEL DATA --out DIR/p.parquet"},
		{args: "predict --model MODEL DATA --out DIR/p.arrow"}, {args: "convert DATA --out DIR/c.csv"}, {args: "convert DATA --out DIR/c.parquet"},
		{args: "convert DATA --out DIR/c.arrow"}, {args: "convert DATA --out DIR/c.svm"}, {args: "gen --rows 20000 --noise 0.1 --out DIR/g.parquet"},
		{args: "online DATA --label label --out DIR/o.json"}, {args: "eval --model MODEL DATA --roc DIR/roc.csv"},
	}
	run := func(w *writer, limit int) (status int, stderr string) {
		require.NoError(t, os.RemoveAll(dir))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name := range w.files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(before), 0o600))
		}
		if w.files["cache"] > 0 { // a file that isn't a cache is refused
			os.Remove(filepath.Join(dir, "cache"))
		}
		cmd := program(t, strings.Fields(strings.NewReplacer("DATA", data, "DIR", dir, "MODEL", m).Replace(w.args))...)
		cmd.Env = append(cmd.Env, asProgram+"="+fmt.Sprint(limit))
		var text bytes.Buffer
		cmd.Stderr = &text
		require.NoError(t, cmd.Start())
		return wait(cmd), text.String()
	}
	whole := map[string][]byte{}
	for _, w := range writers {
		if status, stderr := run(w, 1<<30); status != exitDone {
			t.Fatalf("%s: status %d: %s", w.args, status, stderr)
		}
		w.files = map[string]int{}
		paths, _ := filepath.Glob(filepath.Join(dir, "*.*"))
		if strings.Contains(w.args, "cache") {
			paths = append(paths, filepath.Join(dir, "cache"))
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			w.files[filepath.Base(path)] = len(text)
			whole[filepath.Base(path)] = text
		}
	}
	i := 0
	return func(rng *rand.Rand) (end, lost string) {
		w := writers[i%len(writers)]
		i++
		largest := 0
		for _, size := range w.files {
			largest = max(largest, size)
		}
		limit := rng.IntN(largest)
		if rng.IntN(8) == 0 { // the last bytes, and the first ones, too
			limit = []int{0, 1, largest - 1, largest}[rng.IntN(4)]
		}
		status, stderr := run(w, limit)
		how := fmt.Sprintf("%s, %d bytes: status %d, %s", w.args, limit, status, stderr)
		complete := 0
		for name := range w.files {
			text, err := os.ReadFile(filepath.Join(dir, name))
			switch same := bytes.Equal(text, whole[name]); {
			case err == nil && (same || name == "r.json" && bytes.HasSuffix(text, []byte("\"\n}\n"))):
				complete++
			case name == "cache" && os.IsNotExist(err), err == nil && string(text) == before:
			default:
				return "failed", fmt.Sprintf("%s: %s has %d bytes, error %v", how, name, len(text), err)
			}
		}
		left, _ := filepath.Glob(filepath.Join(dir, ".*"))
		points, _ := filepath.Glob(filepath.Join(dir, "points", ".*"))
		if left = append(left, points...); len(left) > 0 {
			return "failed", fmt.Sprintf("%s: %q are left", how, left)
		}
		switch {
		case status == exitDone && complete == len(w.files):
			return "done", ""
		case status == exitFailed && oneError(stderr):
			return "refused", ""
		}
		return "failed", how
	}
}

// littleSpace bounds the address space of a training. It is done, or it ends in whatever way, and leaves no output half written.
func littleSpace(t *testing.T) func(*rand.Rand) (end, lost string) {
	w := place(t, ample(t, "80000"), "--algo", "averaged", "--order", "shuffle", "--epochs", "3", "--receipt", "DIR/r.json", "--cache", "DIR/cache")
	return func(rng *rand.Rand) (end, lost string) {
		w.reset(t)
		cmd := w.program(t, w.args...)
		cmd.Env = append(cmd.Env, addressSpace+"="+fmt.Sprint(600<<20+rng.Int64N(3600<<20)))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		switch status := wait(cmd); {
		case status == exitDone:
			return "done", w.finished(t, "m.json", "r.json", "cache")
		case status == exitFailed && oneError(stderr.String()):
			end = "refused"
		case status == -1 && stderr.Len() == 0:
			end = "ended by the system"
		case status == exitUsage || status == -1 || status == 134:
			end = "ended by the runtime"
		default:
			return "failed", fmt.Sprintf("status %d: %.300s", status, &stderr)
		}
		if lost = w.half(); lost == "" {
			lost = w.again(t, "m.json", "r.json", "cache")
		}
		return end, lost
	}
}
