package lake

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/parquet"
)

// The leaf columns of a checkpoint, in the order of checkpointLeaves.
const (
	leafPath = iota
	leafSize
	leafStats
	leafKeys
	leafValues
	leafStorage
	leafVector
	leafOffset
	leafVectorSize
	leafCardinality
	leafProtocol
	leafFeatures
	leafSchema
	leafProvider
	leafPartitions
	leafConfigurationKeys
	leafConfiguration
	leafSidecar
	leafSidecarSize
)

var checkpointLeaves = []parquet.Leaf{
	leafPath:              {Path: "add.path", Type: parquet.LeafText, Essential: true},
	leafSize:              {Path: "add.size", Type: parquet.LeafWhole},
	leafStats:             {Path: "add.stats", Type: parquet.LeafText},
	leafKeys:              {Path: "add.partitionValues", Type: parquet.LeafTexts},
	leafValues:            {Path: "add.partitionValues", Nth: 1, Type: parquet.LeafTexts},
	leafStorage:           {Path: "add.deletionVector.storageType", Type: parquet.LeafText},
	leafVector:            {Path: "add.deletionVector.pathOrInlineDv", Type: parquet.LeafText},
	leafOffset:            {Path: "add.deletionVector.offset", Type: parquet.LeafWhole},
	leafVectorSize:        {Path: "add.deletionVector.sizeInBytes", Type: parquet.LeafWhole},
	leafCardinality:       {Path: "add.deletionVector.cardinality", Type: parquet.LeafWhole},
	leafProtocol:          {Path: "protocol.minReaderVersion", Type: parquet.LeafWhole},
	leafFeatures:          {Path: "protocol.readerFeatures", Type: parquet.LeafTexts},
	leafSchema:            {Path: "metaData.schemaString", Type: parquet.LeafText},
	leafProvider:          {Path: "metaData.format.provider", Type: parquet.LeafText},
	leafPartitions:        {Path: "metaData.partitionColumns", Type: parquet.LeafTexts},
	leafConfigurationKeys: {Path: "metaData.configuration", Type: parquet.LeafTexts},
	leafConfiguration:     {Path: "metaData.configuration", Nth: 1, Type: parquet.LeafTexts},
	leafSidecar:           {Path: "sidecar.path", Type: parquet.LeafText, Essential: true},
	leafSidecarSize:       {Path: "sidecar.sizeInBytes", Type: parquet.LeafWhole},
}

// checkpoint reads a file of a checkpoint.
func (l *deltaLog) checkpoint(file string) error {
	if strings.HasSuffix(file, ".json") {
		return l.lines(file)
	}
	return l.parquet(file)
}

// parquet reads the actions of a Parquet file.
func (l *deltaLog) parquet(file string) error {
	var sidecars []*deltaSidecar
	err := parquet.Leaves(l.ctx, file, checkpointLeaves, func(b *column.Batch) error {
		for row := range int(b.Rows) {
			r := leafRow{b.Columns, row}
			a := r.action()
			if a.Sidecar != nil { // which is read when this file is closed
				sidecars, a.Sidecar = append(sidecars, a.Sidecar), nil
			}
			if err := l.act(&a, file); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range sidecars {
		if err == nil {
			err = l.sidecar(s)
		}
	}
	return err
}

// A leafRow is a row of leaf columns.
type leafRow struct {
	columns []arrow.Array
	row     int
}

// action returns the action of a row of a checkpoint.
func (r leafRow) action() (a deltaAction) {
	if path := r.text(leafPath); path != nil {
		a.Add = &deltaFile{
			Path:            *path,
			Size:            r.whole(leafSize),
			Stats:           r.text(leafStats),
			PartitionValues: r.pairs(leafKeys, leafValues),
		}
		if stored := r.text(leafStorage); stored != nil {
			a.Add.DeletionVector = &deltaVector{
				StorageType:    *stored,
				PathOrInlineDv: r.textOr(leafVector),
				Offset:         r.whole(leafOffset),
				SizeInBytes:    r.wholeOr(leafVectorSize, -1),
				Cardinality:    r.wholeOr(leafCardinality, -1),
			}
		}
	}
	if version := r.whole(leafProtocol); version != nil {
		a.Protocol = &deltaProtocol{MinReaderVersion: *version, ReaderFeatures: r.texts(leafFeatures)}
	}
	if schema := r.text(leafSchema); schema != nil {
		a.MetaData = &deltaMetadata{SchemaString: *schema, PartitionColumns: r.texts(leafPartitions),
			Configuration: r.pairs(leafConfigurationKeys, leafConfiguration)}
		a.MetaData.Format.Provider = r.textOr(leafProvider)
	}
	if path := r.text(leafSidecar); path != nil {
		a.Sidecar = &deltaSidecar{Path: *path, SizeInBytes: r.wholeOr(leafSidecarSize, -1)}
	}
	return a
}

// text returns a text, or nil for a null.
func (r leafRow) text(leaf int) *string {
	a, is := r.columns[leaf].(*array.String)
	if !is || a.IsNull(r.row) {
		return nil
	}
	text := strings.Clone(a.Value(r.row)) // the batch is released
	return &text
}

func (r leafRow) textOr(leaf int) string {
	if text := r.text(leaf); text != nil {
		return *text
	}
	return ""
}

// whole returns a whole number, or nil for a null.
func (r leafRow) whole(leaf int) *int64 {
	a, is := r.columns[leaf].(*array.Int64)
	if !is || a.IsNull(r.row) {
		return nil
	}
	v := a.Value(r.row)
	return &v
}

func (r leafRow) wholeOr(leaf int, other int64) int64 {
	if v := r.whole(leaf); v != nil {
		return *v
	}
	return other
}

// list returns the texts of a list; nil is a null.
func (r leafRow) list(leaf int) (texts []*string) {
	a, is := r.columns[leaf].(*array.List)
	if !is || a.IsNull(r.row) {
		return nil
	}
	values, is := a.ListValues().(*array.String)
	first, last := a.ValueOffsets(r.row)
	for i := int(first); is && i < int(last); i++ {
		if values.IsNull(i) {
			texts = append(texts, nil)
			continue
		}
		text := strings.Clone(values.Value(i))
		texts = append(texts, &text)
	}
	return texts
}

// texts returns the texts of a list without nulls.
func (r leafRow) texts(leaf int) (texts []string) {
	for _, text := range r.list(leaf) {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	return texts
}

// pairs returns the keys and the values of a map.
func (r leafRow) pairs(keys, values int) map[string]*string {
	k, v := r.list(keys), r.list(values)
	if len(k) != len(v) {
		panic(fmt.Sprintf("a map of %d keys and %d values", len(k), len(v))) // Recovered makes it an error
	}
	pairs := make(map[string]*string, len(k))
	for i := range k {
		if k[i] != nil {
			pairs[*k[i]] = v[i]
		}
	}
	return pairs
}
