package train

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/schema"
	"halfspace/train/learner"
)

// DataProfile is figures of the rows that need no learning.
type DataProfile struct {
	Counts    []int64 // number of rows of each class, in the order of the spec
	Changes   int64   // number of rows whose class isn't the class of the row before
	lastLabel float64 // label of the row before; NaN before the first row

	// Figures of the first rows: their number, the values of row 0, and the sums of the differences to row 0 and of
	// their squares.
	rows          int64
	firstRow      []float64
	sums, squares []float64
	// For each class, lo and hi are the least and the greatest value of each feature, rounded. They are nil if they
	// would be too many.
	lo, hi    [][]float32
	classRows []int64 // rows of each class among the first rows
}

// The deviations of a profile use the first mostProfileRows rows, or fewer if rows have many columns.
const (
	mostProfileRows = block.ChunkRows
	profileValues   = 1 << 20
)

// The passes that make a profile of each chunk. The second one also hashes the chunk for the fingerprint.
var (
	profilePass     = passes.New("fit.survey", profileChunk)
	fingerprintPass = passes.New("fit.fingerprint", hashedProfileOf)
)

type hashedProfile struct {
	Hash    uint64
	Profile chunkProfile
}

func hashedProfileOf(src block.Source, _ struct{}) func(block.Chunk) hashedProfile {
	profile := profileChunk(src, struct{}{})
	return func(chunk block.Chunk) hashedProfile { return hashedProfile{block.HashChunk(chunk), profile(chunk)} }
}

// fingerprint returns the fingerprint of the rows. Unless profile is nil, it adds the rows to the profile in the same pass.
func fingerprint(ctx context.Context, src block.Source, workers int, profile *DataProfile) (string, error) {
	if profile == nil {
		return passes.Fingerprint(ctx, src, workers)
	}
	return block.FingerprintOf(src.Spec().Cols(), func(add func(hash uint64)) error {
		return fingerprintPass.Reduce(ctx, src, workers, struct{}{}, func(h hashedProfile) {
			add(h.Hash)
			profile.add(h.Profile)
		})
	})
}

// chunkProfile is the profile of a chunk, and the label of its first row.
type chunkProfile struct {
	DataProfile
	firstLabel float64
}

func (s *chunkProfile) Fields() []any {
	return []any{&s.Counts, &s.Changes, &s.lastLabel, &s.rows, &s.firstRow, &s.sums, &s.squares, &s.lo, &s.hi, &s.classRows, &s.firstLabel}
}

func profileChunk(src block.Source, _ struct{}) func(block.Chunk) chunkProfile {
	spec := src.Spec()
	return func(chunk block.Chunk) chunkProfile {
		s, first := newDataProfile(spec), math.NaN()
		if chunk.Number == 0 {
			profileRows(s, spec, chunk.Block)
		}
		profileLabels(s, spec, chunk.Y)
		if len(chunk.Y) > 0 { // the learner returns an error for rows without labels
			first = float64(chunk.Y[0])
		}
		return chunkProfile{*s, first}
	}
}

// add adds the profile of the next chunk. The figures of the first rows are the figures of the first chunk.
func (s *DataProfile) add(next chunkProfile) {
	if s.lastLabel != s.lastLabel {
		*s = next.DataProfile
		return
	}
	for c, n := range next.Counts {
		s.Counts[c] += n
	}
	if s.Changes += next.Changes; s.lastLabel != next.firstLabel {
		s.Changes++
	}
	s.lastLabel = next.lastLabel
}

// NewDataProfile returns the profile of the rows of src. It makes a pass over the rows.
func NewDataProfile(ctx context.Context, src block.Source) (*DataProfile, error) {
	spec, err := block.SpecOf(src)
	if err != nil {
		return nil, err
	}
	s := newDataProfile(spec)
	return s, profilePass.Reduce(ctx, src, 1, struct{}{}, s.add)
}

func newDataProfile(spec *schema.Spec) *DataProfile {
	return &DataProfile{Counts: make([]int64, len(spec.Classes)), lastLabel: math.NaN()}
}

// profileRows makes the figures of the first rows, unless they are sparse.
func profileRows(s *DataProfile, spec *schema.Spec, b *block.Block) {
	n := spec.Width()
	most := int64(min(mostProfileRows, max(2, profileValues/max(1, n))))
	if b.Sparse != nil {
		return
	}
	s.firstRow, s.sums, s.squares = make([]float64, n), make([]float64, n), make([]float64, n)
	if n*len(s.Counts) <= profileValues {
		s.lo, s.hi = make([][]float32, len(s.Counts)), make([][]float32, len(s.Counts))
		s.classRows = make([]int64, len(s.Counts))
	}
	for r := 0; r < b.Len() && s.rows < most; r++ {
		row := b.X[r*b.Stride:][:n]
		for i, v := range row {
			if s.rows == 0 {
				s.firstRow[i] = float64(v)
			}
			d := float64(v) - s.firstRow[i]
			s.sums[i] += d
			s.squares[i] += float64(d * d)
		}
		if s.lo != nil && len(b.Y) > 0 {
			profileRange(s, learner.ClassOf(b.Y[r], spec), row)
		}
		s.rows++
	}
}

// profileRange adds a row to the ranges of its class.
func profileRange(s *DataProfile, class int, row []float32) {
	s.classRows[class]++
	if s.lo[class] == nil {
		for _, v := range row {
			s.lo[class], s.hi[class] = append(s.lo[class], float32(v)), append(s.hi[class], float32(v))
		}
		return
	}
	lo, hi := s.lo[class], s.hi[class]
	for i, v := range row {
		lo[i], hi[i] = min(lo[i], float32(v)), max(hi[i], float32(v))
	}
}

// profileLabels adds the labels of the next rows.
func profileLabels(s *DataProfile, spec *schema.Spec, y []float32) {
	if len(y) == 0 {
		return
	}
	if before := float32(s.lastLabel); before != y[0] && before == before {
		s.Changes++
	}
	s.lastLabel = float64(y[len(y)-1])
	if len(s.Counts) == 2 {
		negative, changes, last := uint32(0), uint32(0), sign(y[0])
		for _, v := range y { // without branches, which labels make unpredictable
			bit := sign(v)
			negative += bit
			changes += bit ^ last
			last = bit
		}
		positive := spec.PositiveClass()
		s.Counts[1-positive] += int64(negative)
		s.Counts[positive] += int64(len(y)) - int64(negative)
		s.Changes += int64(changes)
		return
	}
	last := y[0]
	for _, v := range y {
		s.Counts[learner.ClassOf(v, spec)]++
		if v != last {
			s.Changes++
		}
		last = v
	}
}

func sign(v float32) uint32 { return math.Float32bits(v) >> 31 }

// Baseline is the result of a model that predicts the class with the most rows for all rows.
type Baseline struct {
	Class    schema.Class `json:"class"`
	Errors   int64        `json:"errors"`
	Accuracy float64      `json:"accuracy"`
}

// NewBaseline returns the baseline for rows with the given numbers of rows in each class, or nil without rows. If
// several classes have the most rows, it uses the first of them.
func NewBaseline(classes []schema.Class, counts []int64) *Baseline {
	rows, most := int64(0), 0
	for c, n := range counts {
		if rows += n; n > counts[most] {
			most = c
		}
	}
	if rows == 0 {
		return nil
	}
	return &Baseline{classes[most], rows - counts[most], float64(counts[most]) / float64(rows)}
}

// SortedByClass tells whether the rows of each class stand together, so that a learner sees one class after another.
// They do if the class changes more than 20 times less often than in a random order.
func (s *DataProfile) SortedByClass() bool {
	rows, same := 0.0, 0.0
	for _, n := range s.Counts {
		rows += float64(n)
		same += float64(n) * float64(n)
	}
	return rows > 0 && 20*float64(s.Changes) < rows-same/rows
}

// ProfiledRows returns the number of first rows that TellingFeature and ExtremeScales use.
func (s *DataProfile) ProfiledRows() int64 { return s.rows }

// leastClassRows is the least number of rows of a class for which TellingFeature uses its range.
const leastClassRows = 10

// TellingFeature returns the number of the first feature whose ranges in the classes of the first rows don't overlap,
// so that this feature alone tells the classes apart. It returns -1 if there is no such feature, if there is only one
// feature, or if a class has fewer than 10 of the first rows.
func (s *DataProfile) TellingFeature() int {
	if s.lo == nil || len(s.sums) < 2 || slices.Min(s.classRows) < leastClassRows {
		return -1
	}
	for i := range s.sums {
		if s.hasSeparateRanges(i) {
			return i
		}
	}
	return -1
}

// hasSeparateRanges tells whether the ranges of a feature in the classes don't overlap.
func (s *DataProfile) hasSeparateRanges(feature int) bool {
	for a := range s.lo {
		for b := range a {
			if !(s.hi[a][feature] < s.lo[b][feature] || s.hi[b][feature] < s.lo[a][feature]) {
				return false
			}
		}
	}
	return true
}

// ExtremeScales returns the numbers of the features with the largest and the least deviation above zero, and the ratio
// of the two deviations.
func (s *DataProfile) ExtremeScales() (large, small int, ratio float64) {
	most, least := 0.0, math.Inf(1)
	n := float64(s.rows)
	for i, sum := range s.sums {
		variance := s.squares[i]/n - float64(sum/n)*(sum/n)
		if !(variance > 1e-12*s.squares[i]/n) { // otherwise the variance is rounding error
			continue
		}
		if d := math.Sqrt(variance); d > most {
			most, large = d, i
		}
		if d := math.Sqrt(variance); d < least {
			least, small = d, i
		}
	}
	return large, small, most / least
}
