// Times DuckDB on files of Parquet or CSV: for each line {"file": ..., "columns": [...]} on standard input it adds the sums of those
// columns and answers {"seconds": ..., "cpu": ..., "sum": ..., "rows": ...}. The first answer has the version. Arguments: a folder where
// npm has installed @duckdb/node-api, and the number of threads.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const [folder, threads] = process.argv.slice(2);
const duckdb = createRequire(folder + '/')('@duckdb/node-api');
const db = await (await duckdb.DuckDBInstance.create(':memory:', {threads})).connect();
const version = (await db.runAndReadAll('SELECT version()')).getRows()[0][0];
console.log(JSON.stringify({hello: `DuckDB ${version}, ${threads} threads`}));

for await (const line of createInterface({input: process.stdin})) {
  const {file, columns} = JSON.parse(line);
  const sums = columns.map(c => `sum("${c}")`).join(' + ');
  const start = performance.now();
  const before = process.cpuUsage();
  const rows = (await db.runAndReadAll(`SELECT (${sums})::DOUBLE, count(*)::INTEGER FROM '${file}'`)).getRows();
  const cpu = process.cpuUsage(before);
  const seconds = (performance.now() - start) / 1000;
  console.log(JSON.stringify({seconds, cpu: (cpu.user + cpu.system) / 1e6, sum: rows[0][0], rows: rows[0][1]}));
}
