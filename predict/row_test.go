package predict

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"halfspace/gram"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/schema"
)

// prepared returns a model with a column of each kind, whose weights are 1, 2, 4, ... and the bias 0.5.
func prepared(nulls schema.Nulls) *model.Model {
	columns := []schema.Column{
		{Name: "age", Kind: schema.NumberColumn, Center: []float64{40}, Scale: []float64{10}},
		{Name: "day", Kind: schema.NumberColumn, Unit: "days since 1970", Center: []float64{100}, Scale: []float64{1}},
		{Name: "list", Kind: schema.ListColumn, Elements: 2, Center: []float64{0, 1}, Scale: []float64{1, 2}},
		{Name: "colour", Kind: schema.OneHotColumn, Categories: []string{"blue", "red"}},
		{Name: "code", Kind: schema.OneHotColumn, Categories: []string{"0.1", "7"}, Values: "number"},
		{Name: "old", Kind: schema.OneHotColumn, Categories: []string{"false", "true"}, Values: "boolean"},
		{Name: "city", Kind: schema.HashColumn, HashBits: 1},
	}
	if nulls == schema.NullsMean {
		columns[0].Means, columns[1].Means, columns[2].Means = []float64{60}, []float64{101}, []float64{3, 5}
	}
	spec := &schema.Spec{Bias: true, Label: "y", Classes: []schema.Class{schema.StringClass("no"), schema.StringClass("yes")},
		Preprocessing: &schema.Preprocessing{Nulls: nulls, Columns: columns}}
	var weights []float32
	for _, c := range columns {
		for range c.Names() {
			weights = append(weights, float32(math.Ldexp(1, len(weights))))
		}
		spec.Features = append(spec.Features, c.Names()...)
	}
	m := model.New(spec, append(weights, 0.5))
	m.Algorithm = "logistic"
	return m
}

// score returns the score of a row of values.
func score(t *testing.T, m *model.Model, values ...any) (float64, error) {
	t.Helper()
	p, err := New(m)
	require.NoError(t, err)
	row, err := p.AppendRow(nil, values...)
	require.NoError(t, err)
	return p.Score(row)
}

// TestRowValues: values of every type become features. The model's preprocessing replaces missing ones.
func TestRowValues(t *testing.T) {
	city := 1024.0
	if schema.HashBucket("Oslo", 1) == 1 {
		city *= 2
	}
	full := 0.5 + 2 + 2*3 + 4*1 + 8*0.5 + 32 + 64 + 512 + city
	for _, values := range [][]any{
		{60.0, 103.0, []float64{1, 2}, "red", 0.1, true, "Oslo"},
		{60, uint16(103), []any{1, 2.0}, schema.Nulls("red"), float32(0.1), true, "Oslo"},
		{int8(60), float32(103), []float32{1, 2}, "red", 0.1, true, "Oslo"},
		{60, 103, map[int]float64{1: 2, 0: 1, 2: 5}, "red", 0.1, true, "Oslo"},
	} {
		if s, err := score(t, prepared(schema.NullsError), values...); s != full || err != nil {
			t.Errorf("%v: score %v, error %v, want %v", values, s, err, full)
		}
	}
	known := []any{60.0, 103.0, []float64{1, 2}, "red", 0.1, true, "Oslo"}
	means := []float64{0.5 + 2*3 + 4 + 4 + 32 + 64 + 512 + city + 2, full - 6 + 2, full - 8 + 12 + 16, full - 32, full - 64, full - 512, full - city}
	zeros := []float64{full - 2 - 4, full - 6 - 200, full - 8 - 4, full - 32, full - 64, full - 512, full - city}
	for i := range known {
		values := slices.Clone(known)
		for _, missing := range []any{nil, math.NaN(), math.Inf(-1)} {
			if values[i] = missing; missing != nil && i != 0 && i != 4 {
				continue // of another type
			}
			if s, err := score(t, prepared(schema.NullsMean), values...); s != means[i] || err != nil {
				t.Errorf("column %d is %v: score %v, error %v, want %v", i, missing, s, err, means[i])
			}
			if s, err := score(t, prepared(schema.NullsZero), values...); s != zeros[i] || err != nil {
				t.Errorf("column %d is %v: score %v, error %v, want %v", i, missing, s, err, zeros[i])
			}
			for _, nulls := range []schema.Nulls{schema.NullsError, schema.NullsDrop} {
				if _, err := score(t, prepared(nulls), values...); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), `column "`) {
					t.Errorf("column %d is %v, nulls %s: error %v", i, missing, nulls, err)
				}
			}
		}
	}
	for i, other := range map[int]any{3: "green", 4: 8, 5: nil} { // not in the training
		values := slices.Clone(known)
		values[i] = other
		want := full - []float64{3: 32, 4: 64, 5: 512}[i]
		if s, err := score(t, prepared(schema.NullsZero), values...); s != want || err != nil {
			t.Errorf("column %d is %v: score %v, error %v, want %v", i, other, s, err, want)
		}
	}
}

// TestRowErrors: a row that doesn't suit the model is an error that says what to do.
func TestRowErrors(t *testing.T) {
	p, err := New(prepared(schema.NullsZero))
	require.NoError(t, err)
	for want, values := range map[string][]any{
		"1 values, and the model reads 7 columns":                                               {1},
		`column "age": a value of the type string, and the column has numbers`:                  {"12", 1, nil, nil, nil, nil, nil},
		`column "day": a value of the type time.Time, and the`:                                  {1, time.Unix(0, 0).UTC(), nil, nil, nil, nil, nil},
		`column "list": a value of the type int, and the column has lists of 2 numbers`:         {1, 1, 3, nil, nil, nil, nil},
		`column "list": a list of 1 numbers, and the training had lists of 2`:                   {1, 1, []float64{1}, nil, nil, nil, nil},
		`column "list": element 1: a value of the type string, and the column has numbers`:      {1, 1, []any{1, "x"}, nil, nil, nil, nil},
		`column "list": index -1: write a number from 0 on`:                                     {1, 1, map[int]float64{-1: 1}, nil, nil, nil, nil},
		`column "colour": a value of the type int, and the column has categories of the type s`: {1, 1, nil, 3, nil, nil, nil},
		`column "code": a value of the type string, and the column has categories of the type `: {1, 1, nil, nil, "7", nil, nil},
		`column "old": a value of the type int, and the column has categories of the type bool`: {1, 1, nil, nil, nil, 1, nil},
		`column "city": "\xff" is not valid UTF-8 text`:                                         {1, 1, nil, nil, nil, nil, "\xff"},
	} {
		if _, err := p.AppendRow(nil, values...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", values, err, want)
		}
	}
	row := make([]float64, 12)
	_, short := p.Class([]float64{1})
	svm := linear(2, true, rand.New(rand.NewPCG(1, 1)))
	svm.Algorithm = "svm"
	of, err := New(svm)
	require.NoError(t, err)
	_, large := of.Score([]float64{1, -1e39})
	no := of.Probabilities([]float64{1, 2}, make([]float64, 2))
	svm.Weights = nil
	_, bare := New(svm)
	three, err := New(model.New(&schema.Spec{Features: []string{"a"}, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}}, []float32{1, 2, 3}))
	require.NoError(t, err)
	_, several := three.Score([]float64{1})
	for want, err := range map[string]error{
		"the row has 1 numbers, and the model has 12 features":                                        short,
		"there is room for 2 scores, and a row has 1":                                                 p.Scores(row, make([]float64, 2)),
		"there is room for 0 probabilities, and there are 2 classes":                                  p.Probabilities(row, nil),
		`column "b": -1e+39 is too large for the model, which computes in float32: correct the value`: large,
		"a model of svm has no prob":                                                                  no,
		"the model can't be used: weights has 0 rows":                                                 bare,
		"3 classes have a score each: use Scores":                                                     several,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestRowsAtOnce: goroutines that share a predictor get the same results as one, and no call allocates memory.
func TestRowsAtOnce(t *testing.T) {
	voted := linear(3, true, rand.New(rand.NewPCG(7, 8)))
	voted.Voters = model.NewVoters([]float32{1, -2, 3, 4, 0, 0, 0, 0, 5, -6, 7, 8, 0, 0, 0, 0}, []int64{3, 1}, 4)
	expanded := linear(3, true, rand.New(rand.NewPCG(7, 8)))
	expanded.Weights = nil
	expanded.Expansion = &model.Expansion{Kernel: gram.Kernel{Kind: "rbf", Gamma: 1}, Rows: []int64{3, 5},
		Support: model.Pack([]float32{1, 2, 3, 4, 5, 6}), Coefficients: [][]byte{model.Pack([]float32{1, -1})}}
	odds := linear(3, false, rand.New(rand.NewPCG(9, 8)))
	odds.Algorithm = "logistic"
	for name, m := range map[string]*model.Model{"voted": voted, "expansion": expanded, "probabilities": odds} {
		p, err := New(m)
		require.NoError(t, err)
		predict := func(x float64) (float64, schema.Class) {
			row := [3]float64{x, 1 - x, x * x}
			class, err := p.Class(row[:])
			s, fail := p.Score(row[:])
			if err != nil || fail != nil {
				t.Error(err, fail)
			}
			if m == odds {
				var out [2]float64
				if err := p.Probabilities(row[:], out[:]); err != nil || math.Abs(out[0]+out[1]-1) > 0x1p-24 { // two roundings to float32
					t.Error(err, out)
				}
				s += out[1]
			}
			return s, class
		}
		var want [200]float64
		for i := range want {
			want[i], _ = predict(float64(i) / 50)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for i, w := range want {
					if s, _ := predict(float64(i) / 50); s != w {
						t.Errorf("%s: row %d has %v, and %v alone", name, i, s, w)
					}
				}
			})
		}
		all.Wait()
		if n := testing.AllocsPerRun(100, func() { predict(0.3) }); n != 0 && !parallel.RaceEnabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestNumberedRow: the keys of a map are the indices of svmlight files, of which the column's first may be 1.
func TestNumberedRow(t *testing.T) {
	const width = schema.MaxNamed + 1
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)},
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: width}}}}
	m := model.New(spec, make([]float32, width))
	m.Algorithm = "perceptron"
	p, err := New(m)
	require.NoError(t, err)
	row, err := p.AppendRow(nil, map[int]float64{0: 9, 1: 2, width: 3, width + 1: 9})
	if err != nil || len(row) != width || row[0] != 2 || row[width-1] != 3 {
		t.Errorf("%d numbers, error %v", len(row), err)
	}
}

// TestDerivedRow: one value makes all features of its column: numbers of texts, parts of dates, and the mark of a missing value.
func TestDerivedRow(t *testing.T) {
	derived := func(name string, d schema.Derivation) schema.Column {
		c := schema.Column{Name: name, Kind: schema.NumberColumn, Derive: d}
		if d != schema.Missing {
			c.Means = []float64{0}
		}
		return c
	}
	columns := []schema.Column{derived("when", schema.Days), derived("when", schema.HourSin), derived("price", schema.Plain), derived("when", schema.Missing),
		derived("price", schema.Missing), derived("ok", schema.Boolean), {Name: "city", Kind: schema.OneHotColumn, Categories: []string{"", "Oslo"}}, derived("city", schema.Missing)}
	columns[0].Origin = 1
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsMean, Columns: columns}}
	for _, c := range columns {
		spec.Features = append(spec.Features, c.Names()...)
	}
	p, err := New(model.New(spec, make([]float32, spec.Width())))
	require.NoError(t, err)
	if want := []string{"when", "price", "ok", "city"}; !slices.Equal(p.Columns(), want) {
		t.Errorf("columns %q, want %q", p.Columns(), want)
	}
	nan := math.NaN()
	for _, c := range []struct {
		values []any
		want   []float64
	}{
		{[]any{"1970-01-02 06:00", "$1,234.50", "Yes", "Oslo"}, []float64{0.25, 1, 1234.5, 0, 0, 1, 0, 1, 0}},
		{[]any{time.Unix(86400+6*3600, 0), 1234.5, true, ""}, []float64{0.25, 1, 1234.5, 0, 0, 1, 1, 0, 0}},
		{[]any{1.25, 7, 0, "Rome"}, []float64{0.25, 1, 7, 0, 0, 0, 0, 0, 0}},
		{[]any{"soon", "?", "perhaps", nil}, []float64{nan, nan, nan, 1, 1, nan, nan, 0, 1}},
		{[]any{math.Inf(1), nan, "\xff", nil}, []float64{nan, nan, nan, 1, 1, nan, nan, 0, 1}},
		{[]any{nil, nil, nil, nil}, []float64{nan, nan, nan, 1, 1, nan, nan, 0, 1}},
	} {
		row, err := p.AppendRow([]float64{9}, c.values...)
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if err != nil || !slices.EqualFunc(row[1:], c.want, same) || row[0] != 9 {
			t.Errorf("%v: %v, error %v, want %v", c.values, row, err, c.want)
		}
	}
	for want, values := range map[string][]any{
		`column "when": a value of the type []int, and the column has dates: use text, a time.Time or the days since 1970-01-01`: {[]int{1}, 1, 1, ""},
		`column "price": a value of the type time.Time, and the column has texts of numbers`:                                     {1, time.Time{}, 1, ""},
	} {
		if row, err := p.AppendRow([]float64{9}, values...); err == nil || err.Error() != want || len(row) != 1 {
			t.Errorf("%v: %v, error %v, want %s", values, row, err, want)
		}
	}
}
