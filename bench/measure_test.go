package bench

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/kernel"
)

// TestRun: each line is what Go's benchmark format allows (https://go.dev/design/14313-benchmark-format). Each item is
// there once for each round and each level whose code it runs, with a share of the limit where the levels have limits.
func TestRun(t *testing.T) {
	const rounds = 2
	opt := Options{Only: []string{"Tile", "Dot/type=float32/n=2048", "learner=voted"}, Rounds: rounds, Time: time.Millisecond, Workers: 1, Levels: kernel.Levels()}
	if require.Small() {
		opt.Levels = opt.Levels[len(opt.Levels)-1:]
	}
	widest := opt.Levels[len(opt.Levels)-1]
	found, limits := map[string]int{}, widest != kernel.Generic
	result := regexp.MustCompile(`^Benchmark([A-Z]\S*)\t *[1-9]\d*(\t *\d+(\.\d+)? \S+)+$`)
	require.NoError(t, Run(t.Context(), opt, func(line string) error {
		m := result.FindStringSubmatch(line)
		switch {
		case m != nil:
			found[m[1]]++
		case !regexp.MustCompile(`^goos: \w+\ngoarch: \w+\npkg: halfspace/bench(\ncpu: .+)?$`).MatchString(line):
			t.Errorf("line %q", line)
		}
		if m != nil && strings.Contains(line, "%limit") != (limits && !strings.Contains(line, "Limit/") && !strings.Contains(line, "Train/")) {
			t.Errorf("line %q", line)
		}
		return nil
	}))
	for _, l := range opt.Levels {
		for _, name := range []string{"Tile/isa=" + l.String() + "/type=float32", "Train/isa=" + l.String() + "/learner=voted/rows=2000/d=28/epochs=1"} {
			if found[name] != rounds {
				t.Errorf("%d lines of %s", found[name], name)
			}
		}
	}
	dot := kernel.Levels()[min(1, len(kernel.Levels())-1)] // which has no code for AVX-512
	if found["Dot/isa="+dot.String()+"/type=float32/n=2048"] != rounds || limits && found["Limit/of=DRAM"] != rounds {
		t.Errorf("lines %v", found)
	}
	for name := range found {
		if strings.HasPrefix(name, "Axpy") {
			t.Errorf("%s wasn't wanted", name)
		}
	}
}

// TestRunErrors: a text that no item has is an error that names it. The error of print ends the run, and so does the end of the context.
func TestRunErrors(t *testing.T) {
	opt := Options{Only: []string{"nothing"}, Levels: []kernel.Level{kernel.Generic}}
	lines, full := 0, errors.New("disk full")
	fails := func(string) error { lines++; return full }
	require.Error(t, Run(t.Context(), opt, fails), "no item of bench has nothing")
	opt.Only[0] = "learner=voted"
	if err := Run(t.Context(), opt, fails); err != full || lines != 1 {
		t.Errorf("error %v after %d lines", err, lines)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Run(ended, opt, func(string) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestMeasureItem: rates and shares follow from the time that a run says it took, and the first run doesn't count.
func TestMeasureItem(t *testing.T) {
	for _, c := range []struct {
		bytes, flops, share float64
		text                string
	}{{4e6, 2e6, 50, "ns/op	4000.00 MB/s"}, {4e6, 8e6, 100, "8.000 GFLOP/s"}, {0, 0, 0, "1000000 ns/op"}} {
		runs := -1
		i := &item{cores: 2, bytes: c.bytes, flops: c.flops, run: func() (time.Duration, error) { runs++; return time.Millisecond, nil }}
		if c.share > 0 {
			i.limit = func(l Rates) float64 { return l.L1 }
		}
		m := &measurement{Options: Options{Time: time.Microsecond}, rates: map[int]Rates{2: {L1: 8e9}}}
		r, err := m.measure(i)
		if err != nil || r.N != runs || r.T != time.Duration(runs)*time.Millisecond || r.Extra["%limit"] != c.share || !strings.Contains(r.String(), c.text) {
			t.Errorf("%v bytes, %v flops: %s after %d runs, error %v", c.bytes, c.flops, r, runs, err)
		}
	}
}

// TestMore: batches double until the next one would end too late, and have one run at least.
func TestMore(t *testing.T) {
	for _, c := range []struct {
		runs         int
		took, wanted time.Duration
		want         int
	}{{1, 0, 100, 1}, {8, 10, 100, 8}, {8, 80, 100, 2}, {8, 99, 100, 1}, {8, 200, 100, 1}} {
		if got := moreRuns(c.runs, c.took, c.wanted); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestTrainings: there is a training of each learner, and a shape only for learners.
func TestTrainings(t *testing.T) {
	if parallel.RaceEnabled || len(kernel.Levels()) == 1 {
		t.Skip("slow here")
	}
	all := newData(t.Context(), "", 2).trainings()
	for k, name := range train.Names() {
		if took, err := all[k].run(); err != nil || took <= 0 || !strings.HasPrefix(all[k].name, "Train/learner="+name+"/") {
			t.Errorf("%s instead of %s took %v, error %v", all[k].name, name, took, err)
		}
	}
	if len(all) != len(train.Names()) {
		t.Errorf("%d trainings", len(all))
	}
	for name := range learnerShapes {
		if train.Describe(name) == nil {
			t.Errorf("a shape for %s, which is no learner", name)
		}
	}
}

// TestOneModel: a learner that learns another model than before is an error that names it.
func TestOneModel(t *testing.T) {
	d := newData(t.Context(), "", 2)
	d.hashes["dual"] = "0123"
	require.Error(t, require.ErrorOf(d.train(train.Describe("dual"), learnerShapes["dual"])), "dual learned two models")
}
