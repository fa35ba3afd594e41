package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// wordTable returns lines of a table with a column of words, the first of which is the header.
func wordTable(rows int) []string {
	rng := rand.New(rand.NewPCG(3, 4))
	lines := []string{"y,text"}
	for i := range rows {
		var words []string
		for range 2 + rng.IntN(9) {
			words = append(words, fmt.Sprintf("w%d", int(40*math.Pow(rng.Float64(), 3))))
		}
		lines = append(lines, fmt.Sprintf("%d,%s only%d", rng.IntN(2), strings.Join(words, " "), i))
	}
	return lines
}

func writeLines(t *testing.T, lines []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "words.csv")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

func wordsOf(t *testing.T, src block.Source) *schema.Words {
	t.Helper()
	for _, c := range src.Spec().Preprocessing.Columns {
		if c.Words != nil {
			return c.Words
		}
	}
	t.Fatal("no column of words")
	return nil
}

// TestWordsOfFolds: the words of the rows of a fold are those of a file with these rows alone: their buckets, weights and first words.
func TestWordsOfFolds(t *testing.T) {
	ctx, opt := context.Background(), Options{Label: "y", Prepare: true}
	lines := wordTable(300)
	rows := require.Value(Open(ctx, []string{writeLines(t, lines)}, opt, Budget{}))(t)
	var choices []func(int) bool
	var some [][]string
	for fold := range 3 {
		row := -1
		choices = append(choices, func(int) bool {
			row++
			return row%3 != fold
		})
		own := lines[:1:1]
		for i, line := range lines[1:] {
			if i%3 != fold {
				own = append(own, line)
			}
		}
		some = append(some, own)
	}
	all := require.Value(rows.Refit(ctx, choices))(t)
	for fold, open := range all {
		got := wordsOf(t, require.Value(open(ctx))(t))
		want := wordsOf(t, require.Value(Open(ctx, []string{writeLines(t, some[fold])}, opt, Budget{}))(t))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("fold %d: %d buckets, want %d", fold, len(got.Buckets), len(want.Buckets))
		}
		if whole := wordsOf(t, rows); len(got.Buckets) >= len(whole.Buckets) || reflect.DeepEqual(got.Weights[:9], whole.Weights[:9]) {
			t.Errorf("fold %d has the words of all rows", fold)
		}
	}
}

// TestWordsStreamed: rows of words have the same bits in memory, streamed, dense and sparse, with one worker and several.
func TestWordsStreamed(t *testing.T) {
	ctx, path := context.Background(), writeLines(t, wordTable(5000))
	print := func(opt Options, stream bool) string {
		opt.Label, opt.Prepare = "y", true
		plan := require.Value(require.Value(Examine(ctx, []string{path}, opt))(t).Plan(ctx, opt))(t)
		var src block.Source = require.Value(plan.Stream(ctx))(t)
		if !stream {
			src = require.Value(plan.Load(ctx))(t)
		}
		return require.Value(block.Fingerprint(ctx, src, 2))(t)
	}
	want := print(Options{Workers: 1}, false)
	for _, workers := range []int{1, 2, 5} {
		for _, storage := range []Storage{Auto, Dense, Sparse} {
			for _, stream := range []bool{false, true} {
				if got := print(Options{Workers: workers, Storage: storage}, stream); got != want {
					t.Errorf("%d workers, %s, streamed %t: fingerprint %s, want %s", workers, storage, stream, got, want)
				}
			}
		}
	}
}

// TestWordWeights: the weights of words follow from the number of rows that have them, the texts are the first words of their buckets.
func TestWordWeights(t *testing.T) {
	opt := Options{Label: "y", Categorical: "text=words", Nulls: schema.NullsZero}
	path := writeLines(t, []string{"y,text", "1,Apple pear apple", "0,pear", "1,", "0,fig"})
	of := wordsOf(t, require.Value(Open(context.Background(), []string{path}, opt, Budget{}))(t))
	for i, word := range of.Texts {
		n := map[string]float64{"apple": 1, "pear": 2, "fig": 1}[word]
		if want := math.Log((1+4)/(1+n)) + 1; n == 0 || math.Abs(of.Weights[i]-want) > 1e-15 {
			t.Errorf("%q has the weight %v, want %v", word, of.Weights[i], want)
		}
	}
	if len(of.Texts) != 3 {
		t.Errorf("the words are %q", of.Texts)
	}
}

// TestWordsKept: rows are the same, and so are notes, whether the tokens of their texts are kept from the pass that learns the words, or
// the texts are read again, as those of JSON Lines are.
func TestWordsKept(t *testing.T) {
	ctx, dir, lines := context.Background(), t.TempDir(), wordTable(4000)
	lines[0] = "y,text,number"
	for i := range lines[1:] {
		if lines[i+1] += fmt.Sprintf(",%d.5", i%77); i%31 == 0 {
			lines[i+1] = fmt.Sprintf("%d,,%d", i%2, i) // no text
		}
	}
	lines[10] = `1,"a ""quoted"" text, ` + strings.Repeat("again ", 2000) + `",3`
	path := writeLines(t, lines)
	for _, nulls := range []schema.Nulls{"", schema.NullsZero, schema.NullsDrop} {
		var want string
		for _, ext := range []string{".jsonl", ".csv", ".parquet"} {
			out := path
			if ext != ".csv" {
				out = filepath.Join(dir, "words"+ext)
				require.Value(Convert(ctx, []string{path}, out, Options{}, WriterOptions{}))(t)
			}
			opt := Options{Label: "y", Prepare: true, Nulls: nulls}
			plan := require.Value(require.Value(Examine(ctx, []string{out}, opt))(t).Plan(ctx, opt))(t)
			kept := len(plan.bound.TokenColumns())
			isMarked := ext == ".parquet" && nulls == "" // whether a text is missing is a feature too
			if isKept := ext != ".jsonl" && nulls != schema.NullsDrop && !isMarked; isKept != (kept == 1) {
				t.Errorf("%s, nulls %q: %d columns of tokens", ext, nulls, kept)
			}
			got := require.Value(block.Fingerprint(ctx, require.Value(plan.Load(ctx))(t), 2))(t)
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s, nulls %q: other rows than those of JSON Lines", ext, nulls)
			}
		}
	}
}
