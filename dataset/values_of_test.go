package dataset

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestValues: rows are found by their numbers among the kept rows, in any format and with any choice of rows, with the values of the files.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	a := write("a.csv", "n,word,price,day,y\n1,red,\"$1,200\",2026-01-02,0\n2,,$7,2026-01-03,\n3,blue,$8,2026-01-04,1\n4,red,$9,2026-01-05,1\n")
	b := write("b.csv", "n,word,price,day,y\n5,blue,,2026-02-02,0\n6,green,$3,2026-02-03,1\n")
	svm := write("c.svm", "1 1:0.5 7:2\n-1 2:1\n1 7:3\n")
	columns := []string{"word", "price", "day", "n"}
	all := []Row{{a, 0, []string{"red", "$1,200", "2026-01-02", "1"}}, {a, 2, []string{"blue", "$8", "2026-01-04", "3"}}, {a, 3, []string{"red", "$9", "2026-01-05", "4"}},
		{b, 0, []string{"blue", "", "2026-02-02", "5"}}, {b, 1, []string{"green", "$3", "2026-02-03", "6"}}}
	for _, c := range []struct {
		paths, columns []string
		opt            Options
		want           []Row
	}{
		{[]string{a, b}, columns, Options{Label: "y", Prepare: true}, all},
		{[]string{a, b}, columns, Options{Label: "y", Prepare: true, Where: "n <> 3"}, append(append([]Row{}, all[0]), all[2:]...)},
		{[]string{a, b}, columns, Options{Label: "y", Nulls: schema.NullsDrop, Categorical: "onehot"}, append(append([]Row{}, all[:3]...), all[4])},
		{[]string{b, a}, columns[:1], Options{Label: "y", Prepare: true, Limit: 1}, []Row{{b, 0, []string{"blue"}}}},
		{[]string{svm}, nil, Options{Label: "label"}, []Row{{svm, 0, []string{"f1:0.5 f7:2"}}, {svm, 1, []string{"f2:1"}}, {svm, 2, []string{"f7:3"}}}},
	} {
		in, err := planOf(t.Context(), c.paths, c.opt, memory.DefaultAllocator)
		require.NoError(t, err)
		if rows := require.Value(in.count(t.Context()))(t); rows != int64(len(c.want)) {
			t.Fatalf("%v: %d rows", c.opt, rows)
		}
		numbers, want := []int64{}, map[int64]Row{}
		for i := len(c.want) - 1; i >= 0; i -= 2 {
			numbers = append(numbers, int64(i))
			want[int64(i)] = c.want[i]
		}
		got, err := c.opt.Values(context.Background(), c.paths, c.columns, numbers)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %v, error %v, want %v", c.opt, got, err, want)
		}
	}
	if _, err := (Options{}).Values(t.Context(), []string{"-"}, nil, nil); err == nil {
		t.Error("standard input is read twice")
	}
}
