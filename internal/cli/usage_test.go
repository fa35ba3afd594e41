package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/cli/flags"
)

// A misuse is a wrong command line and what is said of it. DATA, MODEL and PROOF stand for files.
type misuse struct{ args, want string }

// TestUsageVerbs: an unknown verb is answered by the nearest one.
func TestUsageVerbs(t *testing.T) {
	misused(t, []misuse{
		{"trian", `unknown command "trian": did you mean train?`},
		{"fit", `unknown command "fit": use train`},
		{"classify", `unknown command "classify": use predict`},
		{"DATA", `unknown command "DATA", which is a file: use train DATA --label COLUMN to learn from it, or inspect DATA`},
		{"MODEL", `unknown command "MODEL", which is a model: use predict --model MODEL DATA, or inspect MODEL`},
		{"frobnicate", `unknown command "frobnicate"`},
		{"help trian", `unknown command "trian": did you mean train?`},
		{"help frobnicate", `unknown command "frobnicate"`},
		{"help train DATA", "unknown command"},
		{"help completion basch", `unknown command "basch": did you mean bash?`},
		{"completion basch", `unknown command "basch": did you mean bash?`},
		{"completion frobnicate", `unknown command "frobnicate"`},
		{"completion bash extra", `unknown command "extra"`},
	})
}

// TestUsageSlips: an unknown option or learner is answered by what to type, also where another program calls it so.
func TestUsageSlips(t *testing.T) {
	misused(t, []misuse{
		{"train DATA --label y -o m.json", "unknown option -o: use --out"},
		{"predict --model MODEL DATA -o p.csv", "unknown option -o: use --out"},
		{"convert DATA -o p.csv", "unknown option -o: use --out"},
		{"gen --noise 0.1 -o p.csv", "unknown option -o: use --out"},
		{"eval DATA -m MODEL", "unknown option -m: use --model"},
		{"train DATA -label y", "unknown option -label: use --label"},
		{"eval DATA --model MODEL -o p.csv", "unknown option -o"},
		{"train DATA --label y --C 1", "unknown option --C: use --l2 with 1/C"},
		{"train DATA --label y -c 1", "unknown option -c: use --l2 with 1/C"},
		{"train DATA --label y --alpha=1", "unknown option --alpha: use --l2 with alpha times the number of rows"},
		{"train DATA --label y --max_iter 3", "unknown option --max_iter: use --epochs"},
		{"train DATA --label y --class_weight balanced", "unknown option --class_weight: use --class-weight"},
		{"train DATA --target y", "unknown option --target: use --label"},
		{"train DATA --label y --learning_rate 0.1", "unknown option --learning_rate: use --eta"},
		{"train DATA --label y --fit_intercept false", "unknown option --fit_intercept: use --no-bias, or leave it out"},
		{"train DATA --label y --model MODEL", "unknown option --model: use --out"},
		{"train DATA --label y --algo LogisticRegression", "--algo LogisticRegression: use --algo logistic, whose --l2 is 1/C"},
		{"train DATA --label y --algo LinearSVC", "--algo LinearSVC: use --algo svm, whose --l2 is 1/C"},
		{"train DATA --label y --algo SVC", "--algo SVC: use --algo svm, whose --l2 is 1/C, or with a kernel dual"},
		{"train DATA --label y --algo SGDClassifier", "use --algo logistic with --solver sgd, or averaged"},
		{"train DATA --label y --algo LinearDiscriminantAnalysis", "--algo LinearDiscriminantAnalysis: use --algo lda"},
		{"train DATA --label y --algo Perceptron", "did you mean perceptron?"},
		{"train DATA --label y --algo l2r_l2loss_svc_dual", "use --algo svm, whose --l2 is 1/C"},
		{"train DATA --label y --algo logistic-regression", "use --algo logistic"},
		{"train DATA --label y --algo pocket --validation 20%", "--validation is 20%: use --validation 0.2 to hold"},
		{"train DATA --label y --algo pocket --validation 12.5", "--validation is 12.5: use --validation 0.125 to hold"},
		{"train DATA --lable y", "unknown option --lable: did you mean --label?"},
		{"train DATA --label y --algo pockets", "--algo pockets: use perceptron, pocket, averaged, voted, winnow, dual, kernel-perceptron, logistic, lda, svm, passive-aggressive, ftrl or adagrad: did you mean pocket?"},
		{"train DATA --label y --snapshot d", "unknown option --snapshot"},
	})
}

// TestUsagePaths: addresses and models that stand in place of data are known.
func TestUsagePaths(t *testing.T) {
	misused(t, []misuse{
		{"train s3://bucket/x.parquet --label y", "s3://bucket/x.parquet: halfspace reads local files: use halfspace-beam, mount the bucket, or copy it here first"},
		{"train https://a.b/c.csv --label y", "https://a.b/c.csv: only local files are read"},
		{"check gs://a/b.csv --label y", "only local files are read"},
		{"train file:///x.csv --label y", "file:///x.csv is an address, not a path: leave out file://"},
		{"train DATA --label y --algo pocket --validation s3://a/b.csv", "s3://a/b.csv: halfspace reads local files"},
		{"inspect s3://a/m.json", "only local files are read"},
		{"eval --model s3://a/m.json DATA", "s3://a/m.json: only local files are read: copy it here first (see"},
		{"train DATA --label y --out gs://a/m.json", "gs://a/m.json: only local files are written: write one, and copy it there"},
		{"gen --noise 0.1 --out gs://a/m.csv", "only local files are written"},
		{"predict MODEL DATA --out p.csv", "MODEL is a model: use --model MODEL, and name the data"},
		{"predict MODEL DATA", "MODEL is a model: use --model MODEL, and name the data"},
		{"eval --model MODEL MODEL", "MODEL is a model: use --model MODEL, and name the data"},
		{"online DATA MODEL", "MODEL is a model: use --model MODEL, and name the data"},
		{"train MODEL --label y", "MODEL is a model: name the data, or use predict --model MODEL DATA"},
		{"check MODEL --label y", "MODEL is a model: name the data, or use predict --model MODEL DATA"},
		{"convert MODEL --out p.csv", "MODEL is a model: name the data, or use predict --model MODEL DATA"},
		{"train PROOF --label y", "PROOF is what check --json printed: name the data, or use inspect PROOF"},
	})
}

// TestUsageWords: a wrong verb is judged before its options, and names that other programs use are known.
func TestUsageWords(t *testing.T) {
	misused(t, []misuse{
		{"tarin DATA --label y", `unknown command "tarin": did you mean train?`},
		{"fit DATA --label y", `unknown command "fit": use train`},
		{"evaluate --model MODEL DATA", `unknown command "evaluate": use eval`},
		{"DATA --label y", "which is a file: use train DATA --label COLUMN"},
		{"schema DATA", "use inspect FILE, which lists the columns and their types"},
		{"train --data DATA --label y", "unknown option --data: name the data without an option, such as train FILE"},
		{"eval --model MODEL --input DATA", "unknown option --input: name the data without an option, such as eval FILE"},
		{"--label y tarin", "unknown option --label"},
	})
	if version := succeed(t, "version"); version != succeed(t, "--version") || !strings.HasPrefix(version, "halfspace version ") {
		t.Errorf("version prints %q", version)
	}
}

// TestUsageTrain: a value that an option of train can't have is named with those that it can have.
func TestUsageTrain(t *testing.T) {
	misused(t, []misuse{
		{"train DATA --label y --algo pocket --validation 120%", "--validation is 120%"},
		{"train", "no data"},
		{"train DATA", "--label is missing"},
		{"train DATA --label", "--label needs a value"},
		{"train DATA --label y --order backwards", "use cyclic, shuffle, fixed-shuffle or random"},
		{"train DATA --label y --pocket ratched", "--pocket ratched: use exact, ratchet or epoch: did you mean ratchet?"},
		{"train DATA --label y --dtype float64", "unknown option --dtype: rows are float32, leave it out, and use --standardize if a column needs more digits"},
		{"online DATA --label y --dtype float32", "unknown option --dtype: rows are float32, leave it out (see"},
		{"train DATA --label y --progress sometimes", "use auto, always or never"},
		{"train DATA --label y --nulls median", "--nulls median: use error, drop, zero or mean"},
		{"train DATA --label y --categorical one-hot", "--categorical one-hot: use onehot or hash:BITS, with BITS from 1 to 24"},
		{"train DATA --label y --categorical hash:40", "--categorical hash:40: use onehot or hash:BITS, with BITS from 1 to 24"},
		{"train DATA --label y --epochs 0", "--epochs is 0: use 1 or more"},
		{"train DATA --label y --epochs -1", "--epochs is -1: use 1 or more"},
		{"train DATA --label y --epochs many", "--epochs many: use a whole number"},
		{"train DATA --label y --epochs 1.5", "--epochs 1.5: use a whole number"},
		{"train DATA --label y --max-updates -1", "--max-updates is -1"},
		{"train DATA --label y --eta 0", "--eta is 0"},
		{"train DATA --label y --eta 1.1", "--eta is 1.1"},
		{"train DATA --label y --eta NaN", "--eta is NaN"},
		{"train DATA --label y --margin -1", "--margin is -1: use a number of 0 or more that a float32 can hold"},
		{"train DATA --label y --margin 1e300", "--margin is 1e+300"},
		{"train DATA --label y --margin NaN", "--margin is NaN"},
		{"train DATA --label y --early-stop -1 --validation 0.1", "--early-stop is -1"},
		{"train DATA --label y --algo winnow --no-bias", "--no-bias with --algo winnow, which has a threshold"},
		{"train DATA --label y --early-stop 2", "--early-stop needs --validation"},
		{"train DATA --label y --eta 1e-60", "--eta is 1e-60"},
		{"train DATA --label y --eta fast", "--eta fast: use a number"},
		{"train DATA --label y --seed -1", "--seed -1: use a whole number"},
		{"train DATA --label y --workers -1", "--workers is -1"},
		{"train DATA --label y --isa mmx", "--isa: unknown instruction set"},
		{"train DATA --label y --isa neon9", "--isa: unknown instruction set"},
		{"train DATA --label y --out -", "--out is -"},
		{"train DATA --label y --memory much", "--memory much: use a size such as 256MiB or 8G"},
		{"train DATA --label y --memory 8X", "--memory 8X: use a size"},
		{"train DATA --label y --memory 0", "--memory 0: use a size"},
		{"train DATA --label y --memory -1G", "--memory -1G: use a size"},
		{"train DATA --label y --memory 1e30G", "--memory 1e30G: use a size"},
		{"train DATA --label y --cache -", "--cache is -: name a file"},
		{"train DATA --label y --cache x/m.json --out x/./m.json", "--cache and --out are both x/./m.json: name two files"},
		{"train DATA --label y -q", "-q"},
	})
}

// TestUsageOthers: the other verbs say what is missing or too much.
func TestUsageOthers(t *testing.T) {
	misused(t, []misuse{
		{"predict DATA --out p.csv", "--model is missing"},
		{"predict --model MODEL --model MODEL DATA --out p.csv", "2 models: predict applies one, give --model once"},
		{"predict --model= DATA --out p.csv", "--model is missing"},
		{"predict --model MODEL --out p.csv", "no data"},
		{"predict --model MODEL DATA", "--out is missing"},
		{"predict --model MODEL DATA --out - --json", "choose one"},
		{"predict --model MODEL DATA --out /dev/stdout --json", "choose one"},
		{"predict --model MODEL DATA --out /dev/fd/1 --json", "choose one"},
		{"predict --model MODEL DATA --out /proc/self/fd/1 --json", "choose one"},
		{"predict --model MODEL DATA --out - --isa mmx", "unknown instruction set"},
		{"eval DATA", "--model is missing"},
		{"eval --model MODEL", "no data"},
		{"eval --model MODEL DATA --workers -2", "--workers is -2"},
		{"inspect -", "standard input can't be inspected, since it is read more than once: save it and name the file (see"},
		{"inspect DATA --index-base 2", "use auto, 0 or 1 (see"},
		{"inspect DATA --header ?", "use auto, yes or no (see"},
		{"inspect", "0 files"},
		{"inspect MODEL DATA", "2 files"},
		{"gen --noise 0.1", "--out is missing"},
		{"gen --out x.parquet", "choose one kind"},
		{"gen --noise 0.1 --out - --json", "choose one"},
		{"gen --rows 3 --noise 0.1 --out /dev/../dev/fd/1 --json", "choose one"},
		{"gen --noise 0.1 --margin 1 --out x.parquet", "choose one kind"},
		{"gen --noise 0.1 --rows 0 --out x.parquet", "rows is 0"},
		{"gen --noise 2 --out x.parquet", "noise is 2"},
		{"gen --noise 0.1 --row-group-rows -1 --out x.parquet", "--row-group-rows is -1"},
		{"gen --noise 0.1 --out x.parquet extra", "extra"},
		{"cpu extra", "extra"},
	})
}

// misused runs wrong command lines. Each must print one line of error, which tells where to find help.
func misused(t *testing.T, all []misuse) {
	t.Helper()
	data := textbook(t, signs)
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--out", m)
	proof := filepath.Join(t.TempDir(), "proof.json")
	if err := os.WriteFile(proof, []byte(succeed(t, "check", data, "--label", "y", "--json")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		named := strings.NewReplacer("DATA", data, "MODEL", m, "PROOF", proof)
		if !strings.Contains(c.want, "--model MODEL DATA") {
			c.want = named.Replace(c.want)
		} else {
			c.want = strings.ReplaceAll(c.want, "MODEL", m)
		}
		args := strings.Fields(named.Replace(c.args))
		status, stdout, stderr := command(args...)
		if status != exitUsage || stdout != "" {
			t.Errorf("%s: status %d, standard output %q", c.args, status, stdout)
		}
		verb := "halfspace " + args[0]
		switch {
		case strings.HasPrefix(c.args, "completion bash "):
			verb += " bash"
		case strings.HasPrefix(c.args, "bench compare "):
			verb += " compare"
		case !slices.Contains([]string{"train", "predict", "eval", "inspect", "convert", "gen", "cpu", "help", "completion", "check", "online", "bench"}, args[0]):
			verb = "halfspace"
		}
		if !strings.Contains(stderr, c.want) || !isOneLine(stderr) || !strings.HasSuffix(stderr, "(see "+verb+" --help)\n") {
			t.Errorf("%s: standard error is %q, want one line with %q and where to find help", c.args, stderr, c.want)
		}
	}
}

func TestISAVariable(t *testing.T) {
	data := textbook(t, signs)
	t.Setenv(flags.ISAVariable, "mmx")
	for _, args := range [][]string{{"train", "--algo", "perceptron", data, "--label", "y"}, {"cpu"}} {
		status, _, stderr := command(args...)
		if status != exitUsage || !strings.Contains(stderr, flags.ISAVariable+": unknown instruction set") || !isOneLine(stderr) {
			t.Errorf("%s: status %d: %q", args[0], status, stderr)
		}
	}
	if got := decode(t, "train", "--algo", "perceptron", data, "--label", "y", "--isa", "generic", "--json")["isa"]; got != "generic" {
		t.Errorf("--isa generic ran on %v", got)
	}
	t.Setenv(flags.ISAVariable, "generic")
	if got := decode(t, "cpu", "--json")["isa"]; got != "generic" {
		t.Errorf("%s=generic gives %v", flags.ISAVariable, got)
	}
}

func TestFailures(t *testing.T) {
	data := textbook(t, signs)
	dir := t.TempDir()
	m := filepath.Join(dir, "m.json")
	succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--out", m)
	damaged := filepath.Join(dir, "damaged.json")
	text, err := os.ReadFile(m)
	if err != nil {
		t.Fatal(err)
	}
	other := write(t, "other.parquet", col{"x1", []float64{1}}, col{"prediction", []string{"?"}}, col{"x2", []float64{1}},
		col{"score", []float64{0}}, col{"y", []int64{7}})
	none := write(t, "none.parquet", col{"x1", []float64{}}, col{"x2", []float64{}}, col{"y", []int64{}})
	clone := write(t, "one.parquet", col{"x1", []float64{1, 2}}, col{"y", []int64{1, 1}})
	for path, data := range map[string][]byte{
		damaged:                             bytes.Replace(text, []byte("-3"), []byte("-4"), 1),
		filepath.Join(dir, "text.parquet"):  []byte("x1,x2\n1,2\n"),
		filepath.Join(dir, "empty.parquet"): nil,
		filepath.Join(dir, "cut.parquet"):   []byte("PAR1\x00\x00"),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	huge := write(t, "huge.parquet", col{"x1", []float64{1e200, 1}}, col{"y", []int64{1, 0}})
	name := write(t, "name.parquet", col{"x\xff", []float64{3, 1}}, col{"y", []int64{1, 0}})
	before, _ := os.ReadDir(dir)
	for _, c := range []struct{ args, want string }{
		{"train DIR/none.parquet --label y", "none.parquet: no such file"},
		{"train DIR/*.csv --label y", "*.csv: no file matches"},
		{"train DIR/text.parquet --label y", "text.parquet"},
		{"train DIR/empty.parquet --label y", "empty.parquet"},
		{"train DIR/cut.parquet --label y", "cut.parquet"},
		{"train ONE --label y", "one.parquet"},
		{"train DATA --label why", `no column "why"`},
		{"train DATA --label y --features x3", `no column "x3" (columns`},
		{"train DATA --label y --features name", `"name"`},
		{"train DATA --label y --exclude x*", "no feature"},
		{"train DATA --label y --positive 2", "2"},
		{"train DATA --label y --out DIR/none/m.json", "there is no directory"},
		{"train DATA --label y --out DIR", "is a directory"},
		{"train DATA --label y --out DATA/m.json", "m.json can't be written: not a directory: choose another path\n"},
		{"train DATA --label y --out DATA", "is to be read and to be written"},
		{"predict --model DIR/none.json DATA --out DIR/p.csv", "none.json: no such file or directory: check the path\n"},
		{"predict --model DIR/damaged.json DATA --out DIR/p.csv", "damaged.json: damaged halfspace model: wrong checksum"},
		{"predict --model DATA DATA --out DIR/p.csv", "not a halfspace model: it doesn't start as a JSON object: name what train --out wrote"},
		{"predict --model MODEL OTHER --keep prediction --out DIR/p.csv", `"prediction"`},
		{"predict --model MODEL OTHER --keep * --score --out DIR/p.csv", `can't be kept beside`},
		{"predict --model MODEL DATA --keep id --out DIR/p.csv", `no column "id"`},
		{"predict --model MODEL DATA --out DIR/p.txt", ".txt"},
		{"predict --model MODEL DATA --out DIR/none/p.csv", "there is no directory"},
		{"predict --model MODEL DATA --out DATA", "is to be read and to be written"},
		{"predict --model MODEL DATA --out MODEL", "is to be read and to be written"},
		{"predict --model MODEL ONE --out DIR/p.csv", `no column "x2"`},
		{"eval --model MODEL DATA --label name", `"name"`},
		{"eval --model MODEL OTHER", "7"},
		{"eval --model MODEL --model DIR/none.json DATA", "none.json"},
		{"eval --model MODEL EMPTY", "no rows"},
		{"train EMPTY --label y", "no rows"},
		{"train NAME --label y", "a model can't be made of this data: name of feature \"x\\xff\" is not valid UTF-8"},
		{"train HUGE --algo perceptron --label y --standardize", "too large"},
		{"inspect DIR/none.json", "no such file or directory: check the path\n"},
		{"inspect DIR/text.parquet", "not a Parquet file"},
		{"inspect DIR/empty.parquet", "the file is empty"},
		{"inspect DIR/cut.parquet", "cut.parquet"},
		{"inspect DIR/damaged.json", "wrong checksum"},
		{"inspect DIR", "is a directory: name a file in it\n"},
		{"gen --noise 0.1 --rows 10 --out DIR/none/x.parquet", "there is no directory"},
		{"gen --noise 0.1 --rows 10 --out DIR/x.txt", ".txt"},
	} {
		args := strings.Fields(strings.NewReplacer("DATA", data, "MODEL", m, "DIR", dir, "OTHER", other, "ONE", clone, "HUGE", huge, "NAME", name, "EMPTY", none).Replace(c.args))
		status, stdout, stderr := command(args...)
		lines := strings.SplitAfter(stderr, "\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "note: ") })
		stderr = strings.Join(lines, "")
		if status != exitFailed || stdout != "" || !isOneLine(stderr) || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, standard output %q, standard error %q, want one line with %q", c.args, status, stdout, stderr, c.want)
		}
	}
	var names []string
	for _, e := range before {
		names = append(names, e.Name())
	}
	onlyFiles(t, dir, names...)
	if after, _ := os.ReadFile(m); !bytes.Equal(after, text) {
		t.Error("a failed command changed the model")
	}
}
