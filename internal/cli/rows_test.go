package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ample makes data of so many rows that they take several blocks of float32, of 33 numbers for each row.
func ample(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ample.parquet")
	succeed(t, "gen", "--rows", rows, "--features", "28", "--noise", "0.1", "--row-group-rows", "7000", "--compression", "none", "--out", path)
	return path
}

// trainedModel trains and returns the report and the bytes of the model.
func trainedModel(t *testing.T, args ...string) (report map[string]any, m string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	report = decode(t, slices.Concat([]string{"train", "--algo", "perceptron", "--label", "label", "--json", "--out", path}, args)...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, filepath.Dir(path), "m.json")
	return report, string(text)
}

// TestStreamIdentity trains in memory, from the files and from a cache. The model is the same in every order, with and without the
// pocket, on any number of workers.
func TestStreamIdentity(t *testing.T) {
	small, large := ample(t, "80000"), ample(t, "330000") // 10.1 and 41.5 MiB of blocks
	workers := []string{"1", "3", "8"}
	if testing.Short() {
		workers = []string{"3"}
	}
	for i, c := range []struct{ data, options, memory string }{
		{small, "--epochs 3", "12500000"},
		{small, "--epochs 2 --order shuffle", "12500000"},
		{small, "--epochs 2 --order fixed-shuffle --no-bias --exclude x1,x2,x3,x4", "9500000"},
		{small, "--epochs 1 --order random --seed 9 --eta 0.25", "12500000"},
		{small, "--epochs 2 --order shuffle --algo pocket --max-updates 70", "12500000"},
		{small, "--epochs 2 --algo averaged", "12500000"},
		{small, "--epochs 1 --algo voted --max-updates 50", "12500000"},
		{small, "--epochs 2 --algo averaged --order shuffle", "12500000"},
		{large, "--epochs 1 --algo pocket --max-updates 40", "53000000"},
		{large, "--epochs 1", "30MB"},
		{small, "--epochs 2 --algo passive-aggressive --order shuffle --shards 9", "12500000"}, // 1 shard at a time
	} {
		if testing.Short() && i%2 == 1 {
			continue
		}
		options := append(strings.Fields(c.options), c.data)
		plain, want := trainedModel(t, options...)
		if plain["streamed"] != false {
			t.Fatalf("%s: streamed without need", c.options)
		}
		cache := filepath.Join(t.TempDir(), "cache")
		for _, w := range workers {
			ways := [][]string{{"--memory", c.memory}, {"--memory", c.memory, "--cache", cache}}
			if w == "3" {
				ways = append(ways, []string{"--cache", cache})
			}
			for _, more := range ways {
				got, m := trainedModel(t, slices.Concat(options, more, []string{"--workers", w})...)
				if m != want {
					t.Fatalf("%s %s on %s workers gives\n%s\nand in memory\n%s", c.options, more, w, m, want)
				}
				if got["streamed"] != slices.Contains(more, "--memory") {
					t.Fatalf("%s %s: streamed is %v", c.options, more, got["streamed"])
				}
			}
		}
	}
}

// TestMemoryTooSmall tells how much it takes.
func TestMemoryTooSmall(t *testing.T) {
	data := ample(t, "80000")
	for options, want := range map[string]string{
		"--memory 1MiB":                         "halfspace: 1 MiB of memory is too little: reading these rows piece by piece takes 10.07 MiB, give that with --memory\n",
		"--memory 10MiB --order random":         "halfspace: 10 MiB of memory is too little: reading these rows piece by piece takes 11.62 MiB, give that with --memory\n",
		"--memory 11MiB --shards 9 --workers 4": "halfspace: 11 MiB of memory is too little: reading these rows piece by piece takes 11.62 MiB, give that with --memory\n",
	} {
		status, stdout, stderr := command(append([]string{"train", "--algo", "perceptron", data, "--label", "label", "--out", filepath.Join(t.TempDir(), "m.json")},
			strings.Fields(options)...)...)
		if status != exitFailed || stdout != "" || stderr != want {
			t.Errorf("%s: status %d, %q, %q", options, status, stdout, stderr)
		}
	}
}

// TestFewerShards: a note tells how many shards learn at the same time, if memory has no room for all workers.
func TestFewerShards(t *testing.T) {
	data := ample(t, "80000")
	for memory, want := range map[string]string{
		"12MiB": "note: memory has room for 1 shard at a time, not for 4: give more with --memory to learn faster; the model is the same\n",
		"64MiB": "",
	} {
		status, _, stderr := command("train", "--algo", "perceptron", data, "--label", "label", "--epochs", "1", "--shards", "9", "--workers", "4", "--memory", memory,
			"--out", filepath.Join(t.TempDir(), "m.json"))
		if status != exitDone || stderr != want {
			t.Errorf("%s: status %d, %q, want %q", memory, status, stderr, want)
		}
	}
}

// TestCacheNotes: a cache is made anew where it must be, with a note, and what is none is left alone.
func TestCacheNotes(t *testing.T) {
	data := noisy(t, "5000")
	dir := t.TempDir()
	file, out := filepath.Join(dir, "cache"), filepath.Join(dir, "m.json")
	train := func(options ...string) (status int, stderr string) {
		status, _, stderr = command(slices.Concat([]string{"train", "--algo", "perceptron", data, "--label", "label", "--epochs", "1", "--out", out, "--cache", file}, options)...)
		return status, stderr
	}
	change := func(how func(content []byte) []byte) {
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, how(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	note := func(why string) string { return "note: " + file + ": " + why + "; the cache is made anew\n" }
	for i, c := range []struct {
		options []string
		before  func()
		want    string
	}{
		{want: ""},
		{want: ""},
		{options: []string{"--no-bias"}, want: note("it was made with other options")},
		{options: []string{"--standardize"}, want: note("it was made with other options")},
		{want: note("it was made with other options")},
		{options: []string{"--order", "shuffle", "--workers", "3", "--seed", "4"}, want: ""},
		{before: func() { succeed(t, "gen", "--rows", "5001", "--features", "9", "--noise", "0.1", "--out", data) },
			want: note(data + " changed since it was made")},
		{before: func() { change(func(b []byte) []byte { b[5000]++; return b }) }, want: note("it is damaged")},
		{before: func() { change(func(b []byte) []byte { return b[:len(b)-1] }) }, want: note("it is damaged")},
		{want: ""},
	} {
		if c.before != nil {
			c.before()
		}
		if status, stderr := train(c.options...); status != exitDone || stderr != c.want {
			t.Errorf("run %d: status %d, %q, want %q", i, status, stderr, c.want)
		}
	}
	onlyFiles(t, dir, "cache", "m.json")
	change(func([]byte) []byte { return []byte("a diary") })
	status, stderr := train()
	if want := "halfspace: " + file + ": it is no cache of halfspace, so it isn't replaced: name another file for the cache\n"; status != exitFailed || stderr != want {
		t.Errorf("a diary: status %d, %q, want %q", status, stderr, want)
	}
	change(func(b []byte) []byte {
		if string(b) != "a diary" {
			t.Errorf("the diary is %q", b)
		}
		return b
	})
}

// TestCacheHit: a cache that is used again repeats the notes that were made when it was written.
func TestCacheHit(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "x,name,y\n1,a,0\n,b,1\n3,c,1\n16777217,d,0\n", "b.svm": "1 qid:7 1:3 2:3\n-1 qid:8 1:1 2:1\n"})
	parquet := write(t, "c.parquet", col{"x1", []int64{3, 1<<60 + 1, 1}}, col{"y", signs}, col{"name", []string{"a", "b", "c"}})
	for data, c := range map[string]struct {
		options string
		notes   int
	}{
		filepath.Join(dir, "a.csv"): {"--label y --nulls drop", 4}, filepath.Join(dir, "b.svm"): {"--label label", 2}, // with that of a class that is never predicted
		parquet: {"--label y --standardize", 3},
	} {
		cache, m := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "m.json")
		var first [2]string
		for run := range 3 {
			args := slices.Concat([]string{"train", "--algo", "perceptron", data, "--epochs", "3", "--out", m, "--cache", cache}, strings.Fields(c.options))
			status, _, stderr := command(args...)
			got, err := os.ReadFile(m)
			if status != exitDone || err != nil {
				t.Fatalf("%s, run %d: status %d, %q, %v", data, run, status, stderr, err)
			}
			if run == 0 {
				first = [2]string{stderr, string(got)}
			}
			if first != [2]string{stderr, string(got)} || strings.Count(stderr, "note: ") != c.notes {
				t.Errorf("%s, run %d: %q, want %q; the same model: %t", data, run, stderr, first[0], first[1] == string(got))
			}
		}
	}
}
