package lake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// tableOf writes a Delta table whose commits have the given lines, and returns its newest version.
func tableOf(t testing.TB, commits ...string) *source.Pin {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, source.DeltaLog), 0o700))
	for v, lines := range commits {
		require.NoError(t, os.WriteFile(filepath.Join(dir, source.DeltaLog, fmt.Sprintf("%020d.json", v)), []byte(lines), 0o600))
	}
	return &source.Pin{Path: dir, Kind: source.Delta, Folder: dir, Version: int64(len(commits) - 1)}
}

const begin = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"metadata\":{}},{\"name\":\"p\",\"type\":\"string\",\"metadata\":{}}]}","partitionColumns":["p"],"configuration":{}}}
`

func add(path, more string) string {
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{"p":"v"},"size":10%s}}`+"\n", path, more)
}

// TestReplay: the newest entry about a file and its deletion vector counts. Files are in the order of their paths, which are unescaped
// once.
func TestReplay(t *testing.T) {
	const v1, v2 = `,"deletionVector":{"storageType":"i","pathOrInlineDv":"^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L","sizeInBytes":44,"cardinality":6}`, ``
	pin := tableOf(
		t,
		begin+add("b", "")+add("a%20b/c", "")+add("p=x%252Fy/d", ""),
		`{"remove":{"path":"b","dataChange":true}}`+"\n"+add(
			"b",
			v1,
		)+`{"commitInfo":{"operation":"x"}}`+"\n"+`{"future":{"add":1}}`,
		add(
			"z",
			v2,
		)+`{"remove":{"path":"a%20b/c"}}`,
		`{"remove":{"path":"z"}}`+"\n\n"+add("file:/elsewhere/y", `,"stats":"{\"numRecords\":7}"`),
		add("z", ""),
	)
	table, files, err := readDelta(t.Context(), pin)
	require.NoError(t, err)
	var got []string
	for _, f := range files {
		got = append(
			got,
			fmt.Sprintf(
				"%s %d %d %d",
				strings.TrimPrefix(f.Path, pin.Folder+"/"),
				f.Part.Size,
				f.Part.Rows,
				f.Part.Removed.Len(),
			),
		)
	}
	if want := "b 10 -1 6, /elsewhere/y 10 7 0, p=x%2Fy/d 10 -1 0, z 10 -1 0"; strings.Join(got, ", ") != want ||
		table.Version != "Delta version 4" {
		t.Errorf("%s: %s, want %s", table.Version, strings.Join(got, ", "), want)
	}
}

// TestLogErrors: a log that contradicts itself, or that leads elsewhere, is an error.
func TestLogErrors(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{begin + add("s3://bucket/a", ""), "some of its rows are in s3://bucket/a, which is elsewhere"},
		{begin + add("../a", ""), "which leaves the folder"},
		{begin + add("%zz", ""), "which is no URI"},
		{begin + add("a", "") + add("a", `,"deletionVector":{"storageType":"i","pathOrInlineDv":"","sizeInBytes":0,"cardinality":0}`), `the log has "a" twice`},
		{begin + `{"add":{"partitionValues":{}}}`, "an action without the path of a file"},
		{begin + "[]", "line 3: it is cut, or no action"},
		{begin + `{"add":`, "line 3: it is cut, or no action"},
		{strings.Replace(begin, "long", "interval", 1) + add("a", ""), ""},
		{strings.Replace(begin, `"p"]`, `"q"]`, 1), `lacks the column "q", by which the table is partitioned`},
		{begin[strings.Index(begin, "\n"):], "its log has no protocol or no schema"},
		{strings.Replace(begin, `"configuration":{`, `"configuration":{"delta.columnMapping.mode":"name"`, 1), "and its protocol doesn't"},
		{strings.Replace(begin, `"configuration":{`, `"configuration":{"delta.coordinatedCommits.commitCoordinator-preview":"dynamodb"`, 1), "are known to dynamodb only"},
	} {
		_, _, err := readDelta(t.Context(), tableOf(t, c.lines))
		if c.want == "" && err != nil || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: error %v, want %s", c.lines, err, c.want)
		}
	}
}

// TestPartitionValues: values have the types of their columns, in the forms of the protocol. Null and the empty text are null.
func TestPartitionValues(t *testing.T) {
	for _, c := range []struct {
		typ        arrow.DataType
		text, want string
	}{
		{deltaTypes["string"], "01234", "01234"}, {deltaTypes["long"], "-5", "-5"}, {deltaTypes["integer"], "3000000000", "!"}, {deltaTypes["byte"], "128", "!"},
		{deltaTypes["short"], "x", "!"}, {deltaTypes["double"], "1.5", "1.5"}, {deltaTypes["double"], "NaN", "NaN"}, {deltaTypes["float"], "-Infinity", "-Inf"}, {deltaTypes["boolean"], "true", "true"},
		{deltaTypes["boolean"], "yes", "!"}, {deltaTypes["date"], "1969-12-31", "1969-12-31"}, {deltaTypes["date"], "1969-13-31", "!"},
		{timestampUTC, "2024-01-01 10:00:00.5", "2024-01-01 10:00:00.5Z"}, {timestampUTC, "2024-01-01T10:00:00.500000Z", "2024-01-01 10:00:00.5Z"}, {timestampUTC, "1960-01-01 10:00:00", "1960-01-01 10:00:00Z"}, {timestampUTC, "10:00", "!"},
		{decimalOf("decimal(5,2)"), "1.5", "1.5"}, {decimalOf("decimal(5,2)"), "-0.01", "-0.01"}, {decimalOf("decimal(5,2)"), "1.505", "!"}, {decimalOf("decimal(5,2)"), "1234.5", "!"}, {decimalOf("decimal(5,2)"), "--1", "!"},
		{deltaTypes["binary"], "ab", "YWI="}, {deltaTypes["long"], "", "(null)"},
	} {
		constant, err := partitionKey{"k", c.typ}.value(map[string]*string{"k": &c.text})
		if c.want == "!" {
			if err == nil {
				t.Errorf("%s, %q: no error", c.typ, c.text)
			}
			continue
		}
		require.NoError(t, err)
		if constant.Null != (c.want == "(null)") {
			t.Errorf("%s, %q: %+v", c.typ, c.text, constant)
		}
		if !constant.Null {
			if got := require.Value(constant.Values(c.typ, 2))(t); got.ValueStr(1) != c.want || got.Len() != 2 {
				t.Errorf("%s, %q: %s, want %s", c.typ, c.text, got.ValueStr(1), c.want)
			}
		}
	}
	if _, err := (partitionKey{"k", timestampUTC}).value(nil); err == nil {
		t.Error("no value is no error")
	}
}

// FuzzLog: any commit is read or refused.
func FuzzLog(f *testing.F) {
	f.Add(begin + add("a", ""))
	f.Add(
		begin + add(
			"a",
			`,"deletionVector":{"storageType":"i","pathOrInlineDv":"^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L","sizeInBytes":44,"cardinality":6}`,
		),
	)
	f.Add(begin + `{"sidecar":{"path":"a","sizeInBytes":1}}`)
	f.Fuzz(func(t *testing.T, lines string) {
		l := &deltaLog{ctx: t.Context(), dir: t.TempDir(), seen: map[fileKey]bool{}}
		file := filepath.Join(l.dir, "commit.json")
		require.NoError(t, os.WriteFile(file, []byte(lines), 0o600))
		if l.lines(file) != nil || l.protocol == nil || l.metadata == nil || l.protocol.check(l.dir) != nil {
			return
		}
		if _, files, err := l.table(&source.Pin{Path: l.dir, Folder: l.dir}); err == nil {
			for _, of := range files {
				if of.Part.Table == nil || of.Path == "" {
					t.Fatal("a file without a table")
				}
			}
		}
		if _, err := located("t", lines); errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	})
}
