import { Command } from "commander";
import { addDeliveryCommands } from "./commands/delivery.ts";
import { addKeyCommands } from "./commands/key.ts";
import { addNumberCommands } from "./commands/number.ts";
import { addOwnerCommands } from "./commands/owner.ts";
import { addSettingsCommands } from "./commands/settings.ts";
import { addWebhookCommands } from "./commands/webhook.ts";
import type { Environment } from "./connection.ts";

/** The whole command line. Nothing in it checks a value beyond reading it: the services' rules serve here too. */
export function createProgram(env: Environment): Command {
  const program = new Command("parley")
    .description("Manages the owners, API keys, phone numbers, settings and webhooks of a running Parley stack.")
    .usage("<noun> <verb> [options]")
    // Both are inherited by the commands added below: errors come back to the caller, which knows how to show them.
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley owner create --name "Acme" --email ops@acme.example --tier pro
  $ bun run parley owner password --owner own_…
  $ bun run parley key create --owner own_… --name "CI" --scopes agents:read,chat
  $ bun run parley key list --owner own_… --json
  $ bun run parley webhook create --owner own_… --name "CRM" --url https://crm.example/hook --request-type POST

Environment:
  PARLEY_ACCOUNT_ADDRESS  host:port of the account service; without it the stack of PARLEY_HOME is asked
  PARLEY_WEBHOOK_ADDRESS  the same of the webhook dispatcher
  PARLEY_HOME             the stack's folder (default: .parley)
  PARLEY_OWNER_ID         stands in for --owner
  PARLEY_TLS_CA, PARLEY_TLS_CERT, PARLEY_TLS_KEY  certificates, where the services need them

Exit status: 0 done, 1 refused or not reachable, 2 the command line is not right.`,
    );
  addOwnerCommands(program, env);
  addKeyCommands(program, env);
  addNumberCommands(program, env);
  addSettingsCommands(program, env);
  addWebhookCommands(program, env);
  addDeliveryCommands(program, env);
  return program;
}
