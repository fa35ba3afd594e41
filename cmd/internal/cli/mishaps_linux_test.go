package cli

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
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

	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/kernel"
)

var mishapTable = flag.String("mishaps", "", "a file that TestMishaps writes its table to, after the long set with HALFSPACE_TEST=full, else after the short set; without -mishaps the set is short")

// A mishap is something that goes wrong while the program is at work.
type mishap struct {
	name, about string
	few, many   int // tries of the short and the long set

	// begin makes what the tries need, and returns the function of a try. That returns how it ended, such as "done" or "refused", and what was
	// lost or wrong, "" for nothing.
	begin func(t *testing.T) func(rng *rand.Rand) (end, lost string)
}

var mishaps = []mishap{
	{"kill -9", "of `train` with a cache, a model and a receipt; then the same command again", 3, 200, killed(syscall.SIGKILL, "--cache", "DIR/cache")},
	{"kill -9, `--resume`", "of `train` with checkpoints, six learners in turn, up to nine times in a row, until it is done", 6, 480, resumed},
	{"two signals", "SIGTERM and a second one up to 0.4 s later, of the same command", 3, 100, killed(syscall.SIGTERM, "--cache", "DIR/cache")},
	{"full disk", "no file may be larger than a random number of bytes, of every command that writes", 24, 2000, fullDisk},
	{"little address space", "`ulimit -v` of 0.6 to 4.1 GiB", 2, 100, littleSpace},
	{"a flipped bit of data", "in a CSV, svmlight, Arrow or Parquet file; `verify` with a receipt, which names the chunks of rows that differ, and no other", 40, 10000, flippedData},
	{"a flipped bit of a checkpoint", "of a killed training; `train --resume` ends in the same model, or in an error that names the file", 20, 500, flippedCheckpoint},
	{"a flipped bit of a cache", "`train --cache` ends in the same model, or in an error that names the file", 20, 500, flippedCache},
	{"a flipped bit of a receipt", "`verify --receipt` prints the same, or an error that names the file", 20, 500, flippedReceipt},
	{"a flipped bit of a model", "`predict` writes the same, or an error that names the file", 20, 500, flippedModel},
}

// TestMishaps: whatever goes wrong, no file is half written, no result is wrong, and nothing is left after the next run.
func TestMishaps(t *testing.T) {
	inParallel(t)
	if parallel.RaceEnabled {
		t.Skip("takes minutes with the race detector")
	}
	table := fmt.Sprintf(mishapHead, cmp.Or(kernel.DetectedCPU().Brand, "unknown"))
	for _, m := range mishaps {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			tries, seed, set := m.few, uint64(1), ", short"
			switch {
			case require.Small():
				tries = max(1, tries/3)
			case *mishapTable != "":
				tries, seed, set = m.many, 2, ""
			}
			try, rng := m.begin(t), rand.New(rand.NewPCG(seed, 20))
			ends, lost := map[string]int{}, 0
			begin := time.Now()
			for i := range tries {
				end, what := try(rng)
				if ends[end]++; what != "" {
					lost++
					t.Errorf("try %d, %s: %s", i, end, what)
				}
			}
			var all []string
			for _, end := range slices.Sorted(func(yield func(string) bool) {
				for end := range ends {
					if !yield(end) {
						return
					}
				}
			}) {
				all = append(all, fmt.Sprint(ends[end], " ", end))
			}
			what := "nothing"
			if lost > 0 {
				what = fmt.Sprint("something, ", lost, " times")
			}
			table += fmt.Sprintf("| %s | %s | %d%s | %s | %s |\n", m.name, m.about, tries, set, strings.Join(all, ", "), what)
			t.Logf("%d tries in %.1f s: %s", tries, time.Since(begin).Seconds(), strings.Join(all, ", "))
			if *mishapTable != "" {
				require.NoError(t, os.WriteFile(*mishapTable, []byte(table), 0o666))
			}
		})
	}
}

const mishapHead = `# What goes wrong, and what is lost

` + "`make mishaps`" + ` writes this table. ` + "`make check`" + ` makes a few tries of each: rows with "short" are of that set. Each try but those of
flipped bits is a process of its own, hit at a random moment. These count as lost:

- an output that is neither as it was nor complete
- another model than that of a run without a mishap
- an error of more than a line, but for that of the runtime where address space is missing
- a file that is left after the next run

The clock has no row: ` + "`TestClockJumps`" + ` of package train has it jump by an hour at each report of 16 trainings, which end in the same bytes.

Processor: %s.

| mishap | what it is | tries | how they ended | lost |
|---|---|---|---|---|
`

// A workplace is a training, and the model that it gives when nothing goes wrong.
type workplace struct {
	dir   string
	args  []string
	whole []byte
	took  time.Duration
}

// place makes the workplace of a training of a file of data. DIR in its options stands for the folder of its files.
func place(t *testing.T, data string, options ...string) *workplace {
	t.Helper()
	w := &workplace{dir: t.TempDir()}
	w.args = []string{"train", data, "--label", "label", "--out", w.in("m.json")}
	for _, o := range options {
		w.args = append(w.args, strings.ReplaceAll(o, "DIR", w.dir))
	}
	begin := time.Now()
	if text, err := w.program(t, w.args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	w.took = time.Since(begin)
	var err error
	if w.whole, err = os.ReadFile(w.in("m.json")); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workplace) in(name string) string { return filepath.Join(w.dir, name) }

// program returns the program with its temporary files in the workplace.
func (w *workplace) program(t *testing.T, args ...string) *exec.Cmd {
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+w.dir)
	return cmd
}

const before = "what was there before"

// reset leaves one file: a model that the training is to replace.
func (w *workplace) reset(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(w.dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.NoError(t, os.RemoveAll(w.in(e.Name())))
	}
	require.NoError(t, os.WriteFile(w.in("m.json"), []byte(before), 0o600))
}

// half returns what is wrong with the model and the receipt after a run that was hit. A signal may have it write the weights so far.
func (w *workplace) half() string {
	text, err := os.ReadFile(w.in("m.json"))
	if err != nil {
		return "the model: " + err.Error()
	}
	if string(text) != before && !bytes.Equal(text, w.whole) {
		if m, err := model.Load(w.in("m.json")); err != nil || m.Training.Converged {
			return fmt.Sprintf("the model has %d bytes, error %v", len(text), err)
		}
	}
	if _, err := model.LoadReceipt(w.in("r.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	return ""
}

// again runs the training once more and returns what is wrong then. names are the files that it leaves.
func (w *workplace) again(t *testing.T, names ...string) string {
	if text, err := w.program(t, w.args...).CombinedOutput(); err != nil {
		return fmt.Sprintf("the next run: %v: %s", err, text)
	}
	return w.finished(t, names...)
}

// finished returns what is wrong with the files after a run that was done.
func (w *workplace) finished(t *testing.T, names ...string) string {
	t.Helper()
	if text, err := os.ReadFile(w.in("m.json")); err != nil || !bytes.Equal(text, w.whole) {
		return fmt.Sprintf("another model, of %d bytes, error %v", len(text), err)
	}
	entries, err := os.ReadDir(w.dir)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			left = append(left, e.Name())
		}
	}
	if len(left) > 0 || len(entries) != len(names) {
		return fmt.Sprintf("%d files, and %q are left", len(entries), left)
	}
	return ""
}

// patience is how long a process may take before it is killed.
const patience = 2 * time.Minute

// wait waits for a process and returns its status, -1 for a signal. A process that runs on is killed, and the status is -2.
func wait(cmd *exec.Cmd) int {
	kill := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	cmd.Wait()
	if !kill.Stop() {
		return -2
	}
	return cmd.ProcessState.ExitCode()
}

// oneError tells whether standard error ends with the one line of an error.
func oneError(stderr string) bool {
	last := stderr[strings.LastIndexByte(strings.TrimSuffix(stderr, "\n"), '\n')+1:]
	return strings.HasPrefix(last, "halfspace: ") && strings.Count(stderr, "halfspace: ") == 1 && !strings.Contains(stderr, "internal error")
}
