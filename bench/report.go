package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Format is the format of a report as JSON.
const Format = "halfspace-bench/1"

// A Report is the result of one run.
type Report struct {
	Format  string  `json:"format"`
	Machine Machine `json:"machine"`
	Version string  `json:"version"` // version of halfspace
	Date    string  `json:"date"`    // date of the run, in UTC, as 2006-01-02
	Command string  `json:"command"`
	Items   []*Item `json:"items"`
}

// A Machine is a computer. Unknown values are 0 or empty.
type Machine struct {
	Processor string   `json:"processor"`
	Family    int      `json:"family"` // the vendor's number
	Model     int      `json:"model"`
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
	Workers   int      `json:"workers"` // threads that the items on all cores used
	Threads   int      `json:"threads"`
	L1DBytes  int      `json:"l1d_bytes"`
	L2Bytes   int      `json:"l2_bytes"`
	L3Bytes   int      `json:"l3_bytes"`
	Features  []string `json:"features"`
	Levels    []string `json:"levels"` // levels that were measured, narrowest first
	ISA       string   `json:"isa"`    // the level of Levels that is used without --isa, or otherwise the last
	Go        string   `json:"go"`
}

// The groups of items.
const (
	Limits  = "limit"
	Kernels = "kernel"
	Loading = "load"
	Trains  = "train"
)

// An Item is work that was timed on one level. The work of a limit is a billion bytes, flops or cycles.
type Item struct {
	Group   string    `json:"group"`
	Name    string    `json:"name"`             // such as "Dot/type=float32/n=2048"
	Level   string    `json:"level"`            // level whose code runs; for a training, the active level
	Cores   int       `json:"cores"`            // largest number of cores that work at once
	Seconds []float64 `json:"seconds"`          // time of one run, in each round
	Median  float64   `json:"median_seconds"`   // for a limit the least time, since a limit is a maximum
	Bytes   float64   `json:"bytes"`            // least number of bytes that a run reads; writes overlap with reads
	Flops   float64   `json:"flops"`            // flops of a run; a fused multiply-add counts as two
	Value   float64   `json:"value"`            // bytes or flops per second by the median, whichever binds
	Unit    string    `json:"unit"`             // "B/s", "flop/s" or "cycle/s"
	Limit   string    `json:"limit"`            // name of the limit that binds; "" if it isn't known
	Share   float64   `json:"share"`            // share of the limit that was reached
	SHA256  string    `json:"sha256,omitempty"` // for a training, hash of the model's file

	memory string // limit of the bytes: "L1", "L2", "L3", "DRAM" or "stream"
	float  string // limit of the flops: "FMA-float32" or "FMA-float64"
	run    func() error
	spent  time.Duration // time of all runs
}

func newMachine(workers int) Machine {
	c := kernel.DetectedCPU()
	return Machine{Processor: c.Brand, Family: c.Family, Model: c.Model, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Workers: parallel.Workers(workers), Threads: c.Threads, L1DBytes: c.L1D, L2Bytes: c.L2, L3Bytes: c.L3,
		Features: append([]string{}, c.Features...), ISA: kernel.Active().String(), Go: runtime.Version()}
}

// Read reads a report from its JSON file.
func Read(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: not a report of bench --json: %w", path, err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("%s: its format is %q, and this version reads %s: run bench --json again", path, r.Format, Format)
	}
	for _, i := range r.Items {
		if i == nil || !(i.Median > 0) {
			return nil, fmt.Errorf("%s: an item without a time: run bench --json again", path)
		}
	}
	return &r, nil
}

// Best returns the level that this computer uses without --isa. If that level wasn't measured, it returns the widest
// measured level.
func (r *Report) Best() string {
	m := r.Machine
	if slices.Contains(m.Levels, m.ISA) || len(m.Levels) == 0 {
		return m.ISA
	}
	return m.Levels[len(m.Levels)-1]
}

// Find returns the item with that name on a level, or nil.
func (r *Report) Find(name, level string) *Item {
	i := slices.IndexFunc(r.Items, func(i *Item) bool { return i.Name == name && i.Level == level })
	if i < 0 {
		return nil
	}
	return r.Items[i]
}

// Fastest returns the item with that name on the level Best. If the item's kernels have no code for that level, it
// returns the item on the widest level that has it. It returns nil if the report doesn't have the item.
func (r *Report) Fastest(name string) *Item {
	if i := r.Find(name, r.Best()); i != nil {
		return i
	}
	for _, level := range slices.Backward(r.Machine.Levels) {
		if i := r.Find(name, level); i != nil {
			return i
		}
	}
	return nil
}

// LimitName returns the name of a limit's item.
func LimitName(of string, cores int) string { return fmt.Sprintf("Limit/of=%s/cores=%d", of, cores) }

// rate returns a limit in units per second, or 0 if it isn't known. A level that has no loops to measure with gets the
// limits of the level Best.
func (r *Report) rate(of, level string, cores int) float64 {
	for _, l := range []string{level, r.Best()} {
		if i := r.Find(LimitName(of, cores), l); i != nil {
			return 1e9 / i.Median
		}
	}
	return 0
}

// finish computes the figures that follow from the times.
func (r *Report) finish() {
	for _, i := range r.Items {
		i.Median = median(i.Seconds)
		if i.Group == Limits {
			i.Median = slices.Min(i.Seconds)
		}
	}
	for _, i := range r.Items {
		i.Value, i.Unit = i.Bytes/i.Median, "B/s"
		bytes, flops := r.least(i)
		i.Limit, i.Share = i.memory, bytes/i.Median
		if flops > bytes || i.Bytes == 0 {
			i.Value, i.Unit, i.Limit, i.Share = i.Flops/i.Median, "flop/s", i.float, flops/i.Median
		}
		if i.Share == 0 {
			i.Limit = ""
		}
		if i.Bytes == 0 && i.Flops == 0 {
			i.Value, i.Unit = 1e9/i.Median, "cycle/s"
		}
	}
}

// least returns the least seconds that an item can take by its bytes and by its flops; 0 if that limit isn't known.
func (r *Report) least(i *Item) (bytes, flops float64) {
	if i.Group == Limits {
		return 0, 0
	}
	if rate := r.rate(i.memory, i.Level, i.Cores); rate > 0 {
		bytes = i.Bytes / rate
	}
	if rate := r.rate(i.float, i.Level, i.Cores); rate > 0 {
		flops = i.Flops / rate
	}
	return bytes, flops
}

// median returns the middle of times, or the mean of the two middle ones.
func median(times []float64) float64 {
	s := slices.Sorted(slices.Values(times))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// WriteGo writes the report in the format of Go's benchmarks (https://go.dev/design/14313-benchmark-format), with one
// line for each round, so that benchstat can compare files.
func (r *Report) WriteGo(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\ncpu: %s\ngo: %s\nhalfspace: %s\ndate: %s\n", m.OS, m.Arch, line(m.Processor), m.Go, line(r.Version), r.Date)
	b.WriteString("Unit B/s better=higher\nUnit flop/s better=higher\nUnit cycle/s better=higher\nUnit share better=higher\n\n")
	for _, i := range r.Items {
		name := "Benchmark" + i.Name + "/isa=" + i.Level
		if i.Cores > 1 {
			name += fmt.Sprintf("-%d", i.Cores)
		}
		for _, seconds := range i.Seconds {
			fmt.Fprintf(&b, "%s 1 %.6g ns/op %.6g %s", name, seconds*1e9, i.Value*i.Median/seconds, i.Unit)
			if i.Limit != "" {
				fmt.Fprintf(&b, " %.4g share", i.Share*i.Median/seconds)
			}
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line joins the words of a text to one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
