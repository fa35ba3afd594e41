package plot

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"halfspace/metrics"
	"halfspace/schema"
)

// confused returns the confusion of three classes: 4 of 5 rows of the class 0 are right, and 1 is taken for the class 2.
func confused(classes int) *metrics.Confusion {
	c := metrics.NewConfusion(classes)
	for row, predicted := range []int{0, 0, 0, 2, 0, 1, 2} {
		c.Add(max(0, row-4), predicted, 1)
	}
	return c
}

// TestConfusion: the class of a row of cells is beside it, and the share that a cell shows is of that class. Of many classes, the
// ones with errors are drawn.
func TestConfusion(t *testing.T) {
	classes := []schema.Class{schema.StringClass("a"), schema.StringClass("b"), schema.StringClass("c")}
	f, cells := Confusion(classes, confused(3)), map[string]float64{}
	for _, s := range f.Series {
		for i := range s.X {
			cells[f.Y.Names[int(s.Y[i])]+f.X.Names[int(s.X[i])]+" "+s.Texts[i]+" "+s.Name] = s.Shares[i]
		}
	}
	if want := map[string]float64{"aa 4 right": 0.8, "ac 1 wrong": 0.2, "bb 1 right": 1, "cc 1 right": 1}; !maps.Equal(cells, want) {
		t.Errorf("%v, want %v", cells, want)
	}
	if f.Y.Names[2] != "a" || f.Text != "a predicted as c: 1. " {
		t.Errorf("classes %v, %s", f.Y.Names, f.Text)
	}
	many := make([]schema.Class, 100)
	for i := range many {
		many[i] = schema.IntClass(int64(i))
	}
	c := metrics.NewConfusion(len(many))
	for i := range many {
		c.Add(i, i/2*2, 1)
	}
	c.Add(98, 97, 1)
	if f := Confusion(many, c); len(f.X.Names) != mostCells || !slices.Contains(f.X.Names, "97") || !strings.Contains(f.Subtitle, "the 40 of 100 classes") {
		t.Errorf("of 100 classes: %v, %s", f.X.Names, f.Subtitle)
	}
}
