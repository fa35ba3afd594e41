package main

import (
	"os"
	"path/filepath"
)

func Example() {
	dir, err := os.MkdirTemp("", "first")
	check(err)
	defer os.RemoveAll(dir)
	check(run("../churn.csv", filepath.Join(dir, "model.json")))
	// Output: 26 of 150 held-out rows are wrong
}
