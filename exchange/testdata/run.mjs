// Runs ONNX files on rows: node run.mjs NODE_MODULES, with lines "MODEL ROWS COLUMNS" on standard input. ROWS is a file of little-endian float32.
// It prints a line for each row: the label as JSON, then the scores.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "x.js"));
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [model, rows, columns] = line.split(" ");
  const session = await ort.InferenceSession.create(readFileSync(model));
  const bytes = readFileSync(rows);
  const x = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const out = await session.run({ X: new ort.Tensor("float32", x, [x.length / columns, Number(columns)]) });
  const name = session.outputNames[1];
  const { data, dims } = out[name];
  const lines = [];
  for (let r = 0; r < dims[0]; r++) {
    lines.push([name, JSON.stringify(String(out.label.data[r])), ...data.slice(r * dims[1], (r + 1) * dims[1])].join("\t"));
  }
  console.log(lines.join("\n"));
}
