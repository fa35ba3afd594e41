package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/model"
)

// wordy writes rows of a few values in that many columns as svmlight.
func wordy(rows, columns int) string {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(columns)))
	var text strings.Builder
	for range rows {
		sum := rng.NormFloat64()
		var line strings.Builder
		for i := 1 + rng.IntN(9); i <= columns; i += 1 + rng.IntN(columns/6) {
			v := 0.25 * float64(rng.IntN(12)-3)
			sum += v * float64(i%3-1)
			fmt.Fprintf(&line, " %d:%v", i, v)
		}
		fmt.Fprintf(&text, "%d%s\n", map[bool]int{true: 1}[sum > 0], line.String())
	}
	return text.String()
}

// TestStorage: --storage changes no model, report or hold-out, in memory, streamed and in folds. A report names the storage
// of sparse rows. predict and eval take svmlight rows as sparse ones, and score them as those of a CSV file.
func TestStorage(t *testing.T) {
	dir := text(t, map[string]string{"wide.svm": wordy(600, 1500), "narrow.svm": wordy(600, 12)})
	at := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) string {
		t.Helper()
		content, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for _, more := range [][]string{{"--algo", "averaged", "--epochs", "3"}, {"--algo", "averaged", "--epochs", "3", "--order", "shuffle", "--validation", "0.2"},
		{"--algo", "perceptron", "--epochs", "2", "--cv", "3"}, {"--algo", "perceptron", "--epochs", "2", "--validation", at("wide.svm")}} {
		for _, storage := range []string{"dense", "sparse", "auto"} {
			r := decode(t, append([]string{"train", at("wide.svm"), "--storage", storage, "--json", "--out", at(storage + ".json")}, more...)...)
			if got, is := r["storage"]; is != (storage != "dense") || is && (got != "sparse" || r["density"].(float64) > 0.1) {
				t.Errorf("%v, %s: storage %v, density %v", more, storage, got, r["density"])
			}
			if read(storage+".json") != read("dense.json") {
				t.Errorf("%v, %s: another model than of dense rows", more, storage)
			}
		}
	}
	if r := decode(t, "train", at("narrow.svm"), "--algo", "perceptron", "--epochs", "1", "--json"); r["storage"] != nil {
		t.Errorf("rows that are half full are %v", r["storage"])
	}
	succeed(t, "convert", at("wide.svm"), "--out", at("wide.csv"))
	for _, name := range []string{"wide.svm", "wide.csv"} {
		succeed(t, "predict", "--model", at("auto.json"), at(name), "--score", "--keep", "f7,label", "--out", at(name+".p.csv"))
	}
	if read("wide.svm.p.csv") != read("wide.csv.p.csv") {
		t.Error("svmlight rows have other scores than the same rows in CSV")
	}
	if got, want := decode(t, "eval", "--model", at("auto.json"), at("wide.svm"), "--json"), decode(t, "eval", "--model", at("auto.json"), at("wide.csv"), "--json"); fmt.Sprint(got["errors"], got["auc"]) != fmt.Sprint(want["errors"], want["auc"]) {
		t.Errorf("eval of svmlight %v, of CSV %v", got, want)
	}
	for _, storage := range []string{"dense", "sparse"} {
		succeed(t, "train", at("wide.csv"), "--label", "label", "--algo", "averaged", "--epochs", "3", "--storage", storage, "--out", at(storage+".json"))
	}
	if read("sparse.json") != read("dense.json") {
		t.Error("another model of sparse rows of CSV than of dense rows")
	}
}

// TestManyCategories: a column with more categories than a dense row has room for makes sparse rows, in each format. The model
// names its categories, and predict, eval and inspect take it.
func TestManyCategories(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,user,city,y\n")
	rng := rand.New(rand.NewPCG(51, 52))
	for range 3000 {
		user, x := rng.IntN(1500), rng.IntN(5)-2
		fmt.Fprintf(&rows, "%d,u%d,c%d,%t\n", x, user, rng.IntN(3), user%2+x > 0)
	}
	dir := text(t, map[string]string{"rows.csv": rows.String(), "new.csv": "x,user,city,y\n1,u1,c0,true\n1,nobody,c9,true\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "convert", at("rows.csv"), "--out", at("rows.parquet"))
	for _, c := range []struct{ categorical, name string }{{"onehot", "user=u1"}, {"hash:18,city=onehot", "user#hash:18["}, {"city=onehot", "user*city#hash:20["}} {
		var first []byte
		for _, file := range []string{"rows.csv", "rows.parquet"} {
			for _, storage := range []string{"auto", "dense", "sparse"} {
				train := []string{"train", at(file), "--label", "y", "--storage", storage, "--json", "--out", at("m.json"), "--validation", "0.2"}
				train = append(train, "--categorical", c.categorical)
				if c.categorical == "city=onehot" {
					train = append(train, "--cross", "user,city")
				}
				if c.categorical == "onehot" && storage == "dense" {
					if status, _, stderr := command(train...); status == exitDone || !strings.Contains(stderr, "more than 1000 categories") {
						t.Errorf("dense rows of 1500 categories: status %d, %s", status, stderr)
					}
					continue
				}
				r := decode(t, train...)
				if (r["storage"] == "sparse") != (storage != "dense") {
					t.Errorf("%s, %s, %s: storage %v", file, c.categorical, storage, r["storage"])
				}
				m, err := os.ReadFile(at("m.json"))
				if err != nil || first != nil && string(m) != string(first) {
					t.Errorf("%s, %s, %s: another model, error %v", file, c.categorical, storage, err)
				}
				first = m
			}
		}
		succeed(t, "predict", "--model", at("m.json"), at("new.csv"), "--score", "--out", at("p.csv"))
		if r := decode(t, "eval", "--model", at("m.json"), at("rows.csv"), "--json"); r["rows"] != 3000.0 {
			t.Errorf("eval: %v", r)
		}
		if out := succeed(t, "inspect", at("m.json")); !strings.Contains(out, c.name) {
			t.Errorf("inspect doesn't name %s: %s", c.name, out)
		}
	}
}

// TestSparseElsewhere: sparse rows give the same model in memory, as a stream, in a temporary cache and in a named one, in every
// order. They stay sparse there.
func TestSparseElsewhere(t *testing.T) {
	dir := text(t, map[string]string{"wide.svm": wordy(26000, 300)})
	at := func(name string) string { return filepath.Join(dir, name) }
	train := func(more ...string) (report map[string]any, model string) {
		t.Helper()
		report = decode(t, append([]string{"train", at("wide.svm"), "--json", "--out", at("m.json")}, more...)...)
		return report, read(t, at("m.json"))
	}
	for _, options := range []string{"--algo perceptron --epochs 1", "--algo averaged --epochs 2 --order shuffle --class-weight balanced",
		"--algo perceptron --epochs 1 --order random", "--algo averaged --epochs 1 --order shuffle --validation 0.2", "--algo logistic"} {
		learner := strings.Fields(options)
		_, want := train(learner...)
		cached := at(fmt.Sprint(strings.Contains(options, "validation"), ".cache")) // one serves all learners
		for _, where := range [][]string{{"--memory", "3100000"}, {"--memory", "3100000", "--cache", cached}, {"--cache", cached}} {
			r, got := train(append(learner, where...)...)
			if got != want {
				t.Errorf("%s %s: another model than in memory", options, where)
			}
			if r["streamed"] != (len(where) > 0 && where[0] == "--memory") || r["storage"] != "sparse" || !(r["density"].(float64) > 0.03 && r["density"].(float64) < 0.05) {
				t.Errorf("%s %s: streamed %v, storage %v, density %v", options, where, r["streamed"], r["storage"], r["density"])
			}
		}
	}
}

// listRows writes rows of svmlight as an Arrow stream: the label y, and a column v of lists. A list has the values of so many
// indices from 0 on, or is a sparse one.
func listRows(t *testing.T, path, rows string, width int, sparse bool) {
	t.Helper()
	number := arrow.PrimitiveTypes.Float64
	typ := arrow.ListOf(number)
	if sparse {
		typ = arrow.ListOf(arrow.StructOf(arrow.Field{Name: "index", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "value", Type: number}))
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "y", Type: number}, {Name: "v", Type: typ}}, nil))
	defer b.Release()
	lists := b.Field(1).(*array.ListBuilder)
	for line := range strings.Lines(rows) {
		var label, v float64
		var index int32
		words, all := strings.Fields(line), make([]float64, width)
		fmt.Sscan(words[0], &label)
		b.Field(0).(*array.Float64Builder).Append(label)
		lists.Append(true)
		for _, pair := range words[1:] {
			fmt.Sscanf(pair, "%d:%g", &index, &v)
			if all[index] = v; sparse {
				s := lists.ValueBuilder().(*array.StructBuilder)
				s.Append(true)
				s.FieldBuilder(0).(*array.Int32Builder).Append(index)
				s.FieldBuilder(1).(*array.Float64Builder).Append(v)
			}
		}
		if !sparse {
			lists.ValueBuilder().(*array.Float64Builder).AppendValues(all, nil)
		}
	}
	rec := b.NewRecord()
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
	if err := errors.Join(w.Write(rec), w.Close(), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestSparseLists: a model of sparse lists is that of lists of all numbers, byte for byte, for each storage and from a cache.
// It has the weights of a model of svmlight rows. predict, eval and online take sparse lists as lists of all numbers.
func TestSparseLists(t *testing.T) {
	const columns = 1500
	rows := wordy(600, columns)
	dir := text(t, map[string]string{"rows.svm": rows})
	at := func(name string) string { return filepath.Join(dir, name) }
	width := 0
	for _, word := range strings.Fields(rows) {
		index := 0
		if fmt.Sscanf(word, "%d:", &index); strings.Contains(word, ":") {
			width = max(width, index+1)
		}
	}
	listRows(t, at("sparse.arrow"), rows, width, true)
	listRows(t, at("dense.arrow"), rows, width, false)
	for _, options := range []string{"--algo averaged --epochs 3", "--algo perceptron --epochs 2 --order shuffle --validation 0.2", "--algo logistic"} {
		train := func(file string, more ...string) (map[string]any, string) {
			t.Helper()
			args := append([]string{"train", at(file), "--label", "y", "--json", "--out", at("m.json")}, more...)
			return decode(t, append(args, strings.Fields(options)...)...), read(t, at("m.json"))
		}
		_, want := train("dense.arrow", "--storage", "dense")
		dense := loadedModel(t, at("m.json"))
		for _, how := range []string{"--storage dense", "--storage sparse", "--storage auto", "--cache " + at("rows.cache"), "--cache " + at("rows.cache")} {
			r, got := train("sparse.arrow", strings.Fields(how)...)
			if got != want {
				t.Errorf("%s %s: another model than of all numbers", options, how)
			}
			if sparse := how != "--storage dense"; (r["storage"] == "sparse") != sparse || sparse && !(r["density"].(float64) > 0.001 && r["density"].(float64) < 0.05) {
				t.Errorf("%s %s: storage %v, density %v", options, how, r["storage"], r["density"])
			}
		}
		train("rows.svm", "--label", "label", "--index-base", "0")
		if svm := loadedModel(t, at("m.json")); !reflect.DeepEqual(svm.Weights, dense.Weights) || !reflect.DeepEqual(svm.Bias, dense.Bias) || dense.Features[7] != "v[7]" || svm.Features[7] != "f7" {
			t.Errorf("%s: other weights than of svmlight rows", options)
		}
		train("dense.arrow")
	}
	for _, name := range []string{"sparse", "dense"} {
		succeed(t, "predict", "--model", at("m.json"), at(name+".arrow"), "--score", "--keep", "y", "--out", at(name+".csv"))
		succeed(t, "online", at(name+".arrow"), "--label", "y", "--out", at(name+".json"))
		if got := decode(t, "eval", "--model", at("m.json"), at(name+".arrow"), "--json"); got["rows"] != 600.0 {
			t.Errorf("eval of %s lists: %v", name, got)
		}
	}
	if read(t, at("sparse.csv")) != read(t, at("dense.csv")) || read(t, at("sparse.json")) != read(t, at("dense.json")) {
		t.Error("sparse lists have other predictions, or another model of online, than lists of all numbers")
	}
}

// TestOnlineWide: online learns from rows of more features than a dense row may have, and goes on, from a file and from standard
// input.
func TestOnlineWide(t *testing.T) {
	rows := "1 3:1 300000:2\n0 4:1 7:2\n1 300000:1\n0 300001:1\n"
	at := filepath.Join(text(t, map[string]string{"wide.svm": rows}), "wide.svm")
	out := filepath.Join(t.TempDir(), "m.json")
	pipe := func(data string) {
		if data == "-" {
			feed(t, rows, true)
		}
	}
	for _, learner := range []string{"perceptron", "ftrl"} {
		for _, data := range []string{at, "-"} {
			pipe(data)
			first := decode(t, "online", data, "--label", "label", "--algo", learner, "--out", out, "--json")
			m := loadedModel(t, out)
			pipe(data)
			again := decode(t, "online", data, "--model", out, "--json")
			if len(m.Features) != 300001 || first["rows"] != 4.0 || !(again["mistakes"].(float64) < first["mistakes"].(float64)) {
				t.Errorf("%s, %s: %d features, %v, going on %v", learner, data, len(m.Features), first, again)
			}
		}
	}
}

// TestNumberedFeatures: features of svmlight that are too many to list give the model of the same rows with small indices, each weight
// in its place. The file names no feature. predict, eval and inspect take it.
func TestNumberedFeatures(t *testing.T) {
	const step = 40_000
	few := wordy(400, 30)
	far := regexp.MustCompile(`(\d+):`).ReplaceAllStringFunc(few, func(index string) string {
		i, _ := strconv.Atoi(strings.TrimSuffix(index, ":"))
		return fmt.Sprint(i*step, ":")
	})
	dir := text(t, map[string]string{"few.svm": few, "far.svm": far, "new.svm": fmt.Sprintf("1 %d:1 1200001:4\n", step)})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, options := range []string{"--algo perceptron --epochs 3", "--algo perceptron --epochs 2 --order shuffle --validation 0.2", "--algo perceptron --epochs 2 --cv 2",
		"--algo perceptron --epochs 3 --storage sparse --memory 3100000"} {
		for _, name := range []string{"few", "far"} {
			r := decode(t, append([]string{"train", at(name + ".svm"), "--json", "--out", at(name + ".json")}, strings.Fields(options)...)...)
			if want := map[string]float64{"few": 30, "far": 30 * step}[name]; r["features"] != want {
				t.Fatalf("%s, %s: %v features, want %v", options, name, r["features"], want)
			}
		}
		want, got := loadedModel(t, at("few.json")), loadedModel(t, at("far.json"))
		if len(got.Features) > 0 || got.FeatureName(0) != "f1" || got.FeatureName(30*step-1) != "f1200000" || strings.Contains(read(t, at("far.json")), `"f1"`) {
			t.Errorf("%s: the model names %d features", options, len(got.Features))
		}
		for i, w := range got.Weights[0] {
			if w != 0 && ((i+1)%step != 0 || w != want.Weights[0][(i+1)/step-1]) {
				t.Fatalf("%s: weight %v of index %d", options, w, i+1)
			}
		}
		if *got.Training.Errors != *want.Training.Errors || got.Training.Updates != want.Training.Updates || got.Bias[0] != want.Bias[0] {
			t.Errorf("%s: another training: %+v, want %+v", options, got.Training, want.Training)
		}
		for _, name := range []string{"few", "far"} {
			succeed(t, "predict", "--model", at(name+".json"), at(name+".svm"), "--score", "--keep", "label", "--out", at(name+".csv"))
		}
		if read(t, at("few.csv")) != read(t, at("far.csv")) {
			t.Errorf("%s: other scores", options)
		}
	}
	if r := decode(t, "eval", "--model", at("far.json"), at("far.svm"), "--json"); r["rows"] != 400.0 {
		t.Errorf("eval: %v", r)
	}
	if status, _, stderr := command("predict", "--model", at("far.json"), at("new.svm"), "--out", at("p.csv")); status != exitDone || !strings.Contains(stderr, "no features of the model") {
		t.Errorf("an index that the model doesn't have: status %d, %s", status, stderr)
	}
	if out := succeed(t, "inspect", at("far.json")); !strings.Contains(out, "f, numbered from 1 to 1200000") || !strings.Contains(out, "0000  ") {
		t.Errorf("inspect: %s", out)
	}
	for option, want := range map[string]string{"--exclude=f7": "no column \"f7\"", "--nulls=zero": "leave out --nulls", "--storage=dense": "at most 262144 features",
		"--standardize": "and --standardize"} {
		if status, _, stderr := command("train", at("far.svm"), "--algo", "perceptron", option); status == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s", option, status, stderr)
		}
	}
}

// TestHashTexts: with --hash-texts a model has the first three texts of each hashed feature that has a weight, in the order of the rows,
// from every format and storage. It changes nothing else, and inspect prints the texts.
func TestHashTexts(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,user,city,y\n")
	rng := rand.New(rand.NewPCG(61, 62))
	var texts [2][]string // of user and of the cross, row by row
	for range 900 {
		user, city, x := rng.IntN(300), rng.IntN(4), rng.IntN(5)-2
		fmt.Fprintf(&rows, "%d,u%d,c%d,%t\n", x, user, city, user%3+x > 0)
		texts[0], texts[1] = append(texts[0], fmt.Sprint("u", user)), append(texts[1], fmt.Sprintf("u%d\xffc%d", user, city))
	}
	dir := text(t, map[string]string{"rows.csv": rows.String()})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "convert", at("rows.csv"), "--out", at("rows.parquet"))
	for _, bits := range []int{5, 18} {
		train := func(file string, more ...string) *model.Model {
			t.Helper()
			succeed(t, append([]string{"train", at(file), "--label", "y", "--algo", "perceptron", "--epochs", "2", "--categorical", fmt.Sprint("user=hash:", bits),
				"--cross", fmt.Sprint("user,city=hash:", bits), "--out", at("m.json")}, more...)...)
			return loadedModel(t, at("m.json"))
		}
		plain := train("rows.csv")
		m := train("rows.csv", "--hash-texts")
		want := read(t, at("m.json"))
		for _, c := range []string{"rows.csv --workers 1", "rows.parquet", "rows.parquet --storage sparse --workers 3", "rows.csv --storage dense",
			"rows.parquet --memory 3100000", "rows.csv --cache " + at(fmt.Sprint(bits, ".cache")), "rows.csv --cache " + at(fmt.Sprint(bits, ".cache"))} {
			words := strings.Fields(c)
			if train(words[0], append(words[1:], "--hash-texts")...); read(t, at("m.json")) != want {
				t.Errorf("hash:%d, %s: another model", bits, c)
			}
		}
		if !slices.Equal(plain.Weights[0], m.Weights[0]) || !slices.Equal(plain.Features, m.Features) {
			t.Errorf("hash:%d: other weights with texts", bits)
		}
		for k, columnTexts := range texts {
			c := &m.Preprocessing.Columns[1+k]
			first := 1
			if k > 0 {
				first += m.Preprocessing.Columns[1].Width()
			}
			expected := make([][]string, c.Width())
			for _, text := range columnTexts {
				i, shown := c.Feature(text), strings.ReplaceAll(text, "\xff", "*")
				if m.Weights[0][first+i] != 0 && len(expected[i]) < 3 && !slices.Contains(expected[i], shown) {
					expected[i] = append(expected[i], shown)
				}
			}
			for i, want := range expected {
				if got := m.Texts(first + i); !slices.Equal(got, want) {
					t.Errorf("hash:%d, feature %s: texts %q, want %q", bits, m.FeatureName(first+i), got, want)
				}
			}
		}
		if m.Texts(0) != nil {
			t.Errorf("a number has the texts %q", m.Texts(0))
		}
		if out := succeed(t, "inspect", at("m.json")); !strings.Contains(out, "] (u") || !strings.Contains(out, "*c") {
			t.Errorf("inspect prints no texts: %s", out)
		}
	}
	if status, _, stderr := command("train", at("rows.csv"), "--label", "y", "--hash-texts"); status != exitUsage || !strings.Contains(stderr, "add --categorical hash:BITS") {
		t.Errorf("without hashed columns: status %d, %s", status, stderr)
	}
}
