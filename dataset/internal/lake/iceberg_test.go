package lake

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// TestIcebergFiles: files of a manifest that aren't read are an error, and paths lead into the folder of the table, wherever it was
// written.
func TestIcebergFiles(t *testing.T) {
	of := func(location string) *iceberg {
		return &iceberg{ctx: t.Context(), pin: &source.Pin{Path: "ice/metadata/v1.metadata.json", Folder: "ice"}, meta: icebergMetadata{Location: location}}
	}
	for _, c := range []struct{ location, uri, want string }{
		{"s3://bucket/ice", "s3://bucket/ice/data/a b.parquet", "ice/data/a b.parquet"}, {"s3://bucket/ice/", "s3://bucket/ice/data/a.parquet", "ice/data/a.parquet"},
		{"file:///was/ice", "file:/was/ice/data/a.parquet", "ice/data/a.parquet"}, {"/was/ice", "file:///was/ice/data/a.parquet", "ice/data/a.parquet"},
		{"file:/was/ice", "/other/a.parquet", "/other/a.parquet"}, {"file:/was/ice", "file:///other/a.parquet", "/other/a.parquet"}, {"/was/ice", "/was/ice2/a.parquet", "/was/ice2/a.parquet"},
		{"s3://bucket/ice", "s3://bucket/ice2/a.parquet", "!some of its files are at s3://bucket/ice2/a.parquet, which is not in s3://bucket/ice"},
		{"s3://bucket/ice", "s3://bucket/ice/../a.parquet", "!some of its files are at"},
	} {
		got, err := of(c.location).local(c.uri)
		if bad, is := strings.CutPrefix(c.want, "!"); is && !strings.Contains(fmt.Sprint(err), bad) || !is && (err != nil || filepath.ToSlash(got) != c.want) {
			t.Errorf("%s in %s: %s, error %v, want %s", c.uri, c.location, got, err, c.want)
		}
	}
	for _, c := range []struct {
		change record
		want   string
	}{
		{record{}, ""}, {record{fileFormat: "parquet"}, ""}, {record{fileContent: int64(1)}, ""}, {record{fileContent: int64(1), fileFormat: "PUFFIN"}, ""},
		{record{fileContent: int64(2)}, "rows of this Iceberg table are deleted by equality, as Flink writes them, which is not read: compact the table first"},
		{record{fileFormat: "ORC"}, `its files are "orc", and Parquet is read`}, {record{fileContent: int64(1), fileFormat: "AVRO"}, `rows are deleted by files that are "avro"`},
		{record{fileFormat: "PUFFIN"}, `its files are "puffin"`}, {record{fileKeyOfMetadata: []byte{1}}, "are encrypted"}, {record{fileContent: int64(3)}, errAvro.Error()}, {record{filePath: ""}, errAvro.Error()}, {record{fileSize: int64(-1)}, errAvro.Error()},
	} {
		r := record{filePath: "/x/a.parquet", fileFormat: "PARQUET", fileRecords: int64(3), fileSize: int64(9)}
		for id, v := range c.change {
			r[id] = v
		}
		if err := of("/x").add(&icebergFile{rows: -1, size: -1}, r, "m.avro"); c.want == "" && err != nil || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%v: error %v, want %s", c.change, err, c.want)
		}
	}
}

// TestIcebergDeletes: deletes count for files of the same partition that are not younger, by the specification, "Scan Planning".
func TestIcebergDeletes(t *testing.T) {
	file := &icebergFile{spec: 1, partition: record{1000: int64(7)}, sequence: 5}
	for _, c := range []struct {
		of   icebergFile
		want bool
	}{
		{icebergFile{spec: 1, partition: record{1000: int64(7)}}, true}, {icebergFile{spec: 2, partition: record{1000: int64(7)}}, false},
		{icebergFile{spec: 1, partition: record{1000: int64(8)}}, false}, {icebergFile{spec: 1, partition: record{}}, false},
	} {
		if samePartition(file, &c.of) != c.want {
			t.Errorf("%+v", c.of)
		}
	}
}

// TestIcebergValues: values of partitions, and default values by appendix D of the specification.
func TestIcebergValues(t *testing.T) {
	field := func(typ string) icebergField { return icebergField{Type: json.RawMessage(typ)} }
	for _, c := range []struct {
		typ   string
		value any
		want  string
	}{
		{`"int"`, int64(-5), "-5"}, {`"long"`, int64(1) << 40, "1099511627776"}, {`"int"`, int64(1) << 40, "!"}, {`"double"`, float32(0.1), "0.10000000149011612"}, {`"float"`, float32(0.1), "0.1"},
		{`"boolean"`, true, "true"}, {`"string"`, "01", "01"}, {`"date"`, int64(-1), "1969-12-31"}, {`"timestamp"`, int64(-1), "1969-12-31 23:59:59.999999Z"}, {`"timestamptz_ns"`, int64(1), "1970-01-01 00:00:00.000000001Z"},
		{`"time"`, int64(3_723_000_004), "01:02:03.000004"}, {`"decimal(6,2)"`, []byte{0xff}, "-0.01"}, {`"decimal(6,2)"`, []byte{0x30, 0x39}, "123.45"}, {`"decimal(6,0)"`, []byte{0x30, 0x39}, "12345"}, {`"decimal(2,2)"`, []byte{0x30, 0x39}, "!"},
		{`"fixed[2]"`, []byte("ab"), "YWI="}, {`"fixed[3]"`, []byte("ab"), "!"}, {`"long"`, "5", "5"}, {`"long"`, "x", "!"}, {`"long"`, record{}, "!"}, {`"variant"`, int64(1), "!"},
	} {
		constant, err := partitionValue(field(c.typ), c.value)
		if c.want == "!" {
			if err == nil {
				t.Errorf("%s, %v: no error", c.typ, c.value)
			}
			continue
		}
		require.NoError(t, err)
		typ, _, _ := icebergType(json.RawMessage(c.typ))
		if got := require.Value(constant.Values(typ, 1))(t); got.ValueStr(0) != c.want {
			t.Errorf("%s, %v: %s, want %s", c.typ, c.value, got.ValueStr(0), c.want)
		}
	}
	for _, c := range []struct {
		typ         arrow.DataType
		value, want string
	}{
		{icebergTypes["boolean"], "true", "true"}, {icebergTypes["int"], "34", "34"}, {icebergTypes["double"], "1.5", "1.5"}, {decimalOf("decimal(9,2)"), `"14.20"`, "14.2"}, {icebergTypes["date"], `"2017-11-16"`, "2017-11-16"},
		{icebergTypes["time"], `"22:31:08.123456"`, "22:31:08.123456"}, {timestampNTZ, `"2017-11-16T22:31:08.123456"`, "2017-11-16 22:31:08.123456Z"}, {timestampUTC, `"2017-11-16T22:31:08.123456+00:00"`, "2017-11-16 22:31:08.123456Z"},
		{icebergTypes["string"], `"iceberg"`, "iceberg"}, {icebergTypes["uuid"], `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, "95w+CWd8S72keT80nLeF5w=="}, {icebergTypes["binary"], `"000102"`, "AAEC"}, {icebergTypes["int"], `"x"`, "!"},
	} {
		constant, err := defaultValue(json.RawMessage(c.value), c.typ)
		if c.want == "!" {
			if err == nil {
				t.Errorf("%s, %s: no error", c.typ, c.value)
			}
			continue
		}
		require.NoError(t, err)
		if got := require.Value(constant.Values(c.typ, 1))(t); got.ValueStr(0) != c.want {
			t.Errorf("%s, %s: %s, want %s", c.typ, c.value, got.ValueStr(0), c.want)
		}
	}
}
