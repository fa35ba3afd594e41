package learner_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/kernel"
	"halfspace/train/learner"
)

var record = flag.Bool("record", false, "write testdata/recorded.txt from what the trainings give now")

// TestRecorded runs the trainings of testdata/recorded.txt on each level of this CPU; small tests on other architectures than amd64, which
// an emulator may run, on the best. A line has the hash of the model's file, the rows,
// the learner and its options. The file is the same for all architectures, so each learns the same models as the others. Most rates are
// no power of two: where a compiler fuses a product and a sum that another one doesn't, models differ.
//
// The test fails where a change of the code changes a model. If that is meant, go test -run TestRecorded -record writes the file again.
func TestRecorded(t *testing.T) {
	const file = "testdata/recorded.txt"
	text := require.Value(os.ReadFile(file))(t)
	best := kernel.Active()
	defer kernel.Use(best)
	rows := tables(t)
	levels := kernel.Levels()
	if require.Small() && runtime.GOARCH != "amd64" {
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
			got := fmt.Sprintf("%.8x %s\n", sha256.Sum256(recordedModel(t, rows[words[1]], words[2], words[3:])), strings.Join(words[1:], " "))
			if got != line && !*record {
				t.Errorf("on %s, now: %srecorded: %s", level, got, line)
			}
			now.WriteString(got)
		}
		if *record {
			require.NoError(t, os.WriteFile(file, []byte(now.String()), 0o666))
		}
	}
}

// A table is rows with the names of their columns.
type table struct {
	testproblems.Table
	features []string
	label    string
}

// tables returns the rows of testproblems.UnchangingTables, and those of the examples textbook.parquet and
// iris.parquet, of which setosa and versicolor are parts.
func tables(t *testing.T) map[string]table {
	all := map[string]table{}
	for name, rows := range testproblems.UnchangingTables() {
		all[name] = table{Table: rows}
	}
	for _, name := range []string{"textbook", "iris"} {
		f := require.Value(os.Open("testdata/" + name + ".csv"))(t)
		defer f.Close()
		lines := require.Value(csv.NewReader(f).ReadAll())(t)
		last := len(lines[0]) - 1
		r := table{features: lines[0][:last], label: lines[0][last]}
		for _, line := range lines[1:] {
			var x []float64
			for _, word := range line[:last] {
				v := require.Value(strconv.ParseFloat(word, 64))(t)
				x = append(x, v)
			}
			r.X, r.Y = append(r.X, x), append(r.Y, line[last])
		}
		all[name] = r
	}
	setosa, versicolor := all["iris"], all["iris"]
	setosa.label, setosa.Y = "setosa", slices.Clone(setosa.Y)
	for r, y := range setosa.Y {
		setosa.Y[r] = strconv.FormatBool(y == "setosa")
	}
	versicolor.X, versicolor.Y = versicolor.X[50:], versicolor.Y[50:]
	all["setosa"], all["versicolor"] = setosa, versicolor
	return all
}

// data returns the rows as the command reads them: labels that are numbers or truth values are no text.
func (r *table) data(opt block.RowOptions) (*block.Data, error) {
	opt.Features, opt.Label = r.features, r.label
	if opt.Label == "" {
		return block.FromRows(r.X, r.Y, opt)
	}
	if _, err := strconv.ParseBool(r.Y[0]); err == nil && r.label == "setosa" {
		var y []bool
		for _, word := range r.Y {
			y = append(y, word == "true")
		}
		return block.FromRows(r.X, y, opt)
	}
	var y []int64
	for _, word := range r.Y {
		v, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return block.FromRows(r.X, r.Y, opt)
		}
		y = append(y, v)
	}
	return block.FromRows(r.X, y, opt)
}

// recordedModel trains and returns the model's file. Beside the options of the learner there are
//
//	standardize, nobias, positive=CLASS    block.RowOptions
//	balanced, multiclass=, calibrate=      train.Options
//	holdout=SHARE, cv=FOLDS                train.Options.HoldOut and CV
//	seed=NUMBER                            learner.Options.Seed
//	grid=OPTION:VALUE,VALUE                an axis of the grid, five folds unless cv says otherwise
func recordedModel(t *testing.T, rows table, name string, options []string) []byte {
	t.Helper()
	learner := train.Describe(name)
	settings, opt, rowOpt := learner.New(), train.Options{}, block.RowOptions{}
	var err error
	for _, option := range options {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "standardize":
			rowOpt.Standardize = true
		case "nobias":
			rowOpt.NoBias = true
		case "positive":
			rowOpt.Positive = value
		case "balanced":
			opt.Weights.Balanced = true
		case "multiclass":
			opt.Multiclass = value
		case "calibrate":
			opt.Output.Calibrate = value
		case "holdout":
			opt.HoldOut, err = strconv.ParseFloat(value, 64)
		case "cv": // replaces a grid before it, as when these models were recorded
			opt.CV = train.CV{}
			opt.CV.Folds, err = strconv.Atoi(value)
		case "seed":
			settings.RunOptions().Seed, err = strconv.ParseUint(value, 10, 64)
		case "grid":
			name, values, _ := strings.Cut(value, ":")
			axis := train.Axis{Option: name}
			for v := range strings.SplitSeq(values, ",") {
				axis.Values = append(axis.Values, v)
			}
			opt.CV.Grid = append(opt.CV.Grid, axis)
		default:
			err = learner.Option(name).Set(settings, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data := require.Value(rows.data(rowOpt))(t)
	f, err := train.Run(t.Context(), data, configure(learner, settings), opt)
	if err != nil {
		t.Fatalf("%s %v: %v", name, options, err)
	}
	var file bytes.Buffer
	require.Value(f.Model.WriteTo(&file))(t)
	return file.Bytes()
}

func configure(l *learner.Learner, s learner.Settings) train.Learner { return learner.Configure(l, s) }
