package linalg

import (
	"errors"

	"halfspace/internal/checkpoint"
)

// State saves or restores the factor of an n x n matrix. The factor may be nil.
func State(w *checkpoint.Walk, f **Factor, n int) {
	is := *f != nil
	if w.Bool(&is); !is {
		*f = nil
		return
	}
	if w.IsReading() {
		*f = &Factor{n: n}
	}
	checkpoint.Slice(w, &(*f).l)
	checkpoint.Slice(w, &(*f).scale)
	checkpoint.Slice(w, &(*f).leftOut)
	if a := *f; len(a.l) != n*(n+1)/2 || len(a.scale) != n || a.leftOut != nil && len(a.leftOut) != n {
		w.Fail(errors.New("it has the factor of another matrix"))
	}
}
