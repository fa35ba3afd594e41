package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/internal/files"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Options select the measurements. The zero value of a field stands for the default in the field's comment.
type Options struct {
	Levels  []kernel.Level // default: all levels of this computer
	Only    []string       // items whose group and name, such as "kernel/Dot/type=float32/n=2048", contain one of these texts; default: all
	Rounds  int            // default: 6
	Time    time.Duration  // approximate time of an item in a round; the item runs at least once; default: 50 ms
	Workers int            // default: one for each core

	// Progress, if not nil, receives the name of the next measurement, and the number of measurements done.
	Progress func(name string, done, total int64)
}

// An item is work that is timed on one level.
type item struct {
	group, name string       // such as "kernel" and "Dot/type=float32/n=2048"
	level       kernel.Level // level whose code runs; for a training, the active level
	cores       int          // largest number of cores that work at once

	// A run reads at least that number of bytes and computes that number of flops; a fused multiply-add counts as two.
	// An item with more flops than bytes has a limit of arithmetic, other items have a limit of memory.
	bytes, flops float64
	limit        func(Rates) float64 // limit in flops or in bytes per second; nil: not known

	run   func() (time.Duration, error) // does the work once; returns the time of the work, or 0 if the whole call counts
	spent time.Duration                 // time of all rounds
}

// mostTime bounds the total time of an item. Once an item has taken that long, later rounds skip the item.
const mostTime = 1500 * time.Millisecond

// Run measures this computer. It calls print with each line of Go's benchmark format
// (https://go.dev/design/14313-benchmark-format): first the configuration, then in each round the limits of this
// computer and all items on all levels, so that other programs disturb all items alike. Run returns the first error of
// print, and an error if a learner learns other models in other runs or on other levels.
func Run(ctx context.Context, opt Options, print func(line string) error) error {
	defer kernel.Use(kernel.Active())
	if opt.Levels == nil {
		opt.Levels = kernel.Levels()
	}
	opt.Rounds, opt.Time, opt.Workers = cmp.Or(opt.Rounds, 6), cmp.Or(opt.Time, 50*time.Millisecond), parallel.Workers(opt.Workers)
	dir, err := os.MkdirTemp(files.TempDir(), "halfspace-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m := &measurement{Options: opt, data: newData(ctx, dir, opt.Workers), print: print, rates: map[int]Rates{}}
	if err := m.prepare(); err != nil {
		return err
	}
	if err := m.configuration(); err != nil {
		return err
	}
	for range opt.Rounds {
		if err := m.round(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A measurement is one call of Run.
type measurement struct {
	Options
	data        *data
	print       func(line string) error
	rates       map[int]Rates // limits of the last of Levels by number of cores; empty if the level has no loops for limits
	levels      [][]*item     // items of each level
	done, total int64         // numbers of measurements
}

// configuration prints the lines that go test -bench prints before the benchmarks of a package.
func (m *measurement) configuration() error {
	text := fmt.Sprintf("goos: %s\ngoarch: %s\npkg: halfspace/bench", runtime.GOOS, runtime.GOARCH)
	if brand := strings.Fields(kernel.DetectedCPU().Brand); len(brand) > 0 {
		text += "\ncpu: " + strings.Join(brand, " ")
	}
	return m.print(text)
}

// prepare makes the items of each level. If an item's kernels have no code for a level, the item gets the level of the
// code that they run, and is measured once.
func (m *measurement) prepare() error {
	type key struct {
		name  string
		level kernel.Level
	}
	known := map[key]bool{}
	for _, l := range m.Levels {
		kernel.Use(l)
		var all []*item
		for _, i := range slices.Concat(m.data.kernels(), m.data.matrices(), m.data.loads(), m.data.trainings()) {
			if k := (key{i.name, i.level}); m.wantsItem(i) && !known[k] {
				known[k], all = true, append(all, i)
			}
		}
		m.levels = append(m.levels, all)
		m.total += int64(m.Rounds * len(all))
	}
	if m.total == 0 {
		return fmt.Errorf("no item of bench has %s in its group and name, such as kernel/Dot/type=float32 or "+
			"train/Train/learner=svm", strings.Join(m.Only, " or "))
	}
	return nil
}

// wantsItem tells whether an item is to be measured.
func (m *measurement) wantsItem(i *item) bool {
	return len(m.Only) == 0 || slices.ContainsFunc(m.Only, func(text string) bool { return strings.Contains(i.group+"/"+i.name, text) })
}

func (m *measurement) round(ctx context.Context) error {
	if err := m.limits(); err != nil {
		return err
	}
	for k, l := range m.Levels {
		kernel.Use(l)
		for _, i := range m.levels[k] {
			if m.Progress != nil {
				m.Progress(i.name+", "+i.level.String(), m.done, m.total)
			}
			m.done++
			if i.spent > mostTime {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			r, err := m.measure(i)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", i.name, i.level, err)
			}
			function, rest, _ := strings.Cut(i.name, "/")
			if err := m.result(fmt.Sprintf("%s/isa=%s/%s", function, i.level, rest), i.cores, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// limits measures and prints the limits of one core and of all cores on the last of Levels. Pure Go has no loops to
// measure limits with.
func (m *measurement) limits() error {
	level := m.Levels[len(m.Levels)-1]
	if level == kernel.Generic {
		return nil
	}
	kernel.Use(level)
	for _, cores := range slices.Compact([]int{1, m.Workers}) {
		l := MeasureRates(cores)
		m.rates[cores] = l
		for _, limit := range []struct {
			of, unit    string
			rate, scale float64
		}{{"FMA-float32", "GFLOP/s", l.FMAF32, 1e9}, {"FMA-float64", "GFLOP/s", l.FMAF64, 1e9},
			{"L1", "MB/s", l.L1, 1e6}, {"L2", "MB/s", l.L2, 1e6},
			{"L3", "MB/s", l.L3, 1e6}, {"DRAM", "MB/s", l.DRAM, 1e6}, {"stream", "MB/s", l.Stream, 1e6}, {"clock", "GHz", l.Clock, 1e9}} {
			r := testing.BenchmarkResult{N: 1, Extra: map[string]float64{limit.unit: limit.rate / limit.scale}}
			if err := m.result("Limit/of="+limit.of, cores, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure runs an item once without a clock, which makes rows and files, and then for about m.Time.
func (m *measurement) measure(i *item) (r testing.BenchmarkResult, err error) {
	if _, err := i.run(); err != nil {
		return r, err
	}
	start := time.Now()
	for runs := 1; r.N == 0 || time.Since(start) < m.Time; runs = moreRuns(r.N, time.Since(start), m.Time) {
		begin, own := time.Now(), time.Duration(0)
		for range runs {
			took, err := i.run()
			if err != nil {
				return r, err
			}
			own += took
		}
		r.N, r.T = r.N+runs, r.T+cmp.Or(own, time.Since(begin))
	}
	i.spent += time.Since(start)
	seconds := r.T.Seconds() / float64(r.N)
	r.Extra = map[string]float64{}
	rate := i.bytes / seconds
	if i.flops > i.bytes {
		rate = i.flops / seconds
		r.Extra["GFLOP/s"] = rate / 1e9
	} else {
		r.Bytes = int64(i.bytes)
	}
	if i.limit != nil {
		if most := i.limit(m.rates[i.cores]); most > 0 {
			r.Extra["%limit"] = 100 * rate / most
		}
	}
	return r, nil
}

// moreRuns returns the number of further runs of an item that has made runs runs in the time took: as many again, or
// fewer if those would end after the time wanted. It is at least 1.
func moreRuns(runs int, took, wanted time.Duration) int {
	fits := float64(wanted-took) / max(1, float64(took)) * float64(runs)
	return max(1, min(runs, int(fits)))
}

// result prints the line of a result. The number of cores ends the name if there are several, as in
// BenchmarkGram/isa=avx2/type=float32/n=1024/d=512-2.
func (m *measurement) result(name string, cores int, r testing.BenchmarkResult) error {
	if cores > 1 {
		name += fmt.Sprintf("-%d", cores)
	}
	return m.print("Benchmark" + name + "\t" + r.String())
}
