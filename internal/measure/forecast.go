package measure

import (
	"halfspace/internal/forecast"
	"halfspace/kernel/limits"
)

// predict sets the forecasts of the items that a model of the processor's core knows, from the limits as measured.
func (r *Report) predict() {
	for _, i := range r.Items {
		clock := r.rate("clock", i.Level, i.Cores)
		bandwidth := r.rate(i.memory, i.Level, i.Cores)
		if len(i.stages) == 0 || bandwidth == 0 {
			continue
		}
		l := limits.Limits{Clock: clock, DRAM: bandwidth}
		if seconds, ok := forecast.Models().Seconds(r.Machine.Core, i.Level, l, i.stages...); ok {
			i.Forecast = seconds
		}
	}
}

// stage sets the item's forecast to some units of work of one kernel.
func (i *Item) stage(kernel string, units float64) *Item {
	i.stages = []forecast.Stage{{Kernel: kernel, Units: units, Bytes: i.Bytes}}
	return i
}

// stagesOf returns the stages of a training that is little else than kernels, or nil. Hessians are counted as the
// products of a triangle.
func stagesOf(learner string, rows, visits, bytes float64) []forecast.Stage {
	const triangle = (features + 1) * (features + 2) / 2
	switch learner {
	case "perceptron":
		return []forecast.Stage{{Kernel: "EpochF32/28", Units: visits, Bytes: bytes}}
	case "lda":
		return []forecast.Stage{{Kernel: "ScaleRowsF32", Units: rows, Bytes: bytes}, {Kernel: "RankKUpdateF64", Units: rows * triangle}}
	case "logistic":
		return []forecast.Stage{{Kernel: "ScoresF32/28", Units: visits, Bytes: bytes}, {Kernel: "LogisticF64", Units: visits},
			{Kernel: "ScaleRowsF32", Units: visits - rows}, {Kernel: "RankKUpdateF64", Units: (visits - rows) * triangle}}
	}
	return nil
}
