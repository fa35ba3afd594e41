// Package measure times the computer that it runs on: its limits, each kernel, the loading of files, and a training of
// each learner. Every computer does the same work, and learns the same models byte for byte. So figures of two computers
// can be compared, and Compare refuses reports of different work.
package measure

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"halfspace/internal/forecast"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Format is the format of a report as JSON.
const Format = "halfspace-bench/1"

// A Report is what one run measured.
type Report struct {
	Format  string  `json:"format"`
	Machine Machine `json:"machine"`
	Version string  `json:"version"` // of halfspace
	Date    string  `json:"date"`    // of the run, in UTC, as 2006-01-02
	Command string  `json:"command"`
	Items   []*Item `json:"items"`
}

// A Machine is a computer. Unknown values are 0 or empty.
type Machine struct {
	Processor string   `json:"processor"`
	Core      string   `json:"core"`   // name of the kind of core in package forecast
	Family    int      `json:"family"` // the vendor's number
	Model     int      `json:"model"`
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
	Workers   int      `json:"workers"` // threads that all cores' items used
	Threads   int      `json:"threads"`
	L1DBytes  int      `json:"l1d_bytes"`
	L2Bytes   int      `json:"l2_bytes"`
	L3Bytes   int      `json:"l3_bytes"`
	Features  []string `json:"features"`
	Levels    []string `json:"levels"` // that were measured, narrowest first
	ISA       string   `json:"isa"`    // the one of Levels that is used without --isa, or else the last
	Go        string   `json:"go"`
}

// The groups of items.
const (
	Limits  = "limit"
	Kernels = "kernel"
	Loading = "load"
	Trains  = "train"
)

// An Item is work that was timed on one level. A limit's work is a billion bytes, flops or cycles.
type Item struct {
	Group    string    `json:"group"`
	Name     string    `json:"name"`                       // such as "Dot/type=float32/n=2048"
	Level    string    `json:"level"`                      // whose code runs; of a training, the level in use
	Cores    int       `json:"cores"`                      // that work at once, at most
	Seconds  []float64 `json:"seconds"`                    // of one run, of each round
	Median   float64   `json:"median_seconds"`             // the least of a limit, which is the most that the computer can do
	Bytes    float64   `json:"bytes"`                      // that a run reads, at the least; writes overlap with that
	Flops    float64   `json:"flops"`                      // that a run computes, a fused multiply-add counted as two
	Value    float64   `json:"value"`                      // bytes or flops per second by the median, whichever binds
	Unit     string    `json:"unit"`                       // "B/s", "flop/s" or "cycle/s"
	Limit    string    `json:"limit"`                      // name of the limit that binds; "" where it isn't known
	Share    float64   `json:"share"`                      // of the limit that was reached
	Forecast float64   `json:"forecast_seconds,omitempty"` // of one run, where a model of the core predicts it
	SHA256   string    `json:"sha256,omitempty"`           // of the model's file, of a training

	memory string           // limit of the bytes: "L1", "L2", "L3", "DRAM" or "stream"
	float  string           // limit of the flops: "FMA-float32" or "FMA-float64"
	stages []forecast.Stage // of a run
	run    func() error
	spent  time.Duration // by all runs
}

// newMachine describes this computer.
func newMachine(workers int) Machine {
	c := kernel.DetectedCPU()
	return Machine{Processor: c.Brand, Core: forecast.Family(c), Family: c.Family, Model: c.Model, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Workers: parallel.Workers(workers), Threads: c.Threads, L1DBytes: c.L1D, L2Bytes: c.L2, L3Bytes: c.L3,
		Features: append([]string{}, c.Features...), ISA: kernel.Active().String(), Go: runtime.Version()}
}

// Read reads a report that was written as JSON.
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

// Best returns the level that this computer uses, or the widest one if that wasn't measured.
func (r *Report) Best() string {
	m := r.Machine
	if slices.Contains(m.Levels, m.ISA) || len(m.Levels) == 0 {
		return m.ISA
	}
	return m.Levels[len(m.Levels)-1]
}

// Find returns the item of a name on a level, or nil.
func (r *Report) Find(name, level string) *Item {
	i := slices.IndexFunc(r.Items, func(i *Item) bool { return i.Name == name && i.Level == level })
	if i < 0 {
		return nil
	}
	return r.Items[i]
}

// Fastest returns the item of a name on the level that this computer uses, or on the widest level that the item has if its
// kernels have no code for that one. It returns nil if the report has no such item.
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

// rate returns a limit in units per second, or 0 if it isn't known. A level without loops to measure with has those of
// the best one.
func (r *Report) rate(of, level string, cores int) float64 {
	for _, l := range []string{level, r.Best()} {
		if i := r.Find(LimitName(of, cores), l); i != nil {
			return 1e9 / i.Median
		}
	}
	return 0
}

// finish computes what follows from the times.
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
	r.predict()
}

// least returns the seconds that an item takes at least by its bytes and by its flops, 0 where that limit isn't known.
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

// median returns the middle of some times, or the mean of the two in the middle.
func median(times []float64) float64 {
	s := slices.Sorted(slices.Values(times))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
