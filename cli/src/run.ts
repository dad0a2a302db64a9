import { ConfigError } from "@parley/shared/config";
import { ServiceError } from "@parley/shared/errors";
import { type Command, CommanderError } from "commander";
import { explain } from "./explain.ts";
import { formatJson, visible } from "./print.ts";

const FAILED = 1;
const MISUSED = 2;

/** Runs one command line and shows what went wrong, if anything. @returns the exit status */
export async function run(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without a verb the parser has shown the help already.
      if (error.code !== "commander.help") complain(misuse(program, error, args), args);
      return MISUSED;
    }
    if (error instanceof ServiceError) complain(explain(error), args);
    else if (error instanceof ConfigError) complain(error.message, args);
    else throw error;
    return FAILED;
  }
}

function misuse(program: Command, error: CommanderError, args: readonly string[]): string {
  const noun = program.commands.find((command) => command.name() === args[0]);
  const verb = noun?.commands.find((command) => command.name() === args[1]);
  const names = [program, noun, verb].flatMap((command) => command?.name() ?? []);
  return `${error.message.replace(/^error: /, "")}\nSee: bun run ${names.join(" ")} --help`;
}

function complain(message: string, args: readonly string[]): void {
  const lines = message.split("\n");
  console.error(args.includes("--json") ? formatJson({ error: lines.join(" ") }) : lines.map(visible).join("\n"));
}
