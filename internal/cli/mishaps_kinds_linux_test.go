package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killed sends a signal to a training at a random moment, and a second one soon after unless the first one can't be caught.
func killed(signal syscall.Signal, options ...string) func(t *testing.T) func(*rand.Rand) (end, lost string) {
	return func(t *testing.T) func(*rand.Rand) (end, lost string) {
		w := place(t, ample(t, "80000"), append([]string{"--algo", "averaged", "--order", "shuffle", "--epochs", "20", "--memory", "12500000", "--receipt", "DIR/r.json"}, options...)...)
		return func(rng *rand.Rand) (end, lost string) {
			w.reset(t)
			cmd := w.program(t, w.args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(w.took))))
			cmd.Process.Signal(signal)
			if signal != syscall.SIGKILL {
				time.Sleep(time.Duration(rng.Int64N(int64(2 * oneInterrupt))))
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

// resumed kills a training with checkpoints again and again. It goes on from the last one each time.
func resumed(t *testing.T) func(*rand.Rand) (end, lost string) {
	data := ample(t, "80000")
	w := place(t, data, "--algo", "averaged", "--order", "shuffle", "--epochs", "60")
	args := append(slices.Clone(w.args), "--checkpoint", w.in("points"), "--checkpoint-every", "1", "--resume")
	return func(rng *rand.Rand) (end, lost string) {
		w.reset(t)
		for kills := range 10 {
			cmd := w.program(t, args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if kills < 9 {
				stop := time.AfterFunc(time.Duration(rng.Int64N(int64(w.took*2))), func() { cmd.Process.Kill() })
				defer stop.Stop()
			}
			switch status := wait(cmd); {
			case status == exitDone:
				if kills > 0 {
					end = "resumed and done"
				} else {
					end = "done before"
				}
				if err := os.RemoveAll(w.in("points")); err != nil {
					t.Fatal(err)
				}
				return end, w.finished(t, "m.json")
			case status != -1:
				return "failed", fmt.Sprintf("status %d: %s", status, &stderr)
			}
			if lost := w.half(); lost != "" {
				return "killed", lost
			}
		}
		return "killed", "it was never done"
	}
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
		{args: "bench compare ../../bench/results/bench-znver3.json ../../bench/results/bench-znver4.json --out DIR/b.svg"},
	}
	run := func(w *writer, limit int) (status int, stderr string) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name := range w.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if w.files["cache"] > 0 { // a file that isn't a cache is refused
			os.Remove(filepath.Join(dir, "cache"))
		}
		cmd := program(t, strings.Fields(strings.NewReplacer("DATA", data, "DIR", dir, "MODEL", m).Replace(w.args))...)
		cmd.Env = append(cmd.Env, asProgram+"="+fmt.Sprint(limit))
		var text bytes.Buffer
		cmd.Stderr = &text
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
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
			if err != nil {
				t.Fatal(err)
			}
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

// changed changes a file of data while a training streams it, which would never end. It must end with a line that names the file.
func changed(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir := t.TempDir()
	source, other := ample(t, "80000"), ample(t, "80001")
	i := 0
	return func(rng *rand.Rand) (end, lost string) {
		path := filepath.Join(dir, []string{"x.csv", "x.parquet", "x.arrow"}[i%3])
		harms := []string{"cut", "written to", "replaced", "removed"}
		harm := harms[rng.IntN(len(harms))]
		i++
		succeed(t, "convert", source, "--out", path)
		cmd, stderr, ended := running(t, path, "--memory", "12000000")
		defer cmd.Process.Kill()
		time.Sleep(time.Duration(rng.Int64N(int64(300 * time.Millisecond))))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		switch harm {
		case "cut":
			err = os.Truncate(path, rng.Int64N(info.Size()))
		case "written to":
			var f *os.File
			if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				_, err = f.WriteAt([]byte{byte(rng.Uint32())}, rng.Int64N(info.Size()))
				f.Close()
			}
		case "replaced":
			succeed(t, "convert", other, "--out", path)
		case "removed":
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		status := ended()
		kill.Stop()
		text := stderr.String()
		if last := text[strings.LastIndexAny(text, "\r\n"[:1])+1:]; status != exitFailed || !strings.Contains(text, "halfspace: "+path+": ") || strings.Contains(text, "internal error") {
			return harm, fmt.Sprintf("%s: status %d: %.300s", path, status, last)
		}
		return harm, ""
	}
}

// changedCache changes a cache while a training reads it.
func changedCache(t *testing.T) func(*rand.Rand) (end, lost string) {
	data, dir := ample(t, "80000"), t.TempDir()
	cache := filepath.Join(dir, "cache")
	return func(rng *rand.Rand) (end, lost string) {
		os.Remove(cache)
		order := []string{"cyclic", "shuffle", "random"}[rng.IntN(3)]
		cmd, stderr, ended := running(t, data, "--order", order, "--memory", "12500000", "--cache", cache)
		defer cmd.Process.Kill()
		time.Sleep(time.Duration(rng.Int64N(int64(100 * time.Millisecond))))
		info, err := os.Stat(cache)
		if err != nil {
			t.Fatal(err)
		}
		harm := "cut"
		if rng.IntN(2) == 0 {
			harm = "written to"
			var f *os.File
			if f, err = os.OpenFile(cache, os.O_WRONLY, 0); err == nil {
				at := rng.Int64N(info.Size() / 2)
				_, err = f.WriteAt(make([]byte, info.Size()/4), at)
				f.Close()
			}
		} else {
			err = os.Truncate(cache, rng.Int64N(info.Size()*3/4))
		}
		if err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		status := ended()
		kill.Stop()
		if status != exitFailed || !strings.Contains(stderr.String(), "halfspace: "+cache+": ") {
			return harm, fmt.Sprintf("%s: status %d: %.300s", order, status, stderr)
		}
		return harm, ""
	}
}

// littleSpace bounds the address space of a training.
func littleSpace(t *testing.T) func(*rand.Rand) (end, lost string) {
	return shortOf(t, func(rng *rand.Rand, cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, addressSpace+"="+fmt.Sprint(600<<20+rng.Int64N(3600<<20)))
	})
}

// littleMemory runs a training in a control group with little memory.
func littleMemory(t *testing.T) func(*rand.Rand) (end, lost string) {
	group, limit := memoryGroup(t)
	return shortOf(t, func(rng *rand.Rand, cmd *exec.Cmd) {
		if err := os.WriteFile(limit, []byte(fmt.Sprint(4<<20+rng.Int64N(100<<20))), 0); err != nil {
			t.Fatal(err)
		}
		enter := exec.Command("sh", append([]string{"-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group, cmd.Path}, cmd.Args[1:]...)...)
		enter.Env = cmd.Env
		*cmd = *enter
	})
}

// memoryGroup makes a control group, and returns its folder and the file with the limit of its memory. It skips the test where it can't.
func memoryGroup(t *testing.T) (group, limit string) {
	for folder, file := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		group = filepath.Join(folder, fmt.Sprint("halfspace-test-", os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		limit = filepath.Join(group, file)
		if _, err := os.Stat(limit); err == nil { // the system makes it, unless the folder is none of groups
			t.Cleanup(func() { os.Remove(group) })
			return group, limit
		}
		os.Remove(group)
	}
	t.Skip("SKIPPED: little memory: no control group can be made here: run it as root where one has a limit of memory")
	return "", ""
}

// shortOf bounds what a training may take. It is done, or it ends in whatever way, and leaves no output half written.
func shortOf(t *testing.T, bound func(*rand.Rand, *exec.Cmd)) func(*rand.Rand) (end, lost string) {
	w := place(t, ample(t, "80000"), "--algo", "averaged", "--order", "shuffle", "--epochs", "3", "--receipt", "DIR/r.json", "--cache", "DIR/cache")
	return func(rng *rand.Rand) (end, lost string) {
		w.reset(t)
		cmd := w.program(t, w.args...)
		bound(rng, cmd)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
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

// crowded starts 20 trainings with one cache at the same time. Each is done with the same model, or refused.
func crowded(t *testing.T) func(*rand.Rand) (end, lost string) {
	w := place(t, ample(t, "80000"), "--algo", "perceptron", "--epochs", "1", "--memory", "12000000", "--cache", "DIR/cache")
	made := false
	return func(*rand.Rand) (end, lost string) {
		if made = !made; made {
			w.reset(t)
		}
		done := 0
		var all [20]*process
		for i := range all {
			args := slices.Clone(w.args)
			args[slices.Index(args, "--out")+1] = w.in(fmt.Sprint(i, ".json"))
			all[i] = start(t, args...)
		}
		kill := time.AfterFunc(patience, func() {
			for _, p := range all {
				p.cmd.Process.Kill()
			}
		})
		defer kill.Stop()
		for i, p := range all {
			<-p.ended
			path := w.in(fmt.Sprint(i, ".json"))
			text, err := os.ReadFile(path)
			switch status := p.cmd.ProcessState.ExitCode(); {
			case status == exitDone && err == nil && bytes.Equal(text, w.whole):
				done++
				os.Remove(path)
			case !made || status != exitFailed || !strings.Contains(p.stderr.String(), "cache is in use by another run, process "):
				lost = fmt.Sprintf("run %d: status %d, %d bytes, %v, %s", i, status, len(text), err, &p.stderr)
			}
		}
		if lost == "" && done == 0 {
			lost = "no run was done"
		}
		if left, _ := filepath.Glob(w.in(".*")); len(left) > 0 {
			lost = fmt.Sprintf("%q are left", left)
		}
		if made {
			return "made", lost
		}
		return "read", lost
	}
}
