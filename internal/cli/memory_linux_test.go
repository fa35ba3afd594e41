package cli

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestGroupLimit finds the least limit of a control group and those around it, in both versions.
func TestGroupLimit(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{"a/memory.max": "7000\n", "a/b/memory.max": "max\n", "a/b/c/memory.max": "9000\n",
		"memory/x/memory.limit_in_bytes": "500\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for groups, want := range map[string]int64{"0::/a/b/c\n": 7000, "0::/a/b\n": 7000, "0::/\n": math.MaxInt64, "": math.MaxInt64,
		"5:memory:/x/y\n0::/\n": 500, "5:memory:/\n4:cpu:/a\n": 9223372036854771712, "nonsense\n": math.MaxInt64, "0::/../../a\n": 7000} {
		if got := groupLimit(root, groups, math.MaxInt64); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
}
