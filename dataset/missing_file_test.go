package dataset

import (
	"context"
	"errors"
	"io/fs"
	"testing"
)

// TestNoFile: programs can tell a missing file from other errors.
func TestNoFile(t *testing.T) {
	for _, path := range []string{"none.csv", "none*.csv", "none/none.parquet"} {
		if _, err := Load(context.Background(), []string{path}, Options{Label: "y"}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v isn't fs.ErrNotExist", path, err)
		}
	}
	if _, err := Inspect("none.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Inspect: %v isn't fs.ErrNotExist", err)
	}
}
