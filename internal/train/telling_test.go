package train_test

import (
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/train"
)

// TestTelling: a feature tells the classes apart if its ranges in them don't overlap. A feature alone, few rows of a class and rows of one class
// say nothing.
func TestTelling(t *testing.T) {
	for name, c := range map[string]struct {
		classes, features, rows int
		value                   func(class, row int) float64 // of the last feature
		want                    int
	}{
		"leak":             {2, 3, 60, func(class, row int) float64 { return float64(10*class + row%9) }, 2},
		"three classes":    {3, 3, 60, func(class, row int) float64 { return float64(100*((class+1)%3) + row%9) }, 2},
		"overlap":          {2, 3, 60, func(class, row int) float64 { return float64(8*class + row%9) }, -1},
		"two of three":     {3, 3, 60, func(class, row int) float64 { return float64(10 * min(class, 1)) }, -1},
		"alone":            {2, 1, 60, func(class, row int) float64 { return float64(class) }, -1},
		"few rows":         {2, 3, 18, func(class, row int) float64 { return float64(class) }, -1},
		"a category":       {2, 2, 40, func(class, row int) float64 { return float64(1 - class) }, 1},
		"later rows count": {2, 2, 5000, func(class, row int) float64 { return float64(class) }, 1},
	} {
		var x [][]float64
		var y []int
		for r := range c.rows {
			row := make([]float64, c.features)
			for i := range row {
				row[i] = float64(r * (i + 1) % 7)
			}
			row[c.features-1] = c.value(r%c.classes, r)
			x, y = append(x, row), append(y, r%c.classes)
		}
		s, err := train.NewDataProfile(t.Context(), block.Source(rowsOf(t, x, y)))
		if err != nil || s.TellingFeature() != c.want {
			t.Errorf("%s: feature %d, want %d (%v)", name, s.TellingFeature(), c.want, err)
		}
	}
}
