package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/predict"
	"halfspace/schema"
)

var update = flag.Bool("update", false, "record the hashes of ONNX files that a runtime took")

// An onnxFile is the file of a sample with what a runtime reads.
type onnxFile struct {
	sample
	bytes  []byte
	inputs []onnxInput
}

// An onnxInput is an input in testdata/run.mjs.
type onnxInput struct {
	Name    string   `json:"name"`
	Columns int      `json:"columns"`
	Text    bool     `json:"text"`
	Double  bool     `json:"double"`
	Values  []string `json:"values"`
}

// jsNumber returns a float32 as JavaScript reads it.
func jsNumber(v float64) string {
	return strings.Replace(strconv.FormatFloat(float64(float32(v)), 'g', -1, 64), "Inf", "Infinity", 1)
}

// onnxFiles returns the files of all samples: first files with one input, then files with an input for each column.
func onnxFiles(t *testing.T, rows int) (all []onnxFile) {
	t.Helper()
	for _, s := range samples(t, rows) {
		var b bytes.Buffer
		require.NoError(t, WriteONNX(&b, s.m))
		x := onnxInput{Name: "X", Columns: s.m.Width()}
		for _, row := range s.rows {
			for _, v := range row {
				x.Values = append(x.Values, jsNumber(v))
			}
		}
		all = append(all, onnxFile{s, b.Bytes(), []onnxInput{x}})
	}
	return append(all, columnFiles(t, rows)...)
}

// TestONNXRecorded: the ONNX file of every sample is the one that TestONNX ran.
func TestONNXRecorded(t *testing.T) {
	want := require.Value(os.ReadFile("testdata/onnx.txt"))(t)
	if got := onnxHashes(onnxFiles(t, 1)); got != string(want) {
		t.Errorf("other files than testdata/onnx.txt has: run make onnx ONNX=-update, and read the difference\n%s", got)
	}
}

// onnxHashes returns a line for each file: its name and its hash.
func onnxHashes(all []onnxFile) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s %x\n", f.name, sha256.Sum256(f.bytes))
	}
	return b.String()
}

// TestONNX runs the ONNX files of every sample in onnxruntime-web, on 1,000 rows each, and holds labels and scores against those of package predict.
func TestONNX(t *testing.T) {
	modules := os.Getenv("HALFSPACE_ONNXRUNTIME")
	if modules == "" {
		t.Skip("make onnx runs it, with HALFSPACE_ONNXRUNTIME")
	}
	const rows = 1000
	recorded, dir := onnxFiles(t, rows), t.TempDir()
	all := slices.Concat(recorded, preparedFiles(t))
	var in bytes.Buffer
	for _, f := range all {
		file, inputs := filepath.Join(dir, f.name+".onnx"), filepath.Join(dir, f.name+".json")
		put(t, file, f.bytes)
		data := require.Value(json.Marshal(f.inputs))(t)
		put(t, inputs, data)
		fmt.Fprintln(&in, file, inputs)
	}
	c := exec.Command("node", "testdata/run.mjs", modules)
	c.Stdin, c.Stderr = &in, os.Stderr
	out := require.Value(c.Output())(t)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(all)*rows {
		t.Fatalf("%d lines for %d rows", len(lines), len(all)*rows)
	}
	for i, line := range lines {
		checkONNX(t, &all[i/rows].sample, i%rows, strings.Split(line, "\t"))
	}
	if *update && !t.Failed() {
		put(t, "testdata/onnx.txt", []byte(onnxHashes(recorded)))
	}
}

// checkONNX holds a line of the runtime against package predict: the name of the output, the label, and the numbers.
func checkONNX(t *testing.T, s *sample, r int, fields []string) {
	t.Helper()
	scores, class := scoresOf(t, s.m, s.rows[r])
	if class < 0 {
		return // a value is missing, and ONNX has no way to say so
	}
	var label string
	require.NoError(t, json.Unmarshal([]byte(fields[1]), &label))
	if label != s.m.Classes[class].Text {
		t.Errorf("%s, row %d: label %q, want %q; scores %v", s.name, r, label, s.m.Classes[class].Text, scores)
	}
	want := scores
	name, tolerance := "scores", func(k int) float64 { return rounding(s.m, min(k, len(s.m.Weights)-1), s.rows[r], 0x1p-24) }
	other, positive := sides(s.m)
	if s.m.HasProbabilities() {
		name = "probabilities"
		columns := make([][]float32, len(scores))
		largest := 0.0
		for k, v := range scores {
			columns[k] = []float32{float32(v)} // exactly, since the model computes scores in float32
			if c := s.m.Calibration; c == nil {
				largest = max(largest, tolerance(k))
			} else { // a sum of products is rounded twice more
				p := c.Classes[k]
				largest = max(largest, math.Abs(p.A)*tolerance(k)+(math.Abs(p.A*v)+math.Abs(p.B))*0x1p-22)
			}
		}
		want = nil
		for _, p := range predict.Probabilities(columns, predict.OddsOf(s.m)) {
			want = append(want, float64(p[0]))
		}
		if len(scores) == 1 {
			want = []float64{want[other], want[positive]}
		}
		tolerance = func(k int) float64 { return want[k]*math.Expm1(2*largest+1e-6) + 1e-37 } // d log p/d scores is at most 2, and float32 has nothing smaller
	} else if len(scores) == 1 {
		want = []float64{-scores[0], scores[0]}
	}
	if fields[0] != name || len(fields) != 2+len(want) {
		t.Fatalf("%s: outputs %q, want %s of %d columns", s.name, fields, name, len(want))
	}
	for k, v := range want {
		got, err := strconv.ParseFloat(fields[2+k], 64)
		if err != nil || math.Abs(got-v) > tolerance(k) {
			t.Errorf("%s, row %d: %s %d is %s, want %v within %v", s.name, r, name, k, fields[2+k], v, tolerance(k))
		}
	}
}

// TestONNXRefused: weights that float32 can't hold are errors that name the feature, and so are numbers of a calibration.
func TestONNXRefused(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a", "b"}, Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	wide := *spec
	wide.Preprocessing = &schema.Preprocessing{Nulls: schema.NullsError}
	for want, b := range map[string][2]float64{`feature "b"`: {0, 1e-300}, "the bias": {1e39, 1e39}} { // mean and deviation
		wide.Preprocessing.Columns = []schema.Column{{Name: "a", Kind: schema.NumberColumn, Center: []float64{0}, Scale: []float64{1}},
			{Name: "b", Kind: schema.NumberColumn, Center: b[:1], Scale: b[1:]}}
		if err := WriteONNX(new(bytes.Buffer), model.New(&wide, []float32{1, 3, 5})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	three := *spec
	three.Classes = append(slices.Clone(spec.Classes), schema.IntClass(2))
	for _, p := range []model.Mapping{{A: 1e300}, {A: -1, B: -1e300}} {
		for _, m := range []*model.Model{model.New(spec, make([]float32, 3)), model.New(&three, make([]float32, 9))} {
			m.Options.Multiclass = model.OneVersusRest
			m.Calibration = &model.Calibration{Method: model.Platt, Folds: 5, Classes: slices.Repeat([]model.Mapping{p}, len(m.Weights))}
			if err := WriteONNX(new(bytes.Buffer), m); err == nil || !strings.Contains(err.Error(), "the calibration") {
				t.Errorf("%+v, %d classes: error %v", p, len(m.Classes), err)
			}
		}
	}
}
