package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/cmd/internal/train"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// flippedData flips one bit of a file of data. verify must tell it from the one that the model was learned from. If rows differ it must name
// their chunks, and no other.
func flippedData(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) []byte {
		text, err := os.ReadFile(in(name))
		require.NoError(t, err)
		return text
	}
	names := []string{"d.csv", "d.svm", "d.arrow", "d.parquet"}
	whole, rows := map[string][]byte{}, map[string][]string{}
	succeed(t, "gen", "--rows", "9000", "--features", "2", "--noise", "0.1", "--out", in("d.csv"))
	for _, name := range names {
		if name != "d.csv" {
			succeed(t, "convert", in("d.csv"), "--out", in(name))
		}
		succeed(t, "train", in(name), "--label", "label", "--algo", "perceptron", "--epochs", "2", "--out", in(name)+".m", "--receipt", in(name)+".r")
		succeed(t, "convert", in(name), "--out", in("rows.csv"))
		whole[name], rows[name] = read(name), strings.Split(string(read("rows.csv")), "\n")
	}
	i := 0
	return func(rng *rand.Rand) (end, lost string) {
		name := names[i%len(names)]
		i++
		at, flipped := rng.IntN(len(whole[name])), slices.Clone(whole[name])
		flipped[at] ^= 1 << rng.IntN(8)
		require.NoError(t, os.WriteFile(in(name), flipped, 0o666))
		status, stdout, stderr := command("verify", "--json", "--model", in(name)+".m", "--receipt", in(name)+".r", in(name))
		var v train.Verdict
		wrong := ""
		switch {
		case stdout == "": // the file can't be read
			if end, wrong = unreadable(stderr, in(name), whole[name], at); status != exitFailed || !isOneLine(stderr) {
				wrong = "no error in a line"
			}
		case json.Unmarshal([]byte(stdout), &v) != nil || len(v.Files) != 1:
			end, wrong = "failed", "it isn't the verdict of a file that differs"
		case v.UnreadReason != "": // with the features of the model
			if end, wrong = unreadable(v.UnreadReason, in(name), whole[name], at); v.IsVerified {
				wrong = "verified"
			}
		case slices.Equal(v.DifferingKeys, []string{"preprocessing"}): // -0.5 became "- .5", which is the same number with marks
			if end = "same numbers, with marks"; v.IsVerified || len(v.Chunks) > 0 || name != "d.csv" {
				wrong = "rows of it differ"
			}
		default:
			var chunks []train.RowRange
			if status, _, stderr := command("convert", in(name), "--keep", rows[name][0], "--out", in("rows.csv")); status == exitDone {
				chunks = otherChunks(rows[name], strings.Split(string(read("rows.csv")), "\n"))
			} else {
				wrong = stderr
			}
			if end = "located"; len(v.Chunks) == 0 { // the text of a number that stays the same, or bytes that mean nothing
				end = "same rows"
			}
			if !slices.Equal(v.Chunks, chunks) || v.IsVerified != (len(chunks) == 0) {
				wrong = fmt.Sprintf("rows of %v differ", chunks)
			}
		}
		if wrong != "" {
			lost = fmt.Sprintf("byte %d of %s: %s: status %d, %s%s", at, name, wrong, status, stdout, stderr)
		}
		return end, lost
	}
}

// places is what an error says of the place in a file.
var places = regexp.MustCompile(`(line|row) ([0-9]+)|column`)

// unreadable returns how the try of a file ends that can't be read, by the place that its error names, and what is wrong with the error.
func unreadable(stderr, path string, whole []byte, at int) (end, wrong string) {
	_, text, ok := strings.Cut(stderr, path+": ")
	if !ok {
		return "unreadable", "the error doesn't name the file"
	}
	end = "unreadable, in a header or footer"
	for _, place := range places.FindAllStringSubmatch(text, -1) {
		switch n, _ := strconv.Atoi(place[2]); place[1] {
		case "line":
			if line := 1 + bytes.Count(whole[:at], []byte("\n")); n < line-1 || n > line+1 {
				wrong = fmt.Sprintf("line %d was changed", line)
			}
			return "unreadable, with the line or row", wrong
		case "row":
			return "unreadable, with the line or row", ""
		default:
			end = "unreadable, with the column"
		}
	}
	return end, ""
}

// otherChunks returns the chunks with differing rows of two CSV files, as verify tells them. Numbers are the same if they are as float32.
func otherChunks(a, b []string) (chunks []train.RowRange) {
	same := func(i int) bool {
		switch {
		case i >= len(a) || i >= len(b):
			return false
		case a[i] == b[i]:
			return true
		}
		return slices.EqualFunc(strings.Split(a[i], ","), strings.Split(b[i], ","), func(x, y string) bool {
			v, err := strconv.ParseFloat(x, 32)
			w, fail := strconv.ParseFloat(y, 32)
			return x == y || err == nil && fail == nil && v == w
		})
	}
	rows := int64(max(len(a), len(b)) - 2) // without the header, and what is after the last line
	for row := range rows {
		if same(int(row) + 1) {
			continue
		}
		first := row / block.ChunkRows * block.ChunkRows
		last := min(first+block.ChunkRows, rows) - 1
		switch n := len(chunks); {
		case n > 0 && chunks[n-1].Last == last:
		case n > 0 && chunks[n-1].Last == first-1:
			chunks[n-1].Last = last
		default:
			chunks = append(chunks, train.RowRange{First: first, Last: last})
		}
	}
	return chunks
}
