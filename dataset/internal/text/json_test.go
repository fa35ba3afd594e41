package text_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset"
	"halfspace/dataset/internal/datatest"
	textfile "halfspace/dataset/internal/text"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestJSON reads objects of every kind as columns.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"x":1,"y":"a"}` + "\n" + `{"x":2,"y":"b"}`:                                 "x int64 1 2; y string a b",
		` { "x" : 1.5 , "y" : true } ` + "\r\n\n" + `{"y":false}` + "\n{}\n":         "x float64 1.5 null null; y bool true false null",
		`{"y":"1","x":null}` + "\n" + `{"x":3,"y":"02"}` + "\n":                      "y string 1 02; x int64 null 3",
		`{"x":"NA","s":"NA"}` + "\n" + `{"x":-1e3,"s":""}` + "\n":                    "x float64 null -1000; s string NA ",
		`{"a\"\u00e9":1,"s":"\u00e9\ud83d\ude00\n\\\/\t\""}` + "\n":                  `a"é int64 1; s string é😀\n\\/\t\"`,
		`{"a":1}` + "\n" + `{"b":2,"a":3}` + "\n":                                    "a int64 1 3; b int64 null 2",
		`{"x":NaN,"y":1}` + "\n" + `{"x":2,"y":9007199254740993}`:                    "x int64 null 2; y int64 1 9007199254740993",
		"\ufeff" + `{"x":1,"t":[1,{"a":"]"}],"o":{"a":{}}}` + "\n" + `{"x":2,"o":7}`: "x int64 1 2",
	} {
		all, err := table(t, dataset.Options{}, datatest.TextFile(t, "a.jsonl", text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := datatest.Show(all); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestJSONFiles: the columns are the keys in the first rows of all files. A note names the file that has none of a key. A column without
// values in the first file has the type of the values in the second.
func TestJSONFiles(t *testing.T) {
	first, second := datatest.TextFile(t, "a.jsonl", `{"x":1,"y":"a","e":null}`), datatest.TextFile(t, "b.ndjson", `{"z":0,"y":"b","v":1,"e":"text"}`+"\n"+`{"x":2}`)
	empty := datatest.TextFile(t, "c.jsonl", "\n \n")
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{first, second}, "x int64 1 null 2; y string a b null; e string null text null; z int64 null 0 null; v int64 null 1 null"},
		{[]string{second, empty, first}, "z int64 0 null null; y string b null a; v int64 1 null null; e string text null null; x int64 null 2 1"},
	} {
		var notes []string
		all := require.Value(table(t, dataset.Options{Warn: func(s string) { notes = append(notes, s) }}, c.paths...))(t)
		if got := datatest.Show(all); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		missing := "are missing in " + first + " (1 row)"
		if text := strings.Join(notes, "|"); !strings.Contains(text, `"z" and "v" `+missing) || strings.Contains(text, empty) != (len(c.paths) == 3) {
			t.Errorf("notes %q", notes)
		}
	}
}

// TestJSONAbsent: columns of a model that the first rows don't have are nulls, if the rows have others.
func TestJSONAbsent(t *testing.T) {
	spec := require.Value(dataset.Load(t.Context(), datatest.TextFile(t, "a.jsonl", `{"a":1,"b":2,"y":0}`+"\n"+`{"a":2,"b":3,"y":1}`), dataset.Options{Label: "y", Nulls: "mean"}))(t).Spec()
	var notes []string
	opt := dataset.Options{Spec: spec, Warn: func(s string) { notes = append(notes, s) }}
	rows := require.Value(dataset.Load(t.Context(), datatest.TextFile(t, "a.jsonl", `{"a":4,"y":1}`), opt))(t)
	var x []float32
	for b, err := range rows.Blocks(t.Context()) {
		require.NoError(t, err)
		x = append(x, b.X[:2]...)
	}
	if x[0] != 4 || x[1] != 2.5 || !strings.Contains(strings.Join(notes, "|"), `the first rows have no field "b": absent fields are missing values`) {
		t.Errorf("row %v, notes %q", x, notes)
	}
	if _, err := dataset.Load(t.Context(), datatest.TextFile(t, "a.jsonl", `{"c":4,"y":1}`), opt); err == nil || !strings.Contains(err.Error(), `no columns "a", "b"`) {
		t.Errorf("no column of the model: %v", err)
	}
}

// TestJSONSparse: rows with few of many keys take little memory at a time.
func TestJSONSparse(t *testing.T) {
	const columns, rows = 3000, 4000
	var text strings.Builder
	for i := range columns {
		fmt.Fprintf(&text, `%s"k%d":%d`, []string{"{", ","}[min(i, 1)], i, i)
	}
	text.WriteString("}\n")
	for i := range rows {
		fmt.Fprintf(&text, `{"k%d":%d}`+"\n", i%columns, i)
	}
	n, most := int64(0), int64(0)
	opt := dataset.Options{Spec: &schema.Spec{Bias: true}, Keep: []string{"*"}}
	err := dataset.Scan(t.Context(), []string{datatest.TextFile(t, "a.jsonl", text.String())}, opt, func(_ *schema.Spec, _ *block.Block, rec arrow.Record) error {
		for k := range rec.Columns() {
			for r := range int(rec.NumRows()) {
				is, want := !rec.Column(k).IsNull(r), int(n)+r == 0 || (int(n)+r-1)%columns == k
				if is != want {
					return fmt.Errorf("row %d, column %d: a value is there: %t", int(n)+r, k, is)
				}
			}
		}
		n, most = n+rec.NumRows(), max(most, rec.NumRows())
		return nil
	})
	if err != nil || n != rows+1 || most > 4<<20/columns {
		t.Errorf("%d rows, at most %d at a time, %v", n, most, err)
	}
}

// TestJSONErrors: an error names the file, the line and the field.
func TestJSONErrors(t *testing.T) {
	many := strings.Repeat(`{"x":1,"y":2}`+"\n", textfile.SampleBytes/14+1)
	late := strings.Count(many, "\n") + 1
	for _, c := range []struct{ name, text, want string }{
		{"a.jsonl", "", "the file is empty: write it again"},
		{"a.jsonl", `{"x":1}` + "\n" + `{"x":1`, "line 2: the object isn't closed: mend the line"},
		{"a.jsonl", `{"x":1}}`, "line 1: something stands behind the object: write each in its own line"},
		{"a.jsonl", `{"x":1} {"x":2}`, "line 1: something stands behind the object: write each in its own line"},
		{"a.jsonl", `{"x":1 "y":2}`, "line 1: no comma stands between two fields: mend the line"},
		{"a.jsonl", `{x:1}`, "line 1: a key isn't in double quotes: mend the line"},
		{"a.jsonl", `{"x":1,}`, "line 1: a key isn't in double quotes: mend the line"},
		{"a.jsonl", `{"x" 1}`, `line 1: no colon stands behind the key "x": mend the line`},
		{"a.jsonl", `{"x":}`, `line 1: field "x": "" is no JSON value: write a number, true, false, null or a text in double quotes`},
		{"a.jsonl", `{"x":yes}`, `line 1: field "x": "yes" is no JSON value: write a number, true, false, null or a text in double quotes`},
		{"a.jsonl", `{"x":"a`, `line 1: field "x": the quotes of a text aren't closed: mend the line`},
		{"a.jsonl", `{"x":"\ud800"}`, `line 1: field "x": "\\ud800" is half of a character: write both halves, or the character itself`},
		{"a.jsonl", `{"x":"a\udc00b"}`, `line 1: field "x": "\\udc00" is half of a character: write both halves, or the character itself`},
		{"a.jsonl", `{"x":"\ud83d\u0041"}`, `line 1: field "x": "\\ud83d" is half of a character: write both halves, or the character itself`},
		{"a.jsonl", `{"a\udbffb":1}`, `line 1: "\\udbff" is half of a character: write both halves, or the character itself`},
		{"a.jsonl", `{"x":"\x"}`, `line 1: field "x": "\\x\"}" is no escape of JSON: write \\ for a backslash`},
		{"a.jsonl", `{"x":[1,2`, `line 1: field "x": a list or an object isn't closed: mend the line`},
		{"a.jsonl", `[{"x":1}]`, "line 1: the line is a list: write an object in each line, as by: jq -c '.[]'"},
		{"a.jsonl", "x,y\n1,2\n", "line 1: the line is no JSON object: mend it"},
		{"a.jsonl", many + `{"x":1,"y":"b"}`, fmt.Sprintf(`line %d: field "y": "b" is not a number, unlike the first rows: correct it, leave the column out with Exclude, or use NullValues b if it stands for no value`, late)},
		{"a.jsonl", many + `{"y":[1],"x":1}`, fmt.Sprintf(`line %d: field "y": a list, unlike the first rows: write a number, a text, true, false or null, or leave the field out with Exclude`, late)},
		{"a.jsonl", many + `{"x":1,"x":1}`, fmt.Sprintf(`line %d: field "x" is there twice: leave one out`, late)},
		{"a.json", `[{"x":1},{"x":2}]`, "a JSON array: write its objects in lines of their own: jq -c '.[]' "},
		{"a", "[\n  {\n", "a JSON array: write its objects in lines of their own: jq -c '.[]' "},
		{"a.json", "{\n \"x\": 1\n}\n", "a JSON object in several lines: write each object in a line of its own: jq -c . "},
		{"a.json", `{"x":{"0":1},"y":["a","b"]}`, "one JSON object whose fields are columns or tables: write an object for each row, each in a line of its own; pandas does for columns: pandas.read_json("},
		{"a.json", `{"x":[` + strings.Repeat("1,", 1<<16) + `1]}` + "\n", "one JSON object whose fields are columns or tables"},
		{"a.json", "\n\n", "the file is empty: write it again"},
		{"a.json", "x,y\n1,2\n", "the name says JSON, but the content isn't: rename it"},
		{"a.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "a workbook of Excel: save its sheet as CSV, or type: libreoffice Headless ConvertTo csv "},
		{"a.csv", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "a workbook of Excel: save its sheet as CSV, or type: libreoffice Headless ConvertTo csv "},
	} {
		path := datatest.TextFile(t, c.name, c.text)
		_, err := dataset.Load(t.Context(), path, dataset.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), path+": "+c.want) {
			t.Errorf("%.40q: error %v, want %s", c.text, err, c.want)
		}
	}
	_, err := dataset.Load(t.Context(), datatest.TextFile(t, "a.jsonl", `{"x":1,"t":[1],"y":0}`+"\n"), dataset.Options{Label: "y", Features: []string{"t"}})
	if err == nil || !strings.Contains(err.Error(), `"t" is a list in line 1`) {
		t.Errorf("a list as a feature: %v", err)
	}
}

// TestJSONLine: the line of a row is found again.
func TestJSONLine(t *testing.T) {
	path := datatest.TextFile(t, "a.jsonl", "{\"x\":1}\n\n{\"x\":2}\n")
	err := dataset.Options{}.Complete(t.Context(), []string{path}, &dataset.RowError{File: path, Row: 1, Err: dataset.ErrColumn})
	row, ok := errors.AsType[*dataset.RowError](err)
	if !ok || row.File != path || row.Line != 3 {
		t.Errorf("%v", err)
	}
}

// FuzzJSON holds lines that encoding/json accepts against it, and reads others without panicking.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":1,"b":"x"}`, `{"a":-0.5e3,"b":null}`, `{"a":true,"a2":"\u00e9\\"}`, `{"a":[1,{"b":"]"}],"c":{}}`, `{}`, `{"a":"`, `{"a" : 1 , "b":2}`,
		`{"\ud83d\ude00":"\ud800"}`, `{"a":1}x`, `{"a":1e999}`, `{"a":12345678901234567890}`, "{\"a\":1}\n{\"b\":\"2\"}\n", `{"a":1,"a":2}`, `[1]`, "\x00", `{"a":+1}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want []map[string]any
		valid := utf8.ValidString(text)
		for line := range strings.Lines(text) {
			if line = strings.Trim(line, " \t\r\n"); line == "" {
				continue
			}
			var row map[string]any
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&row); err != nil || row == nil || !json.Valid([]byte(line)) || strings.Contains(line, `\u`) || twice(line, len(row)) {
				valid = false
				break
			}
			want = append(want, row)
		}
		got, err := table(t, dataset.Options{}, datatest.TextFile(t, "a.jsonl", text))
		if !valid || len(want) == 0 {
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "too large") || strings.Contains(err.Error(), "column") || strings.Contains(err.Error(), "empty") {
				return
			}
			t.Fatalf("%q: %v", text, err)
		}
		for i, field := range got.Schema().Fields() {
			row := 0
			for _, a := range got.Column(i).Data().Chunks() {
				for r := range a.Len() {
					checkJSON(t, field.Name, want[row][field.Name], a.IsNull(r), a.ValueStr(r))
					row++
				}
			}
			if row != len(want) {
				t.Fatalf("%q: %d rows, want %d", text, row, len(want))
			}
		}
	})
}

// twice returns true if a line has more than n keys and texts in front of colons.
func twice(line string, n int) bool { return strings.Count(line, `:`) > n }

// checkJSON compares a cell with a value of encoding/json.
func checkJSON(t *testing.T, name string, want any, null bool, got string) {
	t.Helper()
	switch want := want.(type) {
	case nil:
		if !null {
			t.Fatalf("%q is %s, want a null", name, got)
		}
	case json.Number:
		v, _ := strconv.ParseFloat(string(want), 64)
		if w, err := strconv.ParseFloat(got, 64); !null && got != string(want) && got != "true" && got != "false" && (err != nil || w != v && !math.IsInf(v, 0)) {
			t.Fatalf("%q is %s, want %s", name, got, want)
		}
	case string:
		if v, err := strconv.ParseFloat(want, 64); !null && got != want && err == nil {
			if w, err := strconv.ParseFloat(got, 64); err == nil && w != v {
				t.Fatalf("%q is %s, want %s", name, got, want)
			}
		}
	case bool:
		if !null && got != fmt.Sprint(want) && got != map[bool]string{true: "1", false: "0"}[want] {
			t.Fatalf("%q is %s, want %t", name, got, want)
		}
	}
}

// BenchmarkJSON reads objects of numbers and texts with one worker.
func BenchmarkJSON(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var text bytes.Buffer
	for range 100_000 {
		fmt.Fprintf(&text, `{"first": %.4f, "second": %d, "third": %.6g, "fourth": %t, "city": "town %d", "y": %d}`+"\n", r.Float64(), r.IntN(1000), r.NormFloat64(), r.IntN(2) == 0, r.IntN(50), r.IntN(2))
	}
	path := datatest.TextFile(b, "a.jsonl", text.String())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		require.Value(dataset.Load(b.Context(), path, dataset.Options{Label: "y", Workers: 1, Exclude: []string{"city"}}))(b)
	}
}
