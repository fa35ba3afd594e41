package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/stats"
	"halfspace/predict"
	"halfspace/schema"
)

// TestShownWeights: the weights that reports and inspect show, times the values of a row, add up with the intercept to
// the score of predict: for rows of the training and for rows with new categories and more missing values. The
// difference is at most half a unit in the last digit of each number shown, times its factor, and the rounding of a
// float32 score.
func TestShownWeights(t *testing.T) {
	tables := 24
	if require.Small() {
		tables = 8
	}
	for seed := range tables {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testShownWeights(t, uint64(seed)) })
	}
}

func testShownWeights(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	makers, options := drawnColumns(rng)
	classes := []string{"no", "yes"}
	if seed%4 == 3 {
		classes = []string{"low", "mid", "top"}
	}
	rows := writeTable(t, in("rows.jsonl"), rng, makers, classes, 150, false)
	args := append([]string{in("rows.jsonl"), "--label", "y"}, options...)
	args = append(args, [][]string{nil, {"--nulls", "zero"}, {"--nulls", "drop"}, {"--no-bias"}, nil}[rng.IntN(5)]...)
	if algo := drawnAlgo(rng, len(classes)); algo != nil {
		args = append(append(args, algo...), [][]string{nil, {"--standardize"}}[rng.IntN(2)]...)
	}
	checkShownWeights(t, dir, args, in("rows.jsonl"), rows)
	if p := loadedModel(t, in("m.json")).Preprocessing; p.Nulls == schema.NullsMean || p.Nulls == schema.NullsZero {
		others := writeTable(t, in("other.jsonl"), rng, makers, classes, 60, true)
		checkShownWeights(t, dir, args, in("other.jsonl"), others)
	}
}

// TestShownListWeights is TestShownWeights for lists of numbers.
func TestShownListWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	file, text, rows := filepath.Join(t.TempDir(), "lists.arrow"), "", []map[string]any(nil)
	for range 100 {
		list := []float64{math.Round(1e3*rng.NormFloat64()) / 10, 0, float64(rng.IntN(9))}
		rows = append(rows, map[string]any{"v": list})
		text += fmt.Sprintf("%d 0:%g 2:%g\n", min(1, max(0, int(1+list[0]/100+rng.NormFloat64()))), list[0], list[2])
	}
	require.NoError(t, listRows(file, text, 3, false))
	for _, options := range [][]string{nil, {"--algo", "svm"}} {
		checkShownWeights(t, filepath.Dir(file), append([]string{file, "--label", "y"}, options...), file, rows)
	}
}

// checkShownWeights trains with some arguments, and compares the weights shown with the scores of the rows of a file.
func checkShownWeights(t *testing.T, dir string, args []string, file string, values []map[string]any) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, slices.Concat([]string{"train"}, args, []string{"--out", in("m.json"), "--report", in("train.txt")})...)
	m := loadedModel(t, in("m.json"))
	inspected := succeed(t, "inspect", in("m.json"), "--top", "1000")
	succeed(t, "eval", "--model", in("m.json"), file, "--report", in("eval.txt"))
	rows, trained, judged := scoredRows(t, m, in("m.json"), file, values), read(t, in("train.txt")), read(t, in("eval.txt"))
	for r, row := range rows {
		for class := range m.Weights {
			checkShown(t, fmt.Sprint(args, " row ", r, ", train"), reportedScore(t, trained, row, class), row, class)
			checkShown(t, fmt.Sprint(args, " row ", r, ", eval"), reportedScore(t, judged, row, class), row, class)
			checkShown(t, fmt.Sprint(args, " row ", r, ", inspect"), inspectedScore(t, inspected, m, row, class), row, class)
		}
	}
	if len(rows) < 20 || t.Failed() {
		t.Fatalf("%d rows of %s have scores", len(rows), file)
	}
}

// drawnAlgo returns options of a linear learner, or none for the default.
func drawnAlgo(rng *rand.Rand, classes int) []string {
	all := [][]string{nil, nil, {"--algo", "logistic"}, {"--algo", "svm"}, {"--algo", "perceptron", "--epochs", "5"}, {"--algo", "averaged"},
		{"--algo", "lda", "--shrinkage", "0.1"}, {"--algo", "passive-aggressive"}, {"--algo", "ftrl"}, {"--algo", "adagrad"}}
	if classes == 2 {
		all = append(all, []string{"--algo", "pocket", "--epochs", "3"}, []string{"--algo", "svm", "--calibrate", "platt"})
	}
	return all[rng.IntN(len(all))]
}

// A valueMaker makes the value of a column. strange rows have values that the training lacks.
type valueMaker func(rng *rand.Rand, strange bool) any

// drawnColumns returns random columns, and options of train that they need.
func drawnColumns(rng *rand.Rand) (makers map[string]valueMaker, options []string) {
	word := func(words ...string) valueMaker {
		return func(rng *rand.Rand, strange bool) any {
			if strange && rng.IntN(4) == 0 {
				return "a new one"
			}
			return words[rng.IntN(len(words))]
		}
	}
	missing := func(of valueMaker) valueMaker {
		return func(rng *rand.Rand, strange bool) any {
			if rng.IntN(5) == 0 {
				return nil
			}
			return of(rng, strange)
		}
	}
	number := func(rng *rand.Rand, _ bool) any { return math.Round(rng.NormFloat64()*1e4)/100 + 300 }
	date := func(rng *rand.Rand, _ bool) any { return fmt.Sprintf("2021-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)) }
	makers = map[string]valueMaker{"n": number}
	for name, maker := range map[string]valueMaker{
		"k": missing(number),
		"c": word("red", "green", "blue"),
		"d": missing(word("Oslo", "Rom", "Bonn", "Kiel", "Ulm")),
		"b": func(rng *rand.Rand, _ bool) any { return rng.IntN(2) == 0 },
		"w": missing(func(rng *rand.Rand, _ bool) any { return []string{"yes", "no"}[rng.IntN(2)] }),
		"a": date,
		"e": missing(date),
		"t": func(rng *rand.Rand, _ bool) any {
			return date(rng, false).(string) + fmt.Sprintf(" %02d:%02d:00", rng.IntN(24), rng.IntN(60))
		},
		"l": func(rng *rand.Rand, _ bool) any {
			return []float64{number(rng, false).(float64), rng.Float64(), rng.NormFloat64()}
		},
		"h": missing(word("h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10", "h11")),
	} {
		makers[name] = maker
	}
	for _, name := range slices.Sorted(maps.Keys(makers)) {
		if name != "n" && rng.IntN(2) == 0 {
			delete(makers, name)
		}
	}
	if makers["h"] != nil {
		options = append(options, "--categorical", "h=hash:3")
	}
	if makers["c"] != nil && makers["d"] != nil {
		options = append(options, "--cross", "c,d=hash:3")
	}
	return makers, options
}

// writeTable writes rows as JSON Lines, and returns them. All rows have a label. In strange rows, any value may be missing.
func writeTable(t *testing.T, path string, rng *rand.Rand, makers map[string]valueMaker, classes []string, n int, strange bool) (rows []map[string]any) {
	t.Helper()
	var text strings.Builder
	for range n {
		row := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(makers)) {
			if row[name] = makers[name](rng, strange); strange && rng.IntN(6) == 0 {
				row[name] = nil
			}
		}
		x, _ := row["n"].(float64)
		at := x/100 - 3 + rng.NormFloat64()
		row["y"] = classes[min(len(classes)-1, int(max(0, at+float64(len(classes))/2)))]
		line := require.Value(json.Marshal(row))(t)
		text.Write(append(line, '\n'))
		rows = append(rows, row)
	}
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return rows
}

// A scoredRow is a row of data, its features as the model names them, and its scores by predict.
type scoredRow struct {
	values   map[string]any
	features map[string]float64 // NaN for a missing number
	scores   []float64
	rounding []float64 // largest rounding errors of the scores
}

// scoredRows returns the rows of a file that have scores.
func scoredRows(t *testing.T, m *model.Model, modelFile, file string, all []map[string]any) (rows []scoredRow) {
	t.Helper()
	p := require.Value(predict.New(m))(t)
	crosses := map[string][]schema.Part{}
	for _, c := range m.Spec().Columns() {
		crosses[c.Name] = c.Of
	}
	out := filepath.Join(t.TempDir(), "scores.csv")
	succeed(t, "predict", "--model", modelFile, file, "--score", "--out", out)
	scores := require.Value(csv.NewReader(strings.NewReader(read(t, out))).ReadAll())(t)
	first := slices.IndexFunc(scores[0], func(name string) bool { return strings.HasPrefix(name, "score") })
	for r, of := range all {
		row := scoredRow{values: of, features: map[string]float64{}}
		var values []any
		for _, name := range p.Columns() {
			if parts := crosses[name]; parts != nil {
				var all []any
				for _, part := range parts {
					all = append(all, row.values[part.Name])
				}
				values = append(values, all)
			} else {
				values = append(values, row.values[name])
			}
		}
		numbers := require.Value(p.AppendRow(nil, values...))(t)
		for i, v := range numbers {
			row.features[m.FeatureName(i)] = v
		}
		features := make([]float32, len(numbers))
		if scores[r+1][first] == "" || stats.Set(stats.NewMaker(m.Spec()), features, numbers) >= 0 {
			continue // a missing value with --nulls drop
		}
		for class, w := range m.Weights {
			size := math.Abs(append(slices.Clone(m.Bias), make([]float64, len(m.Weights))...)[class])
			for i, v := range features {
				size += math.Abs(w[i] * float64(v))
			}
			row.rounding = append(row.rounding, float64(len(w)+4)*0x1p-24*size)
			row.scores = append(row.scores, require.Value(strconv.ParseFloat(scores[r+1][first+class], 64))(t))
		}
		rows = append(rows, row)
	}
	return rows
}

// A shownScore is a score from numbers of a text, and the largest error from their digits.
type shownScore struct{ sum, err float64 }

// add adds a product. Each number has six digits.
func (s *shownScore) add(weight, value float64) {
	s.sum += weight * value
	s.err += halfDigit(weight) * math.Abs(value)
}

// halfDigit returns half a unit in the sixth digit of a number.
func halfDigit(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 0.5 * math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-5)
}

func checkShown(t *testing.T, what string, got shownScore, row scoredRow, class int) {
	t.Helper()
	if want := row.scores[class]; !(math.Abs(got.sum-want) <= got.err+row.rounding[class]) {
		t.Errorf("%s: the weights shown add up to %v, and the score of class %d is %v: they differ by more than %.2g\n%v", what, got.sum, class,
			want, got.err+row.rounding[class], row.values)
	}
}

// shownTable returns the cells of the table of weights in a text: the lines from the one that begins with "feature".
func shownTable(t *testing.T, text string) (rows [][]string) {
	t.Helper()
	_, text, ok := strings.Cut(strings.ReplaceAll(text, "\n  feature ", "\nfeature "), "\nfeature ")
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace("feature "+text), "\n")
	if !ok || len(lines) < 2 {
		t.Fatal("no table of weights")
	}
	var ends []int // cells but the first end where those of the head end
	for _, at := range regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(lines[0], -1) {
		ends = append(ends, at[1])
	}
	gap := regexp.MustCompile(" {2,}")
	for _, line := range lines {
		runes := []rune(strings.TrimPrefix(line, "  "))
		cell := func(from, end int) string {
			return strings.TrimSpace(string(runes[min(from, len(runes)):min(end, len(runes))]))
		}
		row := append(gap.Split(cell(0, ends[1]), 2), "")[:2]
		for k := 2; k < len(ends); k++ {
			row = append(row, cell(ends[k-1], ends[k]))
		}
		rows = append(rows, row)
	}
	return rows
}

// number returns the number in a cell, and false if the cell is empty.
func number(t *testing.T, cell string) (float64, bool) {
	t.Helper()
	if cell == "" {
		return 0, false
	}
	return require.Value(strconv.ParseFloat(cell, 64))(t), true
}

// termHead is the name of a column of categories in a report.
var termHead = regexp.MustCompile(`^(.*) \(\d+ (categories|hashed features)\)$`)

// reportedScore returns the score of a row for a class by the table of weights in a report.
func reportedScore(t *testing.T, report string, row scoredRow, class int) (s shownScore) {
	t.Helper()
	table := shownTable(t, report)
	mean := slices.Index(table[0], "mean")
	column, found := "", false // column of categories, and whether a row above has the row's category
	for _, cells := range table[1:] {
		weight, ok := number(t, cells[2+class])
		category, isCategory := strings.CutPrefix(cells[0], "– ")
		switch head := termHead.FindStringSubmatch(cells[0]); {
		case head != nil && !ok:
			column, found = head[1], false
		case !ok:
			t.Fatalf("the report shows no weight of %q", cells[0])
		case cells[0] == "(intercept)":
			s.add(weight, 1)
		case isCategory && (category == "(new)" || category == "(missing or new)"):
			if !found && (row.values[column] != nil || category != "(new)") {
				s.add(weight, 1)
			}
		case isCategory:
			value, known := row.features[column+"="+category]
			if !known {
				value, known = row.features[category]
			}
			if !known {
				t.Fatalf("there is no feature %q of %q", category, column)
			}
			if value != value { // missing
				value = 0
			}
			found = found || value != 0
			s.add(weight, value)
		default:
			value, known := row.features[cells[0]]
			if !known {
				t.Fatalf("there is no feature %q", cells[0])
			}
			if value != value { // a missing number
				value = 0
				if mean >= 0 {
					value, _ = number(t, cells[mean])
				}
				s.err += math.Abs(weight) * halfDigit(value)
			}
			s.add(weight, value)
		}
	}
	return s
}

// inspectedScore returns the score of a row for a class by the table of weights of inspect.
func inspectedScore(t *testing.T, text string, m *model.Model, row scoredRow, class int) (s shownScore) {
	t.Helper()
	table := shownTable(t, text)
	mean, deviation := slices.Index(table[0], "mean"), slices.Index(table[0], "deviation")
	for _, bias := range strings.Fields(regexp.MustCompile(`bias([-+.e\d ]*)`).FindStringSubmatch(text)[1])[min(class, len(m.Bias)):] {
		v, _ := number(t, bias)
		s.add(v, 1)
		break
	}
	for _, cells := range table[1:] {
		name := cells[0]
		if len(m.Weights) > 1 {
			var ok bool
			if name, ok = strings.CutSuffix(name, " for "+m.Classes[class].Text); !ok {
				continue
			}
		}
		if name == "(bias)" {
			continue
		}
		value, known := row.features[name]
		if !known {
			t.Fatalf("there is no feature %q", name)
		}
		weight, _ := number(t, cells[1])
		center, scale := 0.0, 1.0
		if mean >= 0 {
			center, _ = number(t, cells[mean])
		}
		err := halfDigit(center)
		if value != value { // a missing number
			value = center
			if mean < 0 || m.Preprocessing.Nulls == schema.NullsZero {
				value = 0
			}
		} else if deviation < 0 {
			err = 0
		}
		if deviation >= 0 {
			scale, _ = number(t, cells[deviation])
			value = (value - center) / scale
			err = (err + halfDigit(scale)*math.Abs(value)) / (scale - halfDigit(scale))
		}
		s.add(weight, value)
		s.err += math.Abs(weight) * err
	}
	return s
}
