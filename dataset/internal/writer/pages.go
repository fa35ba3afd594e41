package writer

import (
	"encoding/binary"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"
)

// parquetMagic begins and ends a Parquet file.
const parquetMagic = "PAR1"

// rowGroups are the row groups of a Parquet file that is being written, by Arrow's writers of pages and of metadata. Arrow's writer
// of files takes no pages but those that it encodes itself, value by value.
type rowGroups struct {
	out   *Counted
	props *parquet.WriterProperties
	meta  *metadata.FileMetaDataBuilder
	count int16
}

// newRowGroups begins a file. The caller may change props between row groups.
func newRowGroups(out io.Writer, root *pschema.GroupNode, props *parquet.WriterProperties,
	meta metadata.KeyValueMetadata) (*rowGroups, error) {
	g := &rowGroups{out: &Counted{Writer: out}, props: props, meta: metadata.NewFileMetadataBuilder(pschema.NewSchema(root), props, meta)}
	_, err := io.WriteString(g.out, parquetMagic)
	return g, err
}

// A chunk is a column of a row group that is being written.
type chunk struct {
	meta  *metadata.ColumnChunkMetaDataBuilder
	pages file.PageWriter
	props *parquet.WriterProperties
}

// add writes a row group. write writes column i, and closes its pages. As in Arrow, the size of a row group in the footer is the number of
// bytes of its pages in the file.
func (g *rowGroups) add(rows int, write func(i int, c chunk) error) error {
	group, bytes := g.meta.AppendRowGroup(), int64(0)
	for i := range group.NumColumns() {
		c := chunk{meta: group.NextColumnChunk(), props: g.props}
		path := c.meta.Descr().Path()
		var err error
		c.pages, err = file.NewPageWriter(g.out, g.props.CompressionFor(path), g.props.CompressionLevelFor(path),
			c.meta, g.count, int16(i), g.props.Allocator(), false, nil, nil)
		if err != nil {
			return err
		}
		if err := write(i, c); err != nil {
			return err
		}
		bytes += c.meta.TotalCompressedSize()
	}
	group.SetNumRows(rows)
	g.count++
	return group.Finish(bytes, g.count-1)
}

// finish writes the footer.
func (g *rowGroups) finish() error {
	footer, err := g.meta.Finish()
	if err != nil {
		return err
	}
	n, err := footer.WriteTo(g.out, nil)
	if err != nil {
		return err
	}
	_, err = g.out.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), parquetMagic...))
	return err
}
