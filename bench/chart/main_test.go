package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDrawn: the pictures of the documents are those of the recorded times.
func TestDrawn(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "speed")
	if err := run("../results/zen3.json", prefix); err != nil {
		t.Fatal(err)
	}
	for name := range themes {
		got, err := os.ReadFile(prefix + "-" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("../../docs/images/speed-" + name + ".svg")
		if err != nil || string(got) != string(want) {
			t.Errorf("docs/images/speed-%s.svg is not what go run ./bench/chart draws now: %v", name, err)
		}
	}
}
