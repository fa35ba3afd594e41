package words

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"halfspace/schema"
)

func TestHashShort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		text := make([]byte, 8)
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		for n := 1; n < 8; n++ {
			if got, want := hashShort(load8(string(text), 0), n), xxh3.Hash(text[:n]); got != want {
				t.Fatalf("%q: hash %x, want %x", text[:n], got, want)
			}
		}
	}
}

func TestShortLength(t *testing.T) {
	for at := range 8 {
		for c := range 256 {
			text := []byte("ab09azaz")
			text[at] = byte(c)
			want := slices.IndexFunc(text, func(b byte) bool { return !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9') })
			if got := shortLength(load8(string(text), 0)); got != max(want, 0) {
				t.Errorf("%q: %d letters, want %d", text, got, want)
			}
		}
	}
}

// slowTokens are Tokens by Each and a sort.
func slowTokens(text string, of *schema.Words) (all []Token) {
	var buckets []uint32
	NewSplitter().Each(text, of.Form, func(token []byte) { buckets = append(buckets, Bucket(token, of.Bits)) })
	slices.Sort(buckets)
	for i, first := 0, 0; i < len(buckets); i++ {
		if i == 0 || buckets[i] != buckets[i-1] || i-first == mostCount {
			first = i
			all = append(all, Token(buckets[i]<<countBits))
		}
		all[len(all)-1]++
	}
	return all
}

func testTokens(t *testing.T, s *Splitter, text string) {
	for _, of := range []*schema.Words{{Bits: 18}, {Bits: schema.MinWordBits}, {Bits: schema.MaxWordBits, Form: schema.WordPairs},
		{Bits: 18, Form: schema.WordChars}} {
		if got, want := s.Tokens(text, of), slowTokens(text, of); !slices.Equal(got, want) {
			t.Fatalf("%+q, %d bits, form %q: tokens %x, want %x", text, of.Bits, of.Form, got, want)
		}
	}
}

// TestTokensOfRandomTexts compares the fast ways through a text with the segments of Unicode, one after the other.
func TestTokensOfRandomTexts(t *testing.T) {
	parts := []string{" ", " ", " ", ". ", "'", "'s", "_", "-", ":", ",", "1,000.5", "the", "a", "Of", "WORDS", "eightlet", "ninelette",
		"12345678", "É", "e\u0301", "我爱", "กำ", "ß", "👩\u200d👩", "🇩🇪", "\xff", "\x00", "אב\"ג", "ア", "x\u00adx", "\u200b", "{z", "@A", "`a"}
	rng, s := rand.New(rand.NewPCG(3, 4)), NewSplitter()
	for range 20_000 {
		text := ""
		for range rng.IntN(30) {
			text += parts[rng.IntN(len(parts))]
		}
		testTokens(t, s, text)
	}
	for _, n := range []int{255, 256, 257, 5000} {
		testTokens(t, s, strings.Repeat("again and again ", n))
		long := ""
		for range n {
			long += string(rune('a'+rng.IntN(26))) + string(rune('a'+rng.IntN(26))) + " "
		}
		testTokens(t, s, long)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("Free entry: win 1,000.50 don't 我爱 é \xff eightlet12")
	s := NewSplitter()
	f.Fuzz(func(t *testing.T, text string) { testTokens(t, s, text) })
}
