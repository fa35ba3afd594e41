package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/schema"
)

const (
	ChunkBytes = 512 << 10 // approximate bytes of text that are parsed at a time
	liveBytes  = 128 << 10 // the same for standard input whose rows are passed on as soon as they arrive
	// maxRecord is the largest length of a record in bytes, if the memory is large enough. See mostRecord.
	maxRecord = 64 << 20
	// recordShare = 8: a record is at most 1/8 of the memory limit. The chunk, the columns made of the chunk, and the
	// results of examining the first rows are copies of the record that are in memory at the same time.
	recordShare = 8
	// maxTextColumns is the largest number of columns of a file: the features, a label and a weight.
	maxTextColumns = schema.MaxFeatures + 2
)

var ByteOrderMark = []byte("\xef\xbb\xbf")

// A Chunk is whole records of a text file.
type Chunk struct {
	Text  []byte
	line  int64 // number of the text's first line in the file, from 1
	first bool  // it is the first chunk of the file
}

// recycle makes the memory of a chunk, which must no longer be used, available for later chunks.
func (c Chunk) recycle(spare *sync.Pool) {
	text := c.Text[:0]
	spare.Put(&text)
}

// Breaks says where the records of a text file end: at line breaks outside quotes.
type Breaks struct {
	Quote    byte     // 0: none
	records  *grammar // the form of the records, where quotes don't tell which line breaks are within a field; otherwise nil
	Comments bool     // quotes in lines that begin with # are none
}

// A chunker cuts a text file into chunks of whole records.
type chunker struct {
	r      io.Reader
	path   string
	at     Breaks
	detect bool // detect whether the file begins with a comment
	cr     bool // lines end in carriage returns
	size   int
	most   int                    // bytes of the longest record
	spare  *sync.Pool             // *[]byte of chunks that are no longer used; nil: chunks aren't reused
	live   bool                   // return a chunk as soon as it has a whole record
	least  func(text []byte) bool // returns true if text is enough for a chunk; nil: a record is enough
	rest   []byte                 // bytes read after the last whole record, in the memory of the last chunk; next copies them
	line   int64
	end    bool
}

func newChunker(r *source.Reader, at Breaks, size int, spare *sync.Pool) *chunker {
	if most := r.Most(); most >= 0 { // a byte more finds the end
		size = int(min(int64(size), most+1))
	}
	return &chunker{r: r, path: r.Path, at: at, size: size, most: mostRecord(r.Memory), spare: spare, line: 1}
}

// mostRecord returns the largest length of a record in bytes for a memory limit; 0 stands for no limit. It bounds the
// memory that a file without line breaks can take.
func mostRecord(memory int64) int {
	if memory == 0 {
		return maxRecord
	}
	return int(min(maxRecord, max(column.LeastReading, memory)/recordShare))
}

// longError returns the error that the record at the chunker's line is too long. text is the beginning of the record.
func (c *chunker) longError(text []byte) error {
	hint, quote := "break it", c.at.Quote
	if c.at.records != nil {
		quote = c.at.records.quote
	}
	if quote != 0 && bytes.IndexByte(text, quote) >= 0 {
		hint = "close the quotes in it"
	}
	share := ""
	if c.most < maxRecord {
		share, hint = ", an eighth of the memory", "use --memory 512MiB, or "+hint
	}
	return fmt.Errorf("%s: line %d: the record that begins here is longer than %s%s: %s", c.path, c.line,
		column.BytesText(int64(c.most)), share, hint)
}

func (c *chunker) buffer(size int) []byte {
	if c.spare != nil {
		if b, ok := c.spare.Get().(*[]byte); ok && cap(*b) >= size {
			return *b
		}
	}
	return make([]byte, 0, size)
}

// next returns the next chunk, or io.EOF after the last chunk.
func (c *chunker) next() (Chunk, error) {
	if c.end {
		return Chunk{}, io.EOF
	}
	buf := append(c.buffer(max(c.size, 2*len(c.rest))), c.rest...)
	for {
		n, err := c.read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		short := errors.Is(err, source.ErrCutShort)
		if c.end = short || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !c.end {
			return Chunk{}, err
		}
		if c.begin(buf); c.cr {
			lineFeeds(buf[len(buf)-n:])
		}
		cut := len(buf)
		if !c.end || short {
			cut = c.cut(buf)
		}
		if cut == 0 && c.detect && len(buf) >= longestRecord { // quotes that aren't closed may be part of the text
			cut = bytes.LastIndexByte(buf, '\n') + 1
		}
		if cut > 0 && (c.least == nil || c.least(buf[:cut]) || len(buf) >= c.most) || c.end {
			ch := Chunk{buf[:cut], c.line, c.line == 1}
			c.rest = buf[cut:]
			c.line += int64(bytes.Count(ch.Text, []byte{'\n'}))
			if ch.first {
				ch.Text = bytes.TrimPrefix(ch.Text, ByteOrderMark)
			}
			return ch, nil
		}
		if len(buf) >= c.most {
			c.end = true
			return Chunk{}, c.longError(buf)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(c.most, 2*cap(buf))), buf...)
		}
	}
}

// begin detects the form of the lines in a file's first bytes.
func (c *chunker) begin(buf []byte) {
	if c.line > 1 || c.cr || len(buf) == 0 {
		return
	}
	if c.detect {
		c.at.Comments = buf[0] == '#'
	}
	if head := buf[:min(len(buf), HeadBytes)]; (c.end || len(buf) >= HeadBytes) && endsInCR(head) {
		c.cr = true
		lineFeeds(buf)
	}
}

func lineFeeds(text []byte) {
	for i, b := range text {
		if b == '\r' {
			text[i] = '\n'
		}
	}
}

// read fills p. For a live source, it reads only the available bytes.
func (c *chunker) read(p []byte) (int, error) {
	if c.live {
		return c.r.Read(p)
	}
	return io.ReadFull(c.r, p)
}

// endsInCR returns true if the lines of text end in carriage returns, and none in a line feed.
func endsInCR(text []byte) bool {
	i := bytes.IndexByte(text, '\r')
	return i >= 0 && bytes.IndexByte(text, '\n') < 0 && len(bytes.TrimSpace(text[i:])) > 0 && bytes.Count(text[:i], []byte{'"'})%2 == 0
}

// cut returns the end of the last whole record in text, which begins with a record, or 0 if there is none. A line
// break is within quotes if the number of quotes before it is odd, because quotes within quotes are doubled.
func (c *chunker) cut(text []byte) int {
	if c.at.records != nil {
		return c.at.records.cut(text)
	}
	i := bytes.LastIndexByte(text, '\n')
	if c.at.Quote == 0 || i < 0 || bytes.IndexByte(text, c.at.Quote) < 0 {
		return i + 1
	}
	quote := []byte{c.at.Quote}
	if c.at.Comments {
		return cutCommented(text, quote)
	}
	before := bytes.Count(text[:i], quote)
	for i >= 0 && before%2 == 1 {
		j := bytes.LastIndexByte(text[:i], '\n')
		before -= bytes.Count(text[j+1:i], quote)
		i = j
	}
	return i + 1
}

// cutCommented is cut for text with comments, whose quotes don't count.
func cutCommented(text, quote []byte) (end int) {
	at, within := 0, false
	for line := range bytes.Lines(text) {
		if at += len(line); within || line[0] != '#' {
			within = within != (bytes.Count(line, quote)%2 == 1)
		}
		if !within && line[len(line)-1] == '\n' {
			end = at
		}
	}
	return end
}

// Chunks yields jobs that parse the chunks of all sources, in order. A chunk has about size bytes, in memory of the
// pool spare unless it is nil. breaks and parse get the number of the source. If a job panics, it returns an error.
func Chunks(sources []*source.File, breaks func(file int) Breaks, size int, spare *sync.Pool,
	parse func(file int, c Chunk) iter.Seq[column.Job]) iter.Seq[column.Job] {
	return func(yield func(column.Job) bool) {
		for i, s := range sources {
			for c, err := range ChunksOf(s, breaks(i), size, spare) {
				if err != nil {
					yield(column.Job{Make: func() (*column.Batch, error) { return nil, err }})
					return
				}
				for j := range parse(i, c) {
					if !yield(recoveredJob(j, s.Path, c.line)) {
						return
					}
				}
			}
		}
	}
}

// eachChunk calls f with the chunks of all sources, several at a time. It returns the error for the first chunk that has one.
func eachChunk(ctx context.Context, p column.Pool, memory int64, sources []*source.File, breaks func(file int) Breaks,
	size int, spare *sync.Pool, f func(file int, c Chunk) error) error {
	jobs := Chunks(sources, breaks, size, spare, func(file int, c Chunk) iter.Seq[column.Job] {
		return One(c, func() (*column.Batch, error) { return &column.Batch{}, f(file, c) })
	})
	for _, err := range column.InOrder(ctx, p, memory, jobs) {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// One yields the single job of a chunk.
func One(c Chunk, f func() (*column.Batch, error)) iter.Seq[column.Job] {
	return func(yield func(column.Job) bool) { yield(column.Job{Bytes: parsedBytes(cap(c.Text)), Make: f}) }
}

// parsedBytes returns the number of bytes of memory that text and its numbers take. A number of two characters, the
// separator included, takes 8 bytes, of memory that is up to twice as large; see column.NewSlab.
func parsedBytes(text int) int64 { return 9 * int64(text) }

// recoveredJob returns a job whose panics become errors about the lines of a file from line on.
func recoveredJob(j column.Job, path string, line int64) column.Job {
	return column.Job{Bytes: j.Bytes, Make: func() (b *column.Batch, err error) {
		err = column.Recovered(func() error {
			b, err = j.Make()
			return err
		})
		if errors.As(err, new(column.Damaged)) {
			err = fmt.Errorf("%s: from line %d on: can't be parsed (%w): check the file", path, line, err)
		}
		return b, err
	}}
}

// ChunksOf yields the chunks of a source, then the error if there is one.
func ChunksOf(s *source.File, at Breaks, size int, spare *sync.Pool) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		r, err := s.Open()
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		defer r.Close()
		c := newChunker(r, at, size, spare)
		if c.live = s.Live(); c.live {
			c.size = min(size, liveBytes)
		}
		for {
			ch, err := c.next()
			if err == io.EOF || !yield(ch, err) || err != nil {
				return
			}
		}
	}
}
