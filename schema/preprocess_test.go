package schema

import (
	"math"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// sample has a column of each kind, standardized, with means.
func sample() (*Preprocessing, []string) {
	p := &Preprocessing{Nulls: NullsMean, Columns: []Column{
		{Name: "age", Kind: NumberColumn, Means: []float64{40}, Center: []float64{40}, Scale: []float64{9.5}},
		{Name: "day", Kind: NumberColumn, Unit: "days since 1970", Means: []float64{2}, Center: []float64{2}, Scale: []float64{1}},
		{Name: "emb", Kind: ListColumn, Elements: 2, Means: []float64{1, 2}, Center: []float64{1, 2}, Scale: []float64{3, 4}},
		{Name: "color", Kind: OneHotColumn, Categories: []string{"", "blue", "red"}},
		{Name: "city", Kind: HashColumn, HashBits: 1},
	}}
	return p, []string{"age", "day", "emb[0]", "emb[1]", "color=", "color=blue", "color=red", "city#hash:1[0]", "city#hash:1[1]"}
}

func TestNames(t *testing.T) {
	p, want := sample()
	var got []string
	for i := range p.Columns {
		got = append(got, p.Columns[i].Names()...)
		if n := p.Columns[i].Width(); n != len(p.Columns[i].Names()) {
			t.Errorf("%s: width %d", p.Columns[i].Name, n)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if !p.Standardized() {
		t.Error("not standardized")
	}
	if err := p.Check(want); err != nil {
		t.Error(err)
	}
	spec := &Spec{Features: []string{"a", "b"}}
	if c := spec.Columns(); len(c) != 2 || c[1].Name != "b" || c[1].Kind != NumberColumn {
		t.Errorf("columns without preprocessing: %+v", c)
	}
}

func TestPreprocessingCheck(t *testing.T) {
	long := strings.Repeat("c", 4<<20) // whose names would take 256 GiB
	for want, spoil := range map[string]func(p *Preprocessing, c []Column){
		`nulls is "some"`:                                                             func(p *Preprocessing, _ []Column) { p.Nulls = "some" },
		`column "age": 1 means, not 0`:                                                func(p *Preprocessing, _ []Column) { p.Nulls = NullsZero },
		`column "age" is there twice`:                                                 func(_ *Preprocessing, c []Column) { c[1].Name = "age" },
		`column "day": unknown kind "x"`:                                              func(_ *Preprocessing, c []Column) { c[1].Kind = "x" },
		`column "age": 0 means, not 1`:                                                func(_ *Preprocessing, c []Column) { c[0].Means = nil },
		`column "color": 1 means, not 0`:                                              func(_ *Preprocessing, c []Column) { c[3].Means = []float64{1} },
		`column "day": 0 centers, not 1`:                                              func(_ *Preprocessing, c []Column) { c[1].Center = nil },
		`column "emb": 1 scales, not 2`:                                               func(_ *Preprocessing, c []Column) { c[2].Scale = []float64{1} },
		`column "emb": 0 is among its scales`:                                         func(_ *Preprocessing, c []Column) { c[2].Scale[1] = 0 },
		`column "age": NaN is among its means`:                                        func(_ *Preprocessing, c []Column) { c[0].Means[0] = math.NaN() },
		`column "emb": of the kind "list", but "elements" is there: false`:            func(_ *Preprocessing, c []Column) { c[2].Elements = 0 },
		`column "age": of the kind "number", but "hash_bits" is there: true`:          func(_ *Preprocessing, c []Column) { c[0].HashBits = 3 },
		`column "city": of the kind "hash", but "unit" is there: true`:                func(_ *Preprocessing, c []Column) { c[4].Unit = "s" },
		`column "color": of the kind "onehot", but "categories" is there: false`:      func(_ *Preprocessing, c []Column) { c[3].Categories = nil },
		`column "color": category "blue" is not in ascending order`:                   func(_ *Preprocessing, c []Column) { c[3].Categories[0] = "blue" },
		`column "color": category "\xff" is not valid UTF-8 text`:                     func(_ *Preprocessing, c []Column) { c[3].Categories[2] = "\xff" },
		`column "color": a text of 16385 bytes, and a category has at most 16384`:     func(_ *Preprocessing, c []Column) { c[3].Categories[2] = strings.Repeat("s", MaxText+1) },
		`column "` + long + `": it becomes other features than the model has`:         func(_ *Preprocessing, c []Column) { c[4].Name, c[4].HashBits = long, 16 },
		`column "city": 0 elements, 62 bits of hash or 0 categories are out of range`: func(_ *Preprocessing, c []Column) { c[4].HashBits = 62 },
		`column "emb": it becomes other features than the model has`: func(p *Preprocessing, c []Column) {
			p.Nulls, c[2].Elements = NullsError, math.MaxInt
			for i := range c {
				c[i].Means, c[i].Center, c[i].Scale = nil, nil, nil
			}
		},
	} {
		p, names := sample()
		spoil(p, p.Columns)
		if strings.Contains(want, long) {
			names = append(names, make([]string, 1<<16)...)
		}
		require.Error(t, p.Check(names), want)
	}
	p, names := sample()
	for want, others := range map[string][]string{
		`column "city": it becomes other features than the model has`:  names[:8],
		`column "color": it becomes other features than the model has`: slices.Replace(slices.Clone(names), 5, 6, "color=green"),
		`no column becomes the feature "more"`:                         append(slices.Clone(names), "more"),
	} {
		require.Error(t, p.Check(others), want)
	}
}

// TestHashBucket has values of the XXH3 reference implementation's xxhsum -H3 for the empty text and others. A model's
// features must never change their meaning.
func TestHashBucket(t *testing.T) {
	const empty uint64 = 0x2d06800538d394c2
	for _, bits := range []int{1, 4, 16} {
		if got := HashBucket("", bits); got != int(empty&(1<<bits-1)) {
			t.Errorf("bucket of %d bits is %d", bits, got)
		}
	}
	seen := map[int]bool{}
	for _, text := range strings.Fields("a b c d e f g h i j k l m n o p") {
		seen[HashBucket(text, 2)] = true
	}
	if len(seen) != 4 {
		t.Errorf("16 texts fall into %d of 4 buckets", len(seen))
	}
}
