package dataset

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/lake"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/source"
	"halfspace/dataset/internal/transform"
	"halfspace/schema"
)

// LakeInfo describes a version of a lake table.
type LakeInfo struct {
	Path    string      `json:"path"`    // which names the version
	Format  string      `json:"format"`  // Delta or Iceberg
	Version string      `json:"version"` // in words, such as Delta version 41
	Files   int         `json:"files"`
	Bytes   int64       `json:"bytes"` // of all files
	Rows    int64       `json:"rows"`
	Removed int64       `json:"removed_rows"` // rows that the files have and the version hasn't
	Columns []LakeField `json:"columns"`
}

// LakeField describes a column of a lake table, with its type in the table.
type LakeField struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Feature bool   `json:"feature"` // features can be made of the column
}

// MayBeLake returns true if a path may name a lake table: a folder, or the path of a version.
func MayBeLake(path string) bool { return source.MayBeLake(path) }

// InspectLake describes the version of a lake table that a path names. It returns nil if the path names none.
func InspectLake(ctx context.Context, path string, opt Options) (*LakeInfo, error) {
	if opt.Raw || !source.MayBeLake(path) {
		return nil, nil
	}
	named, err := opt.Expand(ctx, []string{path}, nil)
	if err != nil || len(named) != 1 || source.PinOf(named[0]) == nil {
		return nil, err
	}
	src, err := lake.List(ctx, named, rank, opt.choice())
	if err != nil {
		return nil, err
	}
	opt.ofTable().tell(src.Notes)
	t, err := examine(ctx, src, opt, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	in, err := t.read(ctx, plan.Draft{Plan: plan.Plan{Spec: &schema.Spec{Bias: true}}})
	if err != nil {
		return nil, err
	}
	of := src.Lakes()[0]
	info := &LakeInfo{Path: named[0], Format: of.Kind, Version: of.Version, Files: len(src.Files), Rows: in.Total()}
	for _, f := range src.Files {
		info.Bytes += f.Info.Size()
		info.Removed += f.Part.Removed.Len()
	}
	for _, c := range of.Columns {
		info.Columns = append(info.Columns, LakeField{c.Name, c.Desc, transform.CanBeFeature(column.Column{Name: c.Name, Type: c.Type})})
	}
	return info, nil
}

// Lake returns the version of the lake table with the rows of a table, in words, such as Delta version 41. It returns "" if the
// rows are in none.
func (t *Table) Lake() string {
	var versions []string
	for _, of := range t.source.Lakes() {
		versions = append(versions, of.Version)
	}
	return strings.Join(versions, ", ")
}

// LakeVersions returns, separated by commas, the numbers of the versions of lake tables among paths, which Expand returned.
func LakeVersions(paths []string) string {
	var numbers []string
	for _, p := range paths {
		if pin := source.PinOf(p); pin != nil {
			numbers = append(numbers, pin.Number())
		}
	}
	return strings.Join(numbers, ",")
}

// AtLakeVersions returns paths, which Expand returned, with other versions of the lake tables among them. versions is a result of
// LakeVersions for as many tables.
func AtLakeVersions(ctx context.Context, paths []string, versions string) ([]string, error) {
	numbers := strings.Split(versions, ",")
	paths = slices.Clone(paths)
	for i, p := range paths {
		pin := source.PinOf(p)
		if pin == nil {
			continue
		}
		if len(numbers) == 0 {
			break
		}
		at, err := Options{Version: numbers[0]}.Expand(ctx, []string{pin.Folder}, nil)
		if err != nil {
			return nil, err
		}
		paths[i], numbers = at[0], numbers[1:]
	}
	return paths, nil
}

// FilesOf returns paths, which Expand returned, with the files of lake tables in place of their versions.
func FilesOf(ctx context.Context, paths []string) (all []string, err error) {
	for _, p := range paths {
		if source.PinOf(p) == nil {
			all = append(all, p)
			continue
		}
		src, err := lake.List(ctx, []string{p}, rank, source.Choice{})
		if err != nil {
			return nil, err
		}
		all = append(all, source.Paths(src.Files)...)
	}
	return all, nil
}
