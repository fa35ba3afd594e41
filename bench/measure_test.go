package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/train"
)

// few measures a few items for a short time, once for all tests: on the best level by one worker, or in full tests on every level by all.
var few = sync.OnceValues(func() (*Report, error) {
	opt := Options{Only: []string{"Tile", "RankKUpdate", "Dot/type=float32/n=2048", "Train/learner=voted"}, Rounds: 1, Time: time.Millisecond, Version: "test"}
	if require.Small() {
		opt.Levels, opt.Workers = kernel.Levels()[len(kernel.Levels())-1:], 1
	}
	return Run(context.Background(), opt)
})

// TestRun: every item has a time and a value on every level; shares are there where the level has limits. An item without code for
// AVX-512 is measured at AVX2.
func TestRun(t *testing.T) {
	r, err := few()
	require.NoError(t, err)
	levels := kernel.Levels()
	if require.Small() {
		levels = levels[len(levels)-1:]
	}
	for _, l := range levels {
		for _, name := range []string{"Tile/type=float32", "RankKUpdate/type=float64/rows=32"} {
			i := r.Find(name, l.String())
			if i == nil {
				t.Fatalf("no %s on %s", name, l)
			}
			if !(i.Median > 0 && i.Value > 0) || (i.Share > 0) != (len(kernel.Levels()) > 1) {
				t.Errorf("%s on %s: %+v", name, l, i)
			}
		}
	}
	if slices.Contains(levels, kernel.AVX512) && (r.Find("Dot/type=float32/n=2048", "avx2") == nil || !slices.Contains(r.Machine.Levels, "avx2")) {
		t.Errorf("no Dot of AVX2: levels %v", r.Machine.Levels)
	}
	if slices.ContainsFunc(r.Items, func(i *Item) bool { return strings.HasPrefix(i.Name, "Axpy") }) {
		t.Error("an item that wasn't wanted was measured")
	}
	require.Error(t, require.ErrorOf(Run(t.Context(), Options{Only: []string{"nothing"}})), "no item of bench has nothing")
}

// TestTrainings: there is a training of each learner. Each learns the model of the recorded runs in bench/results, which
// are no longer comparable with new ones where that changes.
func TestTrainings(t *testing.T) {
	if parallel.RaceEnabled || len(kernel.Levels()) == 1 {
		t.Skip("slow here")
	}
	var learned []string
	models := map[string]string{}
	for _, i := range newData(t.Context(), "", 2).trainings() {
		require.NoError(t, i.run())
		learned, models[i.Name] = append(learned, Learner(i.Name)), i.SHA256
		if len(i.SHA256) != 64 || !(i.Bytes > 0 && i.Flops > 0) {
			t.Errorf("%s: %+v", i.Name, i)
		}
	}
	if !slices.Equal(learned, train.Names()) {
		t.Errorf("trainings of %v, want %v", learned, train.Names())
	}
	records, err := filepath.Glob("results/bench-*.json")
	if err != nil || len(records) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	for _, path := range records {
		r, err := Read(path)
		require.NoError(t, err)
		old := map[string]string{}
		for _, i := range r.Items {
			if i.SHA256 != "" {
				old[i.Name] = i.SHA256
			}
		}
		if !maps.Equal(old, models) {
			t.Errorf("%s has the models %v, and now they are %v", path, old, models)
		}
	}
	for name := range shapes {
		if train.Describe(name) == nil {
			t.Errorf("a shape for %s, which is no learner", name)
		}
	}
}

// TestOneModel: a learner that learns another model than before is an error that names it.
func TestOneModel(t *testing.T) {
	d := newData(t.Context(), "", 2)
	d.hashes["dual"] = "0123"
	err := d.train(&Item{}, train.Describe("dual"), shapes["dual"])
	require.Error(t, err, "dual learned two models")
}

// TestWriteGo: each line is what Go's benchmark format allows (https://go.dev/design/14313-benchmark-format).
func TestWriteGo(t *testing.T) {
	r, err := few()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, r.WriteGo(&b))
	configuration := regexp.MustCompile(`^[a-z][^\sA-Z]*: ?\S?.*$`)
	unit := regexp.MustCompile(`^Unit \S+ \S+=\S+$`)
	result := regexp.MustCompile(`^Benchmark[A-Z]\S* [1-9]\d* (-?\d+(\.\d+)?(e[+-]\d+)? \S+)( -?\d+(\.\d+)?(e[+-]\d+)? \S+)*$`)
	results := 0
	for line := range strings.Lines(b.String()) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case result.MatchString(line):
			results++
		case line != "" && !configuration.MatchString(line) && !unit.MatchString(line):
			t.Errorf("line %q", line)
		}
	}
	if results != len(r.Items) {
		t.Errorf("%d results of %d items in one round", results, len(r.Items))
	}
}

// TestCompare: a report is comparable with itself, and not with one of other models, of none, or in another format.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	write := func(r *Report) string {
		t.Helper()
		text, err := json.Marshal(r)
		require.NoError(t, err)
		path := filepath.Join(dir, "r.json")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	training := func(hash string) *Report {
		return &Report{Format: Format, Machine: Machine{Levels: []string{"generic"}}, Items: []*Item{
			{Group: Kernels, Name: "Dot/n=1", Level: "generic", Bytes: 1, Median: 1},
			{Group: Trains, Name: "Train/learner=svm/rows=1", Level: "generic", Median: 2, SHA256: hash}}}
	}
	one, err := Read(write(training("aa")))
	require.NoError(t, err)
	c, err := Compare([]string{"a", "b"}, []*Report{one, training("aa")})
	if err != nil || len(c.Rows) != 2 || c.Rows[1].Items[1].Median != 2 {
		t.Errorf("the same work: %+v, %v", c, err)
	}
	if c.Models != 1 || !slices.Equal(c.Alone, []int{0, 0}) {
		t.Errorf("%d models, alone %v", c.Models, c.Alone)
	}
	only := training("aa") // as bench --only Dot writes it
	only.Items = only.Items[:1]
	if c, err := Compare([]string{"a", "b", "c"}, []*Report{one, only, training("aa")}); err != nil || len(c.Rows) != 2 || c.Rows[1].Items[1] != nil || c.Models != 0 {
		t.Errorf("a part of the work: %+v, %v", c, err)
	}
	if c, err := Compare([]string{"a", "b"}, []*Report{one, only}); err != nil || len(c.Rows) != 1 || !slices.Equal(c.Alone, []int{1, 0}) {
		t.Errorf("a part of the work: %+v, %v", c, err)
	}
	other := training("aa")
	other.Items = other.Items[1:]
	other.Items[0].Name = "Train/learner=svm/rows=2"
	for want, r := range map[string]*Report{"svm learned different models": training("bb"), "a, b: no two of the files measured the same work": other} {
		require.Error(t, require.ErrorOf(Compare([]string{"a", "b"}, []*Report{one, r})), want)
	}
	old := training("aa")
	old.Format = "halfspace-bench/0"
	require.Error(t, require.ErrorOf(Read(write(old))), "halfspace-bench/0")
}

// limit returns a measured limit of one core.
func limit(of string, seconds float64) *Item {
	return &Item{Group: Limits, Name: LimitName(of, 1), Level: "avx2", Cores: 1, Seconds: []float64{seconds}, Flops: 1e9}
}

// TestFastest: the level in use is the best, whichever is the widest. An item without code for it is found on the level whose code it
// runs.
func TestFastest(t *testing.T) {
	for _, c := range []struct {
		isa, want string
		levels    []string
	}{{"avx2", "avx2", []string{"generic", "avx2", "avx512"}}, {"avx2", "generic", []string{"generic"}}, {"", "avx2", []string{"generic", "avx2"}}, {"", "", nil}} {
		if got := (&Report{Machine: Machine{ISA: c.isa, Levels: c.levels}}).Best(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	r := &Report{Machine: Machine{ISA: "avx512", Levels: []string{"generic", "avx2", "avx512"}}, Items: []*Item{
		{Name: "Dot", Level: "generic"}, {Name: "Dot", Level: "avx2"}, {Name: "Tile", Level: "avx2"}, {Name: "Tile", Level: "avx512"}}}
	if dot, tile, none := r.Fastest("Dot"), r.Fastest("Tile"), r.Fastest("Axpy"); dot != r.Items[1] || tile != r.Items[3] || none != nil {
		t.Errorf("%+v, %+v and %+v", dot, tile, none)
	}
}

// TestRowsText: rows per second come from the rows in the name, and a median is in the middle.
func TestRowsText(t *testing.T) {
	for want, i := range map[string]*Item{"4M rows/s": {Name: "Load/format=parquet/rows=2000000/d=28", Median: 0.5}, "3k rows/s": {Name: "Train/learner=voted/rows=300", Median: 0.1},
		"0.5 rows/s": {Name: "Train/rows=1", Median: 2}, "": {Name: "Dot/n=1", Median: 2}} {
		if got := i.RowsText(); got != want {
			t.Errorf("%s: %q, want %q", i.Name, got, want)
		}
	}
	if a, b := median([]float64{3, 1, 9}), median([]float64{4, 1, 2, 9}); a != 3 || b != 3 {
		t.Errorf("medians %v and %v", a, b)
	}
}

// TestShare: the limit that takes longer binds.
func TestShare(t *testing.T) {
	r := &Report{Machine: Machine{Levels: []string{"generic", "avx2"}}, Items: []*Item{limit("FMA-float32", 1), limit("L1", 1),
		{Level: "avx2", Cores: 1, Bytes: 1e9, Flops: 2e9, memory: "L1", float: "FMA-float32", Seconds: []float64{4}},
		{Level: "generic", Cores: 1, Bytes: 3e9, Flops: 2e9, memory: "L1", float: "FMA-float32", Seconds: []float64{4}},
		{Level: "avx2", Cores: 2, Bytes: 3e9, Flops: 2e9, memory: "L1", float: "FMA-float32", Seconds: []float64{4}}}}
	r.finish()
	for k, want := range []struct {
		limit string
		share float64
	}{{"FMA-float32", 0.5}, {"L1", 0.75}, {"", 0}} {
		if i := r.Items[k+2]; i.Limit != want.limit || i.Share != want.share {
			t.Errorf("item %d: %s %v, want %v", k, i.Limit, i.Share, want)
		}
	}
}
