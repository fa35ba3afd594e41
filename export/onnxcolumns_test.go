package export

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/predict"
	"halfspace/schema"
)

// columnFiles returns models with columns of each kind that ONNX has, as files with an input for each column: of two or three classes, standardized or not,
// each way of missing values, with probabilities or without. Some columns have the names of tensors inside the file.
func columnFiles(t *testing.T, rows int) (all []onnxFile) {
	t.Helper()
	for i := range 28 {
		rng := rand.New(rand.NewPCG(uint64(i), 2))
		m := columnModel(rng, i)
		var b bytes.Buffer
		require.NoError(t, WriteONNXColumns(&b, m))
		f := onnxFile{sample: sample{name: fmt.Sprintf("columns%d", i), m: m}, bytes: b.Bytes()}
		p := require.Value(predict.New(m))(t)
		columns := slices.CompactFunc(slices.Clone(m.Spec().Columns()), func(a, b schema.Column) bool { return a.Name == b.Name })
		for k := range columns {
			f.inputs = append(f.inputs, columnInput(&columns[k]))
		}
		for range rows {
			values := make([]any, len(columns))
			for k := range columns {
				var texts []string
				values[k], texts = columnValue(rng, &columns[k])
				f.inputs[k].Values = append(f.inputs[k].Values, texts...)
			}
			row := require.Value(p.AppendRow(nil, values...))(t)
			f.rows = append(f.rows, row)
		}
		all = append(all, f)
	}
	return all
}

// columnModel returns model i, with random weights.
func columnModel(rng *rand.Rand, i int) *model.Model {
	spec := &schema.Spec{Bias: i%5 != 0, Label: "y", Classes: []schema.Class{schema.StringClass("no"), schema.StringClass("yes")}}
	if i%2 == 1 {
		spec.Classes = []schema.Class{schema.IntClass(-3), schema.IntClass(0), schema.IntClass(7)}
	}
	p := &schema.Preprocessing{Nulls: []schema.Nulls{schema.NullsError, schema.NullsMean, schema.NullsZero}[i%3], Columns: []schema.Column{
		{Name: "größe", Kind: schema.NumberColumn},
		{Name: "text", Kind: schema.OneHotColumn, Categories: []string{"", "\"a\"\n", "größer", "z"}},
		{Name: "nan", Kind: schema.NumberColumn, Unit: "days"},
		{Name: "X", Kind: schema.OneHotColumn, Values: schema.Number.String(), Categories: []string{"-2", "0", "0.1", "16777216"}},
		{Name: "features1", Kind: schema.OneHotColumn, Values: schema.Bool.String(), Categories: []string{"false", "true"}},
		{Name: "X_", Kind: schema.OneHotColumn, Values: schema.Bool.String(), Categories: []string{"true"}},
		{Name: "means", Kind: schema.ListColumn, Elements: 3},
	}}
	if i == 7 {
		p.Columns = p.Columns[:1] // one column
	}
	if i >= 24 {
		p.Columns = derivedColumns()
	}
	for k := range p.Columns {
		c := &p.Columns[k]
		for range c.Width() {
			if c.Categorical() || c.Derive == schema.Missing {
				break
			}
			if i/2%2 == 1 {
				c.Center, c.Scale = append(c.Center, rng.NormFloat64()*10), append(c.Scale, math.Exp(rng.NormFloat64()))
			}
			if p.Nulls == schema.NullsMean {
				c.Means = append(c.Means, rng.NormFloat64())
			}
		}
		spec.Features = append(spec.Features, c.Names()...)
	}
	if spec.Preprocessing = p; i == 8 {
		spec.Preprocessing, spec.Features = nil, []string{"missing", "odds"} // numbers alone
	}
	weights := make([]float32, spec.Vectors()*spec.Cols())
	for k := range weights {
		weights[k] = float32(rng.NormFloat64())
	}
	m := model.New(spec, weights)
	m.Algorithm = []string{"svm", "svm", "logistic", "logistic"}[i/2%4]
	m.Options.Multiclass = []string{"", model.OneVersusRest, "", model.Joint}[i%4]
	if i%2 == 0 {
		m.Options.Multiclass = ""
	}
	if i >= 20 {
		m.Algorithm, m.Calibration = "svm", &model.Calibration{Method: model.Platt, Folds: 5}
		for k := range m.Weights {
			m.Calibration.Classes = append(m.Calibration.Classes, model.Mapping{A: -0.75 - float64(k), B: 0.5 * float64(k-1)})
		}
	}
	return m
}

// derivedColumns returns columns with each derivation.
func derivedColumns() (all []schema.Column) {
	for _, d := range schema.Derivations[4:] {
		all = append(all, schema.Column{Name: "date4step1", Kind: schema.NumberColumn, Derive: d})
	}
	all[0].Origin = -1000.5
	all = append(all, schema.Column{Name: "date4step1", Kind: schema.NumberColumn, Derive: schema.Missing})
	for _, d := range []schema.Derivation{schema.Plain, schema.Comma, schema.Boolean, ""} {
		name := "number " + string(d)
		all = append(all, schema.Column{Name: name, Kind: schema.NumberColumn, Derive: d}, schema.Column{Name: name, Kind: schema.NumberColumn, Derive: schema.Missing})
	}
	return append(all, schema.Column{Name: "word", Kind: schema.OneHotColumn, Categories: []string{"a", "b"}}, schema.Column{Name: "word", Kind: schema.NumberColumn, Derive: schema.Missing})
}

func columnInput(c *schema.Column) onnxInput {
	in := onnxInput{Name: c.Name, Columns: 1, Double: c.Derive.Dated(), Text: c.Kind == schema.OneHotColumn && c.Values == ""}
	if c.Kind == schema.ListColumn {
		in.Columns = c.Elements
	}
	return in
}

// columnValue returns a random value of a column: for predict, and as texts for the runtime. Some are missing, some are categories that the model hasn't.
func columnValue(rng *rand.Rand, c *schema.Column) (value any, texts []string) {
	number := func() float64 {
		if rng.IntN(15) == 0 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
		}
		return float64(float32(rng.NormFloat64() * 10))
	}
	switch {
	case c.Derive.Dated() && rng.IntN(15) > 0:
		v := float64(rng.Int64N(1e6)-5e5) / 24
		if rng.IntN(3) == 0 {
			v = (rng.Float64() - 0.5) * 1e6
		}
		return v, []string{strconv.FormatFloat(v, 'g', -1, 64)}
	case c.Name == "word" && rng.IntN(5) == 0:
		return nil, []string{""}
	case c.Kind == schema.NumberColumn:
		v := number()
		return v, []string{jsNumber(v)}
	case c.Kind == schema.ListColumn:
		list := []float64{number(), number(), number()}
		return list, []string{jsNumber(list[0]), jsNumber(list[1]), jsNumber(list[2])}
	case c.Values == schema.Bool.String():
		v := rng.IntN(2)
		return v == 1, []string{strconv.Itoa(v)}
	case c.Values == "" && rng.IntN(5) == 0:
		return "unknown", []string{"unknown"}
	case c.Values == "":
		text := c.Categories[rng.IntN(len(c.Categories))]
		return text, []string{text}
	case rng.IntN(3) == 0:
		v := []float64{0.5, 3, math.NaN(), math.Inf(1)}[rng.IntN(4)]
		return float32(v), []string{jsNumber(v)}
	}
	v, err := strconv.ParseFloat(c.Categories[rng.IntN(len(c.Categories))], 64)
	if err != nil {
		panic(err)
	}
	return float32(v), []string{jsNumber(v)}
}

// TestONNXColumnsRefused: columns that ONNX has no inputs for, or no names, are errors that name them.
func TestONNXColumnsRefused(t *testing.T) {
	oneHot := func(values string, categories ...string) schema.Column {
		return schema.Column{Name: "c", Kind: schema.OneHotColumn, Values: values, Categories: categories}
	}
	number := schema.Number.String()
	for _, c := range []struct {
		want   string
		column schema.Column
	}{
		{"hashed", schema.Column{Name: "c", Kind: schema.HashColumn, HashBits: 3}},
		{"hashed", schema.Column{Name: "c", Kind: schema.CrossColumn, HashBits: 3, Of: []schema.Part{{Name: "d"}, {Name: "e"}}}},
		{"svmlight", schema.Column{Name: "c", Kind: schema.NumberedColumn, Elements: 2}},
		{"an output", schema.Column{Name: "label", Kind: schema.NumberColumn}},
		{"an output", schema.Column{Name: "scores", Kind: schema.NumberColumn}},
		{"can't have this name", schema.Column{Name: "", Kind: schema.NumberColumn}},
		{"can't have this name", schema.Column{Name: "a\x00b", Kind: schema.NumberColumn}},
		{"0.1 and 0.10000000001", oneHot(number, "0.1", "0.10000000001")},
		{"can't hold the category 16777217", oneHot(number, "16777217")},
		{"can't hold the category 1e+300", oneHot(number, "1e+300")},
		{"is no number", oneHot(number, "eins")},
		{"both empty and missing texts", oneHot("", "", "a")},
	} {
		mark := schema.Column{Name: c.column.Name, Kind: schema.NumberColumn, Derive: schema.Missing}
		spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Features: slices.Concat(c.column.Names(), mark.Names()),
			Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{c.column, mark}}}
		err := WriteONNXColumns(new(bytes.Buffer), model.New(spec, slices.Repeat([]float32{1}, spec.Width())))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), strconv.Quote(c.column.Name)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: error %v, want one with %q", c.column, err, c.want)
		}
	}
}

// TestONNXColumnsAllRefused: the error names every column that stops the export, once.
func TestONNXColumnsAllRefused(t *testing.T) {
	columns := []schema.Column{{Name: "a", Kind: schema.HashColumn, HashBits: 1}, {Name: "a", Kind: schema.NumberColumn, Derive: schema.Missing},
		{Name: "b", Kind: schema.NumberColumn}, {Name: "c", Kind: schema.HashColumn, HashBits: 1}}
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError, Columns: columns}}
	for _, c := range columns {
		spec.Features = append(spec.Features, c.Names()...)
	}
	err := WriteONNXColumns(new(bytes.Buffer), model.New(spec, make([]float32, spec.Width())))
	if err == nil || strings.Count(err.Error(), "hashed") != 2 || !strings.HasPrefix(err.Error(), `column "a": it is hashed`) || !strings.Contains(err.Error(), `; column "c": it is hashed`) {
		t.Errorf("error %v", err)
	}
}
