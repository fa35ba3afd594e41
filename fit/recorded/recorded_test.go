// Package recorded_test holds all learners to the models that they gave before, on every level and architecture. It is a
// package of its own so that few packages are compiled for each architecture.
package recorded_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/kernel"
)

var record = flag.Bool("record", false, "write testdata/recorded.txt from what the trainings give now")

// TestRecorded runs the trainings of testdata/recorded.txt on each level of this CPU, or with -short on the best. A line has the
// hash of the model's file, the rows, the learner and its options. The file is the same for all architectures, so each
// learns the same models as the others. Most rates are no power of two: where a compiler fuses a product and a sum that another
// one doesn't, models differ.
//
// The test fails where a change of the code changes a model. If that is meant, go test -run TestRecorded -record writes the file again.
func TestRecorded(t *testing.T) {
	const file = "testdata/recorded.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	best := kernel.Active()
	defer kernel.Use(best)
	rows := testrows.Forever()
	levels := kernel.Levels()
	if testing.Short() {
		levels = levels[len(levels)-1:]
	}
	for _, level := range levels {
		kernel.Use(level)
		var now strings.Builder
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") {
				now.WriteString(line)
				continue
			}
			words := strings.Fields(line)
			got := fmt.Sprintf("%.8x %s\n", sha256.Sum256(recorded(t, rows[words[1]], words[2], words[3:])), strings.Join(words[1:], " "))
			if got != line && !*record {
				t.Errorf("on %s, now: %srecorded: %s", level, got, line)
			}
			now.WriteString(got)
		}
		if *record {
			if err := os.WriteFile(file, []byte(now.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// recorded trains and returns the model's file.
func recorded(t *testing.T, rows testrows.Table, name string, options []string) []byte {
	t.Helper()
	data, err := block.FromRows(rows.X, rows.Y, block.RowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	learner := fit.Describe(name)
	settings, opt := learner.New(), fit.Options{}
	for _, option := range options {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "balanced":
			opt.Balanced = true
		case "multiclass":
			opt.Multiclass = value
		case "calibrate":
			opt.Calibrate = value
		default:
			err = learner.Option(name).Set(settings, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := fit.Learn(t.Context(), data, fit.New(learner, settings), opt)
	if err != nil {
		t.Fatalf("%s %v: %v", name, options, err)
	}
	var file bytes.Buffer
	if _, err := f.Model.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
