package words

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"halfspace/schema"
)

// The classes of code points, as the rules of word boundaries need them (Unicode Standard Annex 29, version 15.0.0).
const (
	other      = 0
	letter     = 'a'
	hebrew     = 'h'
	pictLetter = 'e' // a letter that is a pictograph too
	digit      = 'n'
	katakana   = 'k'
	connector  = '_' // such as the underscore
	extender   = 'x' // marks that belong to the character before
	joiner     = 'z' // zero width joiner
	midLetter  = ':'
	midNumber  = ','
	midBoth    = '.'
	quote      = '\''
	doubled    = '"'
	flag       = 'r' // two of them are a flag
	pictograph = 'p'
	single     = 's' // other letters and numbers: of scripts without blanks, such as Han, Hiragana and Thai
)

// MostRunes is the number of code points of a word that count. Further ones are left out.
const MostRunes = 64

// A codeRange is a range of code points, or every second one of it.
type codeRange struct {
	lo, hi, step rune
	class        byte
	fold         rune // distance to the simple case folding
}

// A codeTable is the classes and case foldings of code points.
type codeTable struct {
	low     [0x20000]byte // classes of the code points below 0x20000
	classes []codeRange
	folds   []codeRange
}

var table = sync.OnceValue(func() *codeTable {
	t := &codeTable{classes: parseRanges(classRanges), folds: parseRanges(foldRanges)}
	for _, r := range t.classes {
		for c := r.lo; c <= min(r.hi, rune(len(t.low)-1)); c++ {
			t.low[c] = r.class
		}
	}
	return t
})

// parseRanges parses classRanges or foldRanges.
func parseRanges(text string) (all []codeRange) {
	last := rune(0)
	for _, field := range strings.Fields(text) {
		r := codeRange{step: 1}
		if at := strings.IndexByte(field, '>'); at >= 0 {
			fold, _ := strconv.ParseInt(field[at+1:], 16, 32)
			r.fold, field = rune(fold), field[:at]
			if every := strings.TrimSuffix(field, "/"); every != field {
				r.step, field = 2, every
			}
		} else {
			r.class, field = field[len(field)-1], field[:len(field)-1]
		}
		from, length, _ := strings.Cut(field, "+")
		gap, _ := strconv.ParseInt(from, 16, 32)
		more, _ := strconv.ParseInt("0"+length, 16, 32)
		r.lo = last + rune(gap)
		r.hi = r.lo + rune(more)
		last = r.hi
		all = append(all, r)
	}
	return all
}

// rangeOf returns the range with a code point, or nil.
func rangeOf(ranges []codeRange, c rune) *codeRange {
	lo, hi := 0, len(ranges)
	for lo < hi {
		if at := (lo + hi) / 2; ranges[at].hi < c {
			lo = at + 1
		} else {
			hi = at
		}
	}
	if lo < len(ranges) && ranges[lo].lo <= c && (c-ranges[lo].lo)%ranges[lo].step == 0 {
		return &ranges[lo]
	}
	return nil
}

func (t *codeTable) class(c rune) byte {
	if int(c) < len(t.low) {
		return t.low[c]
	}
	if r := rangeOf(t.classes, c); r != nil {
		return r.class
	}
	return other
}

// fold returns the simple case folding of a code point.
func (t *codeTable) fold(c rune) rune {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c < utf8.RuneSelf:
		return c
	}
	if r := rangeOf(t.folds, c); r != nil {
		return c + r.fold
	}
	return c
}

// plain has 1 for small ASCII letters and for digits, and 3 for capital letters. They join each other to words.
var plain = func() (is [256]uint8) {
	for _, c := range "0123456789abcdefghijklmnopqrstuvwxyz" {
		is[c] = 1
	}
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = capital | 1
	}
	return is
}()

const capital = 2

// isolated has 1 for ASCII characters that end a word and begin none.
var isolated = sync.OnceValue(func() *[256]uint8 {
	is := new([256]uint8)
	for c := range utf8.RuneSelf {
		if table().low[c] == other {
			is[c] = 1
		}
	}
	return is
})

// A Splitter cuts texts into words. It isn't safe for concurrent use.
type Splitter struct {
	table    *codeTable
	isolated *[256]uint8
	word     []byte // the word, its case folded
	last     []byte // the word before
	pair     []byte

	buckets, spare []uint32 // of the words of a text
	tokens         []Token
}

// NewSplitter returns a Splitter.
func NewSplitter() *Splitter { return &Splitter{table: table(), isolated: isolated()} }

// Each calls emit with each word, pair or characters of a text that its form names. The bytes are valid during the call.
//
// Words are the segments of Unicode Standard Annex 29 that have a letter, a number or a pictograph, with simple case folding, up
// to their first MostRunes code points. Letters of scripts without blanks are words of their own; two of them with nothing between
// them make a pair too, without a blank, in each form but [schema.WordChars]. Pairs of other words have a blank between the words.
// [schema.WordChars] takes each 3, 4 and 5 adjacent code points of <word>, and adjacent letters of scripts without blanks are one word
// for it. Bytes that are no UTF-8 separate words.
func (s *Splitter) Each(text string, form schema.WordForm, emit func(token []byte)) {
	if form == schema.WordChars {
		s.eachChars(text, emit)
		return
	}
	end, alone := -1, false // of the word before
	for at := 0; ; {
		lo, hi, isSingle := s.next(text, at)
		if lo == hi {
			return
		}
		s.foldWord(text[lo:hi])
		emit(s.word)
		switch {
		case isSingle && alone && lo == end:
			s.pair = append(append(s.pair[:0], s.last...), s.word...)
			emit(s.pair)
		case form == schema.WordPairs && end >= 0:
			s.pair = append(append(append(s.pair[:0], s.last...), ' '), s.word...)
			emit(s.pair)
		}
		s.last, s.word = s.word, s.last
		end, alone, at = hi, isSingle, hi
	}
}

// AppendBuckets appends the buckets of the words, pairs or characters of a text that [Splitter.Each] emits, in the same order.
func (s *Splitter) AppendBuckets(to []uint32, text string, of *schema.Words) []uint32 {
	mask := uint64(1)<<of.Bits - 1
	if of.Form != schema.SingleWords {
		s.Each(text, of.Form, func(token []byte) { to = append(to, uint32(xxh3.Hash(token)&mask)) })
		return to
	}
	end, alone := -1, false
	for at := 0; at < len(text); {
		if at+8 <= len(text) { // the usual word: small ASCII letters and digits up to a blank
			eight := load8(text, at)
			if n := shortLength(eight); n > 0 && s.isolated[text[at+n]] != 0 {
				to = append(to, uint32(hashShort(eight, n)&mask))
				at, alone = at+n+1, false
				continue
			}
		}
		if s.isolated[text[at]] != 0 {
			at++
			continue
		}
		if behind, hash := s.plainWord(text, at); behind > at {
			to = append(to, uint32(hash&mask))
			at, alone = behind+1, false
			continue
		}
		lo, hi, isSingle := s.next(text, at)
		if lo == hi {
			break
		}
		s.foldWord(text[lo:hi])
		to = append(to, uint32(xxh3.Hash(s.word)&mask))
		if isSingle && alone && lo == end {
			s.pair = append(append(s.pair[:0], s.last...), s.word...)
			to = append(to, uint32(xxh3.Hash(s.pair)&mask))
		}
		s.last, s.word = s.word, s.last
		end, alone, at = hi, isSingle, hi
	}
	return to
}

// plainWord returns the end of a word of ASCII letters and digits up to a blank, and its hash. The end is the position itself if there is
// no such word.
func (s *Splitter) plainWord(text string, at int) (end int, hash uint64) {
	behind, seen := at, uint8(0)
	for behind < len(text) && plain[text[behind]] != 0 {
		seen |= plain[text[behind]]
		behind++
	}
	switch {
	case behind == at, behind-at > MostRunes, behind < len(text) && s.isolated[text[behind]] == 0:
		return at, 0
	case seen&capital == 0:
		return behind, xxh3.HashString(text[at:behind])
	}
	s.foldWord(text[at:behind])
	return behind, xxh3.Hash(s.word)
}

// A Token is a bucket, and the number of its words in a text, at most mostCount.
type Token uint32

const (
	countBits = 32 - schema.MaxWordBits
	mostCount = 1<<countBits - 1
)

// Bucket returns the bucket of a token.
func (t Token) Bucket() uint32 { return uint32(t >> countBits) }

// Tokens returns the tokens of a text, in ascending order. A bucket with more than mostCount words has several. The slice is valid until
// the next call.
func (s *Splitter) Tokens(text string, of *schema.Words) []Token {
	s.tokens = s.tokens[:0]
	buckets := s.sortedBuckets(text, of)
	for i := 0; i < len(buckets); {
		first := i
		for b := buckets[i]; i < len(buckets) && buckets[i] == b && i-first < mostCount; {
			i++
		}
		s.tokens = append(s.tokens, Token(buckets[first]<<countBits|uint32(i-first)))
	}
	return s.tokens
}

// sortedBuckets returns the buckets of [Splitter.AppendBuckets] in ascending order.
func (s *Splitter) sortedBuckets(text string, of *schema.Words) []uint32 {
	const few = 256
	s.buckets = s.AppendBuckets(s.buckets[:0], text, of)
	s.spare = slices.Grow(s.spare[:0], len(s.buckets))[:len(s.buckets)]
	if len(s.buckets) <= few {
		sortFew(s.spare, s.buckets, max(0, of.Bits-binBits))
		return s.spare
	}
	s.sortMany(of.Bits)
	return s.buckets
}

const binBits = 6 // buckets have MinWordBits or more

// sortFew sorts buckets into a slice of the same length. Buckets are hashes: their first bits put them nearly in order.
func sortFew(to, buckets []uint32, shift int) {
	var places [1 << binBits]uint16 // of the next bucket of each bin
	for _, b := range buckets {
		places[b>>shift&(1<<binBits-1)]++
	}
	at := uint16(0)
	for i, n := range places {
		places[i] = at
		at += n
	}
	for _, b := range buckets {
		bin := b >> shift & (1<<binBits - 1)
		to[places[bin]] = b
		places[bin]++
	}
	for i := 1; i < len(to); i++ {
		b, k := to[i], i
		for ; k > 0 && to[k-1] > b; k-- {
			to[k] = to[k-1]
		}
		to[k] = b
	}
}

// sortMany sorts s.buckets by radix, which takes a third of the time of slices.Sort.
func (s *Splitter) sortMany(wide int) {
	const bits, digits = 6, (schema.MaxWordBits + 5) / 6
	var counts [digits][1 << bits]int
	passes := (wide + bits - 1) / bits
	for _, b := range s.buckets {
		for d := range passes {
			counts[d][b>>(bits*d)&(1<<bits-1)]++
		}
	}
	for d := range passes {
		at := 0
		for i, n := range counts[d] {
			counts[d][i] = at
			at += n
		}
		for _, b := range s.buckets {
			digit := b >> (bits * d) & (1<<bits - 1)
			s.spare[counts[d][digit]] = b
			counts[d][digit]++
		}
		s.buckets, s.spare = s.spare, s.buckets
	}
}

// foldWord sets s.word to a word with its case folded, cut to MostRunes code points.
func (s *Splitter) foldWord(text string) {
	word := s.word[:0]
	if len(text) > MostRunes {
		runes := 0
		for i := range text {
			if runes++; runes > MostRunes {
				text = text[:i]
				break
			}
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			for _, r := range text[i:] {
				word = utf8.AppendRune(word, s.table.fold(r))
			}
			break
		}
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		word = append(word, c)
	}
	s.word = word
}

// eachChars is Each for WordChars.
func (s *Splitter) eachChars(text string, emit func(token []byte)) {
	const longest, shortest, mostBytes = 5, 3, 4096
	var starts [longest]int // in s.word, of the last code points, the last one first
	runes := 0
	add := func(r rune) {
		if len(s.word) > mostBytes {
			from := starts[longest-1]
			s.word = append(s.word[:0], s.word[from:]...)
			for i := range starts {
				starts[i] -= from
			}
		}
		copy(starts[1:], starts[:longest-1])
		starts[0] = len(s.word)
		s.word = utf8.AppendRune(s.word, r)
		runes++
		for n := shortest; n <= min(longest, runes); n++ {
			emit(s.word[starts[n-1]:])
		}
	}
	for at := 0; ; {
		lo, hi, isSingle := s.next(text, at)
		if lo == hi {
			return
		}
		for isSingle {
			from, to, more := s.next(text, hi)
			if !more || from != hi {
				break
			}
			hi = to
		}
		s.word, runes = s.word[:0], 0
		add('<')
		for _, r := range text[lo:hi] {
			add(s.table.fold(r))
		}
		add('>')
		at = hi
	}
}

// decode returns the code point at a position, its class and its length. Bytes that are no UTF-8 have the class other.
func (s *Splitter) decode(text string, at int) (class byte, length int) {
	if c := text[at]; c < utf8.RuneSelf {
		return s.table.low[c], 1
	}
	c, n := utf8.DecodeRuneInString(text[at:])
	return s.table.class(c), n
}

// skip returns the position behind the marks that belong to the character before, and whether a joiner is the last of them.
func (s *Splitter) skip(text string, at int) (end int, joins bool) {
	for at < len(text) && text[at] >= utf8.RuneSelf {
		class, n := s.decode(text, at)
		if class != extender && class != joiner {
			break
		}
		at, joins = at+n, class == joiner
	}
	return at, joins
}

func isLetter(class byte) bool { return class == letter || class == hebrew || class == pictLetter }

func isPictograph(class byte) bool { return class == pictograph || class == pictLetter }

// next returns the next word from a position on, lo = hi if there is none. isSingle is true for a letter of a script without
// blanks.
func (s *Splitter) next(text string, at int) (lo, hi int, isSingle bool) {
	for at < len(text) {
		if plain[text[at]] != 0 { // the usual word: ASCII letters and digits up to a blank
			end := at + 1
			for end < len(text) && plain[text[end]] != 0 {
				end++
			}
			if end == len(text) || s.isolated[text[end]] != 0 {
				return at, end, false
			}
		}
		class, n := s.decode(text, at)
		switch class {
		case letter, hebrew, pictLetter, digit, katakana, connector, flag, pictograph, single:
			end, isWord := s.segment(text, at+n, class)
			if isWord {
				return at, end, class == single
			}
			at = end
		default:
			at += n
		}
	}
	return 0, 0, false
}

// segment returns the end of a segment whose first character has the given class and ends at a position, and whether the
// segment is a word: connectors alone are none.
func (s *Splitter) segment(text string, at int, class byte) (end int, isWord bool) {
	isWord = class != connector
	flags := 1
	for {
		if class == letter || class == digit {
			from := at
			for at < len(text) && plain[text[at]] != 0 {
				at++
			}
			if at > from {
				class = s.table.low[text[at-1]]
			}
		}
		var joins bool
		at, joins = s.skip(text, at)
		if at == len(text) {
			return at, isWord
		}
		next, n := s.decode(text, at)
		switch {
		case joins && isPictograph(next): // WB3c
		case (isLetter(class) || class == digit) && (isLetter(next) || next == digit || next == connector): // WB5, 8, 9, 10, 13a
		case class == katakana && (next == katakana || next == connector): // WB13, 13a
		case class == connector && (isLetter(next) || next == digit || next == katakana || next == connector): // WB13a, 13b
		case class == flag && next == flag && flags == 1: // WB15, 16
			flags = 2
		case isLetter(class) && (next == midLetter || next == midBoth || next == quote),
			class == hebrew && next == doubled,
			class == digit && (next == midNumber || next == midBoth || next == quote): // WB6, 7, 7b, 7c, 11, 12
			behind, _ := s.skip(text, at+n)
			var third byte
			var length int
			if behind < len(text) {
				third, length = s.decode(text, behind)
			}
			switch {
			case next == doubled && third == hebrew, next != doubled && isLetter(class) && isLetter(third),
				class == digit && third == digit:
				at, n, next = behind, length, third
			case class == hebrew && next == quote: // WB7a
				at, _ = s.skip(text, at+n)
				return at, isWord
			default:
				return at, isWord
			}
		default:
			return at, isWord
		}
		at, class = at+n, next
		isWord = isWord || class != connector
	}
}

// Count returns the approximate number of words of a text: of parts between white space that have a letter. Two letters of a
// script without blanks count as a part.
func Count(text string) int {
	t, parts, singles, has := table(), 0, 0, false
	for _, c := range text {
		switch class := t.class(c); {
		case unicode.IsSpace(c):
			has = false
		case class == single:
			singles++
		case isLetter(class) && !has:
			parts, has = parts+1, true
		}
	}
	return parts + singles/2
}

// Classes returns ranges of code points in ascending order: the first, the last, and their class.
func Classes() (all [][]int) {
	for _, r := range table().classes {
		all = append(all, []int{int(r.lo), int(r.hi), int(r.class)})
	}
	return all
}

// Folds returns ranges of code points in ascending order: the first, the last, the step from one to the next, and the distance to
// their simple case folding. ASCII isn't among them.
func Folds() (all [][]int) {
	for _, r := range table().folds {
		all = append(all, []int{int(r.lo), int(r.hi), int(r.step), int(r.fold)})
	}
	return all
}

// Logarithms returns the natural logarithm of each number up to 255, and 0 for 0.
func Logarithms() []float64 { return slices.Clone(logarithms[:]) }
