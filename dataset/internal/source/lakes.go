package source

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
	"halfspace/internal/message"
)

// A lake is a kind of table whose log says which of the files in its folder have rows, and which rows of them. The
// files alone also have rows that were deleted or rewritten.
type lake struct {
	kind    string // Delta or Iceberg, which are read; "": others
	article string
	name    string
	log     string // the folder of the log, in the folder of the table
	export  string // a command that writes the rows of a table as Parquet; FOLDER is the folder of the table
}

var lakes = []lake{
	{Delta, "a", "Delta Lake table", DeltaLog, "in DuckDB: COPY (FROM delta_scan('FOLDER')) TO 'rows.parquet'"},
	{Iceberg, "an", "Iceberg table", icebergLog, "in DuckDB: COPY (FROM iceberg_scan('FOLDER')) TO 'rows.parquet'"},
	{"", "a", "Hudi table", ".hoodie", "in Spark: spark.read.format('hudi').load('FOLDER').write.parquet('rows')"},
	{"", "a", "table of Spark's Structured Streaming", "_spark_metadata",
		"in Spark: spark.read.parquet('FOLDER').write.parquet('rows')"},
}

// duckLake is the lake whose log is a database elsewhere. The names of its files tell it, if rows were deleted.
var duckLake = lake{"", "a", "DuckLake table", "",
	"in DuckDB: ATTACH 'ducklake:CATALOG' AS lake; COPY (FROM lake.TABLE) TO 'rows.parquet'"}

const (
	duckFiles   = "ducklake-*.parquet"
	duckDeletes = "ducklake-*-delete.parquet"
)

// icebergFile matches the files of Iceberg's log that name the state of a table.
var icebergFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(v\d+(\.gz)?|\d{5}-.*)\.metadata\.json(\.gz)?$|^version-hint\.text$`)
})

// A lakeTable is a table and its folder.
type lakeTable struct {
	*lake
	folder string
}

// refuse returns the error that a path names a table or some of its files.
func (t lakeTable) refuse(p string) error {
	what, log := t.article+" "+t.name, "log"
	if t.log == "" {
		what, log = "files of a "+t.name, "catalog"
	} else if filepath.Clean(p) != filepath.Clean(t.folder) && strings.TrimRight(p, "/") != t.folder {
		what = "files of the " + t.name + " " + t.folder
	}
	if t.kind != "" && files.Scheme(p) == "" {
		return column.Mark(message.Errorf("%s: %s, whose log says which rows are in it; without the log, removed and rewritten rows "+
			"would count too: name the table, %s, and choose rows with --where (--raw reads the files without the log)", p, what,
			t.folder), column.ErrFormat)
	}
	return column.Mark(message.Errorf("%s: %s, whose %s says which rows are in it; without the %s, removed and rewritten rows "+
		"would count too: write the table's rows as Parquet first, such as %s (--raw reads the files without the %s)", p, what, log,
		log, strings.ReplaceAll(t.export, "FOLDER", t.folder), log), column.ErrFormat)
}

// A lakeFinder finds the lake tables to which local folders belong. It looks into each folder once.
type lakeFinder struct {
	working string                // the working directory, to which relative paths refer
	tables  map[string]*lakeTable // by the absolute path of a folder; nil: the folder belongs to none
	refused map[string]bool       // folders of tables that an error is about
}

func newLakeFinder() *lakeFinder {
	working, _ := os.Getwd()
	return &lakeFinder{working, map[string]*lakeTable{}, map[string]bool{}}
}

// refuse returns an error if a path names a lake table, or if some of the files that it names are in the folder of one.
func (f *lakeFinder) refuse(p string, found *lister) error {
	folders, last := slices.Clone(found.folders), ""
	for _, file := range found.files {
		if dir := filepath.Dir(file); dir != last && p != "-" {
			last, folders = dir, append(folders, dir)
		}
	}
	for _, link := range found.linked {
		if to, err := filepath.EvalSymlinks(link); err == nil {
			folders = append(folders, filepath.Dir(to))
		}
	}
	for _, dir := range folders {
		if t := f.above(f.absolute(dir)); t != nil && f.refused[t.folder] {
			return nil // the error is about another path
		} else if t != nil {
			f.refused[t.folder] = true
			shown := *t
			if rel, err := filepath.Rel(f.working, t.folder); err == nil && !filepath.IsAbs(p) {
				shown.folder = rel
			}
			return shown.refuse(p)
		}
	}
	if hasDuckDeletes(found.files, localNames) {
		return lakeTable{lake: &duckLake}.refuse(p)
	}
	return nil
}

func (f *lakeFinder) absolute(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.working, dir)
}

// above returns the table whose folder is dir or above it, or nil.
func (f *lakeFinder) above(dir string) *lakeTable {
	if t, known := f.tables[dir]; known {
		return t
	}
	f.tables[dir] = nil // a link may lead back
	t := tableIn(dir, localNames)
	if info, err := os.Lstat(dir); t == nil && err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			t = f.above(to)
		}
	}
	if up := filepath.Dir(dir); t == nil && up != dir {
		t = f.above(up)
	}
	f.tables[dir] = t
	return t
}

// tableIn returns the table whose folder is dir, or nil.
func tableIn(dir string, names namesFunc) *lakeTable {
	for i := range lakes {
		in, exists := names(dir, lakes[i].log)
		if exists && (lakes[i].log != "metadata" || slices.ContainsFunc(in, icebergFile().MatchString)) {
			return &lakeTable{&lakes[i], dir}
		}
	}
	return nil
}

// A namesFunc returns the names in a folder in dir, and whether there is such a folder. in may be "", for dir itself.
type namesFunc = func(dir, in string) (names []string, exists bool)

func localNames(dir, in string) (names []string, exists bool) {
	if _, err := os.Lstat(filepath.Join(dir, in)); err != nil { // most often, and cheaper than reading the folder
		return nil, false
	}
	entries, err := os.ReadDir(filepath.Join(dir, in))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err == nil || errors.Is(err, fs.ErrPermission)
}

// hasDuckDeletes returns true if the folder of a file of a DuckLake table has files that delete rows.
func hasDuckDeletes(found []string, names namesFunc) bool {
	last := ""
	for _, file := range found {
		dir := file[:max(0, strings.LastIndexAny(file, `/`+string(filepath.Separator)))]
		name := path.Base(filepath.ToSlash(file))
		if is, _ := path.Match(duckFiles, name); !is || dir == last {
			continue
		}
		last = dir
		in, _ := names(cmp.Or(dir, "."), "")
		if slices.ContainsFunc(in, func(name string) bool { is, _ := path.Match(duckDeletes, name); return is }) {
			return true
		}
	}
	return false
}

// refuseObjects is lakeFinder.refuse for objects of a store. It doesn't look into folders that name a column: there are
// many, and the log of a table is above them.
func refuseObjects(ctx context.Context, s files.Store, p string, found []string) error {
	names := func(dir, in string) (names []string, exists bool) {
		prefix := strings.TrimSuffix(dir+"/"+in, "/") + "/"
		all, _ := s.List(prefix)
		for _, object := range all {
			names = append(names, strings.TrimPrefix(object, prefix))
		}
		return names, len(all) > 0
	}
	var dirs []string
	seen := map[string]bool{}
	for _, object := range append([]string{strings.TrimRight(p, "/") + "/"}, found...) {
		for at := strings.LastIndexByte(object, '/'); at >= 0; at = strings.LastIndexByte(object[:at], '/') {
			dir := object[:at]
			if seen[dir] || strings.HasSuffix(dir, "/") { // the scheme
				break
			}
			if seen[dir] = true; !strings.Contains(path.Base(dir), "=") {
				dirs = append(dirs, dir)
			}
		}
	}
	tables := make([]*lakeTable, len(dirs))
	err := column.NewPool(files.ParallelRequests).Each(ctx, len(dirs), func(i int) error {
		tables[i] = tableIn(dirs[i], names)
		return nil
	})
	for _, t := range tables {
		if t != nil {
			return t.refuse(p)
		}
	}
	if err == nil && hasDuckDeletes(found, names) {
		err = lakeTable{lake: &duckLake}.refuse(p)
	}
	return err
}
