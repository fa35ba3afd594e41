// Answers each line of SQL on standard input with a line of JSON: the rows of the result, or an error. The argument is a folder where
// npm has installed @duckdb/node-api.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const duckdb = createRequire(process.argv[2] + '/')('@duckdb/node-api');
const db = await (await duckdb.DuckDBInstance.create(':memory:')).connect();
for await (const sql of createInterface({input: process.stdin})) {
  let answer;
  try {
    answer = {rows: (await db.runAndReadAll(sql)).getRowsJson()};
  } catch (e) {
    answer = {error: String(e)};
  }
  console.log(JSON.stringify(answer));
}
