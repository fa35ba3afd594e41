package model

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/schema"
)

// textbook is the model of the rows (3,3)+, (4,3)+, (1,1)-: w = (1,1), b = -3 after 7 updates.
func textbook() *Model {
	spec := &schema.Spec{Features: []string{"x1", "x2"}, Bias: true, Label: "y",
		Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	m := New(spec, []float32{1, 1, -3})
	m.Algorithm = "perceptron"
	m.Options = Options{Order: "cyclic", Epochs: 100, Eta: 1}
	m.Data = Data{Fingerprint: "xxh3:0123456789abcdef", Rows: 3}
	m.Training = Training{Rows: 3, Errors: new(int64), Epochs: 6, Visits: 18, Updates: 7, Converged: true, Loss: new(0.0), Radius: new(math.Sqrt(26)), Norm: new(math.Sqrt(11))}
	return m
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := m.WriteTo(&b)
	require.NoError(t, err)
	if n != int64(b.Len()) {
		t.Fatalf("WriteTo returned %d after %d bytes", n, b.Len())
	}
	return b.Bytes()
}

// again returns a model as it comes back from its file.
func again(t *testing.T, m *Model) *Model {
	t.Helper()
	back, err := Read(bytes.NewReader(encode(t, m)))
	require.NoError(t, err)
	return back
}

func TestFile(t *testing.T) {
	got := string(encode(t, textbook()))
	want := `{
  "format": "halfspace-model/1",
  "algorithm": "perceptron",
  "dtype": "float32",
  "label": "y",
  "classes": [
    -1,
    1
  ],
  "positive": 1,
  "features": [
    "x1",
    "x2"
  ],
  "fit_bias": true,
  "weights": [
    [
      1,
      1
    ]
  ],
  "bias": [
    -3
  ],
  "options": {
    "order": "cyclic",
    "epochs": 100,
    "max_updates": 0,
    "eta": 1
  },
  "data": {
    "fingerprint": "xxh3:0123456789abcdef",
    "rows": 3
  },
  "training": {
    "rows": 3,
    "epochs": 6,
    "visits": 18,
    "updates": 7,
    "errors": 0,
    "converged": true,
    "loss": 0,
    "radius": 5.0990195135927845,
    "norm": 3.3166247903554
  },
`
	// The promise of the package comment: the sum covers every byte before the checksum's line.
	want += fmt.Sprintf("  \"checksum\": \"sha256:%x\"\n}\n", sha256.Sum256([]byte(want)))
	if got != want {
		t.Errorf("file is\n%s\nwant\n%s", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	seed := uint64(math.MaxUint64)
	kept := int64(12)
	numbers := []float64{0, math.Copysign(0, -1), float64(float32(0.1)), -0x1p-149, 0x1p-126, math.MaxFloat32, float64(float32(1.0 / 3)), 1 << 53, float64(float32(1e21))}
	several := textbook()
	several.Algorithm, several.FitBias, several.Bias = "pocket", false, []float64{}
	several.Options.Seed, several.Options.Pocket, several.Training.KeptUpdate = &seed, "exact", &kept
	several.Weights, several.Features = [][]float64{numbers}, nil
	for i := range numbers {
		several.Features = append(several.Features, fmt.Sprintf("<%d> & \"ü\"\n\u2028", i))
	}
	several.Classes = []schema.Class{schema.StringClass("<=50K"), schema.StringClass(">50K")}
	several.Positive = several.Classes[0]

	edges := textbook()
	edges.Weights = [][]float64{{float64(float32(0.1)), float64(math.Float32frombits(1))}}
	edges.Bias = []float64{-math.MaxFloat32}
	edges.Classes = []schema.Class{schema.FloatClass(-0.5), schema.FloatClass(2.5e300)}
	edges.Positive = edges.Classes[1]

	for _, m := range []*Model{textbook(), several, edges} {
		back := again(t, m)
		if !reflect.DeepEqual(back, m) {
			t.Errorf("read back\n%+v\nwant\n%+v", back, m)
		}
		for i, w := range back.Weights[0] {
			if math.Float64bits(w) != math.Float64bits(m.Weights[0][i]) {
				t.Errorf("weight %d is %v, want %v", i, w, m.Weights[0][i])
			}
		}
		if first, second := encode(t, m), encode(t, back); !bytes.Equal(second, first) {
			t.Errorf("written again:\n%s\nwant\n%s", second, first)
		}
	}
}

// preprocessed is a model of three features from a column of numbers and one of categories, with means, standardized.
func preprocessed() *Model {
	spec := &schema.Spec{Features: []string{"age", "color=blue", "color=red"}, Bias: true, Label: "y",
		Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1,
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsMean, Columns: []schema.Column{
			{Name: "age", Kind: schema.NumberColumn, Means: []float64{0.1}, Center: []float64{0.1}, Scale: []float64{1.0 / 3}},
			{Name: "color", Kind: schema.OneHotColumn, Categories: []string{"blue", "red"}}}}}
	return New(spec, []float32{1, 2, 3, 4})
}

func TestPreprocessing(t *testing.T) {
	data := encode(t, preprocessed())
	want := `  "preprocessing": {
    "nulls": "mean",
    "columns": [
      {
        "name": "age",
        "kind": "number",
        "means": [
          0.1
        ],
        "center": [
          0.1
        ],
        "scale": [
          0.3333333333333333
        ]
      },
      {
        "name": "color",
        "kind": "onehot",
        "categories": [
          "blue",
          "red"
        ]
      }
    ]
  },
  "fit_bias": true,
`
	if !strings.Contains(string(data), want) {
		t.Errorf("file is\n%s\nwant it to have\n%s", data, want)
	}
	back := again(t, preprocessed())
	if !reflect.DeepEqual(back, preprocessed()) || !reflect.DeepEqual(back.Spec().Preprocessing, preprocessed().Preprocessing) {
		t.Errorf("read back\n%+v\nwant\n%+v", back, preprocessed())
	}
	body := string(data[:bytes.LastIndex(data, []byte(",\n  \"checksum\""))]) + "\n}"
	for from, to := range map[string]string{
		`"nulls": "mean"`: `"nulls": "median"`, `"nulls": "mean",`: "", `0.3333333333333333`: `0`, `"onehot"`: `"number"`,
		`"blue",`: "", `"name": "age"`: `"name": "edge"`, `"center": [`: `"center": [ 1,`,
	} {
		t.Logf("%s instead of %s", to, from)
		_, err := Read(strings.NewReader(sign(strings.Replace(body, from, to, 1))))
		require.Error(t, err, "preprocessing: ")
	}
	_, err := Read(strings.NewReader(sign(strings.Replace(body, "0.3333333333333333", "1e999", 1))))
	require.Error(t, err, "1e999")
}

// TestManyClasses: more than two classes have a row of weights and a bias each.
func TestManyClasses(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a", "b"}, Bias: true, Label: "y",
		Classes: []schema.Class{schema.StringClass("x"), schema.StringClass("y"), schema.StringClass("z")}, Positive: 2}
	stride := kernel.Stride(3)
	w := make([]float32, 3*stride)
	for c := range 3 {
		copy(w[c*stride:], []float32{float32(c), 10 + float32(c), 20 + float32(c)})
	}
	m := New(spec, w)
	m.Options.Multiclass = Joint
	if !reflect.DeepEqual(m.Weights, [][]float64{{0, 10}, {1, 11}, {2, 12}}) || !reflect.DeepEqual(m.Bias, []float64{20, 21, 22}) {
		t.Errorf("weights %v, bias %v", m.Weights, m.Bias)
	}
	back := again(t, m)
	if !reflect.DeepEqual(back, m) || !reflect.DeepEqual(Vector(back), w) {
		t.Errorf("read back %+v with the vector %v, want %+v and %v", back, Vector(back), m, w)
	}
	m.Bias = m.Bias[:2]
	require.Error(t, m.Check(), "bias has 2 numbers where fit_bias is true")
}

// TestMulticlass: a model of more than two classes is written only if it says how they were learned, which probabilities depend on.
// An older file that doesn't say is of one class versus the rest.
func TestMulticlass(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a"}, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}}
	m := New(spec, []float32{1, 2, 3})
	var b bytes.Buffer
	_, err := m.WriteTo(&b)
	require.Error(t, err, "Options.Multiclass is empty")
	m.Options.Multiclass = "both"
	require.Error(t, m.Check(), `multiclass is "both"`)
	for _, way := range []string{Joint, OneVersusRest} {
		m.Options.Multiclass = way
		if back := again(t, m); back.Options.Multiclass != way {
			t.Errorf("%s: read %+v", way, back)
		}
	}
	old := strings.Replace(string(encode(t, m)), "    \"multiclass\": \"ovr\",\n", "", 1)
	old = strings.Replace(old, ",\n    \"multiclass\": \"ovr\"", "", 1)
	if strings.Contains(old, "multiclass") {
		t.Fatal("the file still says it: " + old)
	}
	back, err := Read(strings.NewReader(sign(old)))
	if err != nil || back.Options.Multiclass != OneVersusRest {
		t.Errorf("an older file: %+v, %v", back, err)
	}
}

// TestVoters: voters come back as they were written, and those that make no sense are refused.
func TestVoters(t *testing.T) {
	m := textbook()
	w := []float32{1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0}
	m.Voters = NewVoters(w, []int64{7, 9}, 3)
	back := again(t, m)
	if !reflect.DeepEqual(back.Voters, m.Voters) || !reflect.DeepEqual(VoterVectors(back), w) {
		t.Errorf("read back %+v, the vectors %v", back.Voters, VoterVectors(back))
	}
	for want, v := range map[string]*Voters{
		"voters have 0 counts and 0 bytes of weights for 2 classes and 2 features": {},
		"voters have 1 counts and 13 bytes":                                        {Counts: []int64{1}, Weights: make([]byte, 13)},
		"voters have 2 counts and 12 bytes":                                        {Counts: []int64{1, 1}, Weights: make([]byte, 12)},
		"0 is among the voters' counts":                                            {Counts: []int64{0}, Weights: make([]byte, 12)},
		"is among the voters' counts":                                              {Counts: []int64{math.MaxInt64, 1}, Weights: make([]byte, 24)},
		"a number that isn't finite is among the voters' weights":                  {Counts: []int64{1}, Weights: bytes.Repeat([]byte{255}, 12)},
		"voters have 1 sizes for 2 classes":                                        {Counts: []int64{1}, Sizes: []int{1}, Weights: make([]byte, 12)},
	} {
		m.Voters = v
		require.Error(t, m.Check(), want)
	}
	spec := &schema.Spec{Features: []string{"a"}, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}}
	m = New(spec, []float32{1, 2, 3}) // of more than two classes each has voters
	m.Voters = NewVoters([]float32{1, 2, 3, 4}, []int64{5, 6, 7, 8}, 1)
	for want, sizes := range map[string][]int{"": {1, 2, 1}, "voters have 0 sizes for 3 classes": nil, "leave 1 of them over": {1, 1, 1},
		"0 is among the sizes": {4, 0, 0}, "3 is among the sizes": {2, 3, -1}, "voters have 2 sizes": {2, 2}} {
		m.Voters.Sizes = sizes
		require.Error(t, m.Check(), want)
	}
}

func TestSpecAndVector(t *testing.T) {
	m := textbook()
	want := &schema.Spec{Features: []string{"x1", "x2"}, Bias: true, Label: "y",
		Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	if got := m.Spec(); !reflect.DeepEqual(got, want) {
		t.Errorf("Spec is %+v, want %+v", got, want)
	}
	if got, want := Vector(m), []float32{1, 1, -3, 0, 0, 0, 0, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("Vector is %v, want %v", got, want)
	}
	if padded := New(m.Spec(), Vector(m)); !reflect.DeepEqual(padded.Weights, m.Weights) || !reflect.DeepEqual(padded.Bias, m.Bias) {
		t.Errorf("weights %v and bias %v from a padded vector, want %v and %v", padded.Weights, padded.Bias, m.Weights, m.Bias)
	}
	m.FitBias, m.Bias = false, nil
	if got, want := Vector(m), []float32{1, 1, 0, 0, 0, 0, 0, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("Vector without bias is %v, want %v", got, want)
	}
	if n := m.Spec().Cols(); n != 2 {
		t.Errorf("without bias the model's blocks have %d columns, want 2", n)
	}
}

// TestPositiveDefault: a spec that doesn't say which class is +1 means the command's default, the greater one, and a model keeps the
// class that one names.
func TestPositiveDefault(t *testing.T) {
	for _, c := range []struct {
		positive int
		want     string
	}{{0, "b"}, {1, "b"}, {schema.FirstClass, "a"}} {
		spec := &schema.Spec{Features: []string{"x"}, Label: "y", Classes: []schema.Class{schema.StringClass("a"), schema.StringClass("b")},
			Positive: c.positive}
		m := New(spec, []float32{1})
		back := m.Spec()
		if got := spec.Classes[spec.PositiveClass()].Text; got != c.want || m.Positive.Text != c.want || back.Classes[back.PositiveClass()].Text != c.want {
			t.Errorf("Positive %d: %s, in the model %s, in its spec %s, want %s", c.positive, got, m.Positive, back.Classes[back.PositiveClass()], c.want)
		}
	}
	for class := range 3 {
		spec := &schema.Spec{Classes: make([]schema.Class, 3)}
		spec.SetPositive(class)
		if got := spec.PositiveClass(); got != class {
			t.Errorf("SetPositive(%d) makes %d +1", class, got)
		}
	}
}
