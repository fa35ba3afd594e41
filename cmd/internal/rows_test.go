package cli

import (
	"path/filepath"
	"testing"
)

// ample makes data of so many rows that they take several blocks of float32, of 33 numbers for each row.
func ample(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ample.parquet")
	succeed(t, "gen", "--rows", rows, "--features", "28", "--noise", "0.1", "--row-group-rows", "7000", "--compression", "none", "--out", path)
	return path
}
