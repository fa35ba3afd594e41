package schema

import (
	"math"
	"slices"
	"strings"
	"testing"
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
	for want, spoil := range map[string]func(p *Preprocessing, names []string) []string{
		`nulls is "some"`:                func(p *Preprocessing, n []string) []string { p.Nulls = "some"; return n },
		`column "age" is there twice`:    func(p *Preprocessing, n []string) []string { p.Columns[1].Name = "age"; return n },
		`column "day": unknown kind "x"`: func(p *Preprocessing, n []string) []string { p.Columns[1].Kind = "x"; return n },
		`column "age": 0 means, not 1`:   func(p *Preprocessing, n []string) []string { p.Columns[0].Means = nil; return n },
		`column "age": 1 means, not 0`:   func(p *Preprocessing, n []string) []string { p.Nulls = NullsZero; return n },
		`column "color": 1 means, not 0`: func(p *Preprocessing, n []string) []string { p.Columns[3].Means = []float64{1}; return n },
		`column "day": 0 centers, not 1`: func(p *Preprocessing, n []string) []string { p.Columns[1].Center = nil; return n },
		`column "emb": 1 scales, not 2`:  func(p *Preprocessing, n []string) []string { p.Columns[2].Scale = []float64{1}; return n },
		`column "emb": 0 is among its scales`: func(p *Preprocessing, n []string) []string {
			p.Columns[2].Scale[1] = 0
			return n
		},
		`column "age": NaN is among its means`: func(p *Preprocessing, n []string) []string {
			p.Columns[0].Means[0] = math.NaN()
			return n
		},
		`column "emb": of the kind "list", but "elements" is there: false`: func(p *Preprocessing, n []string) []string {
			p.Columns[2].Elements = 0
			return n
		},
		`column "age": of the kind "number", but "hash_bits" is there: true`: func(p *Preprocessing, n []string) []string {
			p.Columns[0].HashBits = 3
			return n
		},
		`column "city": of the kind "hash", but "unit" is there: true`: func(p *Preprocessing, n []string) []string {
			p.Columns[4].Unit = "s"
			return n
		},
		`column "color": of the kind "onehot", but "categories" is there: false`: func(p *Preprocessing, n []string) []string {
			p.Columns[3].Categories = nil
			return n
		},
		`column "color": category "blue" is not in ascending order`: func(p *Preprocessing, n []string) []string {
			p.Columns[3].Categories[0] = "blue"
			return n
		},
		`column "color": category "\xff" is not valid UTF-8 text`: func(p *Preprocessing, n []string) []string {
			p.Columns[3].Categories[2] = "\xff"
			return n
		},
		`column "color": a text of 16385 bytes, and a category has at most 16384`: func(p *Preprocessing, n []string) []string {
			p.Columns[3].Categories[2] = strings.Repeat("s", MaxText+1)
			return n
		},
		`column "` + strings.Repeat("c", 4<<20) + `": it becomes other features than the model has`: func(p *Preprocessing, n []string) []string { // whose names would take 256 GiB
			p.Columns[4].Name, p.Columns[4].HashBits = strings.Repeat("c", 4<<20), 16
			return slices.Concat(n, make([]string, 1<<16))
		},
		`column "city": 0 elements, 62 bits of hash or 0 categories are out of range`: func(p *Preprocessing, n []string) []string {
			p.Columns[4].HashBits = 62
			return n
		},
		`column "emb": it becomes other features than the model has`: func(p *Preprocessing, n []string) []string {
			p.Columns[2].Elements = math.MaxInt
			p.Columns[2].Means = nil
			p.Nulls = NullsError
			p.Columns[0].Means, p.Columns[1].Means = nil, nil
			for i := range p.Columns {
				p.Columns[i].Center, p.Columns[i].Scale = nil, nil
			}
			return n
		},
		`column "city": it becomes other features than the model has`: func(p *Preprocessing, n []string) []string { return n[:8] },
		`column "color": it becomes other features than the model has`: func(p *Preprocessing, n []string) []string {
			n[5] = "color=green"
			return n
		},
		`no column becomes the feature "more"`: func(p *Preprocessing, n []string) []string { return append(n, "more") },
	} {
		p, names := sample()
		names = spoil(p, names)
		if err := p.Check(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
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
