package lake

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
)

// Delta tables are read by the "Delta Transaction Log Protocol" of github.com/delta-io/delta.

// A deltaAction is a line of a commit: one of its fields isn't nil.
type deltaAction struct {
	Add      *deltaFile
	Remove   *deltaFile
	MetaData *deltaMetadata
	Protocol *deltaProtocol
	Sidecar  *deltaSidecar
}

type deltaFile struct {
	Path            string
	PartitionValues map[string]*string
	Size            *int64
	Stats           *string
	DeletionVector  *deltaVector
}

type deltaVector struct {
	StorageType    string
	PathOrInlineDv string
	Offset         *int64
	SizeInBytes    int64
	Cardinality    int64
}

type deltaMetadata struct {
	Format           struct{ Provider string }
	SchemaString     string
	PartitionColumns []string
	Configuration    map[string]*string
}

type deltaProtocol struct {
	MinReaderVersion int64
	ReaderFeatures   []string
}

type deltaSidecar struct {
	Path        string
	SizeInBytes int64
}

// A fileKey identifies a file in the log.
type fileKey struct{ path, vector string }

func (f *deltaFile) key() fileKey {
	v := f.DeletionVector
	if v == nil {
		return fileKey{f.Path, ""}
	}
	id := v.StorageType + v.PathOrInlineDv
	if v.Offset != nil {
		id += fmt.Sprint("@", *v.Offset)
	}
	return fileKey{f.Path, id}
}

// A deltaLog is the state of a table at a version, from the newest entry of the log to the oldest.
type deltaLog struct {
	ctx      context.Context
	dir      string
	metadata *deltaMetadata
	protocol *deltaProtocol
	seen     map[fileKey]bool
	live     []*deltaFile
}

// errCut is the error of a line that is no JSON object.
var errCut = errors.New("it is cut, or no action of a Delta log")

// readDelta returns the table at a version that Expand pinned.
func readDelta(ctx context.Context, pin *source.Pin) (*source.LakeTable, []*source.File, error) {
	plan, err := source.DeltaLogOf(pin.Folder, pin.Version)
	if err != nil {
		return nil, nil, err
	}
	l := &deltaLog{ctx: ctx, dir: pin.Folder, seen: map[fileKey]bool{}}
	for _, commit := range slices.Backward(plan.Commits) {
		if err := l.lines(commit); err != nil {
			return nil, nil, err
		}
	}
	for _, checkpoint := range plan.Checkpoint {
		if err := l.checkpoint(checkpoint); err != nil {
			return nil, nil, err
		}
	}
	if l.protocol == nil || l.metadata == nil {
		return nil, nil, damaged("%s: its log has no protocol or no schema: restore the files of %s", pin.Folder,
			source.DeltaLog)
	}
	if err := l.protocol.check(pin.Folder); err != nil {
		return nil, nil, err
	}
	return l.table(pin)
}

// lines reads the actions of a file with a JSON object in each line.
func (l *deltaLog) lines(file string) error {
	r, err := files.Open(file)
	if err != nil {
		return column.PathError(file, err)
	}
	defer r.Close()
	text := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := text.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return column.PathError(file, err)
		}
		end := err == io.EOF
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var a deltaAction
			if err := json.Unmarshal(line, &a); err != nil {
				return damaged("%s: line %d: %w: restore the file", file, n, errCut)
			}
			if err := l.act(&a, file); err != nil {
				return err
			}
		}
		if end || l.ctx.Err() != nil {
			return l.ctx.Err()
		}
	}
}

// act takes an action into account, unless the log has a newer one.
func (l *deltaLog) act(a *deltaAction, file string) error {
	if l.protocol == nil {
		l.protocol = a.Protocol
	}
	if l.metadata == nil {
		l.metadata = a.MetaData
	}
	for _, f := range []*deltaFile{a.Add, a.Remove} {
		if f == nil {
			continue
		}
		if f.Path == "" {
			return damaged("%s: an action without the path of a file: restore the file", file)
		}
		key := f.key()
		if l.seen[key] {
			continue
		}
		if l.seen[key] = true; f == a.Add {
			l.live = append(l.live, f)
		}
	}
	if a.Sidecar != nil {
		return l.sidecar(a.Sidecar)
	}
	return nil
}

// sidecar reads a file of a checkpoint.
func (l *deltaLog) sidecar(s *deltaSidecar) error {
	name, err := url.PathUnescape(s.Path)
	if err != nil {
		name = s.Path
	}
	file := path.Join(l.dir, source.DeltaLog, "_sidecars", path.Base(name))
	info, err := files.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: a checkpoint of the log names this file, but it is gone: restore it", file)
	case err != nil:
		return column.PathError(file, err)
	case info.Size() != s.SizeInBytes:
		return damaged("%s: %d bytes, but %d in the checkpoint: restore the file", file, info.Size(), s.SizeInBytes)
	}
	return l.parquet(file)
}

// knownFeatures are the features of readers that need nothing, or that are read. The values of some columns can't be read.
var knownFeatures = []string{
	"columnMapping",
	"deletionVectors",
	"timestampNtz",
	"v2Checkpoint",
	"vacuumProtocolCheck",
	"typeWidening",
	"typeWidening-preview",
	"variantType",
	"variantType-preview",
	"variantShredding",
	"variantShredding-preview",
}

// check returns an error if reading a table needs more than is known here.
func (p *deltaProtocol) check(dir string) error {
	const export = "write its rows as Parquet first, such as in Spark: spark.read.format('delta').load('%s').write.parquet('rows')"
	if p.MinReaderVersion < 1 || p.MinReaderVersion > 3 {
		return refused("%s: this Delta table needs a reader of version %d, and version 3 is the latest that is known here: "+
			export, dir, p.MinReaderVersion, dir)
	}
	if p.MinReaderVersion < 3 {
		return nil
	}
	for _, f := range p.ReaderFeatures {
		switch {
		case f == "catalogManaged" || f == "catalogOwned-preview":
			return refused("%s: this Delta table needs %q: its newest versions are known to its catalog only: "+export,
				dir, f, dir)
		case !slices.Contains(knownFeatures, f):
			return refused("%s: this Delta table needs %q, which is not known here: "+export, dir, f, dir)
		}
	}
	return nil
}

// has returns true if the protocol names a feature of readers.
func (p *deltaProtocol) has(feature string) bool {
	return p.MinReaderVersion == 3 && slices.Contains(p.ReaderFeatures, feature)
}

// table returns the table, and its files in the order of their paths.
func (l *deltaLog) table(pin *source.Pin) (*source.LakeTable, []*source.File, error) {
	if provider := l.metadata.Format.Provider; provider != "parquet" {
		return nil, nil, refused("%s: the files of this Delta table are %q, and Parquet is read: write its rows as "+
			"Parquet first", pin.Folder, provider)
	}
	t, keys, err := l.schema(pin)
	if err != nil {
		return nil, nil, err
	}
	paths := map[string]bool{}
	slices.SortFunc(l.live, func(a, b *deltaFile) int { return cmp.Compare(a.Path, b.Path) })
	vectors := &vectorFiles{dir: l.dir}
	defer vectors.close()
	var all []*source.File
	for _, add := range l.live {
		if paths[add.Path] {
			return nil, nil, damaged("%s: the log has %q twice: restore the files of %s", pin.Folder, add.Path,
				source.DeltaLog)
		}
		paths[add.Path] = true
		f := &source.File{Part: &source.Part{Table: t, Size: -1, Rows: add.rows(), Values: map[string]*column.Constant{}}}
		if f.Path, err = located(l.dir, add.Path); err != nil {
			return nil, nil, err
		}
		if add.Size != nil {
			f.Part.Size = *add.Size
		}
		for name, of := range keys {
			if f.Part.Values[name], err = of.value(add.PartitionValues); err != nil {
				return nil, nil, damaged("%s: the value of column %q in %s: %w: restore it", f.Path, name, t.Log, err)
			}
		}
		if v := add.DeletionVector; v != nil {
			if f.Part.Removed, err = vectors.rows(v); err != nil {
				return nil, nil, err
			}
		}
		all = append(all, f)
		if err := l.ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return t, all, nil
}

// rows returns the number of rows of a file by its statistics, or -1.
func (f *deltaFile) rows() int64 {
	var stats struct{ NumRecords *int64 }
	if f.Stats == nil || json.Unmarshal([]byte(*f.Stats), &stats) != nil || stats.NumRecords == nil || *stats.NumRecords < 0 {
		return -1
	}
	return *stats.NumRecords
}

// located returns the path of a file that a log names by a URI: relative to the folder of the table, or absolute.
func located(dir, uri string) (string, error) {
	p, err := url.PathUnescape(uri)
	if err != nil {
		return "", damaged("%s: the log has the path %q, which is no URI: restore the log", dir, uri)
	}
	scheme, rest, absolute := strings.Cut(p, ":/")
	switch {
	case files.Scheme(p) != "" && files.Scheme(p) == files.Scheme(dir):
		return p, nil
	case absolute && scheme == "file" && files.Scheme(dir) == "":
		return "/" + strings.TrimLeft(rest, "/"), nil
	case absolute && !strings.Contains(scheme, "/"):
		return "", refused("%s: some of its rows are in %s, which is elsewhere: write the table's rows as Parquet first, "+
			"or make a whole copy of the table", dir, p)
	case strings.HasPrefix(p, "/") && files.Scheme(dir) == "":
		return p, nil
	case slices.Contains(strings.Split(p, "/"), ".."):
		return "", damaged("%s: the log has the path %q, which leaves the folder: restore the log", dir, p)
	}
	return strings.TrimRight(dir, "/") + "/" + p, nil
}

// vectorFiles reads deletion vectors, many of which may be in a file.
type vectorFiles struct {
	dir  string
	name string // of the file that is open
	open files.ReadableFile
}

func (s *vectorFiles) close() {
	if s.open != nil {
		s.open.Close()
		s.open = nil
	}
}

// rows returns the rows of a deletion vector.
func (s *vectorFiles) rows(v *deltaVector) (*source.Removed, error) {
	name := s.dir
	rows, err := func() (*source.Removed, error) {
		if v.SizeInBytes < 0 || v.SizeInBytes > mostVector || v.Cardinality < 0 {
			return nil, errVector
		}
		if v.StorageType == "i" {
			data, err := z85(v.PathOrInlineDv)
			if err == nil && int64(len(data)) < v.SizeInBytes {
				err = errVector
			}
			if err != nil {
				return nil, err
			}
			return vectorOf(data[:v.SizeInBytes], v.Cardinality)
		}
		var err error
		if name, err = s.file(v); err != nil {
			return nil, err
		}
		offset := int64(0)
		if v.Offset != nil {
			offset = *v.Offset
		}
		framed, err := s.read(name, offset, v.SizeInBytes+8)
		if err != nil {
			return nil, err
		}
		return framedVector(framed, v.Cardinality)
	}()
	switch {
	case err == nil:
		return rows, nil
	case errors.Is(err, errOldVector):
		return nil, refused("%s: %w", name, err)
	case errors.Is(err, errVector):
		return nil, damaged("%s: %w: restore the table", name, err)
	}
	return nil, err
}

// file returns the path of the file of a deletion vector.
func (s *vectorFiles) file(v *deltaVector) (string, error) {
	switch text := v.PathOrInlineDv; {
	case v.StorageType == "p":
		return located(s.dir, text)
	case v.StorageType == "u" && len(text) >= 20:
		prefix := text[:len(text)-20]
		id, err := z85(text[len(text)-20:])
		if err != nil || slices.Contains(strings.Split(prefix, "/"), "..") {
			return "", errVector
		}
		name := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		return path.Join(s.dir, prefix, name), nil
	}
	return "", fmt.Errorf("%w: it is stored as %q, which is unknown", errVector, v.StorageType)
}

// read returns bytes of a file, which it keeps open for the next deletion vector.
func (s *vectorFiles) read(name string, offset, size int64) ([]byte, error) {
	if s.open == nil || s.name != name {
		s.close()
		f, err := files.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: the log of %s names this file, but it is gone: a vacuum may have deleted it: restore the file, or "+
				"read another version of the table", name, s.dir)
		}
		if err != nil {
			return nil, column.PathError(name, err)
		}
		s.name, s.open = name, f
	}
	info, err := s.open.Stat()
	if err != nil {
		return nil, column.PathError(name, err)
	}
	if offset < 0 || size > info.Size() || offset > info.Size()-size {
		return nil, fmt.Errorf("%w: the file is cut", errVector)
	}
	b := make([]byte, size)
	if _, err := s.open.ReadAt(b, offset); err != nil {
		return nil, column.PathError(name, err)
	}
	return b, nil
}
