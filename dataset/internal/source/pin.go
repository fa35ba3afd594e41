package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
	"halfspace/internal/message"
)

// A Pin is a version of a lake table, as the path of a pinned table names it: sales@v41 for Delta, and the file of the metadata
// for Iceberg.
type Pin struct {
	Path    string
	Kind    string // Delta or Iceberg
	Folder  string // of the table
	Version int64  // of a Delta table, or the number of the file of the metadata
}

// Kinds of tables that are read.
const (
	Delta   = "Delta"
	Iceberg = "Iceberg"
)

// DeltaLog is the folder of the log in the folder of a Delta table.
const DeltaLog = "_delta_log"

const icebergLog = "metadata"

var (
	pinned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)@v(\d{1,18})$`) })
	commit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{20})(?:\.checkpoint(?:\.(\d{10})\.(\d{10}))?(\.[0-9a-fA-F-]{36})?)?\.(json|parquet)$`)
	})
	metadataFile = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:v(\d{1,18})|(\d{1,18})-.*?)(?:\.gz)?\.metadata\.json(?:\.gz)?$`)
	})
)

// PinOf returns the pin that a path of Expand's results is, or nil.
func PinOf(p string) *Pin {
	if number, is := metadataNumber(path.Base(filepath.ToSlash(p))); is && isRegular(p) {
		return &Pin{Path: p, Kind: Iceberg, Folder: folderOf(folderOf(p)), Version: number}
	}
	found := pinned().FindStringSubmatch(p)
	if found == nil {
		return nil
	}
	if t := tableIn(found[1], namesAt(p)); t == nil || t.kind != Delta {
		return nil
	}
	version, _ := strconv.ParseInt(found[2], 10, 64)
	return &Pin{Path: p, Kind: Delta, Folder: found[1], Version: version}
}

// LocalFile returns the local file by whose content two processes can tell whether they see the same data at a path of
// Expand's results: the file at the path, or the commit of a Delta table's version. It returns "" for an object, and if the
// log has no such commit any more.
func LocalFile(p string) string {
	found := pinned().FindStringSubmatch(p)
	switch {
	case files.Scheme(p) != "":
		return ""
	case found == nil || isRegular(p) || !isFolder(InFolder(found[1], DeltaLog)):
		return p
	}
	version, _ := strconv.ParseInt(found[2], 10, 64)
	if commit := InFolder(found[1], DeltaLog, fmt.Sprintf("%020d.json", version)); isRegular(commit) {
		return commit
	}
	return ""
}

// Number returns the text of the version.
func (p *Pin) Number() string { return strconv.FormatInt(p.Version, 10) }

// MayBeLake returns true if Expand may find a lake table by a path: a folder, or the path of a version.
func MayBeLake(p string) bool {
	info, err := os.Stat(p)
	if files.Scheme(p) != "" {
		return !isRegular(p)
	}
	return err == nil && info.IsDir() || err != nil && pinned().MatchString(p) || PinOf(p) != nil
}

func isRegular(p string) bool {
	info, err := files.Stat(p)
	return err == nil && info.Mode().IsRegular()
}

// folderOf returns the folder of a file or an object.
func folderOf(p string) string {
	if files.Scheme(p) != "" {
		return p[:max(0, strings.LastIndexByte(p, '/'))]
	}
	return filepath.Dir(p)
}

// InFolder returns the path of a file or an object in a folder.
func InFolder(dir string, names ...string) string {
	if files.Scheme(dir) != "" {
		return strings.TrimRight(dir, "/") + "/" + strings.Join(names, "/")
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// pin adds the table of a kind that is read, at a version, or at its newest version if version is -1.
func (l *lister) pin(t *lakeTable, version int64) (err error) {
	p := ""
	if t.kind == Iceberg {
		p, err = icebergMetadata(t.folder, version)
	} else {
		var plan *DeltaPlan
		if plan, err = DeltaLogOf(t.folder, version); err == nil {
			p = fmt.Sprintf("%s@v%d", strings.TrimRight(t.folder, "/"), plan.Version)
		}
	}
	if err == nil {
		l.files = append(l.files, p)
		l.pinned = true
	}
	return err
}

// table adds the table that a path names, if it names one. It returns false if it names none.
func (l *lister) table(p string) (is bool, err error) {
	if found := pinned().FindStringSubmatch(p); found != nil {
		if _, err := files.Stat(p); err != nil {
			if t := tableIn(found[1], namesAt(p)); t != nil && t.kind != "" {
				version, _ := strconv.ParseInt(found[2], 10, 64)
				return true, cmp.Or(l.agrees(&Pin{Path: p, Version: version}), l.pin(t, version))
			}
		}
	}
	if l.choice.Raw {
		return false, nil
	}
	if pin := PinOf(p); pin != nil {
		l.files, l.pinned = append(l.files, p), true
		return true, l.agrees(pin)
	}
	switch info, err := files.Stat(p); {
	case files.Scheme(p) != "" && err == nil, files.Scheme(p) == "" && (err != nil || !info.IsDir()):
		return false, nil
	case files.Scheme(p) != "" && strings.ContainsAny(p, "*?["):
		return false, nil
	}
	if files.Scheme(p) != "" {
		p = strings.TrimRight(p, "/")
	}
	t := tableIn(p, namesAt(p))
	if t == nil || t.kind == "" {
		return false, nil
	}
	version := int64(-1)
	if text := l.choice.Version; text != "" {
		if version, err = ParseVersion(text); err != nil {
			return true, err
		}
	}
	return true, l.pin(t, version)
}

// agrees returns an error if a path names another version than the choice.
func (l *lister) agrees(pin *Pin) error {
	if text := l.choice.Version; text != "" && text != pin.Number() {
		return message.Errorf(
			"%s: the path names version %d, and --version is %s: leave one of them out",
			pin.Path,
			pin.Version,
			text,
		)
	}
	return nil
}

// ParseVersion returns the version of a lake table in a text.
func ParseVersion(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 {
		return 0, message.WrongValue("version", text, "the number of a version, such as 41")
	}
	return v, nil
}

// A DeltaPlan is the files of a log that make a version of a table.
type DeltaPlan struct {
	Version    int64
	Checkpoint []string // the files of the newest checkpoint; none: the commits begin at 0
	Commits    []string // after the checkpoint, in the order of their versions
}

// A deltaCheckpoint is the files of a checkpoint, one for each of its parts.
type deltaCheckpoint struct {
	names []string
	parts int
}

// DeltaLogOf returns the files of the log of a table for a version, or for the newest one if version is -1.
func DeltaLogOf(dir string, version int64) (*DeltaPlan, error) {
	names, exists := namesAt(dir)(dir, DeltaLog)
	if !exists {
		return nil, column.PathError(InFolder(dir, DeltaLog), fs.ErrNotExist)
	}
	commits, checkpoints := deltaLogNames(names)
	newest := int64(-1)
	for v := range commits {
		newest = max(newest, v)
	}
	for v := range checkpoints {
		newest = max(newest, v)
	}
	switch {
	case newest < 0:
		return nil, column.Mark(
			fmt.Errorf("%s: a Delta table without a version: no commit is in %s", dir, DeltaLog),
			column.ErrDamaged,
		)
	case version > newest:
		return nil, fmt.Errorf("%s: the table has no version %d: the newest is %d", dir, version, newest)
	case version < 0:
		version = newest
	}
	plan, at := &DeltaPlan{Version: version}, int64(-1)
	for v := range checkpoints {
		if v <= version {
			at = max(at, v)
		}
	}
	for _, name := range checkpoints[at] {
		plan.Checkpoint = append(plan.Checkpoint, InFolder(dir, DeltaLog, name))
	}
	for v := at + 1; v <= version; v++ {
		if !commits[v] {
			return nil, column.Mark(
				fmt.Errorf("%s: version %d is missing from the log (%020d.json in %s): restore it, or read another "+
					"version", dir, v, v, DeltaLog),
				column.ErrDamaged,
			)
		}
		plan.Commits = append(plan.Commits, InFolder(dir, DeltaLog, fmt.Sprintf("%020d.json", v)))
	}
	return plan, nil
}

// deltaLogNames returns the versions of commits, and the names of the files of whole checkpoints, among the names in a log.
func deltaLogNames(names []string) (commits map[int64]bool, checkpoints map[int64][]string) {
	commits, checkpoints = map[int64]bool{}, map[int64][]string{}
	found := map[int64]map[string]*deltaCheckpoint{} // by version and kind
	for _, name := range names {
		m := commit().FindStringSubmatch(name)
		if m == nil {
			continue
		}
		version, err := strconv.ParseInt(m[1], 10, 64)
		switch isCheckpoint := strings.Contains(name, ".checkpoint."); {
		case err != nil:
			continue
		case !isCheckpoint:
			if m[5] == "json" {
				commits[version] = true
			}
			continue
		case m[5] == "json" && m[4] == "" || m[2] != "" && m[4] != "":
			continue
		}
		of := found[version]
		if of == nil {
			of = map[string]*deltaCheckpoint{}
			found[version] = of
		}
		kind, parts := m[3]+m[4], 1
		if m[3] != "" {
			parts, _ = strconv.Atoi(m[3])
		}
		if of[kind] == nil {
			of[kind] = &deltaCheckpoint{parts: parts}
		}
		of[kind].names = append(of[kind].names, name)
	}
	for version, kinds := range found {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) { // the last of the kinds that are whole
			if c := kinds[kind]; len(c.names) == c.parts {
				slices.Sort(c.names)
				checkpoints[version] = c.names
			}
		}
	}
	return commits, checkpoints
}

// metadataNumber returns the number in the name of a file of Iceberg's metadata.
func metadataNumber(name string) (int64, bool) {
	m := metadataFile().FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(cmp.Or(m[1], m[2]), 10, 64)
	return n, err == nil
}

// icebergMetadata returns the file of the metadata of an Iceberg table with a number; if version is -1, the current one: that
// which version-hint.text names, or the later ones by their numbers, or the one with the greatest number.
func icebergMetadata(dir string, version int64) (string, error) {
	names, _ := namesAt(dir)(dir, icebergLog)
	byNumber, newest := map[int64][]string{}, int64(-1)
	for _, name := range names {
		if n, is := metadataNumber(name); is {
			byNumber[n], newest = append(byNumber[n], name), max(newest, n)
		}
	}
	at := func(name string) string { return InFolder(dir, icebergLog, name) }
	n := newest
	switch hinted, name, err := hint(at("version-hint.text"), names, byNumber); {
	case version >= 0:
		if n = version; byNumber[n] == nil {
			return "", fmt.Errorf("%s: the table has no file of metadata with the number %d: the newest is %d", dir, n, newest)
		}
	case err != nil:
		return "", err
	case name != "":
		return at(name), nil
	case hinted >= 0:
		n = hinted
	}
	switch of := byNumber[n]; {
	case len(of) == 0:
		return "", column.Mark(
			fmt.Errorf("%s: an Iceberg table without a file of metadata: name the file that its catalog names", dir),
			column.ErrDamaged,
		)
	case len(of) > 1:
		slices.Sort(of)
		return "", column.Mark(
			fmt.Errorf("%s: %d files of metadata have the number %d, and only the catalog knows which of them is the "+
				"table: name one of them: %s", dir, len(of), n, strings.Join(of, ", ")),
			column.ErrFormat,
		)
	default:
		return at(of[0]), nil
	}
}

// hint returns the number of the metadata, or the name of its file, that version-hint.text leads to; -1 and "": there is none. Writers
// may fail to write the hint, so that later numbers that follow without a gap count.
func hint(file string, names []string, byNumber map[int64][]string) (number int64, name string, err error) {
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, "", nil
	}
	if err != nil {
		return -1, "", column.PathError(file, err)
	}
	text = strings.TrimSpace(text)
	if _, is := metadataNumber(path.Base(text)); is && slices.Contains(names, path.Base(text)) {
		return -1, path.Base(text), nil
	}
	if number, err = strconv.ParseInt(strings.TrimPrefix(text, "v"), 10, 64); err != nil {
		for _, suffix := range []string{".metadata.json", ".gz.metadata.json"} {
			if slices.Contains(names, text+suffix) {
				return -1, text + suffix, nil
			}
		}
	}
	if err != nil || byNumber[number] == nil {
		return -1, "", column.Mark(
			fmt.Errorf("%s: it names %.40q, which is no file of metadata: name the file that the catalog names",
				file, text),
			column.ErrDamaged,
		)
	}
	for byNumber[number+1] != nil {
		number++
	}
	return number, "", nil
}

// readSmall returns the text of a small file.
func readSmall(file string) (string, error) {
	f, err := files.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, err := f.Read(b)
	if err == io.EOF {
		err = nil
	}
	return string(b[:n]), err
}
