package humanize

import "strings"

// Nearest returns the candidate with the smallest edit distance from name, ignoring case, or "" if none is near. At most a
// third of name's letters, rounded up, may differ; in a name of one letter, none. Names whose digits differ aren't near
// either: x28 is no slip for x2. Of equally near candidates, the first wins.
func Nearest(name string, candidates []string) string {
	best, limit := "", (len([]rune(name))+2)/3
	if limit == 1 && len([]rune(name)) == 1 {
		limit = 0
	}
	for _, c := range candidates {
		if a, b := digits(name), digits(c); a != b && a != "" && b != "" {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(c), limit); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// digits returns the digits in s.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// distance returns the Levenshtein distance of a and b: the fewest insertions, deletions and replacements of letters
// that turn a into b. If the distance exceeds limit, the result is only known to exceed limit too.
func distance(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if len(s)-len(t) > limit || len(t)-len(s) > limit {
		return limit + 1
	}
	row := make([]int, len(t)+1) // distances between a prefix of s and every prefix of t
	for j := range row {
		row[j] = j
	}
	for i, r := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range t {
			d := min(row[j], row[j+1]) + 1
			if r == q {
				d = min(d, diagonal)
			} else {
				d = min(d, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(t)]
}
