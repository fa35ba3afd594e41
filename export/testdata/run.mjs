// Runs ONNX files on rows: node run.mjs NODE_MODULES, with lines "MODEL INPUTS" on standard input. INPUTS is a JSON file: an array of inputs, each with
// "name", "columns", "text" and "double" (true or false) and "values", all rows one after the other as texts. It prints a line for each row: the name of the output
// beside the label, the label as JSON, then the numbers of that output.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "x.js"));
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [model, inputs] = line.split(" ");
  const session = await ort.InferenceSession.create(readFileSync(model));
  const feeds = {};
  for (const { name, columns, text, double, values } of JSON.parse(readFileSync(inputs, "utf8"))) {
    const shape = [values.length / columns, columns];
    if (text) feeds[name] = new ort.Tensor("string", values, shape);
    else if (double) feeds[name] = new ort.Tensor("float64", Float64Array.from(values, Number), shape);
    else feeds[name] = new ort.Tensor("float32", Float32Array.from(values, Number), shape);
  }
  const out = await session.run(feeds);
  const name = session.outputNames[1];
  const { data, dims } = out[name];
  const lines = [];
  for (let r = 0; r < dims[0]; r++) {
    lines.push([name, JSON.stringify(String(out.label.data[r])), ...data.slice(r * dims[1], (r + 1) * dims[1])].join("\t"));
  }
  console.log(lines.join("\n"));
}
