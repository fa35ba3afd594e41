package flags

import (
	"testing"

	"halfspace/dataset"
)

// TestLearned: rows are counted once more for each fold where features may be learned from them.
func TestLearned(t *testing.T) {
	for categorical, want := range map[string]bool{"": false, "hash:3": false, "city=hash:3": false, "onehot": true, "city=onehot": true, "hash:3,city=onehot": true} {
		if got := (dataset.Options{Categorical: categorical}).Learned(); got != want {
			t.Errorf("%q: %v, want %v", categorical, got, want)
		}
	}
	if (dataset.Options{Standardize: true}).Learned() != true {
		t.Error("means and deviations aren't learned")
	}
}
