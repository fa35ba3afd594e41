package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"halfspace/internal/require"
)

// mixedTable writes a table of texts, dates, numbers with gaps and a label, whose rows have their number in a column.
func mixedTable(t *testing.T, name string, rows, first, classes int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(first), 9))
	var s strings.Builder
	s.WriteString("amount,color,day,number,paid,y\n")
	for i := range rows {
		class, color := rng.IntN(classes), rng.IntN(3)
		amount := fmt.Sprintf("%.2f", 100+20*rng.NormFloat64()+float64(30*class))
		if rng.IntN(20) == 0 {
			amount = ""
		}
		fmt.Fprintf(&s, "%s,%s,2026-%02d-%02d,n%d,%s,%c\n", amount, []string{"red", "green", "blue"}[max(color-class%2, 0)], 1+rng.IntN(12), 1+rng.IntN(28), first+i, []string{"yes", "no"}[rng.IntN(2)], 'a'+class)
	}
	require.NoError(t, os.WriteFile(name, []byte(s.String()), 0o600))
}

// section returns the part of a text report below a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n-")
	if !ok {
		t.Fatalf("no section %q:\n%s", heading, page)
	}
	if end := regexp.MustCompile(`\n\n[^\n]+\n-+\n`).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// TestHeldOutReport: the figures of held-out rows are those of eval on the same rows, and the most wrong rows have the values of their
// files. The report doesn't depend on the workers or on memory, and the model not on the report.
func TestHeldOutReport(t *testing.T) {
	for _, classes := range []int{2, 3} {
		t.Chdir(t.TempDir())
		mixedTable(t, "learn.csv", 200, 0, classes)
		mixedTable(t, "more.csv", 100, 200, classes)
		mixedTable(t, "test.csv", 200, 300, classes)
		both := []string{"train", "learn.csv", "more.csv", "--label", "y"}
		with := func(more ...string) []string { return append(append([]string{}, both...), more...) }
		succeed(t, with("--validation", "test.csv", "--out", "m.json", "--report", "file.txt")...)
		succeed(t, with("--validation", "test.csv", "--out", "without.json")...)
		if string(require.Value(os.ReadFile("m.json"))(t)) != string(require.Value(os.ReadFile("without.json"))(t)) {
			t.Error("the report changes the model")
		}
		_, out, _ := command("eval", "--model", "m.json", "test.csv", "--json")
		var e struct {
			Rows, Errors     int64
			Accuracy, AUC    float64
			AP               *float64 `json:"average_precision"`
			LogLoss          float64  `json:"log_loss"`
			Brier            float64
			Confusion        [][]int64
			BalancedAccuracy float64 `json:"balanced_accuracy"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &e))
		page := string(require.Value(os.ReadFile("file.txt"))(t))
		held := section(t, page, "On held-out rows")
		wanted := []string{fmt.Sprintf(" of %d rows", e.Rows), fmt.Sprintf("; %d wrong)", e.Errors), fmt.Sprintf("log loss: %.6f, Brier score %.6f", e.LogLoss, e.Brier), fmt.Sprintf("%.6f", e.AUC), "Learning curve", "ROC curve"}
		if classes == 2 {
			wanted = append(wanted, fmt.Sprintf("AUC: %.6f, average precision %.6f", e.AUC, *e.AP), "Calibration")
		} else {
			wanted = append(wanted, "Confusion of classes")
		}
		for i, row := range e.Confusion {
			cells := `(?m)^` + string(rune('a'+i))
			for _, n := range row {
				cells += fmt.Sprintf(` +%d`, n)
			}
			if !regexp.MustCompile(cells).MatchString(held) {
				t.Errorf("no row %s of the confusion in %s", cells, held)
			}
		}
		for _, text := range wanted {
			if !strings.Contains(held, text) {
				t.Errorf("no %q in %s", text, held)
			}
		}
		checkWrongRows(t, page, []string{"test.csv"})

		for name, options := range map[string][]string{"share": {"--validation", "0.3"}, "folds": {"--cv", "3"}, "groups": {"--cv", "3", "--group", "color"}, "time": {"--validation", "0.3", "--order-by", "day"},
			"grid": {"--grid", "l2=1,10"}, "threshold": {"--cv", "3", "--threshold", "0.2"}, "perceptron": {"--algo", "averaged", "--validation", "0.3"}} {
			if name == "threshold" && classes > 2 || require.Small() && name != "folds" && (name != "share" || classes > 2) {
				continue
			}
			var first string
			for _, machine := range [][]string{{"--workers", "1"}, {"--workers", "3", "--memory", "64KiB"}} {
				succeed(t, with(append(append(options, machine...), "--report", "r.txt", "--json")...)...)
				page := string(require.Value(os.ReadFile("r.txt"))(t))
				checkWrongRows(t, page, []string{"learn.csv", "more.csv"})
				all := section(t, page, "On held-out rows") + section(t, page, "Worst errors") + section(t, page, "Weights") + section(t, page, "Columns")
				if first == "" {
					first = all
				} else if all != first {
					t.Errorf("%s: with %v\n%s\nand before\n%s", name, machine, all, first)
				}
			}
		}
	}
}

// checkWrongRows compares the most wrong rows of a report with the rows of the files, which mixedTable wrote.
func checkWrongRows(t *testing.T, page string, files []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(section(t, page, "Worst errors")), "\n")
	at := 0
	for ; !strings.HasPrefix(lines[at], "row "); at++ {
	}
	head, checked := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(lines[at], "probability of the class", "p"), "difference of scores", "score")), 0
	for _, line := range lines[at+1:] {
		cells := strings.Fields(line)
		if len(cells) != len(head) { // a missing value
			continue
		}
		row := map[string]string{}
		for i, name := range head {
			row[name] = cells[i]
		}
		file := files[0]
		if len(files) > 1 && row["file"] != "" {
			file = row["file"]
		}
		n := 0
		fmt.Sscan(row["row"], &n)
		values := strings.Split(strings.Split(string(require.Value(os.ReadFile(file))(t)), "\n")[n+1], ",")
		want := map[string]string{"amount": strings.TrimSuffix(strings.TrimSuffix(values[0], "0"), ".0"), "color": values[1], "day": values[2], "paid": values[4], "class": values[5]}
		for name, v := range want {
			if got, ok := row[name]; ok && strings.TrimSuffix(strings.TrimSuffix(got, "0"), ".") != strings.TrimSuffix(strings.TrimSuffix(v, "0"), ".") {
				t.Errorf("row %d of %s: %s is %s, want %s", n, file, name, got, v)
			}
		}
		checked++
	}
	if checked < 3 {
		t.Errorf("%d of the most wrong rows were checked:\n%s", checked, strings.Join(lines, "\n"))
	}
}

// TestReportStructure: the page of a training has its sections, tables and pictures in this order.
func TestReportStructure(t *testing.T) {
	t.Chdir(t.TempDir())
	mixedTable(t, "learn.csv", 300, 0, 2)
	succeed(t, "train", "learn.csv", "--label", "y", "--cv", "3", "--report", "r.html", "--out", "m.json")
	page := string(require.Value(os.ReadFile("r.html"))(t))
	var got []string
	for _, m := range regexp.MustCompile(`<h([1-3])[^>]*>([^<]*)<|<title id="[^"]*">([^<]*)<`).FindAllStringSubmatch(page, -1) {
		got = append(got, m[1]+" "+m[2]+m[3])
	}
	want := `1 y, logistic regression, ` + time.Now().Format(time.DateOnly) + `
2 Result
2 On held-out rows
3 Classes
3 How often the class b came true, by its predicted probability
 ROC curve
 Precision and recall
 Calibration
 Learning curve
2 Worst errors
3 Wrong rows whose scores are farthest from 0
2 Weights
3 Weights in the units of the data, the strongest first
 Weights
2 Training history
 Passes over the rows
2 Data
2 Columns
3 Columns of the files
2 Options
2 Time
2 How to repeat`
	if strings.Join(got, "\n") != want {
		t.Errorf("the page has\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
