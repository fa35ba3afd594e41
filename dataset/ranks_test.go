package dataset_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/schema"
)

// TestRanks: values have the order of numbers, of dates or of texts, and whole numbers beyond 2^53 stay apart. Rows that are dropped have
// no rank.
func TestRanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	lines := "id,n,day,text,x,y\n" +
		"9007199254740993,10,2024-10-01,b,1,0\n" +
		"9007199254740992,9.5,2024-09-30,a,2,1\n" +
		"-3,-1e9,2023-12-31,B,,0\n" +
		"9007199254740993,10,2024-10-01,b,4,1\n"
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string][]int64{"id": {2, 1, 0, 2}, "n": {2, 1, 0, 2}, "day": {2, 1, 0, 2}, "text": {2, 1, 0, 2}} {
		for _, nulls := range []schema.Nulls{schema.NullsZero, schema.NullsMean, schema.NullsDrop} {
			want := slices.Clone(want)
			if nulls == schema.NullsDrop {
				want = []int64{1, 0, 1}
			}
			got, err := dataset.Ranks(t.Context(), []string{path}, dataset.Options{Label: "y", Features: []string{"x"}, Nulls: nulls}, column, column == "day")
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("column %s, nulls %s: ranks %v, error %v, want %v", column, nulls, got, err, want)
			}
		}
	}
	for column, want := range map[string]string{"text": `"b" is no time whose text sorts`, "none": `no column "none"`, "x": "no value: fill it in"} {
		_, err := dataset.Ranks(t.Context(), []string{path}, dataset.Options{Label: "y", Features: []string{"n"}}, column, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("column %s: error %v, want %q", column, err, want)
		}
	}
}
