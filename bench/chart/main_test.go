package main

import (
	"os"
	"path/filepath"
	"testing"

	"halfspace/internal/require"
)

// TestDrawn: the pictures of the documents are those of the recorded times.
func TestDrawn(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "speed")
	require.NoError(t, run("../results/zen3.json", prefix))
	for name := range themes {
		got, err := os.ReadFile(prefix + "-" + name + ".svg")
		require.NoError(t, err)
		want, err := os.ReadFile("../../docs/images/speed-" + name + ".svg")
		if err != nil || string(got) != string(want) {
			t.Errorf("docs/images/speed-%s.svg is not what go run ./bench/chart draws now: %v", name, err)
		}
	}
}
