package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"
)

// sign appends the right checksum to a file without one, whose last line but the brace is body's.
func sign(body string) string {
	body = strings.TrimSuffix(strings.TrimSpace(body), "}")
	body = strings.TrimSpace(body) + ",\n"
	return fmt.Sprintf("%s  \"checksum\": \"sha256:%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}

const small = `{"format": "halfspace-model/1", "dtype": "float32", "label": "y", "classes": [0, 1], "positive": 1,
"features": ["a", "b"], "fit_bias": true, "weights": [[1, 2]], "bias": [3]}`

func TestReadForeignFiles(t *testing.T) {
	for name, text := range map[string]string{
		"as is":        small,
		"unknown keys": strings.Replace(small, `"dtype"`, `"annotation": {"checksum": "x"}, "dtype"`, 1),
		"null":         strings.Replace(small, `"dtype"`, `"mine": [null, {"weights": null}], "training": {"mine": null, "errors": null}, "dtype"`, 1),
		"no bias":      strings.Replace(small, `"fit_bias": true`, `"fit_bias": false`, 1),
		"1.0 as class": strings.Replace(small, `[0, 1]`, `[0.0, 1.0e0]`, 1),
	} {
		if name == "no bias" {
			text = strings.Replace(text, `"bias": [3]`, `"bias": [0]`, 1)
		}
		m, err := Read(strings.NewReader(sign(text)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := []schema.Class{schema.IntClass(0), schema.IntClass(1)}; !reflect.DeepEqual(m.Classes, want) {
			t.Errorf("%s: classes are %v, want %v", name, m.Classes, want)
		}
	}
}

func TestReadRejects(t *testing.T) {
	edit := func(from, to string) string {
		if !strings.Contains(small, from) {
			t.Fatalf("no %q to edit", from)
		}
		return sign(strings.Replace(small, from, to, 1))
	}
	whole := string(encode(t, textbook()))
	kinds := map[error]int{}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "not a halfspace model"},
		{"Parquet", "PAR1\x15\x04", "not a halfspace model"},
		{"list", "[1]", "not a halfspace model"},
		{"other JSON", `{"weights": [1]}`, `no "format"`},
		{"format is a number", `{"format": 1}`, `no "format"`},
		{"major 2", strings.Replace(whole, "model/1", "model/2", 1), "use the version of halfspace that wrote it"},
		{"minor", strings.Replace(whole, "model/1", "model/1.1", 1), "use the version of halfspace that wrote it"},
		{"cut", whole[:len(whole)/2], "copy it again"},
		{"trailing data", whole + "{}", "after top-level value"},
		{"changed weight", strings.Replace(whole, "-3", "-4", 1), "wrong checksum"},
		{"no checksum", small, "no checksum"},
		{"checksum not last", strings.Replace(whole, "\"\n}\n", "\",\n  \"x\": 1\n}\n", 1), "not the last key"},
		{"upper-case checksum", strings.Replace(whole, "sha256:", "sha256:F", 1), "wrong checksum"},
		{"carriage returns", strings.ReplaceAll(whole, "\n", "\r\n"), "the file was rewritten"},
		{"NaN", edit("[1, 2]", "[1, NaN]"), "invalid character"},
		{"too large", edit("[1, 2]", "[1, 1e999]"), "1e999"},
		{"not a float32", edit("[1, 2]", "[1, 0.1]"), `weight of feature "b" is 0.1`},
		{"too large for a float32", edit("[3]", "[1e39]"), "bias is 1e+39"},
		{"null weights", edit("[[1, 2]]", "null"), `"weights" has null in place of a value`},
		{"null weight", edit("[[1, 2]]", "[[1, null]]"), `"weights" has null in place of a value`},
		{"null bias", edit("[3]", "[null]"), `"bias" has null in place of a value`},
		{"null fit_bias", edit("true", "null"), `"fit_bias" has null in place of a value`},
		{"negative rows of data", edit(`"dtype"`, `"data": {"fingerprint": "", "rows": -5}, "dtype"`), "data.rows is -5, below 0"},
		{"null in data", edit(`"dtype"`, `"data": {"rows": null}, "dtype"`), `"rows" has null in place of a value`},
		{"null means", edit(`"dtype"`, `"preprocessing": {"columns": [{"means": [null]}]}, "dtype"`), `"means" has null in place of a value`},
		{"two weights", edit(`"dtype"`, `"Weights": [[5, 6]], "dtype"`), `"weights" is there twice`},
		{"true as bias", edit("[3]", "[true]"), "cannot unmarshal bool"},
		{"long number", edit("[3]", "["+strings.Repeat("1", 1<<20)+"]"), "cannot unmarshal number 1111"},
		{"two rows", edit("[[1, 2]]", "[[1, 2], [1, 2]]"), "weights has 2 rows: 2 classes have 1"},
		{"short row", edit("[[1, 2]]", "[[1]]"), "1 weights for 2 features"},
		{"weights not numbers", edit("[[1, 2]]", `[["1", 2]]`), "cannot unmarshal string"},
		{"no features", sign(strings.NewReplacer(`["a", "b"]`, "[]", "[[1, 2]]", "[[]]").Replace(small)), "no features"},
		{"feature twice", edit(`"b"`, `"a"`), `"a" is there twice`},
		{"feature is label", edit(`"b"`, `"y"`), `"y" is the label's column too`},
		{"one class", edit("[0, 1]", "[1]"), "1 classes"},
		{"three classes", edit("[0, 1]", "[0, 1, 2]"), "3 classes"},
		{"equal classes", edit("[0, 1]", "[1, 1.0]"), "ascending order"},
		{"descending classes", edit("[0, 1]", "[1, 0]"), "ascending order"},
		{"mixed classes", edit("[0, 1]", `[0, "1"]`), "not of one type"},
		{"null class", edit("[0, 1]", "[null, 1]"), `"classes" has null`},
		{"object as class", edit("[0, 1]", "[{}, 1]"), "a class is"},
		{"class too large", edit("[0, 1]", "[0, 1e999]"), "float64 can't hold"},
		{"positive elsewhere", edit(`"positive": 1`, `"positive": 2`), `positive class "2" is not among the classes`},
		{"no positive", edit(`"positive": 1,`, ""), "not among the classes"},
		{"bias missing", edit("[3]", "[]"), "bias has 0 numbers"},
		{"bias without fit_bias", edit("true", "false"), "bias has 1 numbers"},
		{"two biases", edit("[3]", "[3, 4]"), "bias has 2 numbers"},
		{"dtype", edit("float32", "float16"), `dtype is "float16"`},
		{"float64 rows", edit("float32", "float64"), "the model was trained on float64 rows, and rows are float32 now: train it again"},
		{"deep", `{"format": ` + strings.Repeat("[", 20000), "exceeded max depth"},
	} {
		m, err := Read(strings.NewReader(c.text))
		if err == nil {
			t.Errorf("%s: read as %+v", c.name, m)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("%s: error is %.500q, want one short line with %q", c.name, err, c.want)
		}
		known := 0
		for _, kind := range []error{ErrNoModel, ErrVersion, ErrDamaged} {
			if errors.Is(err, kind) {
				kinds[kind]++
				known++
			}
		}
		if known != 1 {
			t.Errorf("%s: error %q is of %d kinds", c.name, err, known)
		}
	}
	if kinds[ErrNoModel] != 5 || kinds[ErrVersion] != 2 {
		t.Errorf("errors of each kind: %v", kinds)
	}
}

// endless is a JSON object that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	if e.read == 0 {
		p[0] = '{'
	}
	e.read += len(p)
	return len(p), nil
}

func TestReadBoundsMemory(t *testing.T) {
	const most = 3 << 20
	e := new(endless)
	_, err := readObject(e, most)
	require.Error(t, err, "larger than 3 MiB")
	if e.read > 2*most {
		t.Errorf("read %d bytes of a file that may have %d", e.read, most)
	}
	if data, err := readObject(strings.NewReader("  {}"), 4); err != nil || string(data) != "  {}" {
		t.Errorf("read %q and %v from a file of the size allowed", data, err)
	}
}

// TestWidth: a model has at most the features that a row may have.
func TestWidth(t *testing.T) {
	for features, want := range map[int]string{schema.MaxFeatures: "", schema.MaxFeatures + 1: "262145 features, and a row has at most 262144"} {
		m := textbook()
		m.Features, m.Weights = make([]string, features), [][]float64{make([]float64, features)}
		for i := range m.Features {
			m.Features[i] = fmt.Sprint("x", i)
		}
		require.Error(t, m.Check(), want)
	}
}

func TestWriteRejects(t *testing.T) {
	for name, spoil := range map[string]func(*Model){
		"NaN weight":    func(m *Model) { m.Weights[0][1] = math.NaN() },
		"infinite bias": func(m *Model) { m.Bias[0] = math.Inf(-1) },
		"infinite loss": func(m *Model) { *m.Training.Loss = math.Inf(1) },
		"feature name":  func(m *Model) { m.Features[0] = "a\xff" },
		"label name":    func(m *Model) { m.Label = "\xff" },
		"class name":    func(m *Model) { m.Classes = []schema.Class{schema.StringClass("a\xff"), m.Positive} },
		"long class": func(m *Model) {
			m.Classes = []schema.Class{schema.StringClass("a"), schema.StringClass("b" + strings.Repeat("b", schema.MaxText))}
			m.Positive = m.Classes[0]
		},
		"class text": func(m *Model) {
			m.Classes = []schema.Class{schema.StringClass("a"), schema.StringClass("b\xff")}
			m.Positive = m.Classes[0]
		},
	} {
		m := textbook()
		spoil(m)
		path := filepath.Join(t.TempDir(), "m.json")
		if err := m.Save(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: error is %v, want one that names the file", name, err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 0 {
			t.Errorf("%s: %s was left", name, entries[0].Name())
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, textbook().Save(path))
	m, err := Load(path)
	require.NoError(t, err)
	if !reflect.DeepEqual(m, textbook()) {
		t.Errorf("loaded %+v, want %+v", m, textbook())
	}
	data := require.Value(os.ReadFile(path))(t)
	for at := range 8 * len(data) { // a flipped bit is found
		data[at/8] ^= 1 << (at % 8)
		if _, err := Read(bytes.NewReader(data)); err == nil {
			t.Errorf("bit %d of byte %d isn't seen", at%8, at/8)
		}
		data[at/8] ^= 1 << (at % 8)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none.json")} {
		if _, err := Load(path); err == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("error is %v, want one that names %s once", err, path)
		}
	}
	missing := filepath.Join(dir, "none", "m.json")
	require.Error(t, textbook().Save(missing), missing)
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, textbook()))
	f.Add(encode(f, preprocessed()))
	f.Add(encode(f, expanded()))
	f.Add([]byte(sign(small)))
	f.Add([]byte(small))
	f.Add([]byte(`{"format": "halfspace-model/1", "features": [], "weights": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, []byte(sign(string(data)))} { // signed, so that what lies behind the sum is reached
			m, err := Read(bytes.NewReader(text))
			if err != nil {
				if m != nil || strings.Contains(err.Error(), "\n") {
					t.Errorf("model %v with error %q", m, err)
				}
				continue
			}
			again, err := Read(bytes.NewReader(encode(t, m)))
			if err != nil {
				t.Fatalf("what was read can't be written and read: %v", err)
			}
			a, _ := json.Marshal(m)
			b, _ := json.Marshal(again)
			if !bytes.Equal(a, b) {
				t.Errorf("read %s, and after writing it %s", a, b)
			}
			if m.Expansion == nil && len(Vector(m)) < m.Spec().Cols() || m.Spec().PositiveClass() < 0 {
				t.Error("a model that passed has no vector or no positive class")
			}
		}
	})
}

// TestReadOtherKeys: keys in another case, and unknown keys among those that determine predictions, are refused.
func TestReadOtherKeys(t *testing.T) {
	prepared := strings.Replace(small, `"fit_bias"`, `"preprocessing": {"nulls": "mean", "columns": [{"name": "a", "kind": "number", "means": [1]},
{"name": "b", "kind": "number", "means": [2]}]}, "fit_bias"`, 1)
	if _, err := Read(strings.NewReader(sign(prepared))); err != nil {
		t.Fatal(err)
	}
	for edit, want := range map[[2]string]string{
		{`"weights"`, `"WEIGHTS"`}:               `it has "WEIGHTS", and a model has "weights"`,
		{`"nulls"`, `"Nulls"`}:                   `it has "Nulls", and a model has "nulls"`,
		{`"nulls"`, `"winsorize": 3, "nulls"`}:   `this version doesn't know "winsorize", in "preprocessing": use the version`,
		{`"means": [1]`, `"means": [1], "q": 1`}: `this version doesn't know "q", in "preprocessing": use the version`,
		{`"fit_bias"`, `"calibration": {"kind": "isotonic", "knots": 2}, "fit_bias"`}: `this version doesn't know "knots", in "calibration"`,
	} {
		_, err := Read(strings.NewReader(sign(strings.Replace(prepared, edit[0], edit[1], 1))))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", edit[1], err, want)
		}
	}
}

// TestReadEachKey: each key at the top of a model, and each below the keys that determine predictions, is refused in
// another case, in any way that JSON can write it, and so is an unknown key beside it.
func TestReadEachKey(t *testing.T) {
	column := `"preprocessing": {"nulls": "mean", "null_values": ["-"], "columns": [{"name": "a", "kind": "number", "means": [1], "center": [1], "scale": [2]},
{"name": "b", "kind": "number", "derive": "days", "layout": "2006-01-02", "origin": 4, "means": [2], "center": [2], "scale": [1]}]}, "fit_bias"`
	texts := []string{
		strings.Replace(strings.Replace(small, `"b"]`, `"b (days)"]`, 1), `"fit_bias"`, column, 1),
		strings.Replace(small, `"fit_bias"`, `"calibration": {"method": "platt", "folds": 3, "classes": [{"a": -1, "b": 2}]}, "fit_bias"`, 1),
		strings.Replace(small, `"weights": [[1, 2]]`, `"expansion": {"kernel": {"kind": "rbf", "gamma": 2}, "rows": [3], "support": "AACAPwAAAEA=", "coefficients": ["AACAPw=="]}`, 1),
	}
	keyPattern := regexp.MustCompile(`"(\w+)":`)
	for _, text := range texts {
		if _, err := Read(strings.NewReader(sign(text))); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		top := topKeys(t, text)
		for _, at := range keyPattern.FindAllStringSubmatchIndex(text, -1) {
			key := text[at[2]:at[3]]
			variants := []string{strings.ToUpper(key), strings.ToUpper(key[:1]) + key[1:], strings.Replace(key, "s", "\u017f", 1), strings.Replace(key, "k", "\u212a", 1),
				fmt.Sprintf(`\u%04x%s`, strings.ToUpper(key)[0], key[1:])}
			if !top[key] {
				variants = append(variants, `q": 1, "`+key)
			}
			for _, variant := range variants {
				if variant == key {
					continue
				}
				edited := text[:at[2]] + variant + text[at[3]:]
				if _, err := Read(strings.NewReader(sign(edited))); !errors.Is(err, ErrDamaged) {
					t.Errorf("%q in place of %q: error %v", variant, key, err)
				}
			}
		}
	}
}

// topKeys returns the keys of an object.
func topKeys(t *testing.T, text string) map[string]bool {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &object))
	keys := map[string]bool{}
	for key := range object {
		keys[key] = true
	}
	return keys
}
