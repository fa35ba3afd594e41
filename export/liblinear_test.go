package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/model"
	"halfspace/schema"
)

// numberedSamples returns samples whose classes are whole numbers.
func numberedSamples(t *testing.T) []sample {
	all := samples(t, sourceRows)
	for i := range all {
		m := all[i].m
		if m.Classes[0].Kind == schema.String {
			positive := slices.Index(m.Classes, m.Positive)
			m.Classes = []schema.Class{schema.IntClass(-5), schema.IntClass(12)}
			m.Positive = m.Classes[positive]
		}
	}
	return all
}

func writeText(w io.Writer, m *model.Model, _ string) error { return WriteLIBLINEAR(w, m) }

// TestLIBLINEAR: a model that is written and read again has the weights that are written, rounded to float32, and predicts the same classes.
func TestLIBLINEAR(t *testing.T) {
	for _, s := range numberedSamples(t) {
		data := text(t, writeText, s.m, "")
		m, rounded, err := ReadLIBLINEAR(bytes.NewReader(data), 0)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.name, err, data)
		}
		want := require.Value(newLinear(s.m))(t)
		want.bias[0] -= s.m.ScoreThreshold() // the threshold of LIBLINEAR is 0
		got := require.Value(newLinear(m))(t)
		changed := narrow(want.bias)
		for _, w := range want.weights {
			changed += narrow(w)
		}
		if rounded != changed {
			t.Errorf("%s: %d weights are said to be rounded, and %d are", s.name, rounded, changed)
		}
		if fmt.Sprint(got.weights, got.bias) != fmt.Sprint(want.weights, want.bias) || m.Positive != s.m.Positive && len(m.Classes) == 2 {
			t.Errorf("%s: weights %v, want %v", s.name, got, want)
		}
		if m.Options.Multiclass != s.m.Options.Multiclass || m.LogOdds() != (s.m.LogOdds() && s.m.Threshold == nil && s.m.Options.Multiclass != model.Joint) {
			t.Errorf("%s: %s of %s and %s", s.name, m.Options.Multiclass, m.Algorithm, s.m.Algorithm)
		}
	}
}

// TestLIBLINEARPredicts: liblinear-predict gives each row the label that package predict gives it.
func TestLIBLINEARPredicts(t *testing.T) {
	program, err := exec.LookPath("liblinear-predict")
	if err != nil {
		t.Skip("missing: liblinear-tools")
	}
	dir := t.TempDir()
	all := numberedSamples(t)
	for _, s := range slices.Concat(all[:12], all[len(all)-3:]) { // the last ones have thresholds
		var rows bytes.Buffer
		var want []string
		for _, row := range s.rows {
			if slices.ContainsFunc(row, func(v float64) bool { return v-v != 0 }) {
				continue
			}
			rows.WriteString("0")
			for i, v := range row {
				fmt.Fprintf(&rows, " %d:%v", i+1, v)
			}
			rows.WriteByte('\n')
			_, class := scoresOf(t, s.m, row)
			want = append(want, s.m.Classes[class].Text)
		}
		files := []string{filepath.Join(dir, "rows"), filepath.Join(dir, "model"), filepath.Join(dir, "out")}
		put(t, files[0], rows.Bytes())
		put(t, files[1], text(t, writeText, s.m, ""))
		if out, err := exec.Command(program, append([]string{"-q"}, files...)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", s.name, err, out)
		}
		got := require.Value(os.ReadFile(files[2]))(t)
		if len(want) < 5 || !slices.Equal(strings.Fields(string(got)), want) {
			t.Errorf("%s: liblinear-predict gives %q, want %q", s.name, got, want)
		}
	}
}

// TestNumbered: features with the names of svmlight's indices keep them, and indices between have the weight 0.
func TestNumbered(t *testing.T) {
	spec := &schema.Spec{Features: []string{"f4", "f2"}, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	want := "solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 0\nnr_feature 4\nbias -1\nw\n0 \n7 \n0 \n5 \n"
	if got := text(t, writeText, model.New(spec, []float32{5, 7}), ""); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	spec.Features[0] = "f0"
	if got := text(t, writeText, model.New(spec, []float32{5, 7}), ""); !bytes.Contains(got, []byte("\nnr_feature 2\nbias -1\nw\n5 \n7 \n")) {
		t.Errorf("got %q", got)
	}
	spec.Classes[1] = schema.FloatClass(1.5)
	if err := WriteLIBLINEAR(new(bytes.Buffer), model.New(spec, []float32{5, 7})); err == nil || !strings.Contains(err.Error(), "class 1.5") {
		t.Errorf("error %v of a class that is no whole number", err)
	}
}

// TestCrammer: of two classes with a vector each, as MCSVM_CS has them, the first vector decides, as in LIBLINEAR's predict_values.
// liblinear-train writes the first one times -1 as the second one. Here it is another one, so that a model of both differs.
func TestCrammer(t *testing.T) {
	m, _, err := ReadLIBLINEAR(strings.NewReader("solver_type MCSVM_CS\nnr_class 2\nlabel 3 -1\nnr_feature 1\nbias 2\nw\n1 4 \n0.5 5 \n"), 0)
	require.NoError(t, err)
	for x, want := range map[float64]string{0.5: "3", -0.5: "3", -1: "-1", -2: "-1"} { // the score is x + 1
		if _, class := scoresOf(t, m, []float64{x}); m.Classes[class].Text != want {
			t.Errorf("%v is of class %s, want %s", x, m.Classes[class], want)
		}
	}
}

// TestReadRefuses: what is no model is an error of one line, and the sizes that a file claims allocate nothing.
func TestReadRefuses(t *testing.T) {
	const head = "solver_type L2R_LR\nnr_class 2\nlabel 1 2\n"
	for file, want := range map[string]string{
		"":                                      "ends too early",
		"a,b\n":                                 `"a,b" where one of`,
		head + "nr_feature 2\nbias -1\nw\n1 \n": "ends too early",
		head + "nr_feature 2\nbias -1\nw\n1 \nx \n":                                        `feature 2 is "x"`,
		head + "nr_feature 2\nbias -1\nw\n1 \nnan \n":                                      "NaN",
		head + "nr_feature 1\nbias -1\nw\n1e39 \n":                                         "which no float32 equals",
		head + "nr_feature 1\nbias -1\nw\n1 \n2 \n":                                        `"2" is behind`,
		head + "nr_feature 0\nbias -1\nw\n":                                                "0 features",
		head + "nr_feature 16777217\nbias -1\nw\n":                                         "16777217 features",
		head + "nr_feature -1\nbias -1\nw\n":                                               `nr_feature is "-1"`,
		"solver_type L2R_LR\nnr_class 2000000000\nlabel 1\n":                               "2000000000 classes",
		"solver_type L2R_LR\nnr_class 1\nlabel 1\nnr_feature 1\nbias -1\nw\n1 \n":          "1 classes",
		"solver_type L2R_LR\nnr_class 2\nnr_feature 1\nbias -1\nw\n1 \n":                   "0 labels",
		"solver_type L2R_LR\nnr_class 2\nlabel 1 1\nnr_feature 1\nbias -1\nw\n1 \n":        "ascending",
		"solver_type L2R_LR\nnr_class 2\nlabel 1 b\nnr_feature 1\nbias -1\nw\n1 \n":        `label "b"`,
		"solver_type L2R_L2LOSS_SVR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1\n": "no classifier",
		strings.Repeat("x", 1<<17):                                                         "thousands of letters",
	} {
		m, _, err := ReadLIBLINEAR(strings.NewReader(file), 0)
		if m != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: error %v, want %q", file, err, want)
		}
	}
	wide := "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 16777216\nbias -1\nw\n"
	if _, _, err := ReadLIBLINEAR(strings.NewReader(wide), 1<<20); !errors.Is(err, model.ErrMemory) {
		t.Errorf("error %v of a model that takes 128 MiB, with 1 MiB", err)
	}
	if n := testing.AllocsPerRun(1, func() { _, _, _ = ReadLIBLINEAR(strings.NewReader(wide), 1<<40) }); n > 100 {
		t.Errorf("%v allocations for a file without weights", n)
	}
}

// FuzzReadLIBLINEAR: no text makes ReadLIBLINEAR panic. A model that it reads is written and read again with the same weights.
func FuzzReadLIBLINEAR(f *testing.F) {
	f.Add([]byte("solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-2 \n0.25 \n"))
	f.Add([]byte("solver_type MCSVM_CS\nnr_class 3\nlabel 3 1 2\nnr_feature 1\nbias -1\nw\n1 2 3 \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _, err := ReadLIBLINEAR(bytes.NewReader(data), 1<<24)
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, WriteLIBLINEAR(&b, m))
		again, _, err := ReadLIBLINEAR(&b, 1<<24)
		require.NoError(t, err)
		if fmt.Sprint(again.Weights, again.Classes, again.Positive) != fmt.Sprint(m.Weights, m.Classes, m.Positive) {
			t.Errorf("came back as %v, was %v", again, m)
		}
	})
}
