// Writes what DuckDB reads in each Parquet file of a folder, one column a line, for TestCorpusValues:
//
//   npm install @duckdb/node-api
//   node duckdb.mjs ../../../shared/data/parquet > duckdb.txt
//
// A line has the file, the column, DuckDB's type, the number of rows and of nulls, and the first 16 digits of the SHA-256
// of the values, each with a newline: floating point as the bits of a float64 in hexadecimal or nan, integers and
// unscaled decimals as such, booleans as 0 and 1, texts and bytes in hexadecimal, dates in days, times and timestamps in
// whole microseconds, lists in brackets with spaces between, null. Where DuckDB fails it has the file, the column or -
// for all of them, and "error". Each file is read in a process of its own, since some are there to crash readers.
import {createHash} from 'node:crypto';
import {execFileSync} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';

function text(v) {
  if (v === null) return 'null';
  switch (v.constructor.name) {
    case 'Boolean': return v ? '1' : '0';
    case 'BigInt': return String(v);
    case 'String': return Buffer.from(v, 'utf8').toString('hex');
    case 'DuckDBBlobValue': return Buffer.from(v.bytes).toString('hex');
    case 'DuckDBDecimalValue': return String(v.value);
    case 'DuckDBDateValue': return String(v.days);
    case 'DuckDBTimeValue': case 'DuckDBTimeTZValue': case 'DuckDBTimestampValue': case 'DuckDBTimestampTZValue': return String(v.micros);
    case 'DuckDBTimestampMillisecondsValue': return String(v.millis * 1000n);
    case 'DuckDBTimestampNanosecondsValue': return String((v.nanos - ((v.nanos % 1000n) + 1000n) % 1000n) / 1000n);
    case 'DuckDBListValue': return '[' + v.items.map(text).join(' ') + ']';
  }
  throw new Error('no text for ' + v.constructor.name);
}

function number(floating) {
  const bits = new DataView(new ArrayBuffer(8));
  return v => {
    if (typeof v !== 'number') return v !== null && v.constructor.name === 'DuckDBListValue' ?
      '[' + v.items.map(number(floating)).join(' ') + ']' : text(v);
    if (!floating) return String(v);
    if (Number.isNaN(v)) return 'nan';
    bits.setFloat64(0, v);
    return bits.getBigUint64(0).toString(16).padStart(16, '0');
  };
}

const line = (...parts) => console.log(parts.map(p => String(p).split(/[\t\n]/)[0]).join('\t'));

async function describe(root, name) {
  const duckdb = (await import('@duckdb/node-api')).default;
  const db = await (await duckdb.DuckDBInstance.create(':memory:', {threads: '1'})).connect();
  const from = `FROM read_parquet('${join(root, name).replaceAll("'", "''")}')`;
  let columns;
  try {
    columns = (await db.runAndReadAll(`DESCRIBE SELECT * ${from}`)).getRows();
  } catch {
    return line(name, '-', 'error');
  }
  for (const [column, type] of columns) {
    if (/STRUCT|MAP|\[\]\[\]|VARIANT|GEOMETRY|JSON/.test(type)) continue;
    try {
      const [values] = (await db.runAndReadAll(`SELECT "${column.replaceAll('"', '""')}" ${from}`)).getColumns();
      const hash = createHash('sha256');
      const format = number(/FLOAT|DOUBLE/.test(type));
      for (const v of values ?? []) hash.update(format(v) + '\n');
      line(name, column, type, values?.length ?? 0, (values ?? []).filter(v => v === null).length,
        hash.digest('hex').slice(0, 16));
    } catch {
      line(name, column, 'error');
    }
  }
}

const [root, name] = process.argv.slice(2);
if (name) {
  await describe(root, name);
} else {
  for (const dir of ['valid', 'bad', 'fuzz']) {
    for (const file of readdirSync(join(root, dir)).sort()) {
      if (file === 'README.md') continue;
      const options = {timeout: 20000, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26, encoding: 'utf8'};
      try {
        process.stdout.write(execFileSync(process.execPath, [process.argv[1], root, join(dir, file)], options));
      } catch {
        line(join(dir, file), '-', 'error'); // it crashed, or hung
      }
    }
  }
}
