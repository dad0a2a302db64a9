import { runChecks } from "./checks.ts";

const { failed } = await runChecks(new AbortController().signal);
process.exit(failed === 0 ? 0 : 1);
