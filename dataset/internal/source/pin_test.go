package source

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestDeltaLog: a version begins at the newest whole checkpoint up to it, of any kind, and has each commit behind that. Names of other
// forms don't count. Names by the protocol at github.com/delta-io/delta.
func TestDeltaLog(t *testing.T) {
	const id = "80a083e8-7026-4e79-81be-64bd76c43a11"
	commits := func(from, to int) (names []string) {
		for v := from; v <= to; v++ {
			names = append(names, fmt.Sprintf("%020d.json", v))
		}
		return names
	}
	of := func(version int, rest string) string { return fmt.Sprintf("%020d.%s", version, rest) }
	for _, c := range []struct {
		names            []string
		version          int64
		want, checkpoint string // the versions, and the parts of the checkpoint
	}{
		{commits(0, 3), -1, "3: 0 1 2 3", ""},
		{commits(0, 3), 1, "1: 0 1", ""},
		{append(commits(0, 5), of(3, "checkpoint.parquet")), -1, "5: 4 5", "checkpoint.parquet"},
		{append(commits(0, 5), of(3, "checkpoint.parquet")), 2, "2: 0 1 2", ""},
		{append(commits(0, 5), of(3, "checkpoint.parquet")), 3, "3:", "checkpoint.parquet"},
		{append(commits(4, 5), of(3, "checkpoint.parquet")), -1, "5: 4 5", "checkpoint.parquet"},
		{append(commits(0, 2), of(3, "checkpoint.parquet")), -1, "3:", "checkpoint.parquet"},
		{append(commits(0, 5), of(3, "checkpoint.0000000001.0000000002.parquet"), of(3, "checkpoint.0000000002.0000000002.parquet")), -1, "5: 4 5", "checkpoint.0000000001.0000000002.parquet checkpoint.0000000002.0000000002.parquet"},
		{append(commits(0, 5), of(3, "checkpoint.0000000001.0000000002.parquet")), -1, "5: 0 1 2 3 4 5", ""},
		{append(commits(0, 5), of(4, "checkpoint."+id+".json")), -1, "5: 5", "checkpoint." + id + ".json"},
		{append(commits(0, 5), of(4, "checkpoint."+id+".parquet")), -1, "5: 5", "checkpoint." + id + ".parquet"},
		{append(commits(0, 3), "_last_checkpoint", of(9, "crc"), of(0, "00000000000000000009.compacted.json"), of(9, "json.tmp"), ".00000000000000000009.json.crc", "9.json", of(9, "checkpoint.json"), of(9, "checkpoint.parquet.tmp")), -1, "3: 0 1 2 3", ""},
		{[]string{of(0, "json"), of(2, "json")}, -1, "!version 1 is missing from the log", ""},
		{commits(1, 5), -1, "!version 0 is missing from the log", ""},
		{append(commits(5, 6), of(3, "checkpoint.parquet")), -1, "!version 4 is missing from the log", ""},
		{append(commits(5, 6), of(3, "checkpoint.parquet")), 2, "!version 0 is missing from the log", ""},
		{commits(0, 5), 6, "!the table has no version 6: the newest is 5", ""},
		{[]string{"_last_checkpoint"}, -1, "!a Delta table without a version", ""},
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, DeltaLog), 0o700))
		for _, name := range c.names {
			require.NoError(t, os.WriteFile(filepath.Join(dir, DeltaLog, name), nil, 0o600))
		}
		plan, err := DeltaLogOf(dir, c.version)
		if bad, is := strings.CutPrefix(c.want, "!"); is {
			if !strings.Contains(fmt.Sprint(err), bad) {
				t.Errorf("%q: error %v, want %s", c.names, err, bad)
			}
			continue
		}
		require.NoError(t, err)
		got := fmt.Sprintf("%d:", plan.Version)
		for _, file := range plan.Commits {
			got += " " + strings.TrimSuffix(strings.TrimLeft(filepath.Base(file)[:19], "0")+filepath.Base(file)[19:], ".json")
		}
		var parts []string
		for _, file := range plan.Checkpoint {
			parts = append(parts, filepath.Base(file)[21:])
		}
		if got != c.want || strings.Join(parts, " ") != c.checkpoint {
			t.Errorf("%q, version %d: %q, %q, want %q, %q", c.names, c.version, got, parts, c.want, c.checkpoint)
		}
	}
}

// TestIcebergMetadata: the metadata is the file that the hint names, or a later one behind it, or the one with the greatest number.
// Two files of that number are an error.
func TestIcebergMetadata(t *testing.T) {
	for _, c := range []struct {
		names, hint string
		version     int64
		want        string
	}{
		{"v1.metadata.json v2.metadata.json v10.metadata.json", "", -1, "v10.metadata.json"},
		{"v1.metadata.json v2.metadata.json v10.metadata.json", "1", -1, "v2.metadata.json"},
		{"v1.metadata.json v2.gz.metadata.json", "2\n", -1, "v2.gz.metadata.json"},
		{"v1.metadata.json v2.metadata.json.gz", "", -1, "v2.metadata.json.gz"},
		{"00000-a.metadata.json 00001-b.metadata.json 00002-c.gz.metadata.json snap-1.avro", "", -1, "00002-c.gz.metadata.json"},
		{"00000-a.metadata.json 00001-b.metadata.json 00001-c.metadata.json", "", -1, "!2 files of metadata have the number 1"},
		{"00000-a.metadata.json 00001-b.metadata.json 00001-c.metadata.json", "00001-b", -1, "00001-b.metadata.json"},
		{"00000-a.metadata.json 00001-b.metadata.json 00001-c.metadata.json", "00001-c.metadata.json", -1, "00001-c.metadata.json"},
		{"00000-a.metadata.json 00001-b.metadata.json 00001-c.metadata.json", "", 0, "00000-a.metadata.json"},
		{"00000-a.metadata.json 00001-b.metadata.json", "", 7, "!no file of metadata with the number 7"},
		{"v1.metadata.json", "5", -1, `!it names "5", which is no file of metadata`},
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, icebergLog), 0o700))
		for _, name := range strings.Fields(c.names) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, icebergLog, name), nil, 0o600))
		}
		if c.hint != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, icebergLog, "version-hint.text"), []byte(c.hint), 0o600))
		}
		got, err := icebergMetadata(dir, c.version)
		if bad, is := strings.CutPrefix(c.want, "!"); is && !strings.Contains(fmt.Sprint(err), bad) || !is && (err != nil || filepath.Base(got) != c.want) {
			t.Errorf("%s, hint %q, version %d: %s, error %v, want %s", c.names, c.hint, c.version, got, err, c.want)
		}
	}
}

// TestRemoved: a set has the rows that it was made of, few or many, and its counts and ranges are theirs.
func TestRemoved(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int64{1, 100, 70_000, 300_000} {
		for _, share := range []float64{0, 0.001, 0.5, 0.99, 1} {
			in := map[int64]bool{}
			for row := range n {
				if r.Float64() < share {
					in[row] = true
				}
			}
			rows := slices.Collect(maps.Keys(in))
			other := RemovedOf(slices.Clone(rows[:len(rows)/2])).Union(RemovedOf(slices.Clone(rows[len(rows)/3:])))
			set := RemovedOf(rows)
			if set.Len() != int64(len(in)) || other.Len() != set.Len() || set.Count(0, n) != set.Len() {
				t.Fatalf("%d of %d rows, %d in the union", set.Len(), len(in), other.Len())
			}
			first, last := r.Int64N(n), r.Int64N(n)+1
			first, last = min(first, last-1), max(first+1, last)
			count, kept, ranges := int64(0), int64(0), map[int64]bool{}
			for from, to := range set.Kept(first, last) {
				for row := from; row < to; row++ {
					ranges[row] = true
				}
			}
			for row := first; row < last; row++ {
				if in[row] == ranges[row] {
					t.Fatalf("row %d: removed %v, kept %v", row, in[row], ranges[row])
				}
				if in[row] {
					count++
					continue
				}
				if row%97 == 0 || kept < 3 {
					if at := set.KeptRow(first, kept); at != row {
						t.Fatalf("kept row %d behind %d is %d, want %d", kept, first, at, row)
					}
				}
				kept++
			}
			if set.Count(first, last) != count {
				t.Fatalf("%d rows, want %d", set.Count(first, last), count)
			}
		}
	}
	var none *Removed
	if none.Len() != 0 || none.Count(0, 9) != 0 || none.Last() != -1 || none.KeptRow(3, 4) != 7 || RemovedOf([]int64{5, 1 << 33, 5}).Last() != 1<<33 {
		t.Error("the empty set, or the last row of a set")
	}
}
