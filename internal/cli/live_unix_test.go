//go:build unix

package cli

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPredictLive: predictions of standard input are written as its rows come, while the pipe stays open; all together are those of a file.
func TestPredictLive(t *testing.T) {
	rows := strings.SplitAfter("a,c,id,y\n1,x,7,p\n2,y,007,q\n-3,x,,q\n1e1,z,1.50,p\n,y,text,q\n-,NA,9,p\n4,5,8,p\n", "\n")
	dir := text(t, map[string]string{"x.csv": strings.Join(rows, ""), "x.svm": "1 1:1\n0 1:-1\n1 1:3 2:1\n", "headless.csv": "1,2,p\n3,1.5,q\n-1,4,q\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", at("x.csv"), "--label", "y", "--exclude", "id", "--categorical", "onehot", "--nulls", "drop", "--algo", "averaged", "--out", at("m.json"))
	succeed(t, "train", at("x.svm"), "--algo", "averaged", "--out", at("n.json"))
	succeed(t, "train", at("headless.csv"), "--label", "last", "--algo", "averaged", "--out", at("o.json"))
	for _, c := range []struct {
		name, model, data string
		args              []string
		header            int // lines of the input before the first that is answered
	}{
		{"header", "m.json", "x.csv", []string{"--keep", "id,a", "--score"}, 1},
		{"no header", "o.json", "headless.csv", []string{"--score"}, 0},
		{"svmlight", "n.json", "x.svm", []string{"--score"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := program(t, append([]string{"predict", "--model", at(c.model), "-", "--out", "-"}, c.args...)...)
			lines := strings.SplitAfter(read(t, at(c.data)), "\n")
			lines = lines[:len(lines)-1]
			out := answered(t, cmd, lines, c.header)
			kept := c.args[len(c.args)-1:]
			if c.header == 0 { // of the other format the whole is what a file gives; what is kept of CSV is text as it stands
				succeed(t, append([]string{"predict", "--model", at(c.model), at(c.data), "--out", at("p.csv")}, kept...)...)
				if want := read(t, at("p.csv")); out != want {
					t.Errorf("predictions are\n%s\nof a file\n%s", out, want)
				}
				return
			}
			succeed(t, append([]string{"predict", "--model", at(c.model), at(c.data), "--out", at("p.csv")}, kept...)...)
			want := strings.Split(read(t, at("p.csv")), "\n")
			for i, id := range []string{"id", "7", "007", "", "1.50", "text", "9", "8"} {
				a := strings.Split(strings.Split(out, "\n")[i], ",")
				if a[0] != id || strings.Join(a[2:], ",") != want[i] {
					t.Errorf("line %d is %q, want %s and %s", i, a, id, want[i])
				}
			}
		})
	}
}

// TestPredictLiveBoolean: a column of booleans may be empty in the first row that comes.
func TestPredictLiveBoolean(t *testing.T) {
	rows := []string{"b,y\n", ",q\n", "true,p\n", "FALSE,q\n", "True,p\n"}
	dir := text(t, map[string]string{"x.csv": strings.Join(rows, "")})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", at("x.csv"), "--label", "y", "--nulls", "zero", "--algo", "averaged", "--out", at("m.json"))
	succeed(t, "predict", "--model", at("m.json"), at("x.csv"), "--out", at("p.csv"), "--score")
	cmd := program(t, "predict", "--model", at("m.json"), "-", "--out", "-", "--score")
	if out, want := answered(t, cmd, rows, 1), read(t, at("p.csv")); out != want {
		t.Errorf("predictions are\n%s\nof a file\n%s", out, want)
	}
}

// answered starts a command and gives it one line after the other, each once the one before was answered. It returns what it wrote.
func answered(t *testing.T, cmd *exec.Cmd, lines []string, header int) string {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	var all strings.Builder
	out := bufio.NewReader(stdout)
	for i, line := range lines {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
		if i < header {
			continue
		}
		answers := 1
		if i == header {
			answers = 2 // the header of the predictions comes with the first
		}
		for range answers {
			answer, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("after %q: %v", line, err)
			}
			all.WriteString(answer)
		}
	}
	in.Close()
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	all.Write(rest)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return all.String()
}
