import { invocation } from "./invocation.ts";
import { run } from "./run.ts";

process.exitCode = await run(process.argv.slice(2), { env: process.env, command: invocation(process.env) });
