package words

import (
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"halfspace/schema"
)

// TestWordBreaks compares the words with the segments of the Unicode Consortium's tests.
func TestWordBreaks(t *testing.T) {
	data, err := os.ReadFile("testdata/WordBreakTest.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, cases := NewSplitter(), 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		var text string
		var want []string // the segments with a word
		segment, isWord, begins := "", false, byte(other)
		end := func() {
			if isWord {
				want = append(want, strings.TrimLeftFunc(segment, func(r rune) bool { return begins == other && r != 0 && !s.starts(r) }))
			}
			segment, isWord, begins = "", false, other
		}
		for _, field := range strings.Fields(line) {
			switch field {
			case "+":
				end()
			case "-":
			default:
				c, err := strconv.ParseUint(field, 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				text += string(rune(c))
				class := s.table.class(rune(c))
				if segment == "" && s.starts(rune(c)) {
					begins = class
				}
				segment += string(rune(c))
				isWord = isWord || strings.IndexByte("aehnkrps", class) >= 0
			}
		}
		var got []string
		for at := 0; ; {
			lo, hi, _ := s.next(text, at)
			if lo == hi {
				break
			}
			got, at = append(got, text[lo:hi]), hi
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+q: words %+q, want %+q", text, got, want)
		}
	}
	if cases < 1800 {
		t.Errorf("%d cases", cases)
	}
}

// starts returns true if a segment with a word can start with a code point.
func (s *Splitter) starts(r rune) bool { return strings.IndexByte("aehnkrps_", s.table.class(r)) >= 0 }

func tokens(form schema.WordForm, text string) (all []string) {
	NewSplitter().Each(text, form, func(token []byte) { all = append(all, string(token)) })
	return all
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		form schema.WordForm
		text string
		want []string
	}{
		{"", "", nil},
		{"", " ... !? __", nil},
		{"", "Don't PAY £1,000.50 to 08452810075over18's", []string{"don't", "pay", "1,000.50", "to", "08452810075over18", "s"}},
		{"2", "Free entry: win", []string{"free", "entry", "free entry", "win", "entry win"}},
		{"", "ÉCOLE e\u0301cole ΣΊΣΥΦΟΣ Straße", []string{"école", "e\u0301cole", "σίσυφοσ", "straße"}},
		{"", "我爱 北京", []string{"我", "爱", "我爱", "北", "京", "北京"}},
		{"2", "我爱 Go", []string{"我", "爱", "我爱", "go", "爱 go"}},
		{"", "กำไร", []string{"ก", "\u0e33", "ก\u0e33", "ไ", "\u0e33ไ", "ร", "ไร"}},
		{"", "hi👩\u200d👩\u200d👧🇩🇪🇫🇷 ok", []string{"hi", "👩\u200d👩\u200d👧", "🇩🇪", "🇫🇷", "ok"}},
		{"", "a\xffb", []string{"a", "b"}},
		{"chars", "Abc d", []string{"<ab", "abc", "<abc", "bc>", "abc>", "<abc>", "<d>"}},
		{"chars", "我爱", []string{"<我爱", "我爱>", "<我爱>"}},
	} {
		if got := tokens(c.form, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q of %+q: %+q, want %+q", c.form, c.text, got, c.want)
		}
	}
}

// TestFold compares the case foldings with package unicode, which has the same version.
func TestFold(t *testing.T) {
	for c := range rune(unicode.MaxRune + 1) {
		folded := table().fold(c)
		if !slices.Contains(orbit(c), folded) {
			t.Fatalf("%U is folded to %U", c, folded)
		}
		for _, other := range orbit(c) {
			if table().fold(other) != folded && !strings.ContainsRune("ıİIiẞßſ", c) {
				t.Fatalf("%U is folded to %U, and %U to %U", c, folded, other, table().fold(other))
			}
		}
	}
}

// orbit returns the code points that are the same but for their case.
func orbit(c rune) []rune {
	all := []rune{c}
	for next := unicode.SimpleFold(c); next != c; next = unicode.SimpleFold(next) {
		all = append(all, next)
	}
	return all
}

func TestLongWords(t *testing.T) {
	long := strings.Repeat("é", 100)
	if got := tokens("", long); len(got) != 1 || utf8.RuneCountInString(got[0]) != MostRunes {
		t.Errorf("%d words, the first has %d code points", len(got), utf8.RuneCountInString(got[0]))
	}
	n := 0
	NewSplitter().Each(strings.Repeat("xy", 50000), schema.WordChars, func(token []byte) {
		if n++; len(token) < 3 || len(token) > 5 || strings.Trim(string(token), "<xy>") != "" {
			t.Fatalf("%q", token)
		}
	})
	if want := 3*100002 - 2 - 3 - 4; n != want {
		t.Errorf("%d tokens, want %d", n, want)
	}
}

// TestLogarithms compares the logarithms with a series in 200 binary digits: ln n - ln(n-1) = 2 artanh(1/(2n-1)).
func TestLogarithms(t *testing.T) {
	sum := new(big.Float).SetPrec(200)
	for n := 2; n < len(logarithms); n++ {
		x := new(big.Float).SetPrec(200).Quo(big.NewFloat(1), big.NewFloat(float64(2*n-1)))
		power, square := new(big.Float).Copy(x), new(big.Float).SetPrec(200).Mul(x, x)
		for k := 1; k < 150; k += 2 {
			sum.Add(sum, new(big.Float).SetPrec(200).Quo(new(big.Float).SetPrec(200).Mul(big.NewFloat(2), power), big.NewFloat(float64(k))))
			power.Mul(power, square)
		}
		if want, _ := sum.Float64(); logarithms[n] != want {
			t.Errorf("ln %d is %v, want %v", n, logarithms[n], want)
		}
	}
	for _, n := range []uint32{255, 256, 1000, math.MaxUint32} {
		if got, want := Logarithm(n), math.Log(float64(n)); math.Abs(got-want) > 1.0/128 {
			t.Errorf("Logarithm(%d) = %v, want about %v", n, got, want)
		}
	}
}

func TestFeatures(t *testing.T) {
	of := &schema.Words{Bits: 18}
	for _, word := range []string{"a", "b", "c"} {
		of.Buckets = append(of.Buckets, int(Bucket([]byte(word), 18)))
	}
	slices.Sort(of.Buckets)
	of.Weights, of.Texts = []float64{1, 2, 3}, make([]string, 3)
	m := NewIndex(of).NewMaker()
	features, values := m.Features("A b a unknown B a")
	sum := 0.0
	for i, f := range features {
		count := map[uint32]float64{Bucket([]byte("a"), 18): 3, Bucket([]byte("b"), 18): 2}[uint32(of.Buckets[f])]
		if count == 0 {
			t.Fatalf("feature %d", f)
		}
		if ratio := float64(values[i]) / ((1 + math.Log(count)) * of.Weights[f]); i > 0 && math.Abs(ratio/sum-1) > 1e-6 {
			t.Errorf("value %v of %v", values[i], count)
		} else {
			sum = ratio
		}
	}
	if len(features) != 2 || math.Abs(math.Hypot(float64(values[0]), float64(values[1]))-1) > 1e-6 {
		t.Errorf("features %v, values %v", features, values)
	}
	if features, _ := m.Features("nothing known"); len(features) != 0 {
		t.Errorf("features %v of unknown words", features)
	}
	if got := Weights(3, []int64{3, 0, 1}); got[0] != 1 || math.Abs(got[1]-(math.Log(4)+1)) > 1e-15 || math.Abs(got[2]-(math.Log(2)+1)) > 1e-15 {
		t.Errorf("weights %v", got)
	}
}

func FuzzEach(f *testing.F) {
	for _, text := range []string{"Plain words, PLAIN Words 12 a1-b2_c" + strings.Repeat(" A"+strings.Repeat("b", 63)+"c", 2), "我 a爱b我爱 我\u200d爱", "Don't 1,5 a_b", "我爱กำ👩\u200d👩\u200d👧🇩🇪", "\xff\xc0א\"ב", "e\u0301\u200d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []schema.WordForm{schema.SingleWords, schema.WordPairs, schema.WordChars} {
			var want []uint32
			for _, token := range tokens(form, text) {
				if token == "" || !utf8.ValidString(token) {
					t.Fatalf("%q of %q: %q", form, text, token)
				}
				want = append(want, Bucket([]byte(token), 20))
			}
			if got := NewSplitter().AppendBuckets(nil, text, &schema.Words{Form: form, Bits: 20}); !slices.Equal(got, want) {
				t.Fatalf("%q of %q: buckets %v, want %v", form, text, got, want)
			}
		}
	})
}

func BenchmarkFeatures(b *testing.B) {
	text := strings.Repeat("Free entry in 2 a wkly comp to win FA Cup final tkts 21st May 2005. ", 4)
	m := NewIndex(&schema.Words{Bits: 18, AllBuckets: true}).NewMaker()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Features(text)
	}
}
