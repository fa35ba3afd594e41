package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// An extent is the numbers of rows and pairs, and the range of indices, in lines of svmlight.
type extent struct {
	rows  int64
	pairs int64 // upper bound of the number of pairs
	zero  bool  // the index 0 occurs
	last  int   // the largest index
	most  int   // the largest index that a line may have

	numbered    bool // the features are numbered features of a model
	consecutive bool // the features are features of a model, named after the indices first to last
	first       int  // index of the first numbered or consecutive feature
}

// modelExtent returns the extent of the features of a model that are named after indices.
func modelExtent(spec *schema.Spec) (e extent) {
	if p := spec.Preprocessing; p != nil && len(p.Columns) == 1 && p.Columns[0].Kind == schema.NumberedColumn {
		first := p.Columns[0].First
		return extent{numbered: true, first: first, last: first + p.Columns[0].Elements - 1}
	}
	if first, ok := schema.Consecutive(spec.Features); ok && first+len(spec.Features)-1 <= schema.MaxNumbered {
		return extent{consecutive: true, zero: first == 0, first: first, last: first + len(spec.Features) - 1}
	}
	for _, name := range spec.Features {
		if i, err := strconv.Atoi(name[min(1, len(name)):]); err == nil && i >= 0 && i <= schema.MaxNumbered &&
			name == column.SvmlightFeature+strconv.Itoa(i) {
			e.zero = e.zero || i == 0
			e.last = max(e.last, i)
		}
	}
	return e
}

// measure computes the extent of all sources. It examines only the first and the last pair of a line, because indices
// ascend. Whether they ascend is checked when the line is parsed.
func (in *Svmlight) measure(ctx context.Context, p column.Pool, most int) (all extent, err error) {
	var mu sync.Mutex
	spare := new(sync.Pool)
	err = eachChunk(ctx, p, in.Memory, in.Files, lines, svmlightBytes, spare, func(file int, c Chunk) error {
		defer c.recycle(spare)
		seen, err := in.measured(in.Files[file].Path, c, most)
		mu.Lock()
		defer mu.Unlock()
		all.merge(seen)
		return err
	})
	return all, err
}

// measured returns the extent of a chunk. If the features belong to a model, other indices are ignored.
func (in *Svmlight) measured(path string, c Chunk, most int) (seen extent, err error) {
	seen.most = most
	seen.pairs = int64(bytes.Count(c.Text, []byte{':'}))
	out, _ := in.rejects.Of(path)
	for n, line := range c.rows(out, true) {
		if err := seen.Add(line); err != nil && !in.fewer {
			return seen, column.LineError(path, n, err)
		}
	}
	return seen, nil
}

func (e *extent) merge(other extent) {
	e.rows += other.rows
	e.pairs += other.pairs
	e.zero = e.zero || other.zero
	e.last = max(e.last, other.last)
}

// Add extends the extent by a line without blanks at its ends.
func (e *extent) Add(line []byte) error {
	e.rows++
	e.zero = e.zero || beginsAtZero(line)
	colon := bytes.LastIndexByte(line, ':')
	if colon < 0 {
		return nil
	}
	start := colon
	for start > 0 && line[start-1]-'0' < 10 {
		start--
	}
	last, err := strconv.Atoi(string(line[start:colon]))
	if errors.Is(err, strconv.ErrRange) || last > e.most {
		return fmt.Errorf("index %s: a row has at most %d features: leave the larger indices out", line[start:colon], e.most)
	}
	e.last = max(e.last, last)
	return nil
}

// beginsAtZero returns true if the first index of a line is 0.
func beginsAtZero(line []byte) bool {
	for rest := line; ; {
		rest = rest[len(word(rest)):]
		for len(rest) > 0 && isBlank(rest[0]) {
			rest = rest[1:]
		}
		if !bytes.HasPrefix(rest, []byte("qid:")) {
			return bytes.HasPrefix(bytes.TrimLeft(rest, "0"), []byte{':'})
		}
	}
}

// LooksSvmlight returns true if text is svmlight: in the first line with a pair, only pairs follow a label. The last line of text may have
// been cut.
func LooksSvmlight(text []byte) bool {
	for line := range bytes.Lines(text) {
		whole := line[len(line)-1] == '\n'
		line, _, _ = bytes.Cut(line, []byte{'#'})
		tokens := bytes.Fields(line)
		if !whole && len(tokens) > 2 {
			tokens = tokens[:len(tokens)-1]
		}
		if len(tokens) < 2 {
			if len(tokens) == 1 && bytes.ContainsAny(tokens[0], ",;|\"") {
				return false
			}
			continue
		}
		return !bytes.ContainsRune(tokens[0], ':') && !slices.ContainsFunc(tokens[1:], func(t []byte) bool { return !isPair(t) })
	}
	return false
}

// isPair returns true if a token is an index and a value, or a query. A time such as 12:30:00 is none.
func isPair(token []byte) bool {
	index, value, ok := bytes.Cut(token, []byte{':'})
	if !ok || len(index) == 0 || len(value) == 0 || bytes.ContainsRune(value, ':') {
		return false
	}
	return string(index) == "qid" || !slices.ContainsFunc(index, func(b byte) bool { return b-'0' >= 10 })
}
