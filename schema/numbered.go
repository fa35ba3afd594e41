package schema

import (
	"strconv"
	"strings"
)

// numberedNames returns n names: the text name, then the number first, first + 1 and so on. They share one string:
// the garbage collector would take long to visit a million.
func numberedNames(name string, first, n int) []string {
	var all strings.Builder
	all.Grow(n * (len(name) + len(strconv.Itoa(first+n))))
	number := strconv.AppendInt(nil, int64(first), 10)
	for range n {
		all.WriteString(name)
		all.Write(number)
		number = increment(number)
	}
	names, rest := make([]string, n), all.String()
	digits, longer := len(strconv.Itoa(first)), powerAbove(first)
	for i := range names {
		if first+i == longer {
			digits, longer = digits+1, 10*longer
		}
		names[i], rest = rest[:len(name)+digits], rest[len(name)+digits:]
	}
	return names
}

// powerAbove returns the smallest power of ten above n, at least 10.
func powerAbove(n int) int {
	p := 10
	for p <= n {
		p *= 10
	}
	return p
}

// increment adds 1 to a decimal number.
func increment(number []byte) []byte {
	for i := len(number) - 1; i >= 0; i-- {
		if number[i]++; number[i] <= '9' {
			return number
		}
		number[i] = '0'
	}
	return append([]byte{'1'}, number...)
}

// Consecutive returns true if the features are named as svmlight features with consecutive indices are, such as f7, f8
// and f9. It also returns the first index.
func Consecutive(features []string) (first int, ok bool) {
	if len(features) == 0 || !numbered(features[:1]) {
		return 0, false
	}
	first, _ = strconv.Atoi(features[0][1:])
	number := strconv.AppendInt(nil, int64(first), 10)
	for _, name := range features {
		if name == "" || name[0] != 'f' || name[1:] != string(number) {
			return 0, false
		}
		number = increment(number)
	}
	return first, true
}
