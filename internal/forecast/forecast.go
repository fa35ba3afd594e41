// Package forecast predicts times from a model of the CPU, where nothing has been measured:
//
//	time = max(bytes / bandwidth, cycles / clock)
//
// for each stage of a work. The cycles come from llvm-mca, a model of a core that has its data in the first-level cache
// and predicts all branches. The bandwidth and the clock come from package kernel/limits. "make models" writes the
// table of cycles, and compares it with what the CPU at hand measures.
package forecast

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"halfspace/kernel/limits"
)

// A Kernel is a loop that the table has cycles for.
type Kernel struct {
	Name string `json:"name"` // the function, and the columns of a row where they matter: EpochF32/28
	Unit string `json:"unit"` // what the cycles are for: element, row, multiply-add, row and candidate
}

// A Table holds the cycles of each unit of work on each CPU.
type Table struct {
	Tool    string   `json:"tool"` // that predicted the cycles, with its version
	Kernels []Kernel `json:"kernels"`
	// Cycles are by CPU, by the name of an instruction set, and by the name of a kernel.
	Cycles map[string]map[string]map[string]float64 `json:"cycles"`
}

//go:embed table.json
var table []byte

// Models returns the committed table. Do not change it.
var Models = sync.OnceValue(func() *Table {
	t := new(Table)
	if err := json.Unmarshal(table, t); err != nil {
		panic("forecast: " + err.Error()) // the file is part of the program
	}
	return t
})

// Predicted returns the cycles of a unit of a kernel's work, on a CPU at a level of package kernel. It is false if the
// table doesn't have them.
func (t *Table) Predicted(cpu, level, kernel string) (cycles float64, ok bool) {
	cycles, ok = t.Cycles[cpu][level][kernel]
	return cycles, ok
}

// CPUs returns the names of the CPUs, in alphabetical order.
func (t *Table) CPUs() []string {
	var names []string
	for name := range t.Cycles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A Stage is a part of a work that does one thing to all its rows or elements.
type Stage struct {
	Kernel string  // as in Table
	Units  float64 // units of the kernel's work
	Bytes  float64 // that come from memory, or from the cache whose bandwidth is given
}

// Seconds returns the time of the stages one after the other, on that many cores of a CPU at a level. It is false if the
// table lacks a kernel, or the limits lack the clock or the bandwidth of memory.
func (t *Table) Seconds(cpu, level string, l limits.Limits, stages ...Stage) (seconds float64, ok bool) {
	if l.Clock <= 0 || l.DRAM <= 0 {
		return 0, false
	}
	for _, s := range stages {
		cycles, ok := t.Predicted(cpu, level, s.Kernel)
		if !ok {
			return 0, false
		}
		seconds += math.Max(s.Bytes/l.DRAM, s.Units*cycles/l.Clock)
	}
	return seconds, true
}
