package cli

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/schema"
)

// A person is a row of the data that needs preprocessing; age is NaN where it is missing.
type person struct {
	age, income float64
	city        string
	yes         int64
}

func people(rows int, missing float64) []person {
	rng := rand.New(rand.NewPCG(41, 42))
	cities := []string{"Ulm", "Bonn", "Köln"}
	var all []person
	for range rows {
		p := person{age: math.Round(20 + 60*rng.Float64()), income: 1e6 * rng.ExpFloat64(), city: cities[rng.IntN(3)]}
		if p.age+p.income/1e5+10*rng.NormFloat64() > 60 != (p.city == "Bonn") {
			p.yes = 1
		}
		if rng.Float64() < missing {
			p.age = math.NaN()
		}
		all = append(all, p)
	}
	return all
}

func writePeople(t *testing.T, all []person, opt dataset.WriterOptions) string {
	var age, income []float64
	var city []string
	var yes []int64
	for _, p := range all {
		age, income, city, yes = append(age, p.age), append(income, p.income), append(city, p.city), append(yes, p.yes)
	}
	return writeWith(t, "people.parquet", opt, col{"age", age}, col{"income", income}, col{"city", city}, col{"yes", yes})
}

// TestPreprocessedScores: predict gives every row the score, bit for bit, that it had in training, and eval as many errors.
func TestPreprocessedScores(t *testing.T) {
	data := writePeople(t, people(9000, 0.05), dataset.WriterOptions{RowGroupRows: 1000})
	for _, c := range []struct {
		args string
		opt  dataset.Options
	}{
		{"--nulls mean --standardize", dataset.Options{Nulls: schema.NullsMean, Standardize: true}},
		{"--nulls drop --standardize --categorical onehot", dataset.Options{Nulls: schema.NullsDrop, Standardize: true, Categorical: "onehot"}},
		{"--nulls zero --categorical hash:4", dataset.Options{Nulls: schema.NullsZero, Categorical: "hash:4"}},
		{"--standardize --exclude age --categorical onehot", dataset.Options{Exclude: []string{"age"}, Standardize: true, Categorical: "onehot"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			c.opt.Label = "yes"
			checkPreprocessed(t, data, c.args, c.opt)
		})
	}
}

func checkPreprocessed(t *testing.T, data, args string, opt dataset.Options) {
	t.Helper()
	m, out := filepath.Join(t.TempDir(), "m.json"), filepath.Join(t.TempDir(), "p.csv")
	learned := decode(t, append([]string{"train", "--algo", "perceptron", data, "--label", "yes", "--epochs", "3", "--json", "--out", m}, strings.Fields(args)...)...)
	tested := decode(t, "eval", "--model", m, data, "--json")
	if learned["train_errors"] != tested["errors"] || learned["rows"] != tested["rows"] || tested["errors"] == 0.0 {
		t.Errorf("%s: %v errors in %v rows in training, %v in %v now", args, learned["train_errors"], learned["rows"], tested["errors"],
			tested["rows"])
	}
	succeed(t, "predict", "--model", m, data, "--score", "--out", out)
	loaded, err := model.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Load(context.Background(), []string{data}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Spec(), loaded.Spec()) {
		t.Errorf("%s: the model's Spec is %+v, want %+v", args, loaded.Spec(), d.Spec())
	}
	lines := strings.Fields(read(t, out))[1:]
	if len(lines) != 9000 {
		t.Fatalf("%d predictions", len(lines))
	}
	next := 0
	for b, err := range d.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		scores := make([]float32, b.Len())
		b.Scores(model.Vector(loaded), scores)
		for r, want := range scores {
			for lines[next] == "," { // nulls: rows that the training dropped
				next++
			}
			prediction, text, _ := strings.Cut(lines[next], ",")
			score, err := strconv.ParseFloat(text, 64)
			if err != nil || float32(score) != want || (prediction == "1") != (want > 0) {
				t.Fatalf("%s: row %d: prediction %s, score %v, want %v", args, r, prediction, score, want)
			}
			next++
		}
	}
	for _, l := range lines[next:] {
		if l != "," {
			t.Errorf("a row too many: %s", l)
		}
	}
}

// withoutPreprocessing is the text of a model file up to the key and from its end on, without the checksum.
func withoutPreprocessing(t *testing.T, path string) string {
	text := read(t, path)
	if from, to := strings.Index(text, "  \"preprocessing\""), strings.Index(text, "  \"fit_bias\""); from >= 0 {
		text = text[:from] + text[to:]
	}
	return text[:strings.Index(text, "  \"checksum\"")]
}

// TestFilteredData: dropping rows gives the model of the filtered data, mean that of data filled with means, and zero that of zeros, but
// for the model's preprocessing. None of it depends on workers or the instruction set.
func TestFilteredData(t *testing.T) {
	all := people(20_000, 0.1)
	var kept, zero, mean []person
	sum, n := 0.0, 0.0 // ages are whole numbers: their sum is exact in any order
	for _, p := range all {
		if !math.IsNaN(p.age) {
			kept = append(kept, p)
			sum, n = sum+p.age, n+1
		}
	}
	data := writePeople(t, all, dataset.WriterOptions{})
	learn := func(data string, args ...string) string {
		path := filepath.Join(t.TempDir(), "m.json")
		succeed(t, append([]string{"train", "--algo", "perceptron", data, "--label", "yes", "--epochs", "2", "--out", path}, args...)...)
		return path
	}
	meanModel := learn(data, "--nulls", "mean")
	m, err := model.Load(meanModel)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Preprocessing.Columns[0].Means[0]; math.Abs(got-sum/n) > 1e-12*sum/n {
		t.Errorf("the mean is %v, want %v", got, sum/n)
	}
	for _, p := range all {
		filled := p
		if math.IsNaN(p.age) {
			p.age, filled.age = 0, m.Preprocessing.Columns[0].Means[0]
		}
		zero, mean = append(zero, p), append(mean, filled)
	}
	for nulls, rows := range map[string][]person{"drop": kept, "zero": zero, "mean": mean} {
		path := learn(data, "--nulls", nulls)
		want := learn(writePeople(t, rows, dataset.WriterOptions{}))
		if withoutPreprocessing(t, path) != withoutPreprocessing(t, want) {
			t.Errorf("%s: model\n%s\nwant\n%s", nulls, read(t, path), read(t, want))
		}
		if !strings.Contains(read(t, path), fmt.Sprintf("\"nulls\": %q", nulls)) || strings.Contains(read(t, want), "preprocessing") {
			t.Errorf("%s: the model doesn't say so, or one without preprocessing does", nulls)
		}
	}
	var first string
	for _, isa := range kernel.Levels() {
		for _, workers := range []string{"1", "2", "3", "8"} {
			got := read(t, learn(data, "--nulls", "drop", "--standardize", "--categorical", "onehot", "--isa", isa.String(), "--workers", workers))
			if first == "" {
				first = got
			}
			if got != first {
				t.Errorf("%s, %s workers: another model", isa, workers)
			}
		}
	}
}

// TestCategoricalColumns: columns of text, numbers and booleans that are named become categories, from any format. The model makes them again
// from data in which codes are written differently.
func TestCategoricalColumns(t *testing.T) {
	rows := "color,zip,on,size,y\nred,10,true,1,p\nblue,9,false,2,q\nred,9,true,3,q\n7,10,false,4,p\nblue,11,true,5,q\n"
	dir := text(t, map[string]string{
		"x.csv": rows,
		"y.csv": "color,zip,on,size\n7,10.0,true,1\n7,9,false,2\n", // digits where the training had text, and the other way of writing ten
		"z.csv": "color,zip,on,size\nred,north,true,1\nred,9,true,1\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "convert", at("x.csv"), "--out", at("x.parquet"))
	learn := func(data, coding, out string) []string {
		succeed(t, "train", at(data), "--label", "y", "--algo", "averaged", "--categorical", coding, "--out", at(out))
		var names []string
		for _, f := range decode(t, "inspect", at(out), "--json")["features"].([]any) {
			names = append(names, f.(string))
		}
		return names
	}
	for coding, want := range map[string]string{
		"color=onehot":                      "color=7 color=blue color=red zip on size",
		"zip=onehot":                        "zip=10 zip=11 zip=9 on size",
		"onehot":                            "color=7 color=blue color=red zip on size",
		"onehot,zip=hash:1":                 "color=7 color=blue color=red zip#hash:1[0] zip#hash:1[1] on size",
		"color=hash:1,o*=onehot":            "color#hash:1[0] color#hash:1[1] zip on=false on=true size",
		"color=onehot,?i*=onehot,y*=onehot": "color=7 color=blue color=red zip=10 zip=11 zip=9 on size=1 size=2 size=3 size=4 size=5",
	} {
		for _, data := range []string{"x.csv", "x.parquet"} {
			if got := strings.Join(learn(data, coding, data+".json"), " "); got != want {
				t.Errorf("%s of %s: features %s, want %s", coding, data, got, want)
			}
		}
		if a, b := read(t, at("x.csv.json")), read(t, at("x.parquet.json")); a != b {
			t.Errorf("%s: of CSV the model is\n%s\nof Parquet\n%s", coding, a, b)
		}
	}
	succeed(t, "train", at("x.csv"), "--label", "y", "--algo", "averaged", "--categorical", "color=onehot", "--categorical", "zip=onehot", "--out", at("twice.json"))
	learn("x.csv", "color=onehot,zip=onehot", "m.json")
	if read(t, at("twice.json")) != read(t, at("m.json")) {
		t.Error("--categorical twice isn't the same as once with both columns")
	}
	status, _, stderr := command("predict", "--model", at("m.json"), at("y.csv"), "--score", "--out", at("p.csv"))
	if status != 0 || strings.Contains(stderr, "category") {
		t.Errorf("status %d, %s", status, stderr)
	}
	succeed(t, "predict", "--model", at("m.json"), at("x.parquet"), "--score", "--out", at("q.csv"))
	status, _, stderr = command("predict", "--model", at("m.json"), at("z.csv"), "--out", at("p.csv"))
	if want := `column "zip" is string, and the model takes a number: convert it`; status != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
	for coding, want := range map[string]string{
		"colour=onehot": `no column "colour": did you mean "color"?`,
		"y=onehot":      `column "y" is the label: leave it out of --categorical`,
		"color":         "use onehot or hash:BITS, with BITS from 1 to 24, for all columns of text, or COLUMN=onehot,COLUMN=hash:BITS for named columns: color=onehot if that is a column",
		"color=one":     "use onehot or hash:BITS",
		"onehot,hash:3": "use onehot or hash:BITS",
		"zip=hash:25":   "use onehot or hash:BITS, with BITS from 1 to 24",
	} {
		if status, _, stderr := command("train", at("x.csv"), "--label", "y", "--algo", "averaged", "--categorical", coding); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", coding, status, stderr, want)
		}
	}
	_, _, stderr = command("train", at("x.csv"), "--label", "y", "--algo", "averaged", "--features", "size", "--categorical", "zip=onehot")
	if want := `column "zip" is not a feature: add it to --features, or leave it out of --exclude or --categorical`; !strings.Contains(stderr, want) {
		t.Errorf("%s, want %s", stderr, want)
	}
}

// TestCategoriesMissing: a column of categories that no row has a value in is one of the model's type.
func TestCategoriesMissing(t *testing.T) {
	dir := text(t, map[string]string{
		"x.csv": "color,zip,on,size,y\nred,10,true,1,p\nblue,9,false,2,q\n,,,3,q\n",
		"y.csv": "color,zip,on,size\n,,,3\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", at("x.csv"), "--label", "y", "--algo", "averaged", "--nulls", "zero", "--categorical", "onehot,zip=onehot,on=onehot", "--out", at("m.json"))
	succeed(t, "predict", "--model", at("m.json"), at("y.csv"), "--out", at("p.csv"))
	if got := read(t, at("p.csv")); got != "prediction\nq\n" {
		t.Errorf("predictions %q", got)
	}
}

// TestNullValues: the model remembers which texts are missing values, so that predict and eval take them as the training did.
func TestNullValues(t *testing.T) {
	rows := "x,z,y\n1,-999,n\n2,4,n\n-999,5,n\n4,NA,p\n5,7,p\n6,-999.0,p\n7,9,p\n"
	dir := text(t, map[string]string{"named.csv": rows, "usual.csv": strings.NewReplacer("-999.0", "", "-999", "-", "NA", "None").Replace(rows)})
	at := func(name string) string { return filepath.Join(dir, name) }
	learn := func(name string, more ...string) (weights []any) {
		args := append([]string{"train", at(name + ".csv"), "--label", "y", "--algo", "averaged", "--nulls", "mean", "--out", at(name + ".json")}, more...)
		succeed(t, args...)
		return decode(t, "inspect", at(name+".json"), "--json")["weights"].([]any)
	}
	usual, named := learn("usual"), learn("named", "--null-values", "-999,NA")
	if !reflect.DeepEqual(usual, named) {
		t.Errorf("weights are %v, with named nulls %v", usual, named)
	}
	predict := func(name string, more ...string) string {
		succeed(t, append([]string{"predict", "--model", at(name + ".json"), at(name + ".csv"), "--score", "--out", at("p.csv")}, more...)...)
		return read(t, at("p.csv"))
	}
	if usual, named := predict("usual"), predict("named"); usual != named {
		t.Errorf("predictions are\n%s, with named nulls\n%s", usual, named)
	}
	if again := predict("named", "--null-values", "NA"); again == predict("named") {
		t.Error("--null-values of predict has no effect")
	}
	if e := decode(t, "eval", "--model", at("named.json"), at("named.csv"), "--json"); e["errors"] != decode(t, "eval", "--model", at("usual.json"), at("usual.csv"), "--json")["errors"] {
		t.Errorf("eval says %v", e)
	}
	if shown := succeed(t, "inspect", at("named.json")); !strings.Contains(shown, "null values   empty fields, -999, NA\n") {
		t.Errorf("inspect shows\n%s", shown)
	}
	succeed(t, "convert", at("named.csv"), "--null-values", "-999,NA", "--out", at("named.parquet"))
	if r := decode(t, "inspect", at("named.csv"), "--null-values", "-999,NA", "--json"); r["columns"].([]any)[1].(map[string]any)["nulls"] != 3.0 {
		t.Errorf("inspect counts %v", r["columns"])
	}
	status, _, stderr := command("train", at("named.parquet"), "--label", "y", "--algo", "averaged", "--nulls", "mean", "--null-values", "NA")
	if status != 0 || !strings.Contains(stderr, "--null-values is ignored: it is for CSV, and the data is Parquet") {
		t.Errorf("of Parquet: status %d, %s", status, stderr)
	}
}

// TestPreprocessingReports has what train, predict, eval and inspect say.
func TestPreprocessingReports(t *testing.T) {
	all := people(100, 0)
	all[3].age, all[7].age, all[5].city = math.NaN(), math.Inf(1), "Mainz"
	data := writePeople(t, all, dataset.WriterOptions{})
	other := people(10, 0)
	other[2].age, other[4].city, other[6].city = math.NaN(), "Ulm", "Trier"
	fresh := writePeople(t, other, dataset.WriterOptions{})
	m, out := filepath.Join(t.TempDir(), "m.json"), filepath.Join(t.TempDir(), "p.csv")
	for _, c := range []struct{ args, note string }{
		{"train DATA --label yes --nulls drop --standardize --categorical onehot --out MODEL",
			"note: 2 of 100 rows left out: a feature or the label is null, NaN or infinite there\n"},
		{"predict --model MODEL FRESH --out OUT", "note: column \"city\": 1 of 10 rows have a category that the training had not, it counts " +
			"as none\nnote: 1 row without a prediction: a feature is null, NaN or infinite, and the model was trained with --nulls drop\n"},
		{"eval --model MODEL FRESH", "note: 1 of 10 rows left out: a feature or the label is null, NaN or infinite there\n" +
			"note: column \"city\": 1 of 9 rows have a category that the training had not, it counts as none\n"},
		{"inspect MODEL", ""},
	} {
		args := strings.Fields(strings.NewReplacer("DATA", data, "MODEL", m, "FRESH", fresh, "OUT", out).Replace(c.args))
		status, _, stderr := command(args...)
		if status != exitDone || stderr != c.note {
			t.Errorf("%s: status %d, standard error %q, want %q", c.args, status, stderr, c.note)
		}
	}
	if lines := strings.Split(read(t, out), "\n"); lines[3] != `""` || lines[4] == `""` {
		t.Errorf("predictions are %q", lines)
	}
	text := succeed(t, "inspect", m)
	for _, want := range []string{"nulls          drop", "standardized   yes", "column         city, one-hot: Bonn, Köln, Mainz, Ulm", "city=Bonn"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if r := decode(t, "inspect", m, "--json"); r["preprocessing"] == nil {
		t.Errorf("inspect --json has no preprocessing: %v", r)
	}
}

// TestThreeClasses: a verb that takes two classes says so of three; a model of three is applied.
func TestThreeClasses(t *testing.T) {
	data := write(t, "three.parquet", col{"x", []float64{1, 2, 3}}, col{"y", []string{"a", "b", "c"}})
	status, _, stderr := command("check", data, data, "--label", "y")
	if want := fmt.Sprintf("halfspace: %s and 1 more: column \"y\": 3 classes (\"a\", \"b\", \"c\"), check takes two: use --positive c to check "+
		"that class versus the rest, choose another column with --label, or keep the rows of two classes\n", data); status != exitFailed || stderr != want {
		t.Errorf("status %d, %q, want %q", status, stderr, want)
	}
	d, err := dataset.Load(context.Background(), []string{data}, dataset.Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "three.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	m := model.New(d.Spec(), make([]float32, 3*kernel.Stride(2)))
	m.Options.Multiclass = model.OneVersusRest
	if _, err := m.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	succeed(t, "predict", "--model", path, data, "--out", path+".csv", "--score") // scores are 0: the first class
	if got := read(t, path+".csv"); got != "prediction,score_a,score_b,score_c\na,0,0,0\na,0,0,0\na,0,0,0\n" {
		t.Errorf("predictions are\n%s", got)
	}
	if e := decode(t, "eval", "--model", path, data, "--json"); e["errors"] != 2.0 || e["auc"] != 0.5 {
		t.Errorf("eval says %v", e)
	}
	if text := succeed(t, "inspect", path); !strings.Contains(text, "x for b") || !strings.Contains(text, "bias 0 0 0") {
		t.Errorf("inspect says\n%s", text)
	}
}
