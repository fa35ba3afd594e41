package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"halfspace/internal/humanize"
)

// A Written is a number as people write it in a text.
type Written struct {
	Value    float64
	Percent  bool // the text has %, which doesn't change Value
	Currency rune // the first currency sign; 0: none
	Letter   byte // the factor of Value: k or K 1e3, M 1e6, B 1e9, T 1e12; 0: none
	Mark     bool // the number has a point or a comma

	// OtherMark is true if the number has two groups of digits, of which the first begins with 0, as in 0,431, or an
	// exponent follows, as in 1,2e3. Models read such texts, but the comma (or the point) in such a text is a decimal
	// mark.
	OtherMark bool
}

// letters are the powers of ten of the letters that multiply a number.
var letters = map[byte]string{'k': "e3", 'K': "e3", 'M': "e6", 'B': "e9", 'T': "e12"}

// thinMarks are the marks between groups of digits besides the point and the comma: blanks, of which some break no
// line, and apostrophes.
var thinMarks = []string{" ", "\u00a0", "\u202f", "\u2009", "'", "\u2019"}

// ParseWritten returns the number that a text is. point is the decimal mark: '.' or ','. ParseWritten takes
//
//   - digits with a decimal mark and an exponent: 1234.5, .5, 1e3.
//   - groups of three digits: 1,234.5 if point is '.', 1.234,5 if point is ',', and 1 234 or 1'234.
//   - a sign in front, also behind a currency sign, a minus at the end, or parentheses for a minus: -5, $-5, 5-, (5).
//   - currency signs, a letter k, K, M, B or T for a factor, and %: $3.50, 3,50 €, 1.5k, 20 M€, 5 %.
func ParseWritten(text string, point byte) (Written, bool) {
	s := writtenScanner{text: text, point: point}
	negative, open := s.lead()
	if open && s.peek(0) == '+' {
		return s.Written, false
	}
	var room [40]byte
	decimal, ok := s.decimal(room[:0])
	if !ok {
		return s.Written, false
	}
	if s.letter(); !negative && !open {
		negative = s.minus()
	}
	if closed := s.trail(open); s.at < len(s.text) || open != closed {
		return s.Written, false
	}
	if s.Letter != 0 {
		decimal = append(decimal, letters[s.Letter]...)
	}
	v, err := humanize.ParseNumber(string(decimal))
	if s.Value = v; negative || open {
		s.Value = -v
	}
	return s.Written, err == nil
}

// A writtenScanner parses a number from left to right.
type writtenScanner struct {
	text   string
	at     int
	point  byte
	scaled bool // the number has an exponent
	Written
}

// peek returns the byte at an offset from here, or 0 if the text ends before.
func (s *writtenScanner) peek(offset int) byte {
	if s.at+offset < len(s.text) {
		return s.text[s.at+offset]
	}
	return 0
}

func (s *writtenScanner) digit(offset int) bool { return s.peek(offset)-'0' < 10 }

// take goes behind a word if it comes next.
func (s *writtenScanner) take(word string) bool {
	is := strings.HasPrefix(s.text[s.at:], word)
	if is {
		s.at += len(word)
	}
	return is
}

// skip goes behind white space, and behind currency signs too if currency is true.
func (s *writtenScanner) skip(currency bool) {
	for s.at < len(s.text) {
		r, size := rune(s.text[s.at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s.text[s.at:])
		}
		switch {
		case unicode.IsSpace(r):
		case currency && unicode.Is(unicode.Sc, r):
			if s.Currency == 0 {
				s.Currency = r
			}
		default:
			return
		}
		s.at += size
	}
}

func (s *writtenScanner) digits() {
	for s.digit(0) {
		s.at++
	}
}

func (s *writtenScanner) minus() bool { return s.take("-") || s.take("\u2212") }

// lead goes behind currency signs, and behind a minus or a parenthesis among them.
func (s *writtenScanner) lead() (negative, open bool) {
	s.skip(true)
	if negative = s.minus(); !negative {
		open = s.take("(")
	}
	s.skip(true)
	return negative, open
}

// decimal goes behind the digits and their exponent. It appends them to text in the form of humanize.ParseNumber. It
// returns false if a group has not three digits. The sign + counts as a digit of the first group.
func (s *writtenScanner) decimal(text []byte) (_ []byte, ok bool) {
	start, thin := s.at, ""
	plus := s.take("+")
	first := s.at
	s.digits()
	text = append(text, s.text[start:s.at]...)
	width, groups, fraction := s.at-start, 1, false // of the last group
	if !plus {                                      // +49 555 123 is a telephone number
		thin = s.thinMark(first)
	}
	for thin != "" && s.three(thin) {
		s.at += len(thin) + 3
		text = append(text, s.text[s.at-3:s.at]...)
	}
	for thin == "" && s.peek(0) == '.'+','-s.point && width >= 1 && width <= 3 && (groups == 1 || width == 3) {
		groups++
		s.at++
		lo := s.at
		s.digits()
		text, width = append(text, s.text[lo:s.at]...), s.at-lo
	}
	if s.peek(0) == s.point && (groups == 1 || width == 3) {
		fraction = true
		s.at++
		lo := s.at
		s.digits()
		text = append(append(text, '.'), s.text[lo:s.at]...)
	}
	if lo := s.at; thin == "" && s.exponent() {
		text, width = append(text, s.text[lo:s.at]...), width+s.at-lo
	}
	s.Mark = groups > 1 || fraction
	s.OtherMark = groups == 2 && !fraction && (s.text[first] == '0' || s.scaled)
	return text, groups == 1 || fraction || width == 3
}

// thinMark returns the mark of thinMarks that stands behind the first group of digits, which begins at a position;
// "": none.
func (s *writtenScanner) thinMark(first int) string {
	if width := s.at - first; width >= 1 && width <= 3 && s.text[first] != '0' && s.at < len(s.text) &&
		strings.IndexByte(" '\xc2\xe2", s.text[s.at]) >= 0 {
		for _, mark := range thinMarks {
			if s.three(mark) {
				return mark
			}
		}
	}
	return ""
}

// three returns true if a mark and three digits come next, and no further digit.
func (s *writtenScanner) three(mark string) bool {
	n := len(mark)
	return strings.HasPrefix(s.text[s.at:], mark) && s.digit(n) && s.digit(n+1) && s.digit(n+2) && !s.digit(n+3)
}

// exponent goes behind an exponent if one comes next.
func (s *writtenScanner) exponent() bool {
	sign := 1
	if c := s.peek(1); c == '-' || c == '+' {
		sign = 2
	}
	if s.scaled = s.peek(0)|0x20 == 'e' && s.digit(sign); s.scaled {
		s.at += sign
		s.digits()
	}
	return s.scaled
}

// letter goes behind a letter for a factor, unless there is an exponent.
func (s *writtenScanner) letter() {
	before := s.at
	s.skip(false)
	if c := s.peek(0); strings.IndexByte("kKMBT", c) >= 0 && !s.scaled {
		s.Letter = c
		s.at++
		return
	}
	s.at = before
}

// trail goes behind currency signs, white space, %, and the parenthesis that closes an open one.
func (s *writtenScanner) trail(open bool) (closed bool) {
	for {
		switch s.skip(!s.Percent); {
		case !s.Percent && s.take("%"):
			s.Percent = true
		case open && !closed && s.take(")"):
			closed = true
		default:
			return closed
		}
	}
}
