package testproblems

import (
	"context"
	"math"
	"testing"

	"halfspace/internal/block"
)

// TestAll: each family has a name of its own and finite rows of both classes. Making it again gives the same rows.
func TestAll(t *testing.T) {
	all, seen := All(), map[string]bool{}
	if len(all) != 67 {
		t.Errorf("%d families", len(all))
	}
	for _, f := range all {
		if seen[f.Name] {
			t.Errorf("two families are called %s", f.Name)
		}
		seen[f.Name] = true
		data, again := blocks(t, f), blocks(t, f)
		var of [2]int
		for i, b := range data {
			for j, v := range b.X {
				if v != again[i].X[j] || v-v != 0 {
					t.Fatalf("%s: number %d is %v, and %v when made again", f.Name, j, v, again[i].X[j])
				}
			}
			for r, y := range b.Y {
				of[int(y+1)/2]++
				if b.W != nil && !(b.W[r] >= 0) || math.Abs(float64(y)) != 1 {
					t.Fatalf("%s: row %d has label %v", f.Name, r, y)
				}
			}
		}
		if of[0] == 0 || of[1] == 0 {
			t.Errorf("%s: %d rows of the negative class, %d of the positive one", f.Name, of[0], of[1])
		}
	}
}

func blocks(t *testing.T, f Family) (all []*block.Block) {
	t.Helper()
	for b, err := range Rows(f, 2000).Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}
