/** Reads a document that takes long, and tells the process that reads it. */
import { readdirSync, readFileSync } from "node:fs";
import { createParser } from "../src/text/parse.ts";

const reading = createParser().parse(
  { bytes: Buffer.from("<p>".repeat(300_000)), mediaType: "text/html" },
  new AbortController().signal,
);
const tasks = readdirSync("/proc/self/task");
const children = tasks.map((task) => readFileSync(`/proc/self/task/${task}/children`, "latin1")).join("");
process.stdout.write(children.trim());
await reading;
