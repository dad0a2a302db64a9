import { ConfigError } from "@parley/shared/config";
import { ServiceError } from "@parley/shared/errors";
import { type Command, CommanderError } from "commander";
import type { Environment } from "./connection.ts";
import { Exit } from "./exit.ts";
import { explain } from "./explain.ts";
import { formatJson, OutputError, visible, write } from "./print.ts";
import { createProgram } from "./program.ts";

const FAILED = 1;
const MISUSED = 2;

interface Called {
  env: Environment;
  /** The command that the user typed before the arguments. */
  command: string;
}

/** Runs one command line and prints errors. @returns the exit status */
export async function run(args: readonly string[], { env, command }: Called): Promise<number> {
  const help = { out: "", err: "" };
  const program = createProgram({ env, command, help });
  try {
    const status = await attempt(program, args);
    await write(process.stdout, help.out);
    await write(process.stderr, help.err);
    return status;
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    // A reader that closes the pipe, such as `head`, has read enough.
    if (error.code === "EPIPE") return 0;
    await complain(`Could not write the output: ${error.message}`, args);
    return FAILED;
  }
}

async function attempt(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without a verb, the parser has already shown the help.
      if (error.code !== "commander.help") await complain(misuse(program, error, args), args);
      return MISUSED;
    }
    if (error instanceof Exit) {
      if (error.message !== "") await complain(error.message, args);
      return error.status;
    }
    if (error instanceof ServiceError) await complain(explain(error), args);
    else if (error instanceof ConfigError) await complain(error.message, args);
    else throw error;
    return FAILED;
  }
}

function misuse(program: Command, error: CommanderError, args: readonly string[]): string {
  const noun = program.commands.find((command) => command.name() === args[0]);
  const verb = noun?.commands.find((command) => command.name() === args[1]);
  const names = [program, noun, verb].flatMap((command) => command?.name() ?? []);
  return `${error.message.replace(/^error: /, "")}\nSee: ${names.join(" ")} --help`;
}

async function complain(message: string, args: readonly string[]): Promise<void> {
  const text = args.includes("--json") ? formatJson({ error: message }) : message.split("\n").map(visible).join("\n");
  // When standard error is closed too, only the exit status remains.
  await write(process.stderr, `${text}\n`).catch(() => {});
}
