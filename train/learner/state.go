package learner

import (
	"fmt"
	"time"

	"halfspace/internal/checkpoint"
)

// State saves or restores fields of a training: pointers to numbers, bools, a clock and slices, and slices whose length
// doesn't change.
func State(w *checkpoint.Walk, fields ...any) {
	for _, field := range fields {
		switch v := field.(type) {
		case *time.Time:
			w.Clock(v)
		case *int64:
			w.Int(v)
		case *int:
			w.Count(v)
		case *uint64:
			w.Word(v)
		case *float64:
			w.Float(v)
		case *bool:
			w.Bool(v)
		case []float32:
			checkpoint.Values(w, v)
		case []float64:
			checkpoint.Values(w, v)
		case *[]float64:
			checkpoint.Slice(w, v)
		default:
			panic(fmt.Sprintf("train: a %T is no state", v))
		}
	}
}
