package export

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
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

// predicted returns the label that LIBLINEAR's predict_values (linear.cpp) gives a row by a text model.
func predicted(t *testing.T, data []byte, row []float64) string {
	lines := strings.Split(string(data), "\n") // solver_type, nr_class, label, nr_feature, bias, w, a line for each feature
	labels := strings.Fields(lines[2])[1:]
	if lines[4] == "bias 1" {
		row = append(slices.Clone(row), 1)
	}
	scores := make([]float64, len(strings.Fields(lines[6])))
	for i, x := range row {
		for k, word := range strings.Fields(lines[6+i]) {
			scores[k] += require.Value(strconv.ParseFloat(word, 64))(t) * x
		}
	}
	switch {
	case len(scores) > 1:
		return labels[slices.Index(scores, slices.Max(scores))]
	case scores[0] > 0:
		return labels[0]
	}
	return labels[1]
}

// TestLIBLINEAR: the text gives each row the label that package predict gives it, also in liblinear-predict where that is installed.
func TestLIBLINEAR(t *testing.T) {
	program, missing := exec.LookPath("liblinear-predict")
	dir := t.TempDir()
	for _, s := range numberedSamples(t) {
		data := text(t, writeText, s.m, "")
		var rows bytes.Buffer
		var want []string
		for r, row := range s.rows {
			if slices.ContainsFunc(row, func(v float64) bool { return v-v != 0 }) {
				continue
			}
			_, class := scoresOf(t, s.m, row)
			want = append(want, s.m.Classes[class].Text)
			if got := predicted(t, data, row); got != s.m.Classes[class].Text {
				t.Errorf("%s, row %d: class %s, want %s\n%s", s.name, r, got, s.m.Classes[class].Text, data)
			}
			rows.WriteString("0")
			for i, v := range row {
				fmt.Fprintf(&rows, " %d:%v", i+1, v)
			}
			rows.WriteByte('\n')
		}
		if missing != nil {
			continue
		}
		files := []string{filepath.Join(dir, "rows"), filepath.Join(dir, "model"), filepath.Join(dir, "out")}
		put(t, files[0], rows.Bytes())
		put(t, files[1], data)
		if out, err := exec.Command(program, append([]string{"-q"}, files...)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", s.name, err, out)
		}
		if got := strings.Fields(string(require.Value(os.ReadFile(files[2]))(t))); len(want) < 5 || !slices.Equal(got, want) {
			t.Errorf("%s: liblinear-predict gives %q, want %q", s.name, got, want)
		}
	}
	if missing != nil {
		t.Skip("missing: liblinear-tools")
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
