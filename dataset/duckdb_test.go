package dataset

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// duckDB returns a function that answers a query with DuckDB's rows. Without a folder with DuckDB it skips the test: make duckdb
// installs it.
func duckDB(t *testing.T) func(sql string) [][]any {
	folder := os.Getenv("HALFSPACE_DUCKDB")
	if folder == "" {
		t.Skip("HALFSPACE_DUCKDB names no folder with DuckDB: run make duckdb")
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "sql.mjs"), folder)
	cmd.Stderr = os.Stderr
	to := require.Value(cmd.StdinPipe())(t)
	from := bufio.NewReader(require.Value(cmd.StdoutPipe())(t))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		to.Close()
		cmd.Wait()
	})
	return func(sql string) [][]any {
		t.Helper()
		_, err := io.WriteString(to, strings.ReplaceAll(sql, "\n", " ")+"\n")
		require.NoError(t, err)
		var answer struct {
			Rows  [][]any
			Error string
		}
		require.NoError(t, json.Unmarshal(require.Value(from.ReadBytes('\n'))(t), &answer))
		if answer.Error != "" {
			t.Fatalf("%s: %s", sql, answer.Error)
		}
		return answer.Rows
	}
}

// numbersOf returns the first column of rows, which are whole numbers.
func numbersOf(t *testing.T, rows [][]any) (all []float32) {
	t.Helper()
	for _, row := range rows {
		all = append(all, float32(require.Value(strconv.ParseFloat(fmt.Sprint(row[0]), 32))(t)))
	}
	return all
}

// loadedNumbers returns the numbers of the column n of the rows that halfspace loads.
func loadedNumbers(t *testing.T, path string, opt Options) (all []float32) {
	t.Helper()
	opt.Label, opt.Features, opt.NoBias = "y", []string{"n"}, true
	data, err := Load(t.Context(), path, opt)
	if err != nil && strings.Contains(err.Error(), "no row") || err != nil && strings.Contains(err.Error(), "every row") {
		return nil
	}
	require.NoError(t, err)
	rows, _ := rowsOf(t, data)
	for _, row := range rows {
		all = append(all, row[0])
	}
	return all
}

// TestDuckDBWhere: conditions choose the rows that they choose in DuckDB, from files and from folders that name columns; limit keeps
// the same ones.
func TestDuckDBWhere(t *testing.T) {
	ask := duckDB(t)
	r, dir := rand.New(rand.NewPCG(7, 8)), t.TempDir()
	rows, table := whereTable(3000)
	path := table.write(t, filepath.Join(dir, "a.parquet"))
	for range 150 {
		e := randomExpr(r, rows, 2)
		for _, limit := range []int64{0, 25} {
			sql := fmt.Sprintf("SELECT n FROM '%s' WHERE (%s)", path, e.text)
			if limit > 0 {
				sql = fmt.Sprintf("SELECT * FROM (%s ORDER BY n LIMIT %d)", sql, limit)
			}
			want := numbersOf(t, ask(sql+" ORDER BY n"))
			if got := loadedNumbers(t, path, Options{Where: e.text, Limit: limit, Nulls: "zero"}); !slices.Equal(got, want) {
				t.Fatalf("%s, limit %d: %v, want %v", e.text, limit, got, want)
			}
		}
	}
	for day := range 6 {
		for k, country := range []string{"de", "fr", source.Null} {
			folder := filepath.Join(dir, "parts", fmt.Sprintf("day=2026-02-%02d", 26+day%3), "country="+country, fmt.Sprint("code=", 7*day))
			require.NoError(t, os.MkdirAll(folder, 0o700))
			text := "n,y\n"
			for i := range 20 {
				text += fmt.Sprintf("%d,%d\n", 1000*day+100*k+i, i%2)
			}
			source := filepath.Join(dir, "part.csv")
			put(t, source, []byte(text))
			_, err := Convert(t.Context(), []string{source}, filepath.Join(folder, "a.parquet"), Options{}, WriterOptions{})
			require.NoError(t, err)
		}
	}
	for _, where := range []string{"day = '2026-02-27'", "day > '2026-02-26' and country <> 'de'", "country is null", "country is not null and n < 2000", "code >= 14 and code < 35",
		"not country = 'fr'", "country in ('fr', 'it') or code = 0", "country like '%e'", "code between 7 and 21 and day <= '2026-02-27'"} {
		want := numbersOf(t, ask(fmt.Sprintf("SELECT n FROM read_parquet('%s/parts/**/*.parquet', hive_partitioning = true) WHERE %s ORDER BY n", dir, where)))
		got := loadedNumbers(t, filepath.Join(dir, "parts"), Options{Where: where})
		if slices.Sort(got); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
}

// TestDuckDBRejects: lines with a wrong number of fields or a text among numbers are rejects in DuckDB too, and the other lines are
// rows.
func TestDuckDBRejects(t *testing.T) {
	ask := duckDB(t)
	r, dir := rand.New(rand.NewPCG(9, 10)), t.TempDir()
	for trial := range 30 {
		text := "n,x,y\n"
		for i := range 400 {
			switch r.IntN(40) {
			case 0:
				text += fmt.Sprintf("%d,1.5\n", i)
			case 1:
				text += fmt.Sprintf("%d,1.5,1,7\n", i)
			case 2:
				text += fmt.Sprintf("%d,much,1\n", i)
			case 3:
				text += fmt.Sprintf("%d,,%d\n", i, i%2)
			default:
				text += fmt.Sprintf("%d,%.2f,%d\n", i, r.NormFloat64(), i%2)
			}
		}
		path, to := filepath.Join(dir, "a.csv"), filepath.Join(dir, fmt.Sprint(trial, ".csv"))
		put(t, path, []byte(text))
		want := numbersOf(t, ask(fmt.Sprintf("SELECT n, x, y FROM read_csv('%s', header = true, delim = ',', auto_detect = false, store_rejects = true, "+
			"columns = {'n': 'BIGINT', 'x': 'DOUBLE', 'y': 'BIGINT'}) ORDER BY n", path)))
		rejects := NewRejects(to)
		opt := Options{Label: "y", Features: []string{"n", "x"}, NoBias: true, Nulls: "zero", Rejects: rejects, Workers: 1 + trial%2}
		rows, _ := rowsOf(t, require.Value(Load(t.Context(), path, opt))(t))
		var got []float32
		for _, row := range rows {
			got = append(got, row[0])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("rows %v, want %v", got, want)
		}
		var lines []float32
		for _, record := range require.Value(csv.NewReader(require.Value(os.Open(to))(t)).ReadAll())(t)[1:] {
			lines = append(lines, float32(require.Value(strconv.Atoi(record[1]))(t)))
		}
		if want := numbersOf(t, ask("SELECT DISTINCT line FROM reject_errors ORDER BY line")); !slices.Equal(lines, want) {
			t.Fatalf("rejects in the lines %v, want %v", lines, want)
		}
		ask("DROP TABLE reject_errors")
		ask("DROP TABLE reject_scans")
	}
}

// TestDuckDBWhereTypes: comparisons with literals that a rounding to float64 would change, and conditions that are
// columns of booleans, choose the rows that they choose in DuckDB, from Parquet and from the CSV that DuckDB writes.
func TestDuckDBWhereTypes(t *testing.T) {
	ask := duckDB(t)
	r, dir := rand.New(rand.NewPCG(11, 12)), t.TempDir()
	literals := map[string][]string{"u": {"0", "-1", "-0.5", "7", "9007199254740992", "9007199254740993",
		"18446744073709551609.5", "18446744073709551610", "18446744073709551615", "18446744073709551616"},
		"i": {"-9223372036854775808", "-9223372036854775807.5", "-1.5", "0", "1.5", "9007199254740992", "9007199254740992.5",
			"9007199254740993", "9223372036854775807"},
		"f": {"0.1", "0.33333334", "-0.1", "16777216", "0.5", "100.25"}, "g": {"0.1", "0.3333333333333333", "0.5",
			"9007199254740993"},
		"d": {"0.1", "0.11", "-0.1", "0.10", "12345678.9", "12345678.95"}, "h": {"123456789012345678901234567890123456.78",
			"0.01", "0.02"}}
	of := map[string][]string{"f": {"0.1", "0.33333334", "-0.1", "16777216", "16777217", "1e-30"}, "b": {"true", "false"}}
	for name, texts := range literals {
		if len(of[name]) == 0 {
			of[name] = texts
		}
	}
	of["u"], of["i"] = []string{"0", "7", "9007199254740993", "18446744073709551609", "18446744073709551610",
		"18446744073709551615"},
		[]string{"-9223372036854775808", "-2", "-1", "1", "2", "9007199254740993", "9223372036854775807"}
	types := map[string]string{"u": "UBIGINT", "i": "BIGINT", "f": "FLOAT", "g": "DOUBLE", "d": "DECIMAL(10,1)",
		"h": "DECIMAL(38,2)", "b": "BOOLEAN"}
	names := slices.Sorted(maps.Keys(types))
	var rows, columns []string
	for n := range 400 {
		row := fmt.Sprintf("(%d, %d", n, n%2)
		for _, name := range names {
			text := of[name][r.IntN(len(of[name]))]
			if r.IntN(8) == 0 {
				text = "NULL"
			}
			row += fmt.Sprintf(", CAST(%s AS %s)", text, types[name])
		}
		rows = append(rows, row+")")
	}
	for _, name := range names {
		columns = append(columns, fmt.Sprintf("'%s': '%s'", name, types[name]))
	}
	ask(fmt.Sprintf("CREATE TABLE t AS SELECT * FROM (VALUES %s) AS v(n, y, %s)", strings.Join(rows, ", "),
		strings.Join(names, ", ")))
	for _, name := range []string{"t.parquet", "t.csv"} {
		ask(fmt.Sprintf("COPY t TO '%s'", filepath.Join(dir, name)))
	}
	comparison := func() string {
		name := names[r.IntN(len(names))]
		texts := literals[name]
		if len(texts) == 0 {
			return []string{"b", "not b", "b = true", "b <> false"}[r.IntN(4)]
		}
		text := texts[r.IntN(len(texts))]
		return fmt.Sprintf("%s %s %s", name, []string{"=", "<>", "<", "<=", ">", ">="}[r.IntN(6)], text)
	}
	for trial := range 200 {
		where := comparison()
		if trial%2 == 0 {
			where = fmt.Sprintf("not (%s) or (%s and %s)", where, comparison(), comparison())
		}
		for _, name := range []string{"t.parquet", "t.csv"} {
			from := fmt.Sprintf("'%s'", filepath.Join(dir, name))
			if name == "t.csv" {
				from = fmt.Sprintf("read_csv(%s, columns = {'n': 'INTEGER', 'y': 'INTEGER', %s})", from, strings.Join(columns,
					", "))
			}
			want := numbersOf(t, ask(fmt.Sprintf("SELECT n FROM %s WHERE %s ORDER BY n", from, where)))
			if got := loadedNumbers(t, filepath.Join(dir, name), Options{Where: where}); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", name, where, got, want)
			}
		}
	}
}
