package dataset

import (
	"context"
	"slices"
	"testing"

	"halfspace/schema"
)

// TestSharesOfDropped: only rows that are kept are counted and chosen.
func TestSharesOfDropped(t *testing.T) {
	path := textFile(t, "a.csv", "x,y\n1,0\n,0\n2,1\n4,1\n,1\n3,\n")
	in, err := Open(context.Background(), []string{path}, Options{Label: "y", Nulls: schema.NullsDrop, Standardize: true, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var classes []int
	shares, err := in.Shares(context.Background(), func(counts []int64) []Choice {
		if want := []int64{1, 2}; !slices.Equal(counts, want) {
			t.Errorf("%d rows of the classes, want %d", counts, want)
		}
		return []Choice{func(class int) bool {
			classes = append(classes, class)
			return class == 1
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 1}; !slices.Equal(classes, want) {
		t.Errorf("classes of rows %d, want %d", classes, want)
	}
	if center := shares[0].sel.Inputs[0].Center; !slices.Equal(center, []float64{3}) {
		t.Errorf("mean %g, want 3", center)
	}
}
