package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/kernel"
)

var (
	table     = flag.String("table", "", "a file that TestSparsePeers writes its table to")
	onlyNamed = flag.String("named", "", "TestSparsePeers takes only trainings whose names contain this")
)

const (
	near         = 1e-6            // how far an objective may be above the least one, relative to it
	patience     = 5 * time.Minute // for a process
	sparseRounds = 5               // the most runs of each side, by turns
	sparseBudget = time.Minute     // for the runs of all sides; another round begins only if it ends before
)

// A sparseTraining is an objective, l1 |w|_1 + l2/2 |w|^2 + the sum of losses, and the programs that minimise it.
type sparseTraining struct {
	name, loss string
	l1, l2     float64
	sides      []*sparseSide // halfspace first
}

// A sparseSide is a program with its options.
type sparseSide struct {
	name    string
	tight   bool // it runs once: its objective counts and not its time
	command func(rows *csrRows, out string) []string
	weights func(t testing.TB, out string) []float64

	runs      []usage
	objective float64 // NaN: there is none within patience
}

// csrRows is a set on the disk and in memory.
type csrRows struct {
	svm, vw  string // files
	data     *block.Data
	elements int64
}

// bytes returns the size of the rows in CSR form with labels.
func (r *csrRows) bytes() int64 { return 8*r.elements + 12*r.data.Rows() }

func sparseTrainings(halfspace string) []sparseTraining {
	own := func(options ...string) *sparseSide {
		return &sparseSide{name: "halfspace", command: func(rows *csrRows, out string) []string {
			return append([]string{halfspace, "train", rows.svm, "--no-bias", "--out", out}, options...)
		}, weights: func(t testing.TB, out string) []float64 {
			m, err := model.Load(out)
			require.NoError(t, err)
			return m.Weights[0]
		}}
	}
	liblinear := func(solver, tolerance string) []*sparseSide {
		side := func(options ...string) *sparseSide {
			return &sparseSide{name: "LIBLINEAR " + strings.Join(options, " "), tight: len(options) > 2,
				command: func(rows *csrRows, out string) []string {
					return append(append([]string{"liblinear-train", "-q", "-c", "1", "-B", "-1"}, options...), rows.svm, out)
				}, weights: liblinearWeights}
		}
		return []*sparseSide{side("-s", solver), side("-s", solver, "-e", tolerance)}
	}
	vowpal := &sparseSide{name: "Vowpal Wabbit, 10 passes", command: func(rows *csrRows, out string) []string {
		return []string{"vw", "--quiet", "-d", rows.vw, "--loss_function", "logistic", "--noconstant", "--holdout_off",
			"--l2", fmt.Sprint(1 / float64(rows.data.Rows())), "--passes", "10", "--cache_file", rows.vw + ".cache", "-k", "--readable_model", out}
	}, weights: vowpalWeights}
	saga := func(tolerance, epochs string) *sparseSide {
		return &sparseSide{name: "scikit-learn saga, tol " + tolerance, tight: epochs != "100", command: func(rows *csrRows, out string) []string {
			return []string{"/usr/bin/python3", "peers/sklearn_saga.py", rows.svm, out, "0.5", "0.5", tolerance, epochs}
		}, weights: plainWeights}
	}
	return []sparseTraining{
		{"logistic, l2 1", "logistic", 0, 1, slices.Concat([]*sparseSide{own("--algo", "logistic", "--l2", "1")},
			liblinear("0", "1e-6"), liblinear("7", "1e-4"), []*sparseSide{vowpal})},
		{"squared hinge, l2 1", "squared_hinge", 0, 1, append([]*sparseSide{own("--algo", "svm", "--l2", "1")}, liblinear("2", "1e-6")...)},
		{"hinge, l2 1", "hinge", 0, 1, append([]*sparseSide{own("--algo", "svm", "--loss", "hinge", "--l2", "1")}, liblinear("3", "1e-5")...)},
		{"squared hinge, l1 1", "squared_hinge", 1, 0, append([]*sparseSide{own("--algo", "svm", "--l1", "1")}, liblinear("5", "1e-5")...)},
		{"logistic, l1 1", "logistic", 1, 0, append([]*sparseSide{own("--algo", "logistic", "--l1", "1")}, liblinear("6", "1e-5")...)},
		{"logistic, l1 and l2 1/2", "logistic", 0.5, 0.5, []*sparseSide{own("--algo", "logistic", "--l1", "0.5", "--l2", "0.5"),
			saga("1e-4", "100"), saga("1e-8", "1000000")}},
	}
}

// TestSparsePeers compares trainings on sparse rows with LIBLINEAR, scikit-learn and Vowpal Wabbit, and writes a table.
// Every run is a whole process that reads svmlight, or Vowpal Wabbit's format. The objective of halfspace must be at most a
// millionth above the least one. It takes an hour or so, and runs only if -table names a file. -named takes a part of a
// name such as "a9a, hinge, l2 1".
//
//	go test -run TestSparsePeers -timeout 180m ./bench -table results/sparse.md
func TestSparsePeers(t *testing.T) {
	if *table == "" {
		t.Skip("it trains for an hour: -table names the file to write")
	}
	dir := t.TempDir()
	halfspace := buildCommand(t, dir)
	text := sparseHead()
	for _, set := range sparseSets() {
		trainings := slices.DeleteFunc(sparseTrainings(halfspace), func(s sparseTraining) bool {
			return !strings.Contains(set.name+", "+s.name, *onlyNamed)
		})
		if len(trainings) == 0 {
			continue
		}
		text += fmt.Sprintf("\n## %s\n\n", set.name)
		rows, err := prepareSparse(t, t.TempDir(), set)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "SKIPPED: %s: %v\n", set.name, err)
			text += "SKIPPED: the data are not there.\n"
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", set.name, err)
		}
		text += fmt.Sprintf("%d rows, %d features, %d elements. The CSR arrays take %.1f MiB. Commit %s, load average at the start %s.\n\n%s",
			rows.data.Rows(), len(rows.data.Spec().Features), rows.elements, float64(rows.bytes())/(1<<20), commit(), load1(), csrColumns)
		for _, training := range trainings {
			training.run(t, filepath.Join(dir, "model"), rows)
			lines := training.lines(t, rows)
			t.Logf("%s\n%s", set.name, lines)
			text += lines
			require.NoError(t, os.WriteFile(*table, []byte(text), 0o666))
		}
	}
}

// prepareSparse writes the rows of a set, and loads them.
func prepareSparse(t *testing.T, dir string, set sparseSet) (*csrRows, error) {
	r := &csrRows{svm: filepath.Join(dir, "rows.svm"), vw: filepath.Join(dir, "rows.vw")}
	if err := set.write(r.svm); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("vw"); err == nil {
		writeVowpal(t, r.svm, r.vw)
	}
	var err error
	r.data, err = dataset.Load(t.Context(), r.svm, dataset.Options{Label: "label", NoBias: true, Storage: dataset.Sparse})
	if err != nil {
		return nil, err
	}
	for b := range r.data.Blocks(t.Context()) {
		r.elements += int64(len(b.Sparse.Idx))
	}
	return r, nil
}

// run runs all sides by turns. It leaves out those whose program isn't installed.
func (s *sparseTraining) run(t *testing.T, out string, rows *csrRows) {
	s.sides = slices.DeleteFunc(s.sides, func(side *sparseSide) bool {
		program := side.command(rows, out)[0]
		_, err := exec.LookPath(program)
		if err != nil {
			fmt.Fprintf(os.Stderr, "SKIPPED: %s: no %s on the PATH\n", side.name, program)
		}
		return err != nil
	})
	spent := time.Duration(0)
	for round := range sparseRounds {
		if round > 0 && spent/time.Duration(round)*time.Duration(round+1) > sparseBudget {
			break
		}
		for _, side := range s.sides {
			if round > 0 && (side.tight || math.IsNaN(side.objective)) {
				continue
			}
			u, err := use(side.command(rows, out))
			if errors.Is(err, context.DeadlineExceeded) {
				side.objective = math.NaN()
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", side.name, err)
			}
			side.runs = append(side.runs, u)
			if !side.tight {
				spent += time.Duration(u.wall * float64(time.Second))
			}
			if round == 0 {
				side.objective = objective(rows.data, s.loss, s.l1, s.l2, side.weights(t, out))
			}
		}
	}
}

// A usage is what a process took: seconds, seconds of all cores, and MiB.
type usage struct{ wall, cpu, peak float64 }

// use runs a process. The error is context.DeadlineExceeded if it takes longer than patience.
//
// The peak is read while the process runs. What the system tells at the end may be the memory of this process, from which
// the other one was forked.
func use(command []string) (u usage, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-time.After(5 * time.Millisecond):
			u.peak = max(u.peak, peakOf(cmd.Process.Pid))
		}
	}
	u.wall, u.cpu = time.Since(start).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if ctx.Err() != nil {
		return u, ctx.Err()
	}
	if err != nil {
		return u, fmt.Errorf("%w\n%s", err, &out)
	}
	return u, nil
}

// peakOf returns the largest memory so far of a process in MiB, 0 if it has ended.
func peakOf(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	size, _, _ := strings.Cut(strings.TrimSpace(after), " kB")
	kib, _ := strconv.ParseFloat(size, 64)
	return kib / 1024
}

// over returns the median of a figure of the runs.
func (s *sparseSide) over(figure func(usage) float64) float64 {
	var all []float64
	for _, u := range s.runs {
		all = append(all, figure(u))
	}
	return median(all)
}

func wallOf(u usage) float64 { return u.wall }
func cpuOf(u usage) float64  { return u.cpu }

const csrColumns = "| training | program | runs | wall, s | processor, s | peak, MiB | peak / CSR | above the least objective | wall / halfspace's | processor / halfspace's | winner |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|\n"

// lines returns the lines of the table. It is an error if the objective of halfspace isn't the least one, up to a
// millionth.
func (s *sparseTraining) lines(t *testing.T, rows *csrRows) string {
	own, least := s.sides[0], math.Inf(1)
	for _, side := range s.sides {
		if side.objective < least {
			least = side.objective
		}
	}
	if !(own.objective <= least*(1+near)) {
		t.Errorf("%s: the objective is %v, and a peer's %v", s.name, own.objective, least)
	}
	var text strings.Builder
	for _, side := range s.sides {
		if math.IsNaN(side.objective) {
			fmt.Fprintf(&text, "| %s | %s | 0 | more than %.0f | | | | | | | |\n", s.name, side.name, patience.Seconds())
			continue
		}
		peak := side.over(func(u usage) float64 { return u.peak })
		ratio, winner := " | ", ""
		if side != own && !side.tight && math.IsNaN(own.objective) {
			winner = side.name
		} else if side != own && !side.tight {
			c := contest{peer: side.name, own: walls(own), theirs: walls(side)}
			ratio, winner = fmt.Sprintf("%.2f | %.2f", c.ratio(), side.over(cpuOf)/own.over(cpuOf)), c.winner()
			if above := side.objective/least - 1; winner == side.name && above > 0.01 {
				winner += fmt.Sprintf(", at an objective %.2g %% higher", 100*above)
			}
		}
		fmt.Fprintf(&text, "| %s | %s | %d | %.3g | %.3g | %.0f | %.2f | %.1g | %s | %s |\n", s.name, side.name, len(side.runs), side.over(wallOf),
			side.over(cpuOf), peak, peak*(1<<20)/float64(rows.bytes()), side.objective/least-1, ratio, winner)
	}
	return text.String()
}

func walls(s *sparseSide) (all []float64) {
	for _, u := range s.runs {
		all = append(all, u.wall)
	}
	return all
}

// sparseHead says how to read the table, and where it was made.
func sparseHead() string {
	cpu := kernel.DetectedCPU()
	return fmt.Sprintf(`# Sparse rows beside other programs

`+"`make bench-sparse`"+` writes this table: %s (family %d, model %d), %d cores,
%s, %s. Other programs may have run beside it: the load average says how many. Processor times
suffer less from them than wall times do.

A run is a whole process, from the file to the model. Files are in svmlight, or in Vowpal Wabbit's format. Programs take
turns, up to %d times, and wall and processor times are medians. A line with -e, or with a tol below 1e-4, is one run: it
says how low the objective can get. Objectives are computed in float64 from the weights of the models, those of halfspace
in float32. The winner has the shorter wall time; nobody wins where they differ by less than %.0f %%. CSR arrays are 8
bytes for each element, and 12 for each row. The column above the least objective is relative: 0.01 is 1 %% higher.
`, cpu.Brand, cpu.Family, cpu.Model, runtime.NumCPU(), kernel.Active(), time.Now().UTC().Format(time.DateOnly), sparseRounds, 100*even)
}

// load1 returns the load of the machine as Linux tells it: processes that run or wait, a mean over a minute.
func load1() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// commit returns the commit that is checked out.
func commit() string {
	text, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
