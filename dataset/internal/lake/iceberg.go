package lake

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
)

// Iceberg tables are read by the specification at iceberg.apache.org/spec, versions 1 to 3.

// icebergMetadata is a file of metadata.
type icebergMetadata struct {
	FormatVersion     int                `json:"format-version"`
	Location          string             `json:"location"`
	CurrentSchema     int                `json:"current-schema-id"`
	Schemas           []icebergSchema    `json:"schemas"`
	Schema            *icebergSchema     `json:"schema"` // of version 1
	Specs             []icebergSpec      `json:"partition-specs"`
	Spec              []icebergPartition `json:"partition-spec"` // of version 1
	CurrentSnapshotID *int64             `json:"current-snapshot-id"`
	Snapshots         []icebergSnapshot  `json:"snapshots"`
	Properties        map[string]string  `json:"properties"`
	EncryptionKeys    []json.RawMessage  `json:"encryption-keys"`
}

type icebergSchema struct {
	ID     int            `json:"schema-id"`
	Fields []icebergField `json:"fields"`
}

type icebergField struct {
	ID      int32           `json:"id"`
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Initial json.RawMessage `json:"initial-default"`
}

type icebergSpec struct {
	ID     int64              `json:"spec-id"`
	Fields []icebergPartition `json:"fields"`
}

type icebergPartition struct {
	Source    int32  `json:"source-id"`
	ID        int32  `json:"field-id"`
	Transform string `json:"transform"`
}

type icebergSnapshot struct {
	ID           int64    `json:"snapshot-id"`
	ManifestList string   `json:"manifest-list"`
	Manifests    []string `json:"manifests"` // of version 1
	KeyID        string   `json:"key-id"`
}

// Fields of manifest lists and manifests, by their ids.
const (
	listPath, listLength, listSpec, listContent, listSequence, listKey = 500, 501, 502, 517, 515, 519

	entryStatus, entrySequence, entryFile = 0, 3, 2

	fileContent, filePath, fileFormat, filePartition, fileRecords, fileSize, fileKeyOfMetadata = 134, 100, 101, 102, 103, 104, 131
	fileReferenced, fileBlobOffset, fileBlobSize                                               = 143, 144, 145
)

// mostMetadata is the largest number of bytes of a file of metadata, of a manifest list or of a manifest.
const mostMetadata = 1 << 30

// An iceberg is an Iceberg table while its manifests are read.
type iceberg struct {
	ctx     context.Context
	pin     *source.Pin
	meta    icebergMetadata
	table   *source.LakeTable
	fields  map[int32]icebergField // the columns of the table by their ids
	specs   map[int64]map[int32]int32
	data    []*icebergFile
	deletes []*icebergFile
	moved   bool // some paths of the metadata lead to another folder
}

// An icebergFile is a file in a manifest.
type icebergFile struct {
	path, uri  string // in the folder of the table, and in the manifest
	spec       int64
	partition  record
	sequence   int64
	rows, size int64
	format     string
	referenced string // file whose rows a deletion vector removes
	blobOffset int64
	blobSize   int64
}

// readIceberg returns the current snapshot of a table in a file of metadata.
func readIceberg(ctx context.Context, pin *source.Pin) (*source.LakeTable, []*source.File, []string, error) {
	t := &iceberg{ctx: ctx, pin: pin, fields: map[int32]icebergField{}, specs: map[int64]map[int32]int32{}}
	text, err := metadataText(pin.Path)
	if err == nil && json.Unmarshal(text, &t.meta) != nil {
		err = t.damaged(pin.Path, errors.New("it is cut, or no metadata of an Iceberg table"))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	snapshot, err := t.snapshot()
	if err == nil {
		err = t.schema()
	}
	if err != nil || snapshot == nil {
		return t.table, nil, nil, err
	}
	t.table.Version = fmt.Sprintf("Iceberg snapshot %d", snapshot.ID)
	if err := t.manifests(snapshot); err != nil {
		return nil, nil, nil, err
	}
	all, err := t.files()
	var notes []string
	if t.moved {
		notes = append(
			notes,
			fmt.Sprintf("%s: the table was written at %s: its files are read in this folder", pin.Folder, t.meta.Location),
		)
	}
	return t.table, all, notes, err
}

func (t *iceberg) damaged(file string, err error) error {
	return damaged("%s: %w: restore the file", file, err)
}

// refuse returns the error that the table has something that isn't read.
func (t *iceberg) refuse(format string, args ...any) error {
	return refused("%s: %s", t.pin.Path, fmt.Sprintf(format, args...))
}

// metadataText returns the text of a file of metadata, which may be compressed.
func metadataText(file string) ([]byte, error) {
	text, err := readFile(file, -1)
	if err != nil || !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		return text, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(z, mostMetadata))
	}
	if err != nil {
		return nil, damaged("%s: its gzip data is damaged: restore the file", file)
	}
	return text, nil
}

// readFile returns the bytes of a file of a known size; -1: of any size.
func readFile(file string, size int64) ([]byte, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, column.PathError(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, column.PathError(file, err)
	case size >= 0 && info.Size() != size:
		return nil, damaged("%s: %d bytes, but %d in the table's metadata: restore the file", file, info.Size(), size)
	case info.Size() > mostMetadata:
		return nil, fmt.Errorf("%s: %d bytes are more than metadata has: name another file", file, info.Size())
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, column.PathError(file, err)
	}
	return b, nil
}

// snapshot returns the current snapshot; nil: the table is empty.
func (t *iceberg) snapshot() (*icebergSnapshot, error) {
	m := &t.meta
	switch {
	case m.FormatVersion < 1 || m.FormatVersion > 3:
		return nil, t.refuse(
			"the format of this Iceberg table has version %d, and 3 is the latest that is read: write its rows as "+
				"Parquet first",
			m.FormatVersion,
		)
	case len(m.EncryptionKeys) > 0 || m.Properties["encryption.key-id"] != "":
		return nil, t.refuse("the files of this Iceberg table are encrypted: write its rows as Parquet first")
	case m.CurrentSnapshotID == nil || *m.CurrentSnapshotID == -1:
		return nil, nil
	}
	for i := range m.Snapshots {
		if s := &m.Snapshots[i]; s.ID == *m.CurrentSnapshotID {
			if s.KeyID != "" {
				return nil, t.refuse("the files of this Iceberg table are encrypted: write its rows as Parquet first")
			}
			return s, nil
		}
	}
	return nil, t.damaged(t.pin.Path, fmt.Errorf("it lacks its current snapshot, %d", *m.CurrentSnapshotID))
}

// local returns the path of a file by its URI in the metadata. A table may have been moved: its location is the given folder.
func (t *iceberg) local(uri string) (string, error) {
	p, at := plainPath(uri), strings.TrimRight(plainPath(t.meta.Location), "/")
	if rest, in := strings.CutPrefix(p, at+"/"); in && at != "" && !slices.Contains(strings.Split(rest, "/"), "..") {
		folder, err := files.Abs(t.pin.Folder)
		if files.Scheme(folder) == "" {
			at = filepath.Clean(at)
		}
		t.moved = t.moved || err == nil && folder != at
		return source.InFolder(t.pin.Folder, filepath.FromSlash(rest)), nil
	}
	if files.Scheme(p) != "" {
		return "", t.refuse(
			"some of its files are at %s, which is not in %s, where the table was written: write its rows as Parquet "+
				"first",
			uri,
			t.meta.Location,
		)
	}
	return p, nil
}

// plainPath returns the path of a URI with the scheme file.
func plainPath(uri string) string {
	if rest, is := strings.CutPrefix(uri, "file:"); is {
		return "/" + strings.TrimLeft(rest, "/")
	}
	return uri
}

// manifests reads the manifests of a snapshot.
func (t *iceberg) manifests(s *icebergSnapshot) error {
	for _, spec := range t.meta.Specs {
		t.specs[spec.ID] = t.identities(spec.Fields)
	}
	if t.meta.Specs == nil {
		t.specs[0] = t.identities(t.meta.Spec)
	}
	if s.ManifestList == "" {
		for _, uri := range s.Manifests {
			if err := t.manifest(uri, -1, 0, 0); err != nil {
				return err
			}
		}
		return nil
	}
	file, err := t.local(s.ManifestList)
	if err != nil {
		return err
	}
	return t.avro(file, -1, func(r record) error {
		uri, _ := r[listPath].(string)
		length, hasLength := r[listLength].(int64)
		spec, _ := r[listSpec].(int64)
		content, _ := r[listContent].(int64)
		sequence, _ := r[listSequence].(int64)
		if key, _ := r[listKey].([]byte); len(key) > 0 {
			return t.refuse("the files of this Iceberg table are encrypted: write its rows as Parquet first")
		}
		if uri == "" || !hasLength || content < 0 || content > 1 {
			return t.damaged(file, errAvro)
		}
		return t.manifest(uri, length, spec, sequence)
	})
}

// avro calls f with the records of a file of a known size; -1: of any size.
func (t *iceberg) avro(file string, size int64, f func(record) error) error {
	data, err := readFile(file, size)
	if errors.Is(err, fs.ErrNotExist) {
		return column.Mark(
			fmt.Errorf("%s: the metadata in %s names this file, but it is gone: expiring snapshots may have deleted it: "+
				"restore it, or name newer metadata", file, t.pin.Path),
			fs.ErrNotExist,
		)
	}
	if err != nil {
		return err
	}
	err = avroRecords(data, func(r record) error { return cmp.Or(t.ctx.Err(), f(r)) })
	if errors.Is(err, errAvro) {
		err = t.damaged(file, err)
	}
	return err
}

// identities returns the ids of the columns whose values a specification of partitions has unchanged, by the ids of its fields.
func (t *iceberg) identities(all []icebergPartition) map[int32]int32 {
	of := map[int32]int32{}
	for i, p := range all {
		if p.Transform == "identity" {
			of[cmp.Or(p.ID, int32(1000+i))] = p.Source
		}
	}
	return of
}

// manifest reads the files of a manifest of a length.
func (t *iceberg) manifest(uri string, length, spec, sequence int64) error {
	file, err := t.local(uri)
	if err != nil {
		return err
	}
	if _, known := t.specs[spec]; !known {
		return t.damaged(t.pin.Path, fmt.Errorf("it lacks the specification %d of partitions", spec))
	}
	return t.avro(file, length, func(entry record) error {
		status, _ := entry[entryStatus].(int64)
		if status == 2 { // deleted
			return nil
		}
		r, is := entry[entryFile].(record)
		if !is || status < 0 || status > 1 {
			return t.damaged(file, errAvro)
		}
		f := &icebergFile{spec: spec, sequence: sequence, rows: -1, size: -1}
		if own, is := entry[entrySequence].(int64); is {
			f.sequence = own
		} else if status == 0 {
			f.sequence = 0 // an old entry of version 1
		}
		return t.add(f, r, file)
	})
}

// add adds a file of a manifest.
func (t *iceberg) add(f *icebergFile, r record, manifest string) (err error) {
	f.uri, _ = r[filePath].(string)
	f.format, _ = r[fileFormat].(string)
	f.format = strings.ToLower(f.format)
	f.partition, _ = r[filePartition].(record)
	f.referenced, _ = r[fileReferenced].(string)
	for id, to := range map[int32]*int64{fileRecords: &f.rows, fileSize: &f.size, fileBlobOffset: &f.blobOffset,
		fileBlobSize: &f.blobSize} {
		if v, is := r[id].(int64); is {
			*to = v
		}
	}
	if f.uri == "" || f.rows < 0 || f.size < 0 {
		return t.damaged(manifest, errAvro)
	}
	if key, _ := r[fileKeyOfMetadata].([]byte); len(key) > 0 {
		return t.refuse("the files of this Iceberg table are encrypted: write its rows as Parquet first")
	}
	if f.path, err = t.local(f.uri); err != nil {
		return err
	}
	switch content, _ := r[fileContent].(int64); {
	case content == 2:
		return t.refuse(
			"rows of this Iceberg table are deleted by equality, as Flink writes them, which is not read: compact the table "+
				"first, such as in Spark: CALL system.rewrite_data_files(table => '%s', options => map('delete-file-threshold', '1'))",
			filepath.Base(t.pin.Folder),
		)
	case content == 0 && f.format != "parquet":
		return t.refuse("its files are %q, and Parquet is read: write its rows as Parquet first, such as in DuckDB: COPY (FROM "+
			"iceberg_scan('%s')) TO 'rows.parquet'", f.format, t.pin.Path)
	case content == 1 && f.format != "parquet" && f.format != "puffin":
		return t.refuse("rows are deleted by files that are %q, and Parquet is read: compact the table first", f.format)
	case content == 0:
		t.data = append(t.data, f)
	case content == 1:
		t.deletes = append(t.deletes, f)
	default:
		return t.damaged(manifest, errAvro)
	}
	return nil
}

// files returns the files of the table, in the order of their paths.
func (t *iceberg) files() ([]*source.File, error) {
	slices.SortFunc(t.data, func(a, b *icebergFile) int { return cmp.Compare(a.uri, b.uri) })
	removed, err := t.removed()
	if err != nil {
		return nil, err
	}
	defaults, err := t.defaults()
	if err != nil {
		return nil, err
	}
	var all []*source.File
	for i, f := range t.data {
		if i > 0 && f.uri == t.data[i-1].uri {
			return nil, t.damaged(t.pin.Path, fmt.Errorf("its manifests have %q twice", f.uri))
		}
		part := &source.Part{
			Table:   t.table,
			Size:    f.size,
			Rows:    f.rows,
			Removed: removed[f],
			Values:  map[string]*column.Constant{},
		}
		for name, c := range defaults {
			part.Values[name] = c
		}
		for field, id := range t.specs[f.spec] {
			of, is := t.fields[id]
			if !is { // the column was dropped
				continue
			}
			if part.Values[of.Name], err = partitionValue(of, f.partition[field]); err != nil {
				return nil, t.damaged(f.path, fmt.Errorf("the value of column %q in its manifest: %w", of.Name, err))
			}
		}
		all = append(all, &source.File{Path: f.path, Part: part})
	}
	return all, nil
}

// samePartition returns true if two files have the same values of the same specification of partitions.
func samePartition(a, b *icebergFile) bool {
	return a.spec == b.spec && fmt.Sprint(a.partition) == fmt.Sprint(b.partition)
}

// removed returns the rows that are removed from files.
func (t *iceberg) removed() (map[*icebergFile]*source.Removed, error) {
	byURI := map[string]*icebergFile{}
	for _, f := range t.data {
		byURI[f.uri] = f
	}
	removed, positions := map[*icebergFile]*source.Removed{}, map[*icebergFile][]int64{}
	applies := func(d *icebergFile, uri string) *icebergFile {
		if f := byURI[uri]; f != nil && d.sequence >= f.sequence && samePartition(d, f) {
			return f
		}
		return nil
	}
	vectors := &vectorFiles{dir: t.pin.Folder}
	defer vectors.close()
	for _, d := range t.deletes {
		if d.format == "puffin" {
			f := applies(d, d.referenced)
			if f == nil {
				continue
			}
			if removed[f] != nil {
				return nil, t.damaged(t.pin.Path, fmt.Errorf("%q has two deletion vectors", f.uri))
			}
			rows, err := t.vector(vectors, d)
			if err != nil {
				return nil, err
			}
			removed[f] = rows
			continue
		}
		byDelete := map[string]*icebergFile{} // by URI; nil: d removes no row of the file
		if err := t.positions(d, func(uri string, row int64) {
			f, known := byDelete[uri]
			if !known {
				f = applies(d, uri)
				byDelete[strings.Clone(uri)] = f // uri points into a batch that is released
			}
			if f != nil {
				positions[f] = append(positions[f], row)
			}
		}); err != nil {
			return nil, err
		}
	}
	for f, rows := range positions {
		removed[f] = removed[f].Union(source.RemovedOf(rows))
	}
	return removed, nil
}

// vector returns the rows of a deletion vector in a Puffin file.
func (t *iceberg) vector(vectors *vectorFiles, d *icebergFile) (*source.Removed, error) {
	if d.blobSize < 0 || d.blobSize > mostVector {
		return nil, t.damaged(d.path, errVector)
	}
	b, err := vectors.read(d.path, d.blobOffset, d.blobSize)
	if err != nil {
		if errors.Is(err, errVector) {
			err = t.damaged(d.path, err)
		}
		return nil, err
	}
	rows, err := framedVector(b, d.rows)
	if err != nil {
		return nil, t.damaged(d.path, err)
	}
	return rows, nil
}
